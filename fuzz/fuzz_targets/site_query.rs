//! No query makes the site panic, and the conditions that reach its store are within limits. Comparisons are of two simulated runs.
#![no_main]

use std::sync::LazyLock;

use cardmark_core::{Record, parse_record};
use cardmark_site::fuzzing::{compare, search};
use libfuzzer_sys::fuzz_target;

const TEXT: &str = include_str!("../seeds/record_parse/full.json");

static RECORDS: LazyLock<[Vec<Record>; 2]> = LazyLock::new(|| {
    let record = parse_record(TEXT).expect("the seed is a record");
    let mut other = record.clone();
    other.id = uuid::Uuid::nil();
    [vec![record], vec![other]]
});

fuzz_target!(|query: &str| {
    if let Some(search) = search(query) {
        assert!((1..=100).contains(&search.limit));
        let texts = [
            &search.product,
            &search.board,
            &search.bus,
            &search.command_queue,
            &search.suite,
        ];
        for text in texts.into_iter().flatten() {
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
        if let Some((from, to)) = &search.days {
            assert!(from.len() == 10 && to.len() == 10, "{from} {to}");
        }
        if let Some(metric) = &search.metric {
            assert!(metric.least.is_finite() && metric.most.is_finite());
        }
    }
    let [base, other] = &*RECORDS;
    let _ = compare(query, base, other);
});
