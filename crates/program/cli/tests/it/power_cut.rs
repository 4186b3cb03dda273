//! power-cut as a process: its log as standard output, and what it prints. Its rules are tested in `session`.

use std::fs;

use cardmark_core::StorageKind;
use cardmark_testkit::{FuseDir, Syncs, needs};
use rustix::process::Signal;

use crate::common::{assert_error, program, scratch, text};

/// Syncs before the first write: of the mark, and of the file.
const SYNCS_BEFORE: u64 = 2;
/// Number of acknowledged writes before a cut.
const WRITES: u64 = 150;

/// As through `ssh`: the log is standard output, and is read from a file later.
#[test]
fn the_log_can_be_standard_output() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    card.cut_after_syncs(SYNCS_BEFORE + WRITES, Syncs::Store);
    let target = text(card.path());
    let output = program.run(&["power-cut", target, "--log", "-", "--size", "1MiB"]);
    card.restore_power();
    assert_eq!(output.code, 0, "{output}");
    let mut lines = output.stdout.lines();
    let is_acknowledged = |line: &&str| line.starts_with("ack ");
    assert_eq!(
        lines.by_ref().filter(is_acknowledged).count() as u64,
        WRITES
    );
    let log = program.file("acknowledged.log");
    fs::write(&log, &output.stdout).unwrap();
    let checked = program.run(&[
        "power-cut",
        target,
        "--log",
        text(&log),
        "--check",
        "--json",
    ]);
    assert_eq!(checked.code, 0, "{checked}");
    let found = checked.record().integrity.unwrap();
    assert_eq!(found.kind, StorageKind::Durable);
    assert_eq!(found.acknowledged_count, Some(WRITES));
    let shown = program.run(&["show"]).stdout;
    assert!(
        shown.contains("Kept all 150 acknowledged writes"),
        "{shown}"
    );
    let listed = program.run(&["list"]).stdout;
    assert!(listed.contains("kept acknowledged writes"), "{listed}");
}

#[test]
fn ctrl_c_ends_it_without_a_cut() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let log = program.file("acknowledged.log");
    let words = ["power-cut", text(card.path()), "--log", text(&log)];
    let running = program.start(&[&words[..], &["--size", "1MiB"]].concat());
    running.hear("ready: cut the power now");
    running.signal(Signal::INT);
    let stopped = running.wait();
    assert_eq!(stopped.code, 130, "{stopped}");
    assert!(stopped.stderr.contains("without a power cut"), "{stopped}");
    let checked = program.run(&[&words[..], &["--check"]].concat());
    assert_error(&checked, 3, &["cannot tell", "no power cut was seen"]);
    assert_eq!(program.runs_count(), 0);
}

#[test]
fn losses_of_a_simulated_card_end_with_1() {
    let program_folder = scratch();
    let program = program(&program_folder);
    let output = program.run(&["power-cut", "sim:lying-32gb"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("LOST "), "{output}");
    let missing = program.run(&["power-cut", text(program_folder.path())]);
    assert_error(&missing, 2, &["no log of acknowledged writes"]);
}
