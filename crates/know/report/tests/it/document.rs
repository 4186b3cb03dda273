//! Reports as Markdown and as a page.

use std::collections::BTreeSet;

use cardmark_core::{
    Board, Derived, Finding, FindingKind, Integrity, IntegrityTest, IntervalKind, Metric, Quantity,
    Record, Severity, StorageKind, SuiteRef, Verdict, VerdictOutcome,
};
use cardmark_report::chart::Chart;
use cardmark_report::document::{Block, Column, Document, Row, Table, html, markdown};
use cardmark_report::{Style, survey, survey_charts, survey_title, terminal};
use insta::assert_snapshot;

use crate::builder::{bare, empty, full, rate};
use crate::drawing::Drawing;

/// Two cards on two boards, the second twice as fast.
fn records() -> Vec<Record> {
    let of = |product: &str, board: &str, factor: f64| {
        let mut record = full();
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        record.board = Some(Board {
            model: Some(board.to_owned()),
            ..Board::default()
        });
        for metric in &mut record.metrics {
            metric.value *= factor;
            for end in [&mut metric.low, &mut metric.high].into_iter().flatten() {
                *end *= factor;
            }
        }
        record
            .findings
            .retain(|finding| finding.severity != Severity::Error);
        record
    };
    vec![
        of("Evo Plus", "Raspberry Pi 3", 1.0),
        of("Ultra | A1", "Raspberry Pi 3", 0.5),
        of("Evo Plus", "Raspberry Pi 4", 2.0),
        of("Ultra | A1", "Raspberry Pi 4", 1.0),
    ]
}

fn charts(document: &Document) -> Vec<&Chart> {
    document.charts()
}

fn small() -> Document {
    let cells = |cells: [&str; 3]| Row::new(cells.map(str::to_owned).to_vec());
    Document {
        title: "Cards <of> 2025 & *more*".to_owned(),
        blocks: vec![
            Block::Text("One | two_three `four`.".to_owned()),
            Block::Heading("What was \u{202e}noticed".to_owned()),
            Block::List(vec![
                "Warning: [a](b)".to_owned(),
                "Note: ~~no~~".to_owned(),
            ]),
            Block::Table {
                caption: "Raspberry Pi 4".to_owned(),
                table: Table {
                    columns: vec![
                        Column::left("Card"),
                        Column::right("Runs"),
                        Column::right("iozone_random_write, MB/s"),
                    ],
                    rows: vec![
                        cells(["<script>alert(1)</script>", "3", "2.87 ± 11 %"]),
                        cells(["A | B", "1", "–"]),
                    ],
                },
            },
        ],
    }
}

#[test]
fn a_document_as_markdown() {
    assert_snapshot!(markdown(&small()));
}

#[test]
fn a_document_as_a_page() {
    let page = html(&small());
    let body = page.split_once("<body>").unwrap().1;
    assert_snapshot!(body);
}

#[test]
fn a_survey_as_markdown() {
    assert_snapshot!(markdown(&survey("Two cards, two boards", &records())));
}

#[test]
fn a_survey_of_one_run_as_markdown() {
    assert_snapshot!(markdown(&survey("One run", &[full()])));
}

#[test]
fn a_page_of_one_run_shows_a_cause_and_folds_its_symptoms() {
    let mut record = full();
    let throttled = |detail: &str, workload: &str| {
        Finding::new(FindingKind::Throttled, Severity::Warning, detail)
            .advise("let the board cool")
            .on(workload)
    };
    record.findings = vec![
        throttled("throttled in 5 of 9 trials", "rand_read_4k"),
        throttled("throttled in 7 of 9 trials", "rand_write_4k"),
        Finding::new(
            FindingKind::NotSettled,
            Severity::Warning,
            "the rate fell by 9 %",
        )
        .on("rand_write_4k"),
    ];
    let page = markdown(&survey("One run", &[record]));
    let (shown, folded) = page.split_once("Further findings (1)").unwrap();
    let point = "- Warning: throttled in 12 of 18 trials (random read 4 KiB; random write 4 KiB) → let the board cool";
    assert!(shown.contains(point), "{shown}");
    assert!(!shown.contains("the rate fell"), "{shown}");
    assert!(folded.contains("the rate fell by 9 %"), "{folded}");
}

/// A run of `sustained` that met a cliff: one trial, as always.
fn sustained() -> Record {
    let mut record = empty();
    record.suite = Some(suite("sustained", None));
    let within = |metric| Metric {
        interval_kind: IntervalKind::WithinTrial,
        ..metric
    };
    record.metrics = vec![
        bare("burst_write", Quantity::ByteRate, 8.1e7),
        within(rate("settled_write", 2.5e7, 1_048_576.0, 0.008)),
        within(Metric {
            low: Some(3.1e9),
            high: Some(3.3e9),
            ..bare("cache_bytes", Quantity::Size, 3.2e9)
        }),
        bare("longest_pause", Quantity::Span, 1.24e9),
        bare("pauses_100ms_per_gib", Quantity::Count, 0.75),
    ];
    record
}

fn suite(name: &str, tier: Option<&str>) -> SuiteRef {
    SuiteRef {
        name: name.to_owned(),
        version: 1,
        digest: None,
        only: Vec::new(),
        tier: tier.map(str::to_owned),
    }
}

#[test]
fn a_survey_of_a_sustained_run_has_what_the_suite_is_for() {
    let text = markdown(&survey("One run", &[sustained()]));
    let (figures, _) = text.split_once("\n\n<details>").unwrap();
    assert_snapshot!(figures, @r"
    # One run

    Fine for: cameras up to 24 MB/s (end).

    Not tested: capacity, and whether data is kept → cardmark verify DIRECTORY.

    One run, by sustained 1, on 2025-03-04.

    SD64G on Raspberry Pi 4 Model B Rev 1.4

    | Metric | id | MB/s | ± | 95 % interval | IOPS |
    |---|---|---:|---:|---:|---:|
    | write before the cliff | burst\_write | 81.0 | – | – | – |
    | steady part of writing | settled\_write | 25.0 | \~±0.8 % | \~24.8–25.2 | 23.8 |

    Further figures

    | Metric | Value |
    |---|---|
    | written until the cliff | 3.2 GB (\~3.1 GB to 3.3 GB) |
    | longest pause | 1.24 s |
    | pauses over 100 ms for each GiB | 0.750 |

    \~ interval from within a trial, without the differences between runs
    ");
}

/// A run that tested this card.
fn tested(product: &str, kind: StorageKind, real_bytes: u64) -> Record {
    let mut record = empty();
    record.suite = None;
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.integrity = Some(Integrity::new(
        IntegrityTest::Verify,
        kind,
        63_864_569_856,
        real_bytes,
    ));
    record
}

/// A run that judged this card by class A1.
fn judged(product: &str, outcome: VerdictOutcome, reason: &str) -> Record {
    let mut record = empty();
    record.suite = Some(suite("app-class", Some("raw-short")));
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.derived = Some(Derived {
        judge_version: 1,
        verdicts: vec![Verdict {
            rule: "A1".to_owned(),
            outcome,
            score: None,
            reasons: vec!["claimed by the label".to_owned(), reason.to_owned()],
            metrics: Vec::new(),
        }],
        deviations: vec!["random tests last 1 minute instead of 10".to_owned()],
    });
    record
}

#[test]
fn a_survey_of_several_runs_tells_their_verdicts() {
    let mut other = judged("Ultra", VerdictOutcome::Fail, "slowest window: 9 MB/s");
    other.suite = Some(suite("speed-class", Some("file")));
    let records = [
        tested("Evo Plus", StorageKind::Confirmed, 63_864_569_856),
        tested("Bargain", StorageKind::Limbo, 8_000_000_000),
        tested("Evo Plus", StorageKind::Confirmed, 63_864_569_856),
        judged("Evo Plus", VerdictOutcome::Pass, "random read: 2588 IOPS"),
        judged("Evo Plus", VerdictOutcome::Pass, "random read: 2601 IOPS"),
        other,
    ];
    let document = survey("Several", &records);
    let text = markdown(&document);
    let told = text
        .split("\n\n## ")
        .find(|part| part.starts_with("Verdicts"));
    let told = told.unwrap().split("\n\n<details>").next();
    assert_snapshot!(told.unwrap(), @r"
    Verdicts

    Evo Plus on Raspberry Pi 4 Model B Rev 1.4

    - Capacity confirmed: every block of 63.9 GB (59.5 GiB) kept its data. (2 runs)
    - A1: pass (2 runs). In the first: claimed by the label; random read: 2588 IOPS

    Bargain on Raspberry Pi 4 Model B Rev 1.4

    - FALSE CAPACITY (limbo): only 8 GB (7.45 GiB) of 63.9 GB (59.5 GiB) exist, 13 %. Data written beyond is lost.

    Ultra on Raspberry Pi 4 Model B Rev 1.4

    - A1: fail. claimed by the label; slowest window: 9 MB/s

    app-class 1: not the whole procedure of the SD Association (tier raw-short):

    - random tests last 1 minute instead of 10

    speed-class 1: not the whole procedure of the SD Association (tier file):

    - random tests last 1 minute instead of 10
    ");
    assert!(html(&document).contains("<li>FALSE CAPACITY (limbo): only 8 GB"));
    let caption = |block: &Block| match block {
        Block::Table { caption, .. } => Some(caption.clone()),
        _ => None,
    };
    let captions: Vec<String> = document.blocks.iter().filter_map(caption).collect();
    assert_eq!(
        captions,
        ["Cards that need attention, the worst first"],
        "no table of names alone; circumstances are folded"
    );
}

#[test]
fn a_fake_that_lacks_little_tells_how_much() {
    const MIB: u64 = 1 << 20;
    let size_bytes = 63_864_569_856;
    let told = |missing: u64| {
        let run = tested("Nearly", StorageKind::Limbo, size_bytes - missing);
        terminal(&run, 200, Style::Plain)
    };
    let all_but =
        |text: &str| format!("FALSE CAPACITY (limbo): all but {text} of 63.9 GB (59.5 GiB) exist.");
    assert!(told(4 * MIB).contains(&all_but("4 MiB")));
    assert!(told(300 * MIB).contains(&all_but("300 MiB")));
    assert!(told(1024 * MIB).contains("only 62.8 GB (58.5 GiB) of 63.9 GB (59.5 GiB) exist, 98 %"));
}

#[test]
fn a_run_without_figures_is_named_where_nothing_is_said_of_it() {
    let runs = [
        tested("Bargain", StorageKind::Limbo, 8_000_000_000),
        empty(),
    ];
    let text = markdown(&survey("Two", &runs));
    assert!(text.contains("No figures: SD64G on "), "{text}");
}

#[test]
fn a_survey_shows_five_charts_and_has_more() {
    let document = survey("Two cards, two boards", &records());
    let named = |charts: &[&Chart]| -> Vec<String> {
        let names = charts.iter().map(|chart| chart.heading().name.clone());
        names.collect()
    };
    let shown = [
        "random-write-4k",
        "random-read-4k",
        "sequential-write-1m",
        "sequential-read-1m",
        "random-write-4k-vs-random-read-4k",
    ];
    assert_eq!(named(&charts(&document)), shown);
    for chart in charts(&document) {
        let title = &chart.heading().title;
        assert!(title.ends_with(" is better)"), "{title}");
        assert_eq!(
            chart.heading().footer,
            "cardmark 0.1.0 · 1 run each · 2025-03-04 · quick 1"
        );
    }
    let all = survey_charts(&records());
    let all: Vec<&Chart> = all.iter().collect();
    assert_eq!(named(&all)[..5], shown);
    let names: BTreeSet<String> = named(&all).into_iter().collect();
    assert_eq!((all.len(), names.len()), (15, 15), "{names:?}");
    let change = all.iter().find_map(|chart| match chart {
        Chart::Dumbbells(change) => Some(change),
        _ => None,
    });
    for one in &change.unwrap().dumbbells {
        assert!((one.other / one.base - 2.0).abs() < 1e-9, "{one:?}");
    }
    assert!(survey_charts(&[full()]).is_empty(), "no trials, one card");
}

#[test]
fn bars_are_grouped_by_card() {
    let document = survey("Two cards, two boards", &records());
    let Chart::Bars(bars) = charts(&document)[0] else {
        panic!()
    };
    let names: Vec<&str> = bars
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["Evo Plus", "! Ultra | A1"]);
    for group in &bars.groups {
        let series: Vec<usize> = group.bars.iter().map(|bar| bar.series).collect();
        assert_eq!(series, [0, 1]);
    }
}

#[test]
fn many_boards_are_named_beside_their_bars() {
    let of = |count: usize| {
        let records: Vec<Record> = (0..count)
            .map(|index| {
                let mut record = full();
                record.board = Some(Board {
                    model: Some(format!("Board {index}")),
                    ..Board::default()
                });
                record
            })
            .collect();
        let document = survey("boards", &records);
        match charts(&document)[0] {
            Chart::Bars(bars) => bars.clone(),
            other => panic!("{other:?}"),
        }
    };
    let few = of(6);
    assert_eq!(few.series.len(), 6);
    assert_eq!(few.groups.len(), 1);
    // It failed during the run.
    assert_eq!(few.groups[0].name, "! Example Ultra 64");
    assert!(few.groups[0].bars.iter().all(|bar| bar.label.is_empty()));
    let many = of(7);
    assert!(many.series.is_empty());
    assert_eq!(many.groups.len(), 1);
    assert_eq!(many.groups[0].name, "! Example Ultra 64");
    for index in 0..7 {
        let board = format!("Board {index}");
        let bars = &many.groups[0].bars;
        assert!(bars.iter().any(|bar| bar.label == board), "{many:?}");
    }
    assert_eq!(of(50).groups[0].bars.len(), 40);
    assert!(of(50).heading.subtitle.contains("the first 40 of 50"));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = html(&survey("Two cards, two boards", &records()));
    for tag in [
        "<script", "<link", "<img", "<iframe", "<object", "<image", "<use",
    ] {
        assert!(!page.contains(tag), "{tag}");
    }
    for reference in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    // The name of the SVG language is no address that is loaded.
    let others = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!others.contains("http"), "no address");
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert!(page.contains("name=\"viewport\""));
}

#[test]
fn what_others_wrote_stays_text() {
    let mut records = records();
    records[0].labels.insert(
        "product".to_owned(),
        "</title><script>alert(1)</script>\" onload=x".to_owned(),
    );
    let page = html(&survey("<b>", &records));
    assert!(!page.contains("<script>") && !page.contains("<b>"));
    assert!(!page.contains("\" onload"));
}

#[test]
fn a_page_is_well_formed_and_its_tables_have_scopes() {
    let page = html(&survey("Two cards, two boards", &records()));
    // What HTML lets stand open, closed.
    let closed = page
        .replace("<!doctype html>", "")
        .replace("<wbr>", "")
        .replace("\">\n<meta", "\"/>\n<meta")
        .replace("content=\"cardmark\">", "content=\"cardmark\"/>");
    let parsed = roxmltree::Document::parse(&closed).unwrap();
    let named = |name: &'static str| {
        let nodes = parsed.descendants();
        nodes.filter(move |node| node.tag_name().name() == name)
    };
    assert!(named("th").count() > 10);
    for cell in named("th") {
        assert!(matches!(cell.attribute("scope"), Some("col" | "row")));
    }
    for row in named("tr") {
        let spans = row
            .children()
            .filter(roxmltree::Node::is_element)
            .map(|cell| {
                let span = cell.attribute("colspan");
                span.map_or(1, |span| span.parse::<usize>().unwrap())
            });
        let cells: usize = spans.sum();
        let table = row.ancestors().find(|node| node.has_tag_name("table"));
        let first = table
            .unwrap()
            .descendants()
            .find(|node| node.has_tag_name("tr"));
        let heading = first
            .unwrap()
            .children()
            .filter(roxmltree::Node::is_element);
        assert_eq!(cells, heading.count());
    }
    assert_eq!(named("table").count(), named("caption").count());
    assert_eq!(named("h1").count(), 1);
}

#[test]
fn charts_of_a_page_are_there_for_wide_and_for_narrow_screens() {
    let document = survey("Two cards, two boards", &records());
    let page = html(&document);
    let drawings: Vec<&str> = page
        .split("<svg ")
        .skip(1)
        .map(|rest| rest.split_inclusive("</svg>").next().unwrap())
        .collect();
    assert_eq!(drawings.len(), 2 * charts(&document).len());
    for drawing in drawings {
        Drawing::of(&format!("<svg {drawing}")).assert_readable();
    }
    assert_eq!(page, html(&survey("Two cards, two boards", &records())));
}

/// Trials of a write that is fast for 2 s and slow for 6 s, in slices of 100 ms of whole blocks.
fn cached() -> Record {
    let mut record = full();
    let trial = |span_ns: u64, bytes_per_slice: u64| {
        let slices = (0..span_ns.div_ceil(100_000_000))
            .map(|index| [bytes_per_slice * (1 + index % 2), 1, 5_000_000, 0])
            .collect::<Vec<_>>();
        serde_json::json!({
            "id": 0, "round_index": 0, "started_ns": 0, "span_ns": span_ns,
            "workload": {
                "id": "seq_write_1m", "read_share_percent": 0, "order": "sequential",
                "block_bytes": 1_048_576, "queue_depth": 1, "span_bytes": 268_435_456,
                "flush": "in_span", "payload": "iozone", "ramp_ns": 0, "latency_metrics": false,
                "stop": { "least_span_ns": 0, "least_operations_count": 0, "most_bytes": 8192 },
            },
            "streams": [{
                "bytes": 1, "operations_count": 1, "read_operations_count": 0, "span_ns": span_ns,
            }],
            "latency": {
                "step_bits": 7, "buckets": [], "min_ns": 0, "max_ns": 0, "sum_ns": 0,
            },
            "slice_span_ns": 100_000_000, "slices": slices, "stopped_by": "goal",
        })
    };
    record.trials = serde_json::from_value(serde_json::json!([
        trial(2_000_000_000, 4_000_000),
        trial(6_050_000_000, 1_000_000)
    ]))
    .unwrap();
    record
}

#[test]
fn a_rate_over_time_keeps_the_bytes_and_the_seconds() {
    let document = survey("cached", &[cached()]);
    let Chart::Curves(curves) = charts(&document)[0] else {
        panic!()
    };
    let points = &curves.curves[0].points;
    let rate_near = |second: f64| {
        let near = points
            .iter()
            .min_by(|a, b| (a.0 - second).abs().total_cmp(&(b.0 - second).abs()));
        near.unwrap().1
    };
    // One and two blocks in turn: 6 MB in 100 ms of the fast part, 1.5 MB of the slow one.
    assert!((rate_near(1.0) - 60.0).abs() < 9.0, "{points:?}");
    assert!((rate_near(5.0) - 15.0).abs() < 2.5, "{points:?}");
    assert!(points.last().unwrap().0 > 7.5 && points.last().unwrap().0 < 8.05);
    assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

fn with_rates(product: &str, board: &str, rates: &[(&str, f64)]) -> Record {
    let mut record = empty();
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.board = Some(Board {
        model: Some(board.to_owned()),
        ..Board::default()
    });
    let rates = rates.iter();
    record.metrics = rates
        .map(|(id, value)| bare(id, Quantity::OperationRate, *value))
        .collect();
    record
}

/// The paragraphs of a report that begin so.
fn answers(records: &[Record]) -> Vec<String> {
    let text = markdown(&survey("Cards", records));
    let lines = text.lines().filter(|line| line.starts_with("Fastest "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_fastest_card_is_named_if_it_can_be_told() {
    let run = |product, board, write, read| {
        with_rates(
            product,
            board,
            &[("rand_write_4k", write), ("rand_read_4k", read)],
        )
    };
    let clear = [
        run("A", "Pi 4", 500.0, 2000.0),
        run("B", "Pi 4", 1000.0, 2100.0),
        run("C", "Pi 4", 480.0, 2000.0),
    ];
    assert_eq!(
        answers(&clear),
        ["Fastest for booting: B (1000 random writes/s, 2.0 times faster than the next)."]
    );
    let both = [
        run("A", "Pi 4", 500.0, 2000.0),
        run("B", "Pi 4", 1000.0, 2100.0),
        run("A", "Pi 3", 400.0, 1400.0),
        run("B", "Pi 3", 800.0, 1500.0),
    ];
    assert_eq!(
        answers(&both),
        [
            "Fastest for booting: B (random writes: 1000/s on Pi 4, 2.0 times faster than the next; 800/s on Pi 3, 2.0 times faster than the next)."
        ]
    );
    let near = [
        run("A", "Pi 4", 1010.0, 2000.0),
        run("B", "Pi 4", 1000.0, 2100.0),
        run("C", "Pi 4", 480.0, 2000.0),
    ];
    assert_eq!(
        answers(&near),
        [
            "Fastest for booting: no clear order of A and B (random writes: 1000 to 1010/s); repeats of one \
          card differ this far."
        ]
    );
    let split = [
        run("A", "Pi 4", 500.0, 4000.0),
        run("B", "Pi 4", 1000.0, 2000.0),
    ];
    assert_eq!(
        answers(&split),
        [
            "Fastest random writes: B (1000/s, 2.0 times faster than the next); fastest random reads: A (4000/s)."
        ]
    );
    let mut cached = clear.to_vec();
    cached[1].metrics[0].warnings = vec!["not_reached".to_owned()];
    assert_eq!(
        answers(&cached),
        [
            "Fastest for booting: no clear order of A and C (random writes: 480 to 500/s); repeats of one \
          card differ this far."
        ],
        "a figure of a cache does not count"
    );
    assert!(answers(&clear[..1]).is_empty());
    let apart = [
        run("A", "Pi 4", 500.0, 2000.0),
        run("B", "Pi 3", 1000.0, 2100.0),
    ];
    assert!(answers(&apart).is_empty(), "never both on one board");
}

#[test]
fn published_figures_name_their_source_and_the_printed_numbers() {
    let publications = cardmark_catalog::publications();
    let publication = publications.iter().find(|one| one.id == "geerling-dramble");
    let records = publication.unwrap().records();
    let title = survey_title(&records);
    assert_eq!(title, "microSD Card Benchmarks, by Jeff Geerling");
    let document = survey(&title, &records);
    let text = markdown(&document);
    for part in [
        "- Jeff Geerling: microSD Card Benchmarks. <https://www.pidramble.com/wiki/benchmarks/microsd-cards> \
         (undated; licence: none stated; read on 2026-11-21)",
        "| **Samsung Pro+ 32 GB** | | | | |",
        "| Raspberry Pi 3 Model B, slot at 100 MHz | 1.91 (1.84) | 12.6 (12.15) | 31.0 | 41.9 (39.93) |",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("cardmark 0"), "measured by others: {text}");
    assert!(
        html(&document)
            .contains("<a href=\"https://www.pidramble.com/wiki/benchmarks/microsd-cards\"")
    );
    for chart in document.charts() {
        let footer = &chart.heading().footer;
        assert_eq!(
            footer,
            "Figures of Jeff Geerling, “microSD Card Benchmarks”"
        );
    }
    let table = cardmark_report::csv(&records);
    let pro = table
        .lines()
        .find(|line| line.contains("Samsung Pro+ 32 GB"));
    let ending = "21.75 MB/s,microSD Card Benchmarks,Jeff Geerling,,\
                  https://www.pidramble.com/wiki/benchmarks/microsd-cards,none stated";
    assert!(pro.unwrap().trim_end().ends_with(ending), "{pro:?}");
}

#[test]
fn a_title_claims_no_figures_of_others() {
    let publications = cardmark_catalog::publications();
    let of = |id: &str| {
        publications
            .iter()
            .find(|one| one.id == id)
            .unwrap()
            .records()
    };
    let two = [of("kulesz"), of("geerling-a2")].concat();
    assert_eq!(survey_title(&two), "Published and imported results");
    let own = [full(), empty()];
    assert_eq!(survey_title(&own), "Storage measured by cardmark");
    let mixed = [own.to_vec(), two].concat();
    assert_eq!(
        survey_title(&mixed),
        "Storage measured by cardmark and others"
    );
}

#[test]
fn times_and_scores_are_shown() {
    let publications = cardmark_catalog::publications();
    for (id, row) in [
        (
            "kaiser-a1-a2",
            "| SanDisk Extreme A1 32 GB, NanoPi M4 | 16.2 s | 161 s | 28.0 s | 57.0 s |",
        ),
        ("pibenchmarks-2019", "| Samsung PM871b 256 GB, "),
    ] {
        let publication = publications.iter().find(|one| one.id == id);
        let text = markdown(&survey("T", &publication.unwrap().records()));
        let (_, table) = text.split_once("Times, scores and sizes").unwrap();
        assert!(table.contains(row), "{table}");
    }
}

#[test]
fn cards_on_one_board_are_grouped_by_the_class_on_their_label() {
    let run = |product, write| with_rates(product, "Pi 4", &[("rand_write_4k", write)]);
    let mut records = [
        run("A", 500.0),
        run("B", 1000.0),
        run("C", 100.0),
        run("D", 700.0),
    ];
    for (record, claims) in records.iter_mut().zip(["A1 V30", "C10 A2", "", "A1"]) {
        if !claims.is_empty() {
            record.labels.insert("claims".to_owned(), claims.to_owned());
        }
    }
    let text = markdown(&survey("T", &records));
    let (_, table) = text.split_once("|---|---:|\n").unwrap();
    let table: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        table,
        [
            "| **Sold as A2** | |",
            "| B | 1000 |",
            "| **Sold as A1** | |",
            "| D | 700 |",
            "| A | 500 |",
            "| **Class on the label unknown** | |",
            "| ! C | 100 |",
        ]
    );
}

#[test]
fn each_method_has_its_table() {
    let records = [
        with_rates(
            "A",
            "Pi 4",
            &[("rand_write_4k", 500.0), ("seq_read_1m", 40.0)],
        ),
        with_rates("B", "Pi 4", &[("rand_write_4k", 600.0)]),
        with_rates("C", "Pi 4", &[("iozone_random_write", 700.0)]),
        with_rates("D", "Pi 4", &[("sqlite_tps", 20.0)]),
    ];
    let text = markdown(&survey("T", &records));
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| "))
        .take(7)
        .collect();
    assert_eq!(
        rows,
        [
            "| Card | Random write, 4 KiB, IOPS | Sequential read, 1 MiB, IOPS |",
            "| B | 600 | – |",
            "| A | 500 | 40.0 |",
            "| Card | Random write, IOPS |",
            "| C | 700 |",
            "| Card | SQLite transactions, transactions/s |",
            "| D | 20.0 |",
        ]
    );
}

#[test]
fn a_sticker_is_named_only_where_it_distinguishes_cards() {
    let run = |sample: &str| {
        let mut record = with_rates("A", "Pi 4", &[("rand_write_4k", 500.0)]);
        record.labels.insert("sample".to_owned(), sample.to_owned());
        record
    };
    let other = with_rates("B", "Pi 4", &[("rand_write_4k", 400.0)]);
    let text = markdown(&survey("T", &[run("red"), other.clone()]));
    assert!(text.contains("| A | 500 |"), "{text}");
    let text = markdown(&survey("T", &[run("red"), run("blue"), other]));
    for row in ["| A (red) | 500 |", "| A (blue) | 500 |", "| B | 400 |"] {
        assert!(text.contains(row), "{text}");
    }
}

#[test]
fn verdicts_on_classes_have_their_tier_and_deviations() {
    let record = cardmark_samples::record("run-sim-border-v30-64gb-speed-class");
    let text = markdown(&survey("T", &[record]));
    for part in ["Verdicts", "V30: borderline", "CMD20", "tier raw-short"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}
