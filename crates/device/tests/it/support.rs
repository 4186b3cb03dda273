//! What the tests share.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use cardmark_core::{Flush, Order, Payload, StopRule, Workload};
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
        },
        latency_metrics: true,
    }
}

/// A back end on a fresh file in `directory`, and a buffered look at that file.
pub(crate) fn backend_in(directory: &Path, seed: u64) -> (RealBackend, File) {
    let file = TestFile::create(directory, 64 << 20).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let look = File::options().read(true).write(true).open(path).unwrap();
    (RealBackend::new(file, seed, Box::new(|| None)), look)
}

/// Whether a need of a test that the testkit does not know is met; a missing one is printed, and a failure under
/// `CARDMARK_REQUIRE=all`.
pub(crate) fn has(need: &str, is_met: bool) -> bool {
    if !is_met {
        assert!(
            std::env::var_os("CARDMARK_REQUIRE").is_none_or(|v| v != "all"),
            "needs {need}"
        );
        // Past the test runner, which hides what passing tests print.
        let _ = writeln!(std::io::stderr(), "skip: device needs {need}");
    }
    is_met
}

/// Runs one test of this binary as user 65534, from a copy that this user may read.
pub(crate) fn run_as_nobody(test: &str) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
    let copy = directory.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(&copy)
        .arg(test)
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
