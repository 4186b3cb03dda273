//! No text makes the reader of suites panic; what it accepts keeps the rules the engine relies on.
#![no_main]

use cardmark_catalog::parse_suite;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(suite) = parse_suite(text) else { return };
    assert_eq!(suite.check(), Ok(()));
    let layout = suite
        .workload(&suite.layout)
        .expect("the layout is a workload of the suite");
    assert!(layout.writes());
    for workload in &suite.workloads {
        assert!(workload.blocks_count() > 0);
        assert!(workload.span_bytes <= suite.file_bytes);
    }
});
