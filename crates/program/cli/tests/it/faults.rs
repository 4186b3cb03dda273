//! Storage that fails while it is measured, as a process: only its end shows that a device does not answer. Other failures are
//! tested in `session`.

use cardmark_core::{FindingKind, MIB, StorageKind};
use cardmark_testkit::{FuseDir, Program, needs};
use tempfile::TempDir;

use crate::common::{
    EIO, assert_empty, assert_error, assert_partial, finding, program, scratch, text, whole_count,
};

/// Trials of the layout.
const LAYOUT: usize = 4;

fn rig() -> (TempDir, Program, FuseDir) {
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    (scratch, program, card)
}

#[test]
fn an_error_is_printed_and_ends_with_3() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    card.fail_writes_beyond(150 * MIB, EIO);
    let output = program.run(&["run", text(card.path())]);
    assert_error(&output, 3, &["the run is not complete"]);
    assert!(output.stdout.contains("input/output error"), "{output}");
    assert_partial(&program, FindingKind::IoError);
}

#[test]
fn a_device_stops_answering() {
    needs!(Root, Fuse);
    stops_answering("rand_read_4k");
}

#[test]
fn a_device_stops_answering_many_operations() {
    needs!(Root, Fuse);
    stops_answering("rand_read_4k_q32");
}

fn stops_answering(workload: &str) {
    let (_scratch, program, card) = rig();
    let only = format!("--only={workload}");
    let running = program.start(&["run", text(card.path()), &only, "--timeout=8"]);
    running.hear("round 2");
    card.hang_after(100);
    card.await_hanging();
    running.hear("error: the device has not answered for 8 s");
    running.hear("cause: the kernel still waits for an operation");
    running.hear("saved: `cardmark show ");
    // The record is safe while the kernel still waits.
    let record = assert_partial(&program, FindingKind::NoAnswer);
    let found = finding(&record, FindingKind::NoAnswer).unwrap();
    assert!(found.advice.is_some(), "{found:?}");
    assert!(whole_count(&record) > LAYOUT);
    assert!(
        record.metric(workload).is_some(),
        "what ended before is kept"
    );
    card.release();
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    assert_partial(&program, FindingKind::NoAnswer);
    card.await_empty();
    assert_empty(card.path());
}

#[test]
fn a_device_that_stops_answering_during_a_test_leaves_a_record() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    card.hang_after(40);
    let running = program.start(&["verify", text(card.path()), "--size=64MiB", "--timeout=5"]);
    card.await_hanging();
    running.hear("error: the device has not answered for 5 s");
    running.hear("saved: `cardmark show ");
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert!(
        finding(&record, FindingKind::NoAnswer).is_some(),
        "{:?}",
        record.findings
    );
    let kind = record.integrity.as_ref().map(|found| found.kind);
    assert_eq!(kind, Some(StorageKind::Unfinished));
    card.release();
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    // The test itself can continue.
    assert_eq!(program.journals().len(), 1);
}
