//! No text makes the import panic, and what it returns can be stored.
#![no_main]

use std::collections::BTreeSet;

use cardmark_core::Quantity;
use cardmark_import::{KnownMetric, figures, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
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
    let _ = figures(&[("hdparm_t".to_owned(), text.to_owned())], &known);
});
