//! power-cut: on filesystems that lose their volatile cache at a chosen write, and on simulated cards.

use std::fs;
use std::path::Path;

use cardmark_core::{IntegrityTest, Record, StorageKind, VerdictOutcome};
use cardmark_integrity::{CutBegin, LogLine};
use cardmark_testkit::{FuseDir, LoopDevice, Mount, Output, Program, Syncs, needs};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{MIB, assert_error, folder, program, scratch, text};

/// Syncs before the first write: of the mark, and of the file.
const SYNCS_BEFORE: u64 = 2;
/// Number of acknowledged writes before a cut.
const WRITES: u64 = 150;

/// A card in a directory, and a log beside it.
struct Rig {
    program: Program,
    card: FuseDir,
    log: String,
    _scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        let scratch = scratch();
        Self {
            program: program(&scratch),
            card: FuseDir::mount(scratch.path()),
            log: text(&scratch.path().join("acknowledged.log")).to_owned(),
            _scratch: scratch,
        }
    }

    /// Writes until the power fails after the n-th acknowledged write.
    fn cut(&self, syncs: Syncs) -> Output {
        self.card.cut_after_syncs(SYNCS_BEFORE + WRITES, syncs);
        let target = text(self.card.path());
        let arguments = ["power-cut", target, "--log", &self.log, "--size", "1MiB"];
        let output = self.program.run(&arguments);
        self.card.restore_power();
        output
    }

    fn check(&self) -> Output {
        check(&self.program, self.card.path(), &self.log)
    }
}

fn check(program: &Program, folder: &Path, log: &str) -> Output {
    program.run(&["power-cut", text(folder), "--log", log, "--check", "--json"])
}

fn counts(record: &Record) -> (Option<u32>, Option<u64>, Option<u64>, Option<u64>) {
    let found = record.integrity.as_ref().unwrap();
    assert_eq!(found.test, IntegrityTest::PowerCut);
    (
        found.cuts_count,
        found.acknowledged_count,
        found.lost_acknowledged_count,
        found.collateral_count,
    )
}

fn kind(record: &Record) -> StorageKind {
    record.integrity.as_ref().unwrap().kind
}

#[test]
fn a_filesystem_that_stores_with_each_sync_keeps_everything() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let output = rig.cut(Syncs::Store);
    assert_eq!(output.code, 0, "{output}");
    let said = format!("the device is gone after {WRITES} acknowledged writes");
    assert!(output.stderr.contains(&said), "{output}");
    let checked = rig.check();
    assert_eq!(checked.code, 0, "{checked}");
    // The cut was in the middle of a write: half of it is there.
    assert!(
        checked
            .stderr
            .contains("0 writes are there, 1 are partly there"),
        "{checked}"
    );
    let record = checked.record();
    assert_eq!(kind(&record), StorageKind::Durable);
    assert_eq!(counts(&record), (Some(1), Some(WRITES), Some(0), Some(0)));
    let target = record.target.as_ref().unwrap();
    assert!(target.filesystem.as_deref().unwrap().starts_with("fuse"));
    let shown = rig.program.run(&["show"]);
    assert!(
        shown
            .stdout
            .contains("Kept all 150 acknowledged writes through 1 power cut"),
        "{shown}"
    );
    let listed = rig.program.run(&["list"]);
    assert!(
        listed.stdout.contains("kept acknowledged writes"),
        "{listed}"
    );
}

#[test]
fn a_filesystem_that_ignores_syncs_loses_acknowledged_writes() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let output = rig.cut(Syncs::Ignored);
    assert_eq!(output.code, 0, "{output}");
    let checked = rig.check();
    assert_eq!(checked.code, 1, "{checked}");
    // The last 64 writes are gone, to all 64 places; the cut hit one of these.
    let record = checked.record();
    assert_eq!(kind(&record), StorageKind::LosesAcknowledged);
    let (cuts, acknowledged, lost, collateral) = counts(&record);
    assert_eq!(
        (cuts, acknowledged, collateral),
        (Some(1), Some(WRITES), Some(0))
    );
    assert!((63..=64).contains(&lost.unwrap()), "{checked}");
    assert!(
        checked
            .stderr
            .contains("lost: write 150, acknowledged 0.000 s before"),
        "{checked}"
    );
    let shown = rig.program.run(&["show"]);
    assert!(
        shown.stdout.contains("acknowledges before data are safe"),
        "{shown}"
    );
    assert!(!shown.stdout.contains("95 % sure"), "{shown}");
}

#[test]
fn cycles_in_one_log_are_counted_together() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    for cuts in 1..=3 {
        assert_eq!(rig.cut(Syncs::Store).code, 0);
        // A check again counts once.
        for _ in 0..2 {
            let checked = rig.check();
            assert_eq!(checked.code, 0, "{checked}");
            let expected = (Some(cuts), Some(u64::from(cuts) * WRITES), Some(0), Some(0));
            assert_eq!(counts(&checked.record()), expected);
        }
    }
    let shown = rig.program.run(&["show"]);
    // 1 − 0.05^(1/3).
    assert!(
        shown.stdout.contains("at most 63 % of cuts (95 % sure)"),
        "{shown}"
    );
    assert_eq!(rig.cut(Syncs::Ignored).code, 0);
    let checked = rig.check();
    assert_eq!(checked.code, 1, "{checked}");
    let record = checked.record();
    assert_eq!(kind(&record), StorageKind::LosesAcknowledged);
    assert_eq!(counts(&record).0, Some(4));
}

#[test]
fn without_a_cut_there_is_no_verdict() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let target = text(rig.card.path());
    let arguments = ["power-cut", target, "--log", &rig.log, "--size", "1MiB"];
    let running = rig.program.start(&arguments);
    running.hear("ready: cut the power now");
    running.signal(Signal::INT);
    let stopped = running.wait();
    assert_eq!(stopped.code, 130, "{stopped}");
    assert!(stopped.stderr.contains("without a power cut"), "{stopped}");
    assert_error(&rig.check(), 3, &["cannot tell", "no power cut was seen"]);
    assert_eq!(rig.program.runs_count(), 0);
}

/// The end of the log may be lost on its way to another computer.
#[test]
fn an_orderly_end_is_noted_on_the_card_too() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let target = text(rig.card.path());
    let arguments = [
        "power-cut",
        target,
        "--log",
        &rig.log,
        "--size",
        "1MiB",
        "--seconds",
        "1",
    ];
    let ended = rig.program.run(&arguments);
    assert_eq!(ended.code, 0, "{ended}");
    // The log without its end, from an earlier start of the system.
    let written = fs::read_to_string(&rig.log).unwrap();
    let lines = written
        .lines()
        .filter_map(|line| match LogLine::parse(line)? {
            LogLine::End { .. } => None,
            LogLine::Begin(begin) => Some(LogLine::Begin(CutBegin {
                boot: Some("another".to_owned()),
                ..begin
            })),
            line => Some(line),
        });
    fs::write(&rig.log, lines.map(|line| line.text()).collect::<String>()).unwrap();
    assert_error(
        &rig.check(),
        3,
        &["the test was ended before any power cut"],
    );
    let mark = rig.card.path().join("cardmark-power-cut/cardmark-test");
    let marked = fs::read_to_string(&mark).unwrap();
    fs::write(&mark, marked.lines().next().unwrap()).unwrap();
    let checked = rig.check();
    assert_eq!(checked.code, 0, "{checked}");
    assert!(
        checked.stderr.contains("the system was started again"),
        "{checked}"
    );
}

#[test]
fn a_killed_program_is_no_power_cut() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let target = text(rig.card.path());
    let arguments = ["power-cut", target, "--log", &rig.log, "--size", "1MiB"];
    let running = rig.program.start(&arguments);
    running.hear("ready: cut the power now");
    running.signal(Signal::KILL);
    drop(running);
    assert_error(&rig.check(), 3, &["cannot tell"]);
    assert_eq!(rig.program.runs_count(), 0);
}

/// ext4 on a loop device on a file that loses its volatile cache.
fn cut_below_ext4(syncs: Syncs) -> Output {
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let image = card.path().join("image");
    fs::File::create(&image).unwrap().set_len(48 * MIB).unwrap();
    let log = scratch.path().join("acknowledged.log");
    let device = LoopDevice::attach(&image, true);
    let mount = Mount::ext4_on(scratch.path(), device.path());
    card.cut_after_syncs(WRITES, syncs);
    let arguments = [
        "power-cut",
        text(mount.folder()),
        "--log",
        text(&log),
        "--size",
        "1MiB",
    ];
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("acknowledged writes; "), "{output}");
    // As if the computer had kept no more of the log: the number of the device shows that it was away.
    let written = fs::read_to_string(&log).unwrap();
    let kept = written.lines().filter(|line| !line.starts_with("end "));
    fs::write(
        &log,
        kept.map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    drop(mount);
    drop(device);
    card.restore_power();
    let device = LoopDevice::attach(&image, true);
    let mount = Mount::again_on(scratch.path(), device.path());
    check(&program, mount.folder(), text(&log))
}

#[test]
fn ext4_keeps_acknowledged_writes_on_storage_that_does() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let checked = cut_below_ext4(Syncs::Store);
    assert_eq!(checked.code, 0, "{checked}");
    assert!(
        checked.stderr.contains("the device was attached again"),
        "{checked}"
    );
    let record = checked.record();
    assert_eq!(kind(&record), StorageKind::Durable);
    let (cuts, acknowledged, lost, collateral) = counts(&record);
    assert_eq!((cuts, lost, collateral), (Some(1), Some(0), Some(0)));
    // ext4 syncs a few times by itself.
    assert!(acknowledged.unwrap() > WRITES / 2, "{checked}");
    assert_eq!(record.target.unwrap().filesystem.as_deref(), Some("ext4"));
}

#[test]
fn ext4_loses_acknowledged_writes_on_storage_that_ignores_flushes() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let checked = cut_below_ext4(Syncs::Ignored);
    assert_eq!(checked.code, 1, "{checked}");
    let record = checked.record();
    assert_eq!(kind(&record), StorageKind::LosesAcknowledged);
    assert!(counts(&record).2.unwrap() > 0, "{checked}");
}

#[test]
fn the_log_must_not_be_on_the_card() {
    let scratch = scratch();
    let (program, card) = (program(&scratch), folder(&scratch));
    let log = scratch.path().join("acknowledged.log");
    let refused = program.run(&["power-cut", text(&card), "--log", text(&log)]);
    assert_error(&refused, 4, &["would be on the card itself"]);
    assert!(!log.exists());
    let missing = program.run(&["power-cut", text(&card)]);
    assert_error(&missing, 2, &["no log of acknowledged writes"]);
    assert!(fs::read_dir(&card).unwrap().next().is_none());
}

/// As through `ssh`: the log is standard output, and is read from standard input or a file later.
#[test]
fn the_log_can_be_standard_output() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.card
        .cut_after_syncs(SYNCS_BEFORE + WRITES, Syncs::Store);
    let target = text(rig.card.path());
    let output = rig
        .program
        .run(&["power-cut", target, "--log", "-", "--size", "1MiB"]);
    rig.card.restore_power();
    assert_eq!(output.code, 0, "{output}");
    let lines = output
        .stdout
        .lines()
        .filter(|line| line.starts_with("ack "));
    assert_eq!(lines.count() as u64, WRITES);
    fs::write(&rig.log, &output.stdout).unwrap();
    let checked = rig.check();
    assert_eq!(checked.code, 0, "{checked}");
    assert_eq!(counts(&checked.record()).1, Some(WRITES));
}

#[test]
fn simulated_cards_are_cut_and_checked_in_one_go() {
    let scratch = scratch();
    let program = program(&scratch);
    for (name, code, expected) in [
        ("sim:a1-32gb", 0, StorageKind::Durable),
        ("sim:lying-32gb", 1, StorageKind::LosesAcknowledged),
    ] {
        let output = program.run(&["power-cut", name, "--json"]);
        assert_eq!(output.code, code, "{output}");
        let record = output.record();
        assert_eq!(kind(&record), expected);
        assert_eq!(counts(&record).0, Some(1));
        let derived = record.derived.as_ref().unwrap();
        let capacity = derived
            .verdicts
            .iter()
            .find(|verdict| verdict.rule == "capacity");
        assert_eq!(capacity.unwrap().outcome, VerdictOutcome::NotTestable);
        // The same seed gives the same record.
        let again = program.run(&["power-cut", name, "--json"]);
        assert_eq!(again.stdout, output.stdout);
    }
    let checked = program.run(&["power-cut", "sim:a1-32gb", "--log", "x", "--check"]);
    assert_error(&checked, 2, &["cut and checked in one go"]);
}
