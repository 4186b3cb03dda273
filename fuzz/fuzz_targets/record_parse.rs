//! What can be read can be written, and reads the same again.
#![no_main]

use cardmark_core::{parse_record, record_to_json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(record) = parse_record(text) else {
        return;
    };
    let written = record_to_json(&record).expect("a record that was read can be written");
    let again = parse_record(&written).expect("a record that was written can be read");
    assert_eq!(again, record);
    assert_eq!(record_to_json(&again).ok(), Some(written));
});
