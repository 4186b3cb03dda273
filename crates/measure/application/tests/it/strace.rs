//! Number of flushes of an operation, as seen by the kernel.

use std::process::Command;
use std::sync::Arc;

use cardmark_engine::Backend;
use cardmark_testkit::needs;

use crate::support::{SEED, applications, scratch, work, workload};

/// Workload and number of operations for the inner run.
const INNER: &str = "CARDMARK_TRACED";

/// Run under `strace` by the other tests; does nothing otherwise.
#[test]
fn inner() {
    let Ok(asked) = std::env::var(INNER) else {
        return;
    };
    let (id, count) = asked.split_once(' ').unwrap();
    let (scratch, pulse) = (scratch(), Arc::default());
    let workload = workload(id);
    let mut applications = applications(scratch.path(), SEED, &pulse);
    applications.prepare(&workload).unwrap();
    work(&mut applications, &workload, count.parse().unwrap());
}

/// Returns the number of flushes in a run of `count` operations.
fn flushes(id: &str, count: u64) -> usize {
    let scratch = scratch();
    let log = scratch.path().join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]);
    command.arg(&log).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "strace::inner", "--test-threads=1"]);
    command.env(INNER, format!("{id} {count}"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(log).unwrap();
    log.lines()
        .filter(|line| line.contains(") ") && line.ends_with("= 0"))
        .count()
}

/// Returns the flushes of one operation, from the difference of two runs; all other flushes cancel out.
fn flushes_each(id: &str, few: u64, many: u64) -> f64 {
    let (first, second) = (flushes(id, few), flushes(id, many));
    (second - first) as f64 / (many - few) as f64
}

#[test]
fn each_operation_flushes_as_often_as_the_method_says() {
    needs!(Strace);
    for (id, expected) in [
        ("sqlite_tps", 4.0),
        ("files_per_s", 33.0),
        ("append_sync_per_s", 1.0),
    ] {
        let each = flushes_each(id, 5, 15);
        assert!((each - expected).abs() < 1e-9, "{id}: {each}");
    }
    // Not enough operations for the log to be moved into the database.
    let each = flushes_each("sqlite_wal_tps", 5, 45);
    assert!((each - 1.0).abs() < 1e-9, "sqlite_wal: {each}");
    // Each transaction adds some pages, which is enough for several moves, each with three more flushes: log,
    // database, and the log's new head.
    let extra = flushes("sqlite_wal_tps", 1000) - flushes("sqlite_wal_tps", 5) - 995;
    assert!(
        (6..=30).contains(&extra) && extra.is_multiple_of(3),
        "{extra}"
    );
}
