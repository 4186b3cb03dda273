//! No text makes the reader of suites panic; what it accepts keeps the rules the engine relies on.
#![no_main]

use cardmark_catalog::parse_suite;
use cardmark_core::{Object, TargetNeed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(suite) = parse_suite(text) else { return };
    assert_eq!(suite.check(), Ok(()));
    // What works on files has procedures in the place of a layout.
    let has_procedures = suite.needs == TargetNeed::Filesystem;
    assert!(
        suite
            .workloads
            .iter()
            .all(|workload| workload.procedure.is_some() == has_procedures)
    );
    if suite.passes.is_none() && !has_procedures {
        let layout = suite
            .workload(&suite.layout)
            .expect("the layout is a workload of the suite");
        assert!(layout.writes());
    }
    for workload in &suite.workloads {
        assert!((1..=256).contains(&workload.in_flight_count()));
        // A span of 0 is the whole object, whose size is known only later.
        if workload.span_bytes > 0 && workload.manner.object == Object::Target {
            assert!(workload.blocks_count() > 0);
            let streams = u64::from(workload.manner.streams_count);
            assert!(workload.span_bytes * streams <= suite.file_bytes);
        }
    }
    for figure in &suite.figures {
        assert!(suite.workload(&figure.workload).is_some());
    }
});
