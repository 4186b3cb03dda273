//! Power cuts: on filesystems that lose their volatile cache at a chosen write, and on simulated cards.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cardmark_core::{Errno, FindingKind, IntegrityTest, Record, StorageKind, VerdictOutcome};
use cardmark_integrity::{CutBegin, CutEnd, LogLine};
use cardmark_report::{Style, terminal};
use cardmark_session::file::Destination;
use cardmark_session::{CutDone, CutRequest, CutTarget, Exit, Session, check_power_cut, power_cut};
use cardmark_testkit::{FuseDir, LoopDevice, Mount, Syncs, needs};

use crate::world::{Act, Ended, MIB, Outcome, Person, World, text};

/// Syncs before the first write: of the mark, and of the file.
const SYNCS_BEFORE: u64 = 2;
/// Number of acknowledged writes before a cut.
const WRITES: u64 = 150;
const LONG: Duration = Duration::from_secs(600);
/// `ENODEV`.
const GONE: Errno = Errno(19);

impl From<CutDone> for Outcome {
    fn from(done: CutDone) -> Self {
        match done {
            CutDone::Tested(result) => (*result).into(),
            CutDone::Written(exit) => exit.into(),
        }
    }
}

fn write(
    session: &Session<'_>,
    target: &str,
    log: Option<&Path>,
    limit: Duration,
) -> Result<CutDone, cardmark_session::CommandError> {
    write_file(session, target, log, limit, MIB)
}

/// The same with a file of this size, bytes.
fn write_file(
    session: &Session<'_>,
    target: &str,
    log: Option<&Path>,
    limit: Duration,
    size_bytes: u64,
) -> Result<CutDone, cardmark_session::CommandError> {
    let request = CutRequest {
        log: log.map(Destination::named).transpose()?,
        size_bytes,
        batch: 1,
        limit,
        seed: None,
    };
    power_cut(session, target, &CutTarget::named(target)?, &request)
}

fn check(world: &World, target: &str, log: &Path) -> Ended {
    world.job(|session| {
        let cut = CutTarget::named(target)?;
        check_power_cut(session, target, &cut, &Destination::at(log)?)
    })
}

/// A card in a directory, and a log beside it.
struct Rig {
    card: FuseDir,
    world: World,
    log: PathBuf,
}

impl Rig {
    fn new() -> Self {
        let world = World::new();
        Self {
            card: FuseDir::mount(world.scratch.path()),
            log: world.path("acknowledged.log"),
            world,
        }
    }

    fn target(&self) -> &str {
        text(self.card.path())
    }

    /// Writes until that person or the limit ends it.
    fn write(&self, person: &'static Person, limit: Duration) -> Ended {
        self.world.job_with(person, |session| {
            write(session, self.target(), Some(&self.log), limit)
        })
    }

    /// Writes until the power fails after the n-th acknowledged write.
    fn cut(&self, syncs: Syncs) -> Ended {
        self.card.cut_after_syncs(SYNCS_BEFORE + WRITES, syncs);
        let ended = self.write(Person::absent(), LONG);
        self.card.restore_power();
        ended
    }

    /// A step at which some writes are acknowledged: a test without time for writes ends when its file is ready.
    fn writing(&self) -> usize {
        let count = std::sync::Arc::default();
        let ended = self.write(Person::who_counts(&count), Duration::ZERO);
        ended.assert_exit(Exit::Done);
        ended.assert_heard(&["ready: cut the power now", "after 0 acknowledged writes"]);
        fs::remove_file(&self.log).unwrap();
        count.load(std::sync::atomic::Ordering::Relaxed) + 10
    }

    /// Writes until somebody ends it, in order.
    fn stop(&self) {
        let person = Person::absent().at(self.writing(), Act::Stop);
        self.write(person, LONG)
            .assert_exit(Exit::Done)
            .assert_heard(&["without a power cut"]);
    }

    fn check(&self) -> Ended {
        check(&self.world, self.target(), &self.log)
    }

    #[track_caller]
    fn assert_cannot_tell(&self, cause: &str) {
        let ended = self.check();
        ended.assert_error(
            Exit::Trouble,
            &["cannot tell", "no power cut was seen", cause],
        );
        assert_eq!(self.world.runs().len(), 0);
    }
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

fn shown(record: &Record) -> String {
    terminal(record, 200, Style::Plain)
}

#[test]
fn a_filesystem_that_stores_with_each_sync_keeps_everything() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let said = format!("the device is gone after {WRITES} acknowledged writes");
    rig.cut(Syncs::Store)
        .assert_exit(Exit::Done)
        .assert_heard(&[&said]);
    let checked = rig.check();
    checked.assert_exit(Exit::Done);
    // The cut was in the middle of a write: half of it is there.
    checked.assert_heard(&["0 writes are there, 1 are partly there"]);
    let record = checked.record();
    assert_eq!(kind(record), StorageKind::Durable);
    assert_eq!(counts(record), (Some(1), Some(WRITES), Some(0), Some(0)));
    let target = record.target.as_ref().unwrap();
    assert!(target.filesystem.as_deref().unwrap().starts_with("fuse"));
    let text = shown(record);
    let said = "Kept all 150 acknowledged writes through 1 power cut";
    assert!(text.contains(said), "{text}");
    assert_eq!(rig.world.runs()[0].id, record.id);
}

#[test]
fn a_filesystem_that_ignores_syncs_loses_acknowledged_writes() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.cut(Syncs::Ignored).assert_exit(Exit::Done);
    let checked = rig.check();
    checked.assert_exit(Exit::Bad);
    checked.assert_heard(&["lost: write 150, acknowledged 0.000 s before"]);
    // The last 64 writes are gone, to all 64 places; the cut hit one of these.
    let record = checked.record();
    assert_eq!(kind(record), StorageKind::LosesAcknowledged);
    let (cuts, acknowledged, lost, collateral) = counts(record);
    let known = (cuts, acknowledged, collateral);
    assert_eq!(known, (Some(1), Some(WRITES), Some(0)));
    assert!((63..=64).contains(&lost.unwrap()), "{checked:?}");
    let text = shown(record);
    assert!(text.contains("acknowledges before data are safe"), "{text}");
    assert!(!text.contains("95 % sure"), "{text}");
}

#[test]
fn cycles_in_one_log_are_counted_together() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let mut last = None;
    for cuts in 1..=3 {
        rig.cut(Syncs::Store).assert_exit(Exit::Done);
        // A check again counts once.
        for _ in 0..2 {
            let checked = rig.check();
            checked.assert_exit(Exit::Done);
            let expected = (Some(cuts), Some(u64::from(cuts) * WRITES), Some(0), Some(0));
            assert_eq!(counts(checked.record()), expected);
            last = Some(checked);
        }
    }
    let text = shown(last.unwrap().record());
    // 1 − 0.05^(1/3).
    assert!(text.contains("at most 63 % of cuts (95 % sure)"), "{text}");
    rig.cut(Syncs::Ignored).assert_exit(Exit::Done);
    let checked = rig.check();
    checked.assert_exit(Exit::Bad);
    let record = checked.record();
    assert_eq!(kind(record), StorageKind::LosesAcknowledged);
    assert_eq!(counts(record).0, Some(4));
}

#[test]
fn without_a_cut_there_is_no_verdict() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.stop();
    rig.assert_cannot_tell("the test was ended before any power cut");
}

/// The end of the log may be lost on its way to another computer.
#[test]
fn an_orderly_end_is_noted_on_the_card_too() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.stop();
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
    rig.assert_cannot_tell("the test was ended before any power cut");
    let mark = rig.card.path().join("cardmark-power-cut/cardmark-test");
    let marked = fs::read_to_string(&mark).unwrap();
    fs::write(&mark, marked.lines().next().unwrap()).unwrap();
    rig.check()
        .assert_exit(Exit::Done)
        .assert_heard(&["the system was started again"]);
}

#[test]
fn the_end_of_the_time_is_noted_in_the_log_and_on_the_card() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let ended = rig.write(Person::absent(), Duration::ZERO);
    ended.assert_exit(Exit::Done);
    let log = fs::read_to_string(&rig.log).unwrap();
    let last = LogLine::parse(log.lines().last().unwrap());
    assert!(
        matches!(
            last,
            Some(LogLine::End {
                end: CutEnd::Done,
                ..
            })
        ),
        "{log}"
    );
    let mark = rig.card.path().join("cardmark-power-cut/cardmark-test");
    assert_eq!(
        fs::read_to_string(mark).unwrap().lines().last(),
        Some("ended")
    );
    rig.assert_cannot_tell("no write was acknowledged before the end");
}

#[test]
fn a_killed_program_is_no_power_cut() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    let step = rig.writing();
    let killed = rig.world.kill(step, |session| {
        write(session, rig.target(), Some(&rig.log), LONG)
    });
    assert!(killed);
    let log = fs::read_to_string(&rig.log).unwrap();
    assert!(log.lines().any(|line| line.starts_with("ack ")), "{log}");
    rig.assert_cannot_tell("no power cut was seen: neither");
}

/// ext4 on a loop device on a file that loses its volatile cache.
fn cut_below_ext4(syncs: Syncs) -> Ended {
    let world = World::new();
    let scratch = world.scratch.path();
    let card = FuseDir::mount(scratch);
    let image = card.path().join("image");
    fs::File::create(&image).unwrap().set_len(48 * MIB).unwrap();
    let log = world.path("acknowledged.log");
    let device = LoopDevice::attach(&image, true);
    let mount = Mount::ext4_on(scratch, device.path());
    card.cut_after_syncs(WRITES, syncs);
    let target = text(mount.folder());
    world
        .job(|session| write(session, target, Some(&log), LONG))
        .assert_exit(Exit::Done)
        .assert_heard(&["acknowledged writes; "]);
    // As if the computer had kept no more of the log: the number of the device shows that it was away.
    let written = fs::read_to_string(&log).unwrap();
    let kept = written.lines().filter(|line| !line.starts_with("end "));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    fs::write(&log, kept).unwrap();
    drop(mount);
    drop(device);
    card.restore_power();
    let device = LoopDevice::attach(&image, true);
    let mount = Mount::again_on(scratch, device.path());
    check(&world, text(mount.folder()), &log)
}

#[test]
fn ext4_keeps_acknowledged_writes_on_storage_that_does() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let checked = cut_below_ext4(Syncs::Store);
    checked.assert_exit(Exit::Done);
    checked.assert_heard(&["the device was attached again"]);
    let record = checked.record();
    assert_eq!(kind(record), StorageKind::Durable);
    let (cuts, acknowledged, lost, collateral) = counts(record);
    assert_eq!((cuts, lost, collateral), (Some(1), Some(0), Some(0)));
    // ext4 syncs a few times by itself.
    assert!(acknowledged.unwrap() > WRITES / 2, "{checked:?}");
    let target = record.target.as_ref().unwrap();
    assert_eq!(target.filesystem.as_deref(), Some("ext4"));
}

#[test]
fn ext4_loses_acknowledged_writes_on_storage_that_ignores_flushes() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let checked = cut_below_ext4(Syncs::Ignored);
    checked.assert_exit(Exit::Bad);
    let record = checked.record();
    assert_eq!(kind(record), StorageKind::LosesAcknowledged);
    assert!(counts(record).2.unwrap() > 0, "{checked:?}");
}

#[test]
fn the_log_must_not_be_on_the_card() {
    let world = World::new();
    let card = world.folder("card");
    let log = world.path("acknowledged.log");
    let refused = |log| world.job(|session| write(session, text(&card), log, Duration::ZERO));
    refused(Some(&*log)).assert_error(Exit::Refused, &["would be on the card itself"]);
    assert!(!log.exists());
    refused(None).assert_error(Exit::Usage, &["no log of acknowledged writes"]);
    assert!(fs::read_dir(&card).unwrap().next().is_none());
    world.assert_nothing_kept();
}

#[test]
fn simulated_cards_are_cut_and_checked_in_one_go() {
    let world = World::new();
    for (name, exit, expected) in [
        ("sim:a1-32gb", Exit::Done, StorageKind::Durable),
        ("sim:lying-32gb", Exit::Bad, StorageKind::LosesAcknowledged),
    ] {
        let cut = || world.job(|session| write(session, name, None, LONG));
        let ended = cut();
        ended.assert_exit(exit);
        let record = ended.record();
        assert_eq!(kind(record), expected);
        assert_eq!(counts(record).0, Some(1));
        let verdicts = &record.derived.as_ref().unwrap().verdicts;
        let mut capacity = verdicts.iter().filter(|one| one.rule == "capacity");
        let outcome = capacity.next().unwrap().outcome;
        assert_eq!(outcome, VerdictOutcome::NotTestable);
        // The same seed gives the same record.
        let json = |ended: &Ended| serde_json::to_string(ended.record()).unwrap();
        assert_eq!(json(&cut()), json(&ended));
    }
    assert_eq!(world.runs().len(), 2);
    check(&world, "sim:a1-32gb", &world.path("x"))
        .assert_error(Exit::Usage, &["cut and checked in one go"]);
}

/// Asserts that the only record is of a power-cut test that its device ended.
fn assert_unfinished(world: &World, found: FindingKind) {
    let [record] = <[Record; 1]>::try_from(world.runs()).unwrap();
    let integrity = record.integrity.as_ref().unwrap();
    assert_eq!(integrity.test, IntegrityTest::PowerCut);
    assert_eq!(integrity.kind, StorageKind::Unfinished);
    let kinds = record.findings.iter().map(|finding| finding.kind);
    assert!(kinds.into_iter().any(|kind| kind == found), "{record:?}");
}

#[test]
fn a_simulated_card_that_fails_before_the_cut_leaves_a_record() {
    for (name, found) in [
        ("sim:vanishing-32gb", FindingKind::Vanished),
        ("sim:silent-32gb", FindingKind::NoAnswer),
    ] {
        let world = World::new();
        let ended = world.job(|session| {
            let session = Session {
                limit: Duration::from_secs(60),
                ..session.clone()
            };
            write_file(&session, name, None, LONG, 1024 * MIB)
        });
        ended.assert_exit(Exit::Trouble);
        assert_unfinished(&world, found);
    }
}

#[test]
fn a_card_that_disappears_while_its_file_is_made_leaves_a_record() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.card.fail_writes_beyond(MIB / 2, GONE);
    rig.write(Person::absent(), LONG)
        .assert_error(Exit::Trouble, &["the device is gone", "`cardmark show "]);
    assert_unfinished(&rig.world, FindingKind::Vanished);
}

#[test]
fn a_card_that_disappears_while_it_is_checked_leaves_a_record() {
    needs!(Root, Fuse);
    let rig = Rig::new();
    rig.cut(Syncs::Store).assert_exit(Exit::Done);
    // The first operations find the files.
    let is_kept = (1..100).any(|operations_count| {
        rig.card.fail_all_after(operations_count, GONE);
        rig.check();
        !rig.world.runs().is_empty()
    });
    assert!(is_kept);
    assert_unfinished(&rig.world, FindingKind::Vanished);
}
