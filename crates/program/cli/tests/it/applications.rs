//! The suite `application` as a process: after a kill, and on a card that does not answer. Its rules are tested in `session`.

use std::path::Path;

use cardmark_core::FindingKind;
use cardmark_testkit::{Mount, needs};
use rustix::process::Signal;

use crate::common::{MIB, assert_empty, assert_partial, folder, program, scratch, text};

const SUITE: &str = "--suite=application";

/// The folder that a run works in.
fn work_folder(folder: &Path) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(folder).unwrap();
    entries.next().expect("a folder").unwrap().path()
}

#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let only = "--only=append_sync_per_s";
    let running = program.start(&["run", text(&folder), SUITE, only]);
    running.hear("round 2");
    running.signal(Signal::KILL);
    let _ = running.wait();
    let left = work_folder(&folder);
    assert!(left.join("append_sync_per_s.log").is_file());
    let output = program.run(&["run", text(&folder), SUITE, only]);
    assert_eq!(output.code, 0, "{output}");
    let name = left.file_name().unwrap().to_str().unwrap();
    let said = format!("removed what an interrupted run left: {}", text(&left));
    assert!(output.stderr.contains(&said), "{name}: {output}");
    assert_empty(&folder);
}

#[test]
fn a_card_that_does_not_answer_leaves_a_partial_record() {
    needs!(Root, LoopDevice, Ext4, Freeze);
    let scratch = scratch();
    let (program, card) = (program(&scratch), Mount::ext4(scratch.path(), 160 * MIB));
    let arguments = ["run", text(card.folder()), SUITE, "--timeout=4"];
    let running = program.start(&[&arguments[..], &["--only=append_sync_per_s"]].concat());
    running.hear("round 2");
    let frozen = card.freeze();
    running.hear("the device has not answered for 4 s");
    running.hear("saved: ");
    drop(frozen);
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::NoAnswer);
    assert!(record.metric("append_sync_per_s").is_some());
    // It could not be removed then.
    let left = work_folder(card.folder());
    let output = program.run(&[
        "run",
        text(card.folder()),
        SUITE,
        "--only=append_sync_per_s",
    ]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains(text(&left)), "{output}");
    assert_empty(card.folder());
}
