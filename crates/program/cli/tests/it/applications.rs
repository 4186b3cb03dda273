//! The suite `application`: what people feel, on files.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use cardmark_core::{FindingKind, IntervalKind, Quantity, Severity};
use cardmark_testkit::{LoopDevice, Mount, needs};
use rustix::process::Signal;

use crate::common::{
    MIB, assert_empty, assert_error, assert_nothing_kept, assert_partial, cut_short, finding,
    folder, program, scratch, text, whole_count,
};

const METRICS: [&str; 4] = [
    "sqlite_tps",
    "sqlite_wal_tps",
    "files_per_s",
    "append_sync_per_s",
];
const SUITE: &str = "--suite=application";
/// Longest time until a card that is full ends a run.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_run_measures_what_was_asked_for_and_leaves_nothing() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let only = "--only=files_per_s,append_sync_per_s";
    let output = program.run(&["run", text(&folder), SUITE, only, "--seed=1", "--json=-"]);
    assert_eq!(output.code, 0, "{output}");
    assert_empty(&folder);
    let record = output.record();
    assert_eq!(record.target.as_ref().unwrap().span_bytes, 32 * MIB);
    let files = record.metric("files_per_s").unwrap();
    assert_eq!(files.quantity, Quantity::OperationRate);
    assert_eq!(files.interval_kind, IntervalKind::BetweenRounds);
    assert!(record.metric("sqlite_tps").is_none());
    // A package is 32 files: the figure against the trials it rests on.
    let installs = || {
        record
            .trials
            .iter()
            .filter(|t| t.workload.id == "files_per_s")
    };
    assert!(installs().count() >= 6);
    let packages: u64 = installs().map(|trial| trial.operations_count()).sum();
    let span: u64 = installs().map(|trial| trial.span_ns).sum();
    let rate = 32e9 * packages as f64 / span as f64;
    assert!((files.value / rate - 1.0).abs() < 1e-8);
    assert!(files.low.unwrap() < files.value && files.value < files.high.unwrap());
    assert!(record.metric("files_per_s_p50").is_some());
    assert!(record.metric("append_sync_per_s_max").is_some());
    let error = |f: &&cardmark_core::Finding| f.severity == Severity::Error;
    assert_eq!(record.findings.iter().find(error), None);
    // The first trial of packages made their files as well.
    let first = installs().next().unwrap();
    let bytes = first.bytes() + first.untimed_bytes + 8 * first.workload.block_bytes;
    assert_eq!(first.written_bytes, bytes);
    assert_eq!(program.runs_count(), 1);
}

#[test]
fn a_run_that_is_stopped_keeps_all_four_figures_and_no_files() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let running = program.start(&["run", text(&folder), SUITE]);
    running.hear("round 3");
    assert!(work_folder(&folder).join("sqlite_tps.db").is_file());
    running.signal(Signal::INT);
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    assert!(
        output.stdout.contains("SQLite transactions, WAL"),
        "{output}"
    );
    let record = assert_partial(&program, FindingKind::Interrupted);
    assert!(whole_count(&record) >= 8);
    assert!(!cut_short(&record).is_whole());
    for metric in METRICS {
        let metric = record.metric(metric).unwrap();
        assert!(metric.value > 0.0, "{}", metric.id);
    }
    assert_empty(&folder);
}

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
fn where_there_is_no_filesystem_it_says_what_to_do() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:a1-32gb", SUITE]);
    assert_error(
        &output,
        2,
        &[
            "suite `application` needs files in a directory",
            "hint: `cardmark-simfs` plays a simulated card",
        ],
    );
    assert_nothing_kept(&program, &output);
    let folder = folder(&scratch);
    let output = program.run(&["run", text(&folder), SUITE, "--read-only"]);
    assert_error(&output, 2, &["cannot measure a directory read-only"]);
    let output = program.run(&["run", text(&folder), SUITE, "--only=seq_read_1m"]);
    assert_error(
        &output,
        2,
        &["it has sqlite_tps, sqlite_wal_tps, files_per_s"],
    );
    assert_empty(&folder);
}

#[test]
fn a_raw_device_is_not_written() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let image = scratch.path().join("image");
    std::fs::write(&image, vec![7; 64 << 20]).unwrap();
    let device = LoopDevice::attach(&image, true);
    let output = program.run(&["run", text(device.path()), SUITE]);
    assert_error(
        &output,
        2,
        &[
            "suite `application` needs files in a directory",
            "hint: mount a filesystem of the device",
        ],
    );
    assert_nothing_kept(&program, &output);
    drop(device);
    let held = std::fs::read(&image).unwrap();
    assert!(held.iter().all(|&byte| byte == 7));
}

#[test]
fn a_full_or_read_only_filesystem_is_told_before() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let (program, card) = (program(&scratch), Mount::ext4(scratch.path(), 96 * MIB));
    let output = program.run(&["run", text(card.folder()), SUITE]);
    let needed = "96 MiB are needed, 64 MiB of it to leave the filesystem room";
    assert_error(&output, 3, &["not enough room", needed]);
    assert_nothing_kept(&program, &output);
    assert_empty(card.folder());
    card.make_read_only();
    let output = program.run(&["run", text(card.folder()), SUITE]);
    assert_error(&output, 3, &["is read-only"]);
}

#[test]
fn a_card_that_fills_up_meanwhile_leaves_a_partial_record() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let (program, card) = (program(&scratch), Mount::ext4(scratch.path(), 160 * MIB));
    let mut running = program.start(&["run", text(card.folder()), SUITE, "--only=files_per_s"]);
    running.hear("round 2");
    let mut theirs = File::create_new(card.folder().join("theirs")).unwrap();
    // Each package gives the room of its former files back: only one who keeps taking it fills the
    // card up.
    while !running.has_ended() && running.started().elapsed() < PATIENCE {
        if theirs.write_all(&[0; 4096]).is_err() {
            sleep(Duration::from_millis(1));
        }
    }
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::NoSpace);
    assert!(whole_count(&record) >= 1);
    let left: Vec<_> = std::fs::read_dir(card.folder()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
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

#[test]
fn more_written_than_handed_over_is_no_other_user_of_the_device() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let (program, card) = (program(&scratch), Mount::ext4(scratch.path(), 160 * MIB));
    let output = program.run(&[
        "run",
        text(card.folder()),
        SUITE,
        "--only=sqlite_tps",
        "--json=-",
    ]);
    assert_eq!(output.code, 0, "{output}");
    let record = output.record();
    assert!(finding(&record, FindingKind::SharedDevice).is_none());
    assert!(finding(&record, FindingKind::NotReached).is_none());
    let trial = record.trials.last().unwrap();
    let written = trial.device_counters.unwrap().write_bytes;
    // A transaction touches at least a leaf each of table and index, and their old state goes to the
    // journal: pages of 4 KiB.
    let each = written / trial.operations_count();
    assert!((4 * 4096..40 * 4096).contains(&each), "{each}");
}
