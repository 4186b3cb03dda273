//! Applications on a simulated card with a real filesystem: their rates follow from the model's duration of a
//! flush.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;

use cardmark_application::{Applications, WorkFolder};
use cardmark_core::Trial;
use cardmark_device::MonotonicClock;
use cardmark_engine::{Pulse, TrialContext, run_trial};
use cardmark_testkit::{Mount, SimCard, needs};

const BINARY: &str = env!("CARGO_BIN_EXE_cardmark-simfs");
/// Minimum duration of a flush if data is waiting; after a single write the model counts it as more than a
/// plain random one takes.
const FLUSH_NS: u64 = 6_000_000;
const SYNC: &str = "[sync]\nsetup_us = 7004.0\nvariation = 0.01\nflush_ms = 6.0";
const SYNC_OF_MODEL: &str = "[sync]\nsetup_us = 1900.0\nvariation = 0.25\nflush_ms = 6.0";
/// Maximum duration of an operation, as a multiple of its flushes: it also writes.
const MOST: u64 = 4;

/// The model a1-32gb, on which every flush costs about the same.
fn model(scratch: &Path) -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measure/sim/models");
    let text = std::fs::read_to_string(models.join("a1-32gb.toml")).unwrap();
    assert!(text.contains(SYNC_OF_MODEL));
    let path = scratch.join("model.toml");
    std::fs::write(&path, text.replace(SYNC_OF_MODEL, SYNC)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Flushes that the block device has completed: the 16th field of its counters.
fn flushes_count(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let told = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    told.split_whitespace().nth(15).unwrap().parse().unwrap()
}

/// A trial of that workload on the card, and the flushes of an operation as the device saw them.
fn trial(card: &SimCard, folder: &Path, id: &str) -> (Trial, f64) {
    let mut workload = cardmark_catalog::suite("application", None)
        .unwrap()
        .workload(id)
        .unwrap()
        .clone();
    workload.stop.least_span_ns = 1_000_000_000;
    let pulse = Arc::new(Pulse::new());
    let mut applications = Applications::new(folder, 5, Box::new(|| None), Arc::clone(&pulse));
    let mut clock = MonotonicClock::new();
    let context = TrialContext {
        limit_ns: 30_000_000_000,
        seed: 5,
        ..TrialContext::default()
    };
    // The files are made in the first.
    let first = run_trial(&mut applications, &mut clock, &pulse, &workload, context);
    assert_eq!(first.failure, None, "{id}");
    let before = flushes_count(card.path());
    let context = TrialContext {
        id: 1,
        next_block: first.next_block,
        ..context
    };
    let end = run_trial(&mut applications, &mut clock, &pulse, &workload, context);
    assert_eq!(end.failure, None, "{id}");
    let flushes = flushes_count(card.path()) - before;
    assert_eq!(applications.damages(), []);
    // Those of the ramp and of the drain are among them.
    let bytes = end.trial.bytes() + end.trial.untimed_bytes;
    let operations = bytes / workload.block_bytes;
    (end.trial, flushes as f64 / operations as f64)
}

#[test]
fn rates_follow_from_what_the_model_says_of_a_flush() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let card = SimCard::start(BINARY, &model(scratch.path()), 1 << 30, scratch.path());
    let mount = Mount::ext4_on(scratch.path(), card.path());
    let mut rates = Vec::new();
    // ext4 flushes once for an `fdatasync`, twice if its own journal has to be written before.
    for (id, least, most) in [
        ("sqlite_tps", 3.5, 8.0),
        ("sqlite_wal_tps", 0.9, 2.5),
        ("append_sync_per_s", 0.9, 2.5),
        ("files_per_s", 32.0, 70.0),
    ] {
        let folder = WorkFolder::create(mount.folder()).unwrap();
        let (trial, flushes) = trial(&card, folder.path(), id);
        let each_ns = trial.span_ns as f64 / trial.operations_count() as f64;
        println!(
            "{id}: {flushes:.2} flushes, {:.2} ms an operation",
            each_ns / 1e6
        );
        assert!((least..most).contains(&flushes), "{id}: {flushes} flushes");
        // One flush or so more or less at either end of the trial.
        let truth_ns = flushes * FLUSH_NS as f64;
        let bound = 0.9 * truth_ns..MOST as f64 * truth_ns;
        assert!(
            bound.contains(&each_ns),
            "{id}: {each_ns} ns, flushes {truth_ns} ns"
        );
        rates.push(1e9 / each_ns);
    }
    assert!(
        rates[1] > 1.5 * rates[0],
        "one flush is faster than four: {rates:?}"
    );
}
