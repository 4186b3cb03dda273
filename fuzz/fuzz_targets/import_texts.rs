//! No text makes the import panic or take long, and what it returns can be stored.
#![no_main]

use std::collections::BTreeSet;

use cardmark_core::Quantity;
use cardmark_import::{KnownMetric, figures, import};
use libfuzzer_sys::fuzz_target;

/// Most processor time for a text of 16 KiB, seconds: a hundred times what a linear reader takes.
const MOST_S: f64 = 2.0;

/// Processor time of this thread, as the kernel counts it.
fn processor_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse::<f64>().ok());
    ns.unwrap_or(0.0) / 1e9
}

fuzz_target!(|text: &str| {
    let begin = processor_s();
    let known = [
        KnownMetric::new("hdparm_t", Quantity::ByteRate),
        KnownMetric::new("rand_read_4k", Quantity::OperationRate),
    ];
    for one in import(text, &known).records {
        assert!(!one.metrics.is_empty() && !one.tools.is_empty());
        let mut ids = BTreeSet::new();
        for metric in &one.metrics {
            assert!(metric.value.is_finite() && metric.value >= 0.0);
            assert!(ids.insert(&metric.id));
            let range = metric.low.zip(metric.high);
            assert!(range.is_none_or(|(low, high)| low < metric.value && metric.value < high));
        }
    }
    assert!(processor_s() - begin < MOST_S, "too long");
    let _ = figures(&[("hdparm_t".to_owned(), text.to_owned())], &known);
});
