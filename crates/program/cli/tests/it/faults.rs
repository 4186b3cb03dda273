//! Storage that fails while it is measured: figures are kept, and the failure is reported.

use std::time::Duration;

use cardmark_core::{FindingKind, MIB, Severity, StopReason};
use cardmark_testkit::{FuseDir, Program, needs};
use tempfile::TempDir;

use crate::common::{
    EIO, ENODEV, ENOSPC, QUICKEST, assert_empty, assert_partial, cut_short, finding, program,
    scratch, text, whole_count,
};

/// Trials of the layout.
const LAYOUT: usize = 4;

fn rig() -> (TempDir, Program, FuseDir) {
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    (scratch, program, card)
}

#[test]
fn the_layout_meets_an_error() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    card.fail_writes_beyond(150 * MIB, EIO);
    let output = program.run(&["run", text(card.path())]);
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::IoError);
    let trial = cut_short(&record);
    assert_eq!((trial.stopped_by, trial.layout), (StopReason::Error, true));
    let error = trial.errors[0];
    assert_eq!(error.offset_bytes, 150 * MIB);
    assert_eq!(error.errno, EIO);
    assert_eq!(whole_count(&record), 2);
    let found = finding(&record, FindingKind::IoError).unwrap();
    assert_eq!(found.severity, Severity::Error);
    let said = format!("(error 5) at byte {}", 150 * MIB);
    assert!(found.detail.ends_with(&said), "{}", found.detail);
    assert!(found.advice.is_some(), "{found:?}");
    assert!(output.stdout.contains("input/output error"), "{output}");
    card.await_empty();
    assert_empty(card.path());
}

#[test]
fn the_layout_meets_the_end_of_the_room() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    card.fail_writes_beyond(100 * MIB, ENOSPC);
    let output = program.run(&["run", text(card.path())]);
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::NoSpace);
    assert_eq!(cut_short(&record).errors[0].errno, ENOSPC);
    card.await_empty();
}

#[test]
fn one_workload_fails_and_the_others_go_on() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    let only = "--only=rand_write_4k,rand_read_4k";
    let running = program.start(&["run", text(card.path()), only]);
    running.hear("round 2");
    card.fail_writes_beyond(128 * MIB, EIO);
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::IoError);
    let found = finding(&record, FindingKind::IoError).unwrap();
    assert_eq!(found.workloads, ["rand_write_4k"]);
    let failed = record
        .trials
        .iter()
        .find(|trial| !trial.errors.is_empty())
        .unwrap();
    let error = failed.errors[0];
    assert_eq!(
        (failed.workload.id.as_str(), error.errno),
        ("rand_write_4k", EIO)
    );
    assert!(
        error.offset_bytes >= 128 * MIB && error.offset_bytes < 256 * MIB,
        "{error:?}"
    );
    let reads = record
        .trials
        .iter()
        .filter(|trial| trial.workload.id == "rand_read_4k");
    assert!(reads.filter(|trial| trial.is_whole()).count() >= 6);
    assert!(record.metric("rand_read_4k").unwrap().value > 0.0);
    card.await_empty();
}

#[test]
fn a_device_vanishes() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    let running = program.start(&["run", text(card.path()), QUICKEST]);
    running.hear("round 2");
    card.fail_all_after(100, ENODEV);
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::Vanished);
    let error = cut_short(&record).errors[0];
    assert_eq!(error.errno, ENODEV);
    assert!(error.offset_bytes < 256 * MIB);
    assert!(whole_count(&record) > LAYOUT);
    card.await_empty();
}

#[test]
fn a_device_vanishes_while_many_operations_are_under_way() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    let running = program.start(&["run", text(card.path()), "--only=rand_read_4k_q32"]);
    running.hear("round 2");
    card.fail_all_after(100, ENODEV);
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::Vanished);
    assert!(
        cut_short(&record)
            .errors
            .iter()
            .all(|error| error.errno == ENODEV)
    );
    card.await_empty();
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
fn an_answer_that_is_late_but_within_the_limit_is_measured() {
    needs!(Root, Fuse);
    let (_scratch, program, card) = rig();
    // In the layout, which has no ramp outside the clock.
    card.hang_after(20);
    let running = program.start(&["run", text(card.path()), QUICKEST, "--timeout=60"]);
    card.await_hanging();
    std::thread::sleep(Duration::from_millis(1100));
    card.release();
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    let slowest = program
        .last()
        .trials
        .iter()
        .map(|trial| trial.latency.max_ns)
        .max();
    assert!(slowest > Some(1_000_000_000), "{slowest:?}");
}
