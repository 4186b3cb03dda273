//! Helpers shared by the tests.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use cardmark_core::{Flush, Manner, Order, Payload, StopRule, Workload};
use cardmark_device::{RealBackend, TestFile};

pub(crate) const BLOCK: u32 = 4096;

/// A workload of 4 KiB blocks in 1 MiB.
pub(crate) fn workload(read_share_percent: u8, queue_depth: u32) -> Workload {
    Workload {
        id: "test".to_owned(),
        read_share_percent,
        order: Order::Random,
        block_bytes: u64::from(BLOCK),
        queue_depth,
        span_bytes: 1 << 20,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: 20_000_000,
            least_operations_count: 100,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        latency_metrics: true,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    }
}

/// Returns a back end on a fresh file in `directory`, and a buffered handle to that file.
pub(crate) fn backend_in(directory: &Path, seed: u64) -> (RealBackend, File) {
    let file = TestFile::create(directory, 64 << 20).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let look = File::options().read(true).write(true).open(path).unwrap();
    (RealBackend::new(file, seed, Box::new(|| None)), look)
}

/// Returns whether a need of a test that the testkit does not know is met; an unmet one is printed, and is a
/// failure under `CARDMARK_REQUIRE=all`.
pub(crate) fn has(need: &str, is_met: bool) -> bool {
    if !is_met {
        assert!(
            std::env::var_os("CARDMARK_REQUIRE").is_none_or(|v| v != "all"),
            "needs {need}"
        );
        // Bypasses the test runner, which hides the output of passing tests.
        let _ = writeln!(std::io::stderr(), "skip: device needs {need}");
    }
    is_met
}
