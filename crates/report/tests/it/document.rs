//! Reports as Markdown and as a page.

use cardmark_core::{
    Board, Derived, Integrity, IntegrityTest, IntervalKind, Metric, Quantity, Record, Severity,
    StorageKind, SuiteRef, Verdict, VerdictOutcome,
};
use cardmark_report::chart::Chart;
use cardmark_report::document::{Block, Column, Document, Row, Table, html, markdown};
use cardmark_report::{Style, survey, terminal};
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
    let blocks = document.blocks.iter();
    blocks
        .filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        })
        .collect()
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
    let (figures, _) = text.split_once("\n\n## ").unwrap();
    assert_snapshot!(figures, @r"
    # One run

    1 run of 1 card on 1 board, by sustained 1, on 2025-03-04.

    SD64G on Raspberry Pi 4 Model B Rev 1.4

    | Metric | id | MB/s | ± | 95 % interval | IOPS |
    |---|---|---:|---:|---:|---:|
    | write before the cliff | burst\_write | 81.0 | – | – | – |
    | write once settled | settled\_write | 25.0 | \~±0.8 % | \~24.8–25.2 | 23.8 |

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
    let table = |block: &&Block| matches!(block, Block::Table { .. });
    let tables = document.blocks.iter().filter(table).count();
    assert_eq!(tables, 1, "circumstances, and no table of names alone");
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
    assert!(text.contains("| SD64G |"), "{text}");
}

#[test]
fn a_survey_draws_what_it_has_figures_for() {
    let document = survey("Two cards, two boards", &records());
    let titles: Vec<&str> = charts(&document)
        .iter()
        .map(|chart| chart.heading().title.as_str())
        .collect();
    assert_eq!(titles.len(), 15, "bars, a scatter, dumbbells: {titles:?}");
    assert_eq!(titles[0], "sequential write 1 MiB");
    assert_eq!(titles[7], "random write 4 KiB against random read 4 KiB");
    assert_eq!(titles[8], "sequential write 1 MiB in two settings");
    let Chart::Dumbbells(change) = charts(&document)[8] else {
        panic!()
    };
    for one in &change.dumbbells {
        assert!((one.other / one.base - 2.0).abs() < 1e-9, "{one:?}");
    }
    assert!(
        charts(&survey("one", &[full()])).is_empty(),
        "no trials, one card"
    );
}

#[test]
fn many_boards_are_told_by_name_and_not_by_colour() {
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
    assert!(few.bars.iter().all(|bar| bar.name == "Example Ultra 64"));
    let many = of(7);
    assert!(many.series.is_empty());
    for index in 0..7 {
        let name = format!("Example Ultra 64, Board {index}");
        assert!(many.bars.iter().any(|bar| bar.name == name), "{many:?}");
    }
    assert_eq!(of(50).bars.len(), 40);
    assert!(of(50).heading.title.contains("the first 40 of 50"));
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
        let cells = row.children().filter(roxmltree::Node::is_element).count();
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
                "step_bits_count": 7, "buckets": [], "min_ns": 0, "max_ns": 0, "sum_ns": 0,
            },
            "slice_span_ns": 100_000_000, "slices": slices, "stopped_by": "goal",
        })
    };
    let mut value = serde_json::to_value(&record).unwrap();
    value["trials"] = serde_json::json!([
        trial(2_000_000_000, 4_000_000),
        trial(6_050_000_000, 1_000_000)
    ]);
    record = serde_json::from_value(value).unwrap();
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
