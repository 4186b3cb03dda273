//! Messages of reports: winners with their caveats, several runs of one card, titles and marks of charts.

use cardmark_core::{
    Board, Estimate, Finding, FindingKind, Quantity, RateParts, Record, Severity, run_id_from_bytes,
};
use cardmark_report::chart::{Chart, Size, Theme};
use cardmark_report::document::markdown;
use cardmark_report::{survey, survey_charts};
use proptest::prelude::*;

use crate::builder::{bare, empty};

/// A run with random writes in bursts and over 15 s, and random reads.
fn run(number: u8, burst: f64, long: f64) -> Record {
    let mut record = empty();
    record.id = run_id_from_bytes([number; 16]);
    record
        .labels
        .insert("product".to_owned(), format!("Card{number}"));
    record.board = Some(Board {
        model: Some("Pi 4".to_owned()),
        ..Board::default()
    });
    record.metrics = [
        ("rand_write_4k", burst),
        ("rand_read_4k", 3000.0),
        ("rand_write_4k_long", long),
    ]
    .map(|(id, value)| bare(id, Quantity::OperationRate, value))
    .to_vec();
    record
}

/// The sentence on the fastest card.
fn sentence(records: &[Record]) -> String {
    let text = markdown(&survey("Cards", records));
    let line = text.lines().find(|line| line.starts_with("Fastest "));
    line.unwrap_or_default().to_owned()
}

#[test]
fn a_card_that_is_fast_in_bursts_only_is_no_winner() {
    let runs = [
        run(1, 1252.0, 491.0),
        run(2, 910.0, 904.0),
        run(3, 55.0, 55.0),
    ];
    assert_eq!(
        sentence(&runs),
        "Fastest random writes: Card2 (904/s over 15 s, 84 % faster than the next); fastest in bursts: Card1 (1252/s)."
    );
    let Chart::Bars(bars) = &survey_charts(&runs)[0] else {
        panic!()
    };
    assert_eq!(bars.series, ["In bursts", "Over 15 s"]);
    let names: Vec<&str> = bars
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["Card2", "Card1", "! Card3"]);
    // Where bursts show it all, one rate is drawn.
    let Chart::Bars(bars) = &survey_charts(&[run(1, 1200.0, 1190.0), run(2, 910.0, 904.0)])[0]
    else {
        panic!()
    };
    assert_eq!(bars.series.len(), 1);
}

#[test]
fn a_caveat_of_the_winner_is_in_its_sentence() {
    let mut runs = [run(1, 2000.0, 2000.0), run(2, 900.0, 900.0)];
    let throttled = Finding::new(FindingKind::Throttled, Severity::Warning, "hot");
    runs[0].findings.push(throttled.clone());
    let text = sentence(&runs);
    assert!(
        text.ends_with("; the board was throttled while it tested Card1."),
        "{text}"
    );
    runs[0].findings.clear();
    runs[1].findings.push(throttled);
    assert!(!sentence(&runs).contains("throttled"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_winner_is_never_clearly_slower_in_the_other_rate_without_a_clause(
        rates in prop::collection::vec((30.0..4000.0_f64, 0.1..2.0_f64), 2..=8)
    ) {
        let cards: Vec<(u8, f64, f64)> = (1..)
            .zip(&rates)
            .map(|(number, (burst, ratio))| (number, *burst, burst * ratio))
            .collect();
        let records: Vec<Record> = cards.iter().map(|(n, burst, long)| run(*n, *burst, *long)).collect();
        let text = sentence(&records);
        let (first, clauses) = text.split_once(')').unwrap();
        for (kind, of) in [
            ("fastest in bursts", 0),
            ("fastest over 15 s", 1),
        ] {
            let rate = |card: &(u8, f64, f64)| if of == 0 { card.1 } else { card.2 };
            let most = cards.iter().map(rate).fold(0.0, f64::max);
            let named = cards.iter().filter(|card| {
                let name = format!("Card{}", card.0);
                first.split([' ', ',', '(']).any(|word| word == name)
            });
            // Repeats of one card lie within a factor of two.
            let is_slower = named.map(rate).any(|rate| rate < most / 3.0);
            prop_assert!(!is_slower || clauses.contains(kind), "{kind}: {text} {cards:?}");
        }
    }
}

#[test]
fn several_runs_of_one_card_have_a_verdict_and_a_chart() {
    let runs: Vec<Record> = [(1, 900.0), (2, 940.0), (3, 920.0)]
        .into_iter()
        .map(|(number, burst)| {
            let mut record = run(number, burst, burst);
            record
                .labels
                .insert("product".to_owned(), "Card".to_owned());
            record
        })
        .collect();
    let document = survey("Card", &runs);
    let text = markdown(&document);
    let (before, _) = text.split_once("3 runs of 1 card").unwrap();
    assert!(before.contains("for running an operating system"), "{text}");
    let charts = document.charts();
    let Some(Chart::Bars(bars)) = charts.first() else {
        panic!("{text}")
    };
    let names: Vec<&str> = bars
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["Random writes", "Random reads"]);
    let bar = &bars.groups[0].bars[0];
    assert!(
        (bar.value - 920.0).abs() < 1.0 && bar.ends.is_some(),
        "{bar:?}"
    );
}

/// Stalls are part of the rates of a report, and cameras can rely on what the worst run promises.
#[test]
fn runs_with_stalls_keep_their_rate_and_their_worst_long_run() {
    let with_stalls = |number: u8, low: f64| {
        let mut record = run(number, 900.0, 900.0);
        record
            .labels
            .insert("product".to_owned(), "Card".to_owned());
        let mut write = bare("seq_write_1m", Quantity::ByteRate, 30e6);
        let estimate = |value: f64, low: f64| Estimate {
            value,
            low: Some(low),
            high: Some(2.0 * value - low),
        };
        write.parts = Some(RateParts {
            body: estimate(40e6, 39e6),
            long_run: Some(estimate(30e6, low)),
            ..RateParts::default()
        });
        record.metrics.push(write);
        record
    };
    let runs =
        [(1, 22.5e6), (2, 21.5e6), (3, 23.5e6)].map(|(number, low)| with_stalls(number, low));
    let text = |runs: &[Record]| markdown(&survey("Card", runs));
    assert!(text(&runs[1..2]).contains("cameras up to 21 MB/s"));
    let all = text(&runs);
    assert!(all.contains("cameras up to 21 MB/s"), "{all}");
    assert!(all.contains("| 30.0"), "{all}");
    assert!(!all.contains("40.0"), "{all}");
}

#[test]
fn a_message_is_the_title_of_every_chart_and_what_it_shows_stays() {
    let runs = [run(1, 1252.0, 491.0), run(2, 910.0, 904.0)];
    let charts = survey_charts(&runs);
    assert!(charts.len() > 2);
    for chart in charts {
        let shown = chart.heading().title.clone();
        let svg = chart
            .with_message("Buy <the> other one")
            .svg(Theme::Light, Size::Wide);
        assert!(
            svg.contains("<title>Buy &lt;the&gt; other one</title>"),
            "{svg}"
        );
        let desc = svg
            .split_once("<desc>")
            .unwrap()
            .1
            .split_once("</desc>")
            .unwrap()
            .0;
        assert!(desc.contains(&shown), "{desc}");
    }
}

#[test]
fn lines_for_classes_stand_where_unit_and_depth_fit() {
    let marks = |id: &str, quantity, values: [f64; 2]| -> Vec<(String, f64)> {
        let records: Vec<Record> = (1..)
            .zip(values)
            .map(|(number, value)| {
                let mut record = run(number, 1.0, 1.0);
                record.metrics = vec![bare(id, quantity, value)];
                record
            })
            .collect();
        let charts = survey_charts(&records);
        let Some(Chart::Bars(bars)) = charts.first() else {
            panic!("{id}")
        };
        bars.marks
            .iter()
            .map(|mark| (mark.label.clone(), mark.value))
            .collect()
    };
    let a1 = |value: f64| ("A1".to_owned(), value);
    let operations = Quantity::OperationRate;
    assert_eq!(
        marks("rand_write_4k", operations, [900.0, 800.0]),
        [a1(500.0)]
    );
    assert_eq!(
        marks("rand_read_4k", operations, [900.0, 800.0]),
        [a1(1500.0)]
    );
    assert_eq!(
        marks("iozone_random_write", Quantity::ByteRate, [3e6, 2e6]),
        [a1(2.048)]
    );
    let both = [a1(1500.0), ("A2".to_owned(), 4000.0)];
    assert_eq!(marks("rand_read_4k_q32", operations, [5000.0, 2.0]), both);
    assert_eq!(marks("seq_read_1m", Quantity::ByteRate, [3e7, 2e7]), []);
}

#[test]
fn cards_are_highlighted_if_the_colours_are_free() {
    let highlighted = |mut bars: cardmark_report::chart::Bars, name: &str| {
        let fits = |group: &cardmark_report::chart::Group| group.name.contains(name);
        let is_done = bars.highlight(["Others", name], fits);
        let series = bars.groups.iter().map(|group| group.bars[0].series);
        (is_done, series.collect::<Vec<_>>(), bars.series.len())
    };
    let bars = |runs: &[Record]| match survey_charts(runs).into_iter().next() {
        Some(Chart::Bars(bars)) => bars,
        other => panic!("{other:?}"),
    };
    let alike = bars(&[run(1, 900.0, 890.0), run(2, 700.0, 690.0)]);
    assert_eq!(highlighted(alike.clone(), "Card2"), (true, vec![0, 1], 2));
    assert_eq!(highlighted(alike.clone(), "Card"), (false, vec![0, 0], 1));
    assert_eq!(highlighted(alike, "absent"), (false, vec![0, 0], 1));
    let apart = bars(&[run(1, 900.0, 100.0), run(2, 700.0, 690.0)]);
    assert!(
        !highlighted(apart, "Card2").0,
        "colours stand for kinds of writes"
    );
}
