//! Signals to the program; what a stopped run keeps is in `crates/program/session/tests/it/stopping.rs`.

use cardmark_core::FindingKind;
use cardmark_testkit::{FuseDir, needs};
use rustix::process::Signal;

use crate::common::{assert_empty, assert_partial, folder, program, scratch, text, whole_count};

#[test]
fn a_signal_ends_a_run_whose_trials_are_kept() {
    for (signal, code) in [
        (Signal::INT, 130),
        (Signal::TERM, 143),
        // A closed terminal.
        (Signal::HUP, 143),
    ] {
        let scratch = scratch();
        let (program, folder) = (program(&scratch), folder(&scratch));
        // All workloads, so that the run goes on for long.
        let running = program.start(&["run", text(&folder)]);
        running.hear("part 2");
        running.signal(signal);
        let output = running.wait();
        assert_eq!(output.code, code, "{output}");
        let message = "what was measured is kept";
        assert!(output.stderr.contains(message), "{output}");
        assert!(output.stdout.contains("the run was stopped"), "{output}");
        assert!(whole_count(&assert_partial(&program, FindingKind::Interrupted)) >= 1);
        assert_empty(&folder);
    }
}

/// Signals reach the program also while the kernel waits for the device, and many operations are under way.
#[test]
fn a_second_ctrl_c_ends_at_once_and_the_journal_stays() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let running = program.start(&["run", text(card.path()), "--only=rand_read_4k_q32"]);
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
