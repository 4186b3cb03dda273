//! Devices that are brought into a known state, and its mention in later runs.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cardmark_core::{Fill, Preparation, Record, fill_content};
use cardmark_host::{Root, card_identity};
use cardmark_session::Prepared;
use cardmark_store::{Store, peek};
use cardmark_testkit::{
    FuseDir, LoopDevice, Mount, Output, Program, RateCap, Running, killing_at_sync, needs,
};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{EIO, MIB, QUICKEST, assert_error, program, scratch, text};

/// Some stretches, and a part that ends inside a block.
const SIZE: u64 = 100 * MIB + 4096 + 512;
/// For what is interrupted: eight stretches, in some seconds under `RATE`.
const LONG: u64 = 512 * MIB;
const RATE: u64 = 128 * MIB;
/// Number of bytes made durable together.
const STRETCH: u64 = 64 * MIB;
/// Number of bytes compared at once.
const PIECE: u64 = 8 * MIB;

/// A device full of the byte 0x55 on a file, and the program.
struct Rig {
    device: LoopDevice,
    program: Program,
    scratch: TempDir,
}

impl Rig {
    fn new(size_bytes: u64) -> Self {
        let scratch = scratch();
        let path = scratch.path().join("image");
        let file = File::create(&path).unwrap();
        let piece = vec![0x55; usize::try_from(PIECE).unwrap()];
        for offset in (0..size_bytes).step_by(piece.len()) {
            let length = usize::try_from(PIECE.min(size_bytes - offset)).unwrap();
            file.write_all_at(&piece[..length], offset).unwrap();
        }
        file.sync_all().unwrap();
        Self::on(scratch, &path, true)
    }

    fn on(scratch: TempDir, file: &Path, direct_io: bool) -> Self {
        let program = program(&scratch);
        Self {
            device: LoopDevice::attach(file, direct_io),
            program,
            scratch,
        }
    }

    fn file(&self) -> PathBuf {
        self.device.file().to_owned()
    }

    fn words<'a>(&'a self, fill: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let said = [
            &["prepare", text(self.device.path()), "--fill", fill][..],
            &["--yes", "--device-serial", text(self.device.file())],
            more,
        ];
        said.concat()
    }

    fn start(&self, fill: &str, more: &[&str]) -> Running {
        self.program.start(&self.words(fill, more))
    }

    fn prepare(&self, fill: &str, more: &[&str]) -> Output {
        self.start(fill, more).wait()
    }

    /// The last preparation of this device, from its journal while that is unfinished.
    fn last(&self) -> Option<Preparation> {
        if !self.program.database().exists() {
            return None;
        }
        let name = self.device.path().file_name().unwrap().to_str().unwrap();
        let identity = card_identity(&Root::system(), name).unwrap();
        let mut store = Store::open(&self.program.database()).unwrap();
        let card = store.card_key(&identity.history).unwrap();
        let (id, stored) = store.last_preparation(&card).unwrap()?;
        let name = format!("{}-prepare", card.name());
        let left = peek(&self.program.data().join("journals"), &name).unwrap();
        let state = left.and_then(|left| left.state);
        let state: Option<Prepared> = state.map(|text| serde_json::from_str(&text).unwrap());
        let newer = state.filter(|state| state.id == Some(id));
        Some(newer.map_or(stored, |state| state.preparation))
    }

    /// End of this content without a gap on the device, between `from` and `until`.
    fn reached(&self, preparation: &Preparation, from: u64, until: u64) -> u64 {
        let file = File::open(self.file()).unwrap();
        let seed = preparation.seed_number().unwrap();
        let mut found = vec![0; usize::try_from(PIECE).unwrap()];
        let mut expected = found.clone();
        for offset in (from..until).step_by(found.len()) {
            let length = usize::try_from(PIECE.min(until - offset)).unwrap();
            file.read_exact_at(&mut found[..length], offset).unwrap();
            fill_content(preparation.fill, seed, offset, &mut expected[..length]);
            let mut sectors = found[..length]
                .chunks(512)
                .zip(expected[..length].chunks(512));
            if let Some(wrong) = sectors.position(|(found, expected)| found != expected) {
                return offset + wrong as u64 * 512;
            }
        }
        until
    }

    /// The device holds exactly the content that the store names, all of it.
    #[track_caller]
    fn assert_whole(&self, fill: Fill) -> Preparation {
        let last = self.last().unwrap();
        assert_eq!(last.fill, fill);
        assert_eq!(last.done_bytes, last.size_bytes);
        assert!(last.finished_at.is_some());
        assert_eq!(
            std::fs::metadata(self.file()).unwrap().len(),
            last.size_bytes
        );
        assert_eq!(self.reached(&last, 0, last.size_bytes), last.size_bytes);
        last
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Waits until more is noted as durable than in `before`, while the program runs.
fn await_noted(rig: &Rig, running: &mut Running, before: Option<&Preparation>) {
    loop {
        let has_ended = running.has_ended();
        if let Some(last) = rig.last()
            && last.done_bytes > 0
            && Some(&last) != before
        {
            return;
        }
        assert!(!has_ended, "too early: {}", running.heard());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_fill_yields_exactly_its_content() {
    needs!(Root, LoopDevice);
    let rig = Rig::new(SIZE);
    for (name, fill, said) in [
        ("ff", Fill::Ff, "filled with 0xFF: 105 MB in "),
        (
            "random",
            Fill::Random,
            "filled with random content: 105 MB in ",
        ),
        ("zero", Fill::Zero, "filled with zeros: 105 MB in "),
    ] {
        let output = rig.prepare(name, &[]);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stdout.starts_with(said), "{output}");
        assert!(output.stdout.ends_with(" MB/s\n"), "{output}");
        assert_eq!(output.stdout.lines().count(), 1, "{output}");
        let last = rig.assert_whole(fill);
        assert_eq!(last.size_bytes, SIZE);
    }
    let output = rig.prepare("random", &["--json"]);
    let told = json(&output);
    let preparation: Preparation = serde_json::from_value(told["preparation"].clone()).unwrap();
    assert_eq!(preparation, rig.assert_whole(Fill::Random));
    assert_eq!(
        (told["from_bytes"].as_u64(), told["written_bytes"].as_u64()),
        (Some(0), Some(SIZE))
    );
    let other = json(&rig.prepare("random", &["--json"]))["preparation"]["seed"].clone();
    assert_ne!(
        other, told["preparation"]["seed"],
        "every time other content"
    );
}

#[test]
fn discard_gives_the_blocks_back() {
    needs!(Root, LoopDevice);
    let rig = Rig::new(SIZE);
    let held = || rig.file().metadata().unwrap().blocks() * 512;
    assert!(held() >= SIZE);
    let output = rig.prepare("discard", &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.starts_with("discarded: 105 MB in "),
        "{output}"
    );
    assert!(
        !output.stdout.contains("MB/s"),
        "nothing was written: {output}"
    );
    assert!(held() < MIB, "{} bytes are still held", held());
    let last = rig.last().unwrap();
    assert_eq!((last.fill, last.done_bytes), (Fill::Discard, SIZE));
    assert!(last.finished_at.is_some());
}

#[test]
fn what_is_killed_goes_on_and_never_claims_more_than_is_there() {
    needs!(Root, LoopDevice, Blkio, Strace);
    let rig = Rig::new(LONG);
    let cap = RateCap::on(&rig.device, RATE);
    let mut chance = u64::from(std::process::id());
    let (mut done, mut kills, mut continued) = (0, 0, 0);
    while kills < 4 {
        chance = cardmark_core::mix(chance);
        // Half of them at any sync, half of them when there is more to lose.
        let output = if kills % 2 == 0 {
            let wrapper = killing_at_sync(1 + chance % 8);
            rig.program
                .start_under(&wrapper, &rig.words("random", &[]))
                .wait()
        } else {
            let before = rig.last();
            let mut running = rig.start("random", &[]);
            await_noted(&rig, &mut running, before.as_ref());
            running.signal(Signal::KILL);
            running.wait()
        };
        if output.code != 0 {
            assert_eq!(output.code, 128 + 9, "{output}");
            kills += 1;
        }
        continued += u32::from(output.stderr.contains("continues at "));
        let Some(last) = rig.last() else { continue };
        if output.code == 0 || last.finished_at.is_some() {
            // Done before it was killed: from the start again.
            assert_eq!(last.done_bytes, LONG);
            assert!(last.finished_at.is_some());
            done = 0;
            continue;
        }
        // A preparation without a noted position begins again at 0: the position never falls.
        assert!(last.done_bytes >= done, "{} < {done}", last.done_bytes);
        done = last.done_bytes;
        assert!(
            done.is_multiple_of(STRETCH),
            "{done}: only what was synced counts"
        );
        assert_eq!(
            rig.reached(&last, 0, done),
            done,
            "more was noted than is there"
        );
    }
    drop(cap);
    let output = rig.prepare("random", &[]);
    assert_eq!(output.code, 0, "{output}");
    let last = rig.assert_whole(Fill::Random);
    assert_eq!(last.size_bytes, LONG);
    assert!(continued > 0, "no preparation was continued");
}

#[test]
fn ctrl_c_keeps_what_is_written_and_the_next_goes_on_there() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new(LONG);
    let cap = RateCap::on(&rig.device, RATE);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let before = rig.last();
        let mut running = rig.start("ff", &["--json"]);
        await_noted(&rig, &mut running, before.as_ref());
        let from_bytes = before.map_or(0, |last| last.done_bytes);
        running.signal(signal);
        let output = running.wait();
        let said = [
            "error: the preparation was stopped",
            "of the device is filled with 0xFF",
            "hint: the same command goes on there",
        ];
        assert_error(&output, code, &said);
        let last = rig.last().unwrap();
        assert_eq!(json(&output)["preparation"]["done_bytes"], last.done_bytes);
        assert_eq!(json(&output)["from_bytes"], from_bytes);
        // A stop is no kill: what was written until then is kept to the byte.
        assert_eq!(rig.reached(&last, 0, LONG), last.done_bytes);
    }
    drop(cap);
    let begun = rig.last().unwrap();
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    let percent = begun.done_bytes * 100 / LONG;
    let day = &begun.started_at[..10];
    assert!(
        output
            .stderr
            .contains(&format!("continues at {percent} %: ")),
        "{output}"
    );
    assert!(
        output.stderr.contains(&format!(" were written on {day}")),
        "{output}"
    );
    assert!(output.stdout.contains(" of it now in "), "{output}");
    let last = rig.assert_whole(Fill::Ff);
    assert_eq!(
        last.started_at, begun.started_at,
        "it is the same preparation"
    );
}

/// A preparation that was stopped half-way.
fn stopped(rig: &Rig, fill: &str) -> Preparation {
    let cap = RateCap::on(&rig.device, RATE);
    let before = rig.last();
    let mut running = rig.start(fill, &[]);
    await_noted(rig, &mut running, before.as_ref());
    running.signal(Signal::INT);
    assert_eq!(running.wait().code, 130);
    drop(cap);
    rig.last().unwrap()
}

#[test]
fn another_fill_begins_anew_and_so_does_the_first_after_it() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new(LONG);
    let first = stopped(&rig, "ff");
    let second = stopped(&rig, "random");
    assert_eq!((first.fill, second.fill), (Fill::Ff, Fill::Random));
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(!output.stderr.contains("continues"), "{output}");
    rig.assert_whole(Fill::Ff);
}

#[test]
fn it_begins_anew_when_asked_to_or_when_the_device_holds_something_else() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new(LONG);
    let first = stopped(&rig, "random");
    let output = rig.prepare("random", &["--restart", "--json"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(json(&output)["written_bytes"], LONG);
    assert_ne!(rig.assert_whole(Fill::Random).seed, first.seed);

    let second = stopped(&rig, "random");
    // As another card of that size in the same reader would answer, or one that was used since.
    let device = File::options().write(true).open(rig.device.path()).unwrap();
    device.write_all_at(&[0; 4096], 0).unwrap();
    device.sync_all().unwrap();
    drop(device);
    let output = rig.prepare("random", &["--json"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("begins again: "), "{output}");
    assert!(
        output
            .stderr
            .contains("but at byte 0 the device holds something else"),
        "{output}"
    );
    assert_eq!(json(&output)["written_bytes"], LONG);
    assert_ne!(rig.assert_whole(Fill::Random).seed, second.seed);
}

/// Content that is the same everywhere is on many cards.
#[test]
fn a_card_that_holds_the_same_content_is_not_continued_as_the_first() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new(LONG);
    let first = stopped(&rig, "ff");
    let device = File::options().write(true).open(rig.device.path()).unwrap();
    let piece = vec![0xff; usize::try_from(PIECE).unwrap()];
    for offset in (0..LONG).step_by(piece.len()) {
        device.write_all_at(&piece, offset).unwrap();
    }
    // Between the places that are compared it holds something else.
    device
        .write_all_at(&[7; 512], first.done_bytes / 2 + 512)
        .unwrap();
    device.sync_all().unwrap();
    drop(device);
    let output = rig.prepare("ff", &["--json"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("begins again: "), "{output}");
    assert_eq!(json(&output)["written_bytes"], LONG);
    rig.assert_whole(Fill::Ff);
}

/// A run that is stopped when it has just begun: its output and its record.
fn short_run(rig: &Rig) -> (Output, Record) {
    let run = ["run", text(rig.device.path()), "--read-only", QUICKEST];
    let running = rig.program.start(&run);
    running.hear("round 1");
    running.signal(Signal::INT);
    let output = running.wait();
    assert_eq!(output.code, 130, "{output}");
    (output, rig.program.last())
}

#[test]
fn the_next_run_tells_how_the_device_was_prepared() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new(LONG);
    let name = rig.device.path().file_name().unwrap().to_str().unwrap();
    let prepared = |record: &Record| {
        let devices = record.devices.iter();
        let known: Vec<_> = devices
            .filter_map(|device| Some((device.name.clone(), device.prepared.clone()?)))
            .collect();
        assert!(
            known.iter().all(|(known, _)| known == name),
            "the disk below was not prepared"
        );
        known.into_iter().next().map(|(_, prepared)| prepared)
    };
    let (output, record) = short_run(&rig);
    assert_eq!(prepared(&record), None);
    assert!(!output.stdout.contains("prepared"), "{output}");

    let partly = stopped(&rig, "ff");
    let (output, record) = short_run(&rig);
    assert_eq!(prepared(&record), Some(partly.clone()));
    let percent = partly.done_bytes * 100 / LONG;
    let said = format!("prepared: partly filled with 0xFF ({percent} %");
    assert!(output.stdout.contains(&said), "{output}");

    assert_eq!(rig.prepare("ff", &[]).code, 0);
    let whole = rig.last().unwrap();
    let (output, record) = short_run(&rig);
    assert_eq!(prepared(&record), Some(whole.clone()));
    let day = &whole.finished_at.unwrap()[..10];
    let said = format!("prepared: filled with 0xFF on {day}");
    assert!(output.stdout.contains(&said), "{output}");
}

#[test]
fn the_file_of_a_loop_device_is_neither_in_the_store_nor_in_a_record() {
    needs!(Root, LoopDevice);
    let rig = Rig::new(256 * MIB);
    assert_eq!(rig.prepare("ff", &[]).code, 0);
    let _ = short_run(&rig);
    let stored = std::fs::read(rig.program.database()).unwrap();
    let holds = |part: &str| {
        let mut windows = stored.windows(part.len());
        windows.any(|found| found == part.as_bytes())
    };
    assert!(holds("\"fill\":\"ff\""), "the record is in the store");
    let folder = rig.scratch.path().file_name().unwrap().to_str().unwrap();
    assert!(!holds(text(&rig.file())) && !holds(folder));
    let metadata = rig.file().metadata().unwrap();
    assert!(!holds(&format!("{}:{}", metadata.dev(), metadata.ino())));
}

/// A device on a filesystem that misbehaves on demand.
fn fragile(size_bytes: u64) -> (FuseDir, Rig) {
    let scratch = scratch();
    let card = FuseDir::mount(scratch.path());
    let path = card.path().join("image");
    File::create(&path).unwrap().set_len(size_bytes).unwrap();
    let rig = Rig::on(scratch, &path, true);
    (card, rig)
}

#[test]
fn an_error_in_the_middle_is_told_with_its_place_and_what_was_written_is_kept() {
    needs!(Root, LoopDevice, Fuse);
    let (card, rig) = fragile(SIZE);
    card.fail_writes_beyond(70 * MIB, EIO);
    let output = rig.prepare("random", &["--json"]);
    let said = [
        "error: the preparation failed",
        &format!("cause: cannot write at byte {}", 70 * MIB),
        "os error 5",
        "hint: the same command goes on there",
    ];
    assert_error(&output, 3, &said);
    assert_eq!(json(&output)["preparation"]["done_bytes"], 70 * MIB);
    let last = rig.last().unwrap();
    assert_eq!(last.done_bytes, 70 * MIB);
    assert_eq!(rig.reached(&last, 0, 70 * MIB), 70 * MIB);
    // As a device that came to itself again.
    card.fail_writes_beyond(u64::MAX, EIO);
    let output = rig.prepare("random", &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("continues at 69 %"), "{output}");
    rig.assert_whole(Fill::Random);
    drop(rig);
}

#[test]
fn what_could_not_be_made_durable_is_not_counted() {
    needs!(Root, LoopDevice, Fuse);
    let (card, rig) = fragile(SIZE);
    card.fail_syncs(EIO);
    let output = rig.prepare("ff", &[]);
    assert_error(
        &output,
        3,
        &[
            "cannot make durable what was written at byte 0",
            "0 % (0 B of",
        ],
    );
    assert_eq!(rig.last().unwrap().done_bytes, 0);
    drop(rig);
}

#[test]
fn a_device_that_cannot_discard_is_left_as_it_is_known() {
    needs!(Root, LoopDevice, Fuse);
    let (_card, rig) = fragile(4 * MIB);
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    let before = rig.assert_whole(Fill::Ff);
    let output = rig.prepare("discard", &[]);
    let said = [
        "cause: the device cannot discard",
        "hint: `--fill ff` writes",
    ];
    assert_error(&output, 3, &said);
    assert_eq!(rig.last(), Some(before));
    drop(rig);
}

#[test]
fn a_device_that_does_not_answer_is_told() {
    needs!(Root, LoopDevice, Fuse);
    let (card, rig) = fragile(SIZE);
    card.hang_after(40);
    let running = rig.start("ff", &["--timeout=3"]);
    card.await_hanging();
    running.hear("error: the device has not answered for 3 s");
    running.hear("cause: the kernel still waits for an operation");
    running.hear("hint: what was durable is noted");
    let last = rig.last().unwrap();
    assert!(last.done_bytes < SIZE && last.finished_at.is_none());
    card.release();
    assert_eq!(running.wait().code, 3);
    assert_eq!(rig.reached(&last, 0, last.done_bytes), last.done_bytes);
    let output = rig.prepare("ff", &[]);
    assert_eq!(output.code, 0, "{output}");
    rig.assert_whole(Fill::Ff);
    drop(rig);
}

#[test]
fn only_a_whole_device_is_prepared() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let program = program(&scratch);
    let card = Mount::ext4(scratch.path(), 64 * MIB);
    let prepare = |target: &str| program.run(&["prepare", target, "--fill", "ff"]);
    let output = prepare(text(card.folder()));
    assert_error(
        &output,
        2,
        &["is a directory", "hint: name the block device"],
    );
    let output = prepare("sim:a1-32gb");
    assert_error(
        &output,
        2,
        &["is a simulated card", "hint: name a block device"],
    );
    let file = scratch.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    assert_error(
        &prepare(text(&file)),
        2,
        &["neither a directory nor a block device"],
    );
    assert_error(
        &prepare(text(&scratch.path().join("missing"))),
        3,
        &["cannot find"],
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    assert_error(&program.run(&["prepare", "/dev/null"]), 2, &["--fill"]);
}

#[test]
fn nothing_is_written_without_leave() {
    needs!(Root, LoopDevice);
    let rig = Rig::new(4 * MIB);
    let output = rig
        .program
        .run(&["prepare", text(rig.device.path()), "--fill", "ff"]);
    assert_eq!(output.code, 4, "{output}");
    let content = std::fs::read(rig.file()).unwrap();
    assert!(content.chunks(4096).all(|chunk| *chunk == [0x55; 4096]));
    assert_eq!(rig.last(), None);
}
