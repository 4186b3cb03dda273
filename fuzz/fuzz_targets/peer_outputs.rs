//! No text makes a reader of the old tools' outputs panic, and what one accepts can be used.
#![no_main]

use std::collections::BTreeSet;

use cardmark_peers::{Rate, import, read_dd, read_ddrescue, read_fio, read_hdparm, read_iozone};
use libfuzzer_sys::fuzz_target;

fn usable(rate: &Rate) {
    assert!(rate.bytes_per_s.is_finite() && rate.bytes_per_s >= 0.0);
    assert!(!rate.printed.is_empty());
}

/// All readers, and what becomes of it in records.
fn check_import(text: &str) {
    for one in import(text).into_iter().flatten() {
        assert!(!one.metrics.is_empty() && !one.tools.is_empty());
        assert!(one.printed_text.chars().count() <= 20_000);
        let mut ids = BTreeSet::new();
        for metric in &one.metrics {
            assert!(metric.value.is_finite() && metric.value >= 0.0);
            assert!(ids.insert(&metric.id));
            let range = metric.low.zip(metric.high);
            assert!(range.is_none_or(|(low, high)| low < metric.value && metric.value < high));
        }
    }
}

fuzz_target!(|text: &str| {
    check_import(text);
    for reading in read_hdparm(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.span_ns > 0);
    }
    for reading in read_dd(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.span_ns > 0);
    }
    for reading in read_fio(text).into_iter().flatten() {
        usable(&reading.rate);
        assert!(reading.bytes > 0 && reading.operations_per_s.is_finite());
    }
    for reading in read_ddrescue(text).into_iter().flatten() {
        usable(&reading.average_rate);
    }
    let Ok(output) = read_iozone(text) else {
        return;
    };
    assert!(!output.rows.is_empty() || !output.threads.is_empty());
    for row in output.rows {
        assert!(!row.rates.is_empty());
        row.rates.iter().for_each(|figure| usable(&figure.rate));
    }
    for block in output.threads {
        usable(&block.children);
        let rates = [block.parent, block.min, block.max, block.avg];
        rates.iter().flatten().for_each(usable);
    }
});
