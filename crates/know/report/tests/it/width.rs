//! No line is wider than the terminal.

use cardmark_core::{IntervalKind, Quantity, Record};
use cardmark_report::{RunLine, Style, headline, list_table, terminal};
use proptest::prelude::*;

use crate::builder::{bare, full, rate, span, warn};

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

/// The text without escape sequences of the form `ESC [ … m`.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |kept, piece| {
        kept + piece.split_once('m').map_or("", |(_, rest)| rest)
    })
}

fn any_record() -> impl Strategy<Value = Record> {
    let exponent = -3.0..12.0_f64;
    let metrics = prop::collection::vec((exponent, 0.0..2.0_f64, any::<bool>()), 0..12);
    let words = "[ -~äéß\u{0}-\u{20}]{0,60}";
    (metrics, words, words, "[a-z_0-9]{1,50}").prop_map(|(metrics, model, detail, id)| {
        let mut record = full();
        for (index, (exponent, share, is_within)) in metrics.into_iter().enumerate() {
            let id = if index == 0 {
                id.clone()
            } else {
                format!("metric_{index}")
            };
            let mut metric = rate(&id, 10_f64.powf(exponent), 4096.0, share);
            if is_within {
                metric.interval_kind = IntervalKind::WithinTrial;
            }
            record.metrics.push(metric);
            record
                .metrics
                .push(span(&format!("{id}_p99"), 10_f64.powf(exponent)));
            record.metrics.push(bare(
                &format!("{id}_size"),
                Quantity::Size,
                10_f64.powf(exponent),
            ));
        }
        warn(&mut record, "metric_1", "not_settled");
        record.devices[0].model = Some(model.clone());
        record.findings[0].detail = detail;
        record.labels.insert(id, model);
        record
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_record_keeps_to_the_width(record in any_record(), width in 30_usize..=200) {
        let plain = terminal(&record, width, Style::Plain);
        prop_assert!(widest(&plain) <= width, "{width}:\n{plain}");
        prop_assert!(plain.ends_with('\n') && !plain.contains("\n\n\n"));
        prop_assert!(plain.lines().all(|line| line == line.trim_end()));
        let colored = terminal(&record, width, Style::Color);
        prop_assert_eq!(without_escapes(&colored), plain);
    }

    #[test]
    fn a_listing_keeps_to_the_width(
        runs in prop::collection::vec(("[0-9a-f-]{36}", any::<bool>(), "[ -~é]{0,40}", -3.0..12.0_f64), 1..6),
        width in 30_usize..=200,
    ) {
        let line = |(id, is_dated, target, exponent): (String, bool, String, f64)| RunLine {
            id,
            started_at: is_dated.then(|| "2025-03-04T12:00:41Z".to_owned()),
            suite: is_dated.then(|| "quick 1".to_owned()),
            target,
            result: headline(&[("rand_read_4k".to_owned(), 10_f64.powf(exponent), Quantity::ByteRate)]),
        };
        let runs: Vec<RunLine> = runs.into_iter().map(line).collect();
        let plain = list_table(&runs, width, Style::Plain);
        prop_assert!(widest(&plain) <= width, "{width}:\n{plain}");
        let colored = list_table(&runs, width, Style::Color);
        prop_assert_eq!(without_escapes(&colored), plain);
    }
}

#[test]
fn every_width_from_30_to_200_is_kept_to() {
    let record = full();
    for width in 30..=200 {
        assert!(
            widest(&terminal(&record, width, Style::Plain)) <= width,
            "{width}"
        );
    }
}
