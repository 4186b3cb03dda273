//! Undo logs: probes of loop devices that are killed, with and without damage to the log.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cardmark_core::{Rng, fill_payload};
use cardmark_testkit::{LoopDevice, Output, Program, killing_at_sync, needs};
use tempfile::TempDir;

use crate::common::{MIB, assert_error, program, scratch, text};

/// Size of the image below a loop device.
const SIZE: u64 = 24 * MIB;
const PROBE: [&str; 3] = ["probe", "--cache", "2MiB"];
/// Kills and damages if `CARDMARK_KILLS` and `CARDMARK_PROGRAM_DAMAGES` do not say.
const KILLS: u64 = 3;
const DAMAGES: u64 = 8;
/// Kills come at one of this number of syncs, which is fewer than a probe has.
const SYNCS: u64 = 64;

/// A loop device with somebody's data on it.
struct Rig {
    device: LoopDevice,
    program: Program,
    original: Vec<u8>,
    _scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        let scratch = scratch();
        let image = scratch.path().join("image");
        let mut original = vec![0; usize::try_from(SIZE).unwrap()];
        fill_payload(3, &mut original);
        fs::write(&image, &original).unwrap();
        Self {
            device: LoopDevice::attach(&image, true),
            program: program(&scratch),
            original,
            _scratch: scratch,
        }
    }

    fn words<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        let device = text(self.device.path());
        let consent = ["--yes", "--device-serial", text(self.device.file())];
        [&PROBE[..1], &[device], &PROBE[1..], options, &consent].concat()
    }

    fn run(&self, options: &[&str]) -> Output {
        self.program.run(&self.words(options))
    }

    /// Kills a probe at one of its syncs.
    fn kill(&self, rng: &mut Rng) {
        let wrapper = killing_at_sync(1 + rng.below(SYNCS));
        let running = self.program.start_under(&wrapper, &self.words(&[]));
        let output = running.wait();
        assert_eq!(output.code, 137, "{output}");
    }

    /// Kills a probe until one has overwritten something.
    fn kill_dirty(&self, rng: &mut Rng) {
        self.kill(rng);
        while self.changed().is_empty() {
            self.restore_image();
            self.kill(rng);
        }
    }

    /// Inserts a card with that content into the same reader.
    fn insert(&self, content: &[u8]) {
        // Through the device, whose page cache would keep the old content.
        let device = File::options()
            .write(true)
            .open(self.device.path())
            .unwrap();
        device.write_all_at(content, 0).unwrap();
        device.sync_all().unwrap();
    }

    /// The image as it was, without logs.
    fn restore_image(&self) {
        self.insert(&self.original);
        for left in self.left() {
            fs::remove_file(left).unwrap();
        }
    }

    /// Numbers of the blocks that do not hold what they held.
    fn changed(&self) -> Vec<u64> {
        let now = fs::read(self.device.file()).unwrap();
        let blocks = now.chunks(512).zip(self.original.chunks(512));
        let changed = (0..).zip(blocks).filter(|(_, (now, before))| now != before);
        changed.map(|(block, _)| block).collect()
    }

    /// Files that tests left.
    fn left(&self) -> Vec<PathBuf> {
        let folder = self.program.database().with_file_name("tests");
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    fn file(&self, suffix: &str) -> PathBuf {
        let left = self.left();
        let is_it = |path: &&PathBuf| text(path).ends_with(suffix);
        left.iter().find(is_it).unwrap().clone()
    }
}

fn count(name: &str, default: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.map_or(default, |count| count.parse().expect("a number"))
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_killed_probe_with_an_undamaged_log_loses_nothing() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    let mut rng = Rng::new(u64::from(std::process::id()));
    let kills = count("CARDMARK_KILLS", KILLS);
    let mut dirty = 0;
    for kill in 0..kills {
        rig.kill(&mut rng);
        dirty += u64::from(!rig.changed().is_empty());
        let mut again = rig.run(&[]);
        // Killed before its first write or after its last one: a copy of the card would hold the same.
        if again.stderr.contains("this card holds all that is kept") {
            assert_eq!(
                (again.code, rig.changed()),
                (3, Vec::new()),
                "kill {kill}: {again}"
            );
            again = rig.run(&[]);
            for left in rig.left() {
                assert!(text(&left).contains("-missing-"), "kill {kill}");
                fs::remove_file(left).unwrap();
            }
        }
        assert_eq!(again.code, 0, "kill {kill}: {again}");
        assert_eq!(rig.changed(), [0; 0], "kill {kill}");
        assert_eq!(rig.left(), [] as [&Path; 0], "kill {kill}");
    }
    eprintln!("| kills of probes | {kills} | {kills} | {dirty} | {kills} | 0 |");
}

/// Ways in which a log is damaged.
const WAYS: [&str; 8] = [
    "first piece",
    "middle",
    "cut",
    "wrong length",
    "emptied",
    "log deleted",
    "map deleted",
    "both deleted",
];

fn damage(rig: &Rig, way: &str, rng: &mut Rng) {
    let (log, map) = (rig.file(".undo"), rig.file(".undo-map"));
    let mut below = |limit: usize| usize::try_from(rng.below(limit as u64)).unwrap();
    match way {
        "first piece" => change(&log, |bytes| bytes[1024 + below(512)] ^= 1),
        "middle" => change(&log, |bytes| {
            let at = bytes.len() / 4 + below(bytes.len() / 2);
            bytes[at] ^= 0x80;
        }),
        "cut" => change(&log, |bytes| bytes.truncate(below(bytes.len()))),
        "wrong length" => change(&log, |bytes| {
            bytes[512 + 5 * 8..][..8].copy_from_slice(&(1_u64 << 63).to_le_bytes());
        }),
        "emptied" => change(&log, Vec::clear),
        "log deleted" => fs::remove_file(log).unwrap(),
        "map deleted" => fs::remove_file(map).unwrap(),
        _ => [log, map]
            .iter()
            .for_each(|path| fs::remove_file(path).unwrap()),
    }
}

#[test]
fn a_damaged_log_is_reported_kept_and_restored_as_far_as_it_goes() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    let mut rng = Rng::new(u64::from(std::process::id()));
    let (mut restored, mut with_unrestored) = (0, 0);
    let count = count("CARDMARK_PROGRAM_DAMAGES", DAMAGES);
    for case in 0..count {
        let way = WAYS[usize::try_from(case).unwrap() % WAYS.len()];
        rig.kill_dirty(&mut rng);
        damage(&rig, way, &mut rng);
        let left_before = rig.left().len();
        let output = rig.run(&[]);
        let changed = rig.changed();
        // A probe that is killed while it appends leaves a piece that no commit names: damage there is damage to nothing.
        if output.code == 0 && ["middle", "cut"].contains(&way) {
            assert_eq!(changed, [0; 0], "{way}: {output}");
            assert_eq!(rig.left(), [] as [&Path; 0], "{way}");
            continue;
        }
        assert_eq!(output.code, 3, "{way}: {output}");
        assert_eq!(output.stdout, "", "{way}: no new test");
        let is_lost = way == "both deleted";
        assert_eq!(
            output.stderr.contains("`--keep-residue`"),
            !changed.is_empty(),
            "{output}"
        );
        if is_lost {
            assert!(
                output.stderr.contains("its undo log is not here"),
                "{output}"
            );
        } else {
            assert_eq!(rig.left().len(), left_before, "{way}: the log is kept");
            assert!(output.stderr.contains("is damaged"), "{way}: {output}");
        }
        if way == "map deleted" {
            assert_eq!(changed, [0; 0], "the log has all");
        }
        if way == "first piece" || way == "wrong length" {
            // The first piece has the marks that are written first.
            let message = format!(
                "{} blocks of 512 bytes could not be restored",
                changed.len()
            );
            assert!(output.stderr.contains(&message), "{way}: {output}");
            assert!(
                changed.iter().all(|block| *block < 64),
                "{way}: {changed:?}"
            );
        }
        if !changed.is_empty() {
            with_unrestored += 1;
            let again = rig.run(&[]);
            assert_eq!(again.code, 3, "{way}: {again}");
            assert_eq!(rig.changed(), changed, "{way}");
        } else {
            restored += 1;
        }
        rig.restore_image();
    }
    eprintln!(
        "| damages through the program | {count} | {count} | {count} | {restored} | {with_unrestored} |"
    );
}

#[test]
fn content_of_a_test_without_its_log_stops_another_one_unless_it_is_accepted() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    rig.kill_dirty(&mut Rng::new(u64::from(std::process::id())));
    let elsewhere = scratch();
    let before = fs::read(rig.device.file()).unwrap();
    let other = ["--save-to", text(elsewhere.path())];
    // The journal of the interrupted test knows where its log is.
    let output = rig.run(&other);
    let said = ["has not been undone", "--save-to", "nothing was written"];
    assert_error(&output, 4, &said);
    // Another user's store has no such journal.
    for journal in rig.program.journals() {
        fs::remove_file(journal).unwrap();
    }
    let output = rig.run(&other);
    let said = [
        "its undo log is not here",
        "--save-to",
        "--keep-residue",
        "--destroy",
    ];
    assert_error(&output, 3, &said);
    assert!(
        fs::read(rig.device.file()).unwrap() == before,
        "nothing was written"
    );
    let output = rig.run(&[&other[..], &["--keep-residue"]].concat());
    assert_eq!(output.code, 0, "{output}");
    assert!(
        fs::read(rig.device.file()).unwrap() == before,
        "put back as it was"
    );
    // Where the log is, all is restored.
    let output = rig.run(&[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(rig.changed(), [0; 0]);
    // Content that verify leaves on purpose does not stop a probe.
    let output = rig.run(&["--destroy"]);
    assert_eq!(output.code, 0, "{output}");
    let output = rig.run(&[]);
    assert_eq!(output.code, 0, "{output}");
}

/// Two cards that report the same model, serial number and size have one log.
#[test]
fn a_log_that_another_test_uses_is_neither_shared_nor_restored() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    rig.kill_dirty(&mut Rng::for_part(11, "shared log", 0));
    let log = rig.file(".undo");
    let held = File::open(rig.file(".undo-map")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let before = (rig.changed(), fs::read(&log).unwrap());
    for command in ["probe", "anatomy"] {
        let mut words = rig.words(&[]);
        words[0] = command;
        if command == "anatomy" {
            words.retain(|word| !PROBE[1..].contains(word));
        }
        let refused = rig.program.run(&words);
        let causes = [
            "is in use",
            "a card with the same identity",
            "nothing was written",
        ];
        assert_error(&refused, 4, &causes);
    }
    assert_eq!((rig.changed(), fs::read(&log).unwrap()), before);
    drop(held);
    let output = rig.run(&[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(rig.changed().is_empty());
}

/// Cards behind one reader report one identity, and cards with one image hold the same.
#[test]
fn a_copy_of_the_card_does_not_take_its_undo_log() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    rig.kill_dirty(&mut Rng::for_part(11, "copy", 0));
    let first = fs::read(rig.device.file()).unwrap();
    rig.insert(&rig.original);
    let output = rig.run(&[]);
    let causes = [
        "not the card that the interrupted test overwrote",
        "missing: a card with the same identity",
        "-missing-1.undo`",
        "it is restored first",
        "to test this card, run the same command again",
    ];
    assert_error(&output, 3, &causes);
    assert_eq!((rig.changed(), output.stdout.as_str()), (Vec::new(), ""));
    // A test of the copy, with the log of the first card beside it.
    let output = rig.run(&[]);
    assert_eq!(output.code, 0, "{output}");
    let reminder = "another card with this identity is not restored";
    assert!(output.stderr.contains(reminder), "{output}");
    assert_eq!(rig.left().len(), 2, "log and map");
    let recovered = rig.program.run(&["recover"]);
    assert!(recovered.stderr.contains("-missing-1.undo`"), "{recovered}");
    rig.insert(&first);
    assert!(!rig.changed().is_empty());
    let output = rig.run(&[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(rig.changed(), [0; 0]);
    assert_eq!(rig.left(), [] as [&Path; 0]);
}
