//! Runs that are stopped.

use std::time::Duration;

use cardmark_core::{FindingKind, StopReason};
use cardmark_testkit::{FuseDir, needs};
use rustix::process::Signal;

use crate::common::{
    assert_empty, assert_partial, cut_short, folder, program, scratch, text, whole_count,
};

#[test]
fn ctrl_c_ends_a_run_and_keeps_what_was_measured() {
    stopped_by(Signal::INT, 130);
}

#[test]
fn sigterm_ends_a_run_and_keeps_what_was_measured() {
    stopped_by(Signal::TERM, 143);
}

#[test]
fn a_closed_terminal_ends_a_run_and_keeps_what_was_measured() {
    stopped_by(Signal::HUP, 143);
}

fn stopped_by(signal: Signal, code: i32) {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    // All workloads, so that the run goes on for long after the third round begins.
    let running = program.start(&["run", text(&folder)]);
    running.hear("round 3");
    running.signal(signal);
    let output = running.wait();
    assert_eq!(output.code, code, "{output}");
    assert!(
        output.stderr.contains("what was measured is kept"),
        "{output}"
    );
    assert!(output.stdout.contains("the run was stopped"), "{output}");
    let record = assert_partial(&program, FindingKind::Interrupted);
    assert!(whole_count(&record) >= 6);
    assert_eq!(cut_short(&record).stopped_by, StopReason::Interrupted);
    assert!(record.metric("rand_read_4k").is_some());
    assert_empty(&folder);
}

#[test]
fn ctrl_c_in_the_layout() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let running = program.start(&["run", text(&folder)]);
    running.hear("part 1");
    running.signal(Signal::INT);
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    assert_partial(&program, FindingKind::Interrupted);
    assert_empty(&folder);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_the_journal_stays() {
    needs!(Root, Fuse);
    stopped_twice("rand_read_4k");
}

#[test]
fn a_second_ctrl_c_ends_at_once_with_many_operations_under_way() {
    needs!(Root, Fuse);
    stopped_twice("rand_read_4k_q32");
}

/// Signals reach the program also while the kernel waits for the device.
fn stopped_twice(workload: &str) {
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let only = format!("--only={workload}");
    let running = program.start(&["run", text(card.path()), &only]);
    running.hear("round 2");
    card.hang_after(0);
    card.await_hanging();
    running.signal(Signal::INT);
    running.hear("stopping at the next operation");
    running.signal(Signal::INT);
    // Were it not for the second signal, the run would be kept as any other that was stopped when
    // the device answers again.
    running.await_end_of_thread("watch");
    card.release();
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    assert_eq!(output.stdout, "", "{output}");
    assert_eq!(program.journals().len(), 1);
    assert_eq!(program.runs_count(), 0);
    let recovered = program.run(&["recover"]);
    assert_eq!(recovered.code, 0, "{recovered}");
    let record = assert_partial(&program, FindingKind::Interrupted);
    assert!(whole_count(&record) >= 5);
    card.await_empty();
    assert_empty(card.path());
}

/// As `timeout` sends it: to the program, and at once to its group.
#[test]
fn two_sigterms_at_once_are_one() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let running = program.start(&["run", text(card.path()), "--only=rand_read_4k"]);
    running.hear("round 2");
    card.hang_after(0);
    card.await_hanging();
    running.signal(Signal::TERM);
    running.signal(Signal::TERM);
    running.hear("stopping at the next operation");
    card.release();
    let output = running.wait();
    assert_eq!(output.code, 143, "{output}");
    assert!(program.journals().is_empty());
    assert_partial(&program, FindingKind::Interrupted);
    card.await_empty();
}

/// The operation is under way for longer than the limit, but the program was not there to see it.
#[test]
fn a_paused_program_blames_no_card() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let target = text(card.path());
    let running = program.start(&["run", target, "--only=rand_read_4k", "--timeout=3"]);
    running.hear("round 2");
    card.hang_after(0);
    card.await_hanging();
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(5));
    card.release();
    running.signal(Signal::CONT);
    let output = running.wait();
    assert!(!output.stderr.contains("has not answered"), "{output}");
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::Interrupted);
    let mut findings = record.findings.iter();
    assert!(findings.all(|finding| finding.kind != FindingKind::NoAnswer));
    card.await_empty();
}
