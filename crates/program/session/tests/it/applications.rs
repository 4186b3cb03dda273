//! The suite `application`: what people feel, on files.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cardmark_core::{FindingKind, IntervalKind, Quantity, Severity};
use cardmark_session::Exit;
use cardmark_testkit::{Mount, needs};

use crate::card::Card;
use crate::directories::{assert_empty, assert_refused};
use crate::run::{Run, finding, trial, whole_count};
use crate::world::{Act, MIB, Person, World, text};

const METRICS: [&str; 4] = [
    "sqlite_tps",
    "sqlite_wal_tps",
    "files_per_s",
    "append_sync_per_s",
];

fn applications(target: &str) -> Run<'_> {
    Run::of(target).suite("application")
}

/// The folder that a run works in.
fn work_folder(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).unwrap();
    entries.next().expect("a folder").unwrap().path()
}

#[test]
fn a_run_measures_what_was_asked_for_and_leaves_nothing() {
    let world = World::new();
    let folder = world.folder("card");
    let run = applications(text(&folder)).only(&["files_per_s", "append_sync_per_s"]);
    let ended = run.execute(&world);
    ended.assert_exit(Exit::Done);
    assert_empty(&folder);
    let record = world.kept();
    assert_eq!(record.target.as_ref().unwrap().span_bytes, 32 * MIB);
    let files = record.metric("files_per_s").unwrap();
    assert_eq!(files.quantity, Quantity::OperationRate);
    assert_eq!(files.interval_kind, IntervalKind::BetweenRounds);
    assert!(record.metric("sqlite_tps").is_none());
    // A package is 32 files: the figure against the trials it rests on.
    let trials = ended.record().trials.iter();
    let installs: Vec<_> = trials.filter(|t| t.workload.id == "files_per_s").collect();
    assert!(installs.len() >= 6);
    let packages: u64 = installs.iter().map(|trial| trial.operations_count()).sum();
    let span: u64 = installs.iter().map(|trial| trial.span_ns).sum();
    let rate = 32e9 * packages as f64 / span as f64;
    assert!((files.value / rate - 1.0).abs() < 1e-8);
    assert!(files.low.unwrap() < files.value && files.value < files.high.unwrap());
    assert!(record.metric("files_per_s_p50").is_some());
    assert!(record.metric("append_sync_per_s_max").is_some());
    let mut findings = record.findings.iter();
    assert_eq!(findings.find(|f| f.severity == Severity::Error), None);
    // The first trial of packages made their files as well.
    let first = installs[0];
    let bytes = first.bytes() + first.untimed_bytes + 8 * first.workload.block_bytes;
    assert_eq!(first.written_bytes, bytes);
}

#[test]
fn a_run_that_is_stopped_keeps_all_four_figures_and_no_files() {
    let world = World::new();
    let folder = world.folder("card");
    let there = folder.clone();
    let stop = Act::Do(Box::new(move |pulse| {
        assert!(work_folder(&there).join("sqlite_tps.db").is_file());
        pulse.stop();
    }));
    // When the third round begins.
    let person = Person::absent().at(trial(2 * METRICS.len() + 1), stop);
    let ended = applications(text(&folder)).attended(&world, person);
    let record = world.partial(&ended, FindingKind::Interrupted);
    assert_eq!(whole_count(&record), 2 * METRICS.len());
    for metric in METRICS {
        let metric = record.metric(metric).unwrap();
        assert!(metric.value > 0.0, "{}", metric.id);
    }
    assert_empty(&folder);
}

#[test]
fn without_a_filesystem_it_says_what_to_do() {
    needs!(Root, LoopDevice);
    let card = Card::new(64 * MIB);
    let world = &card.world;
    let folder = world.folder("card");
    let needs_files = "suite `application` needs files in a directory";
    let on_folder = || applications(text(&folder));
    for (run, parts) in [
        (
            applications("sim:a1-32gb"),
            [needs_files, "hint: `cardmark-simfs` plays a simulated card"],
        ),
        (
            applications(card.name()),
            [needs_files, "hint: mount a filesystem of the device"],
        ),
        (
            on_folder().read_only(),
            ["cannot measure a directory read-only", ""],
        ),
        (
            on_folder().only(&["seq_read_1m"]),
            ["it has sqlite_tps, sqlite_wal_tps, files_per_s", ""],
        ),
    ] {
        assert_refused(world, &run.execute(world), Exit::Usage, &parts);
    }
    assert_empty(&folder);
    assert!(card.is_untouched());
}

#[test]
fn a_full_or_read_only_filesystem_is_reported_before() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4(world.scratch.path(), 96 * MIB);
    let run = applications(text(card.folder()));
    let needed = "96 MiB are needed, 64 MiB of it to leave the filesystem room";
    let parts = ["not enough room", needed];
    assert_refused(&world, &run.execute(&world), Exit::Trouble, &parts);
    assert_empty(card.folder());
    card.make_read_only();
    assert_refused(
        &world,
        &run.execute(&world),
        Exit::Trouble,
        &["is read-only"],
    );
}

/// Sets it on drop.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_card_that_fills_up_meanwhile_leaves_a_partial_record() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4(world.scratch.path(), 160 * MIB);
    let theirs = card.folder().join("theirs");
    // Each package gives the room of its former files back: only one who keeps taking it fills the card up.
    let is_over = Arc::new(AtomicBool::new(false));
    let (begin, begun) = std::sync::mpsc::channel();
    let person = Person::absent().at(trial(2), Act::of(move || begin.send(()).unwrap()));
    let ended = std::thread::scope(|scope| {
        let of_greedy = Arc::clone(&is_over);
        let _over = Over(&is_over);
        scope.spawn(move || {
            if begun.recv().is_err() {
                return;
            }
            let mut theirs = File::create_new(theirs).unwrap();
            while !of_greedy.load(Ordering::Relaxed) {
                if theirs.write_all(&[0; 4096]).is_err() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let run = applications(text(card.folder())).only(&["files_per_s"]);
        run.attended(&world, person)
    });
    let record = world.partial(&ended, FindingKind::NoSpace);
    assert!(whole_count(&record) >= 1);
    let left: Vec<_> = std::fs::read_dir(card.folder()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn more_written_than_handed_over_is_no_other_user_of_the_device() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4(world.scratch.path(), 160 * MIB);
    let run = applications(text(card.folder())).only(&["sqlite_tps"]);
    let ended = run.execute(&world);
    ended.assert_exit(Exit::Done);
    let record = ended.record();
    assert!(finding(record, FindingKind::SharedDevice).is_none());
    assert!(finding(record, FindingKind::NotReached).is_none());
    let trial = record.trials.last().unwrap();
    let written = trial.device_counters.unwrap().write_bytes;
    // A transaction touches at least a leaf each of table and index, and their old state goes to the
    // journal: pages of 4 KiB.
    let each = written / trial.operations_count();
    assert!((4 * 4096..40 * 4096).contains(&each), "{each}");
}
