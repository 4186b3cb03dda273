//! A record that can be read can be written, reads equal when read again, and has figures that can be derived.
#![no_main]

use cardmark_core::{parse_record, record_to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(mut record) = parse_record(text) else {
        return;
    };
    // Read from records of earlier versions, and written to none.
    record.labels.clear();
    let written = record_to_json(&record).expect("a record that was read can be written");
    let again = parse_record(&written).expect("a record that was written can be read");
    assert_eq!(again, record);
    assert_eq!(record_to_json(&again).ok(), Some(written));
    let suite = record.suite.as_ref();
    let Some(Ok(suite)) =
        suite.map(|suite| cardmark_catalog::suite(&suite.name, Some(suite.version)))
    else {
        return;
    };
    let mut derived = record;
    cardmark_stats::refresh(&mut derived, &suite);
    // Sums of spans that no run has may be too large for a record.
    let written = record_to_json(&derived).map_err(|error| error.to_string());
    let is_large = |error: &String| error.contains("an integer beyond");
    assert!(written.as_ref().err().is_none_or(is_large), "{written:?}");
});
