//! probe, verify and endure: on simulated cards, on loop devices, in directories, and interrupted.

mod load;
mod rest;
mod turns;

use std::fs::File;
use std::os::unix::fs::{FileExt, chown};
use std::path::Path;
use std::time::{Duration, Instant};

use cardmark_core::{IntegrityTest, Record, StorageKind, fill_payload};
use cardmark_testkit::{
    LoopDevice, Mount, Output, Program, RateCap, Running, killing_at_sync, needs, wall_clock,
};
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::process::{Signal, geteuid};
use tempfile::TempDir;

use crate::common::{
    MIB, NOBODY, assert_empty, assert_error, assert_nothing_kept, folder, program, scratch, text,
};

/// Size of the image below a loop device.
const SIZE: u64 = 192 * MIB;
/// Fields of a device's `stat` in sysfs: sectors read, and sectors written.
const READ: usize = 2;
const WRITTEN: usize = 6;
/// Timeout for the device to be read or written.
const PATIENCE: Duration = Duration::from_secs(60);
/// Excluded by a probe of it.
const CACHE: &str = "16MiB";

fn record(output: &Output) -> Record {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Writes data into an image, of each card others.
fn write_card(image: &Path, size_bytes: u64, card: u64) {
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(image);
    let file = file.unwrap();
    let mut piece = vec![0; usize::try_from(8 * MIB).unwrap()];
    for offset in (0..size_bytes).step_by(piece.len()) {
        fill_payload(card + offset, &mut piece);
        file.write_all_at(&piece, offset).unwrap();
    }
    file.sync_all().unwrap();
}

/// A loop device with somebody's data on it.
struct Rig {
    device: LoopDevice,
    program: Program,
    scratch: TempDir,
}

impl Rig {
    fn new() -> Self {
        Self::of(SIZE)
    }

    fn of(size_bytes: u64) -> Self {
        let scratch = scratch();
        let path = scratch.path().join("image");
        write_card(&path, size_bytes, 0);
        Self {
            device: LoopDevice::attach(&path, true),
            program: program(&scratch),
            scratch,
        }
    }

    fn start(&self, command: &[&str]) -> Running {
        self.program.start(&self.with_consent(command))
    }

    fn start_under(&self, wrapper: &[&str], command: &[&str]) -> Running {
        let command = self.with_consent(command);
        self.program.start_under(wrapper, &command)
    }

    /// The command for this device, with consent to overwrite it.
    fn with_consent<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        let consent = ["--yes", "--device-serial", text(self.device.file())];
        let device = [text(self.device.path())];
        [&command[..1], &device, &command[1..], &consent].concat()
    }

    fn run(&self, command: &[&str]) -> Output {
        self.start(command).wait()
    }

    /// Puts other data on it, as when another card of that size is in the same reader.
    fn change_card(&self) {
        write_card(self.device.file(), SIZE, SIZE);
    }

    /// Returns whether the data are unchanged.
    fn is_untouched(&self) -> bool {
        self.holds_data(0)
    }

    /// Returns whether it holds that card's data.
    fn holds_data(&self, card: u64) -> bool {
        let file = File::open(self.device.file()).unwrap();
        let mut expected = vec![0; usize::try_from(8 * MIB).unwrap()];
        let mut found = expected.clone();
        let size_bytes = file.metadata().unwrap().len();
        (0..size_bytes).step_by(expected.len()).all(|offset| {
            fill_payload(card + offset, &mut expected);
            file.read_exact_at(&mut found, offset).unwrap();
            found == expected
        })
    }

    /// Starts a test and stops it when it has written all of the device and reads it.
    fn stop_in_reading(&self, command: &[&str]) {
        let cap = RateCap::on(&self.device, 128 * MIB);
        self.stop_when_moved(command, READ);
        drop(cap);
    }

    /// Starts a test on a capped device, and stops it when it has read or written a part of the device.
    fn stop_when_moved(&self, command: &[&str], field: usize) {
        let before = self.moved_bytes(field);
        let running = self.start(command);
        self.await_moved(field, before);
        // So slow that it cannot end before it has noticed the signal.
        let _crawl = RateCap::on(&self.device, 4 * MIB);
        running.signal(Signal::INT);
        let stopped = running.wait();
        assert_eq!(stopped.code, 130, "{stopped}");
    }

    /// Waits until more of the device was read or written than whoever looks at it reads.
    fn await_moved(&self, field: usize, before: u64) {
        let until = Instant::now() + PATIENCE;
        while self.moved_bytes(field) - before < 32 * MIB {
            assert!(Instant::now() < until, "the device is idle");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills a probe at a later and later sync until one has overwritten something.
    fn kill_dirty(&self) {
        let device = text(self.device.path());
        let consent = ["--yes", "--device-serial", text(self.device.file())];
        let words = [&["probe", device, "--cache", CACHE][..], &consent].concat();
        for number in (4..).map(|power| 1 << power) {
            let wrapper = killing_at_sync(number);
            let killed = self.program.start_under(&wrapper, &words).wait();
            assert_eq!(killed.code, 137, "nothing was overwritten: {killed}");
            if !self.is_untouched() {
                return;
            }
        }
    }

    /// Number of bytes of the device that were read or written so far.
    fn moved_bytes(&self, field: usize) -> u64 {
        let name = self.device.path().file_name().unwrap();
        let told = Path::new("/sys/block").join(name).join("stat");
        let told = std::fs::read_to_string(told).unwrap();
        let sectors = told.split_whitespace().nth(field).unwrap();
        512 * sectors.parse::<u64>().unwrap()
    }

    /// Names of the journals and undo logs that tests left.
    fn remembered(&self) -> Vec<String> {
        let folders = ["journals", "tests"].map(|name| self.program.data().join(name));
        let entries = folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok());
        let names = entries
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

#[test]
fn each_simulated_fake_is_told() {
    let scratch = scratch();
    let program = program(&scratch);
    for (model, kind, real_bytes) in [
        ("a1-32gb", StorageKind::Confirmed, 32_010_928_128),
        ("limbo-32gb", StorageKind::Limbo, 1_777_645_568),
        ("wrap-700mb", StorageKind::Wraparound, 700 * MIB),
        ("rotten-64gb", StorageKind::Damaged, 64_000_000_000),
    ] {
        for command in ["probe", "verify"] {
            let output = program.run(&[command, &format!("sim:{model}"), "--json"]);
            let is_bad = kind != StorageKind::Confirmed;
            assert_eq!(output.code, i32::from(is_bad), "{output}");
            let record = record(&output);
            let found = record.integrity.unwrap();
            assert_eq!(
                (found.kind, found.real_bytes),
                (kind, real_bytes),
                "{model}"
            );
            assert!(record.written_bytes > 0);
            let is_verify = found.test == IntegrityTest::Verify;
            assert_eq!(is_verify, !record.surface.is_empty());
            let map: u64 = record.surface.iter().map(|part| part.size_bytes).sum();
            assert_eq!(map, if is_verify { found.size_bytes } else { 0 });
            let shown = program.run(&["show", "last"]);
            assert_eq!(shown.code, 0, "{shown}");
        }
    }
    let listed = program.run(&["list", "runs"]);
    assert_eq!(listed.code, 0, "{listed}");
    assert!(listed.stdout.contains("FALSE CAPACITY: "), "{listed}");
    assert_eq!(listed.stderr, "");
    let first = program.run(&["list", "runs", "--limit", "2"]);
    let more = "older runs are not shown; `--limit 8` shows more";
    assert!(first.stderr.contains(more), "{first}");
    let bad = |more: &[&str]| {
        let listed = program.run(&[&["list", "--bad", "--json"], more].concat());
        serde_json::from_str::<Vec<serde_json::Value>>(&listed.stdout).unwrap()
    };
    let all = bad(&[]);
    assert!(
        all.iter().all(|run| run["storage_kind"] != "confirmed"),
        "{all:?}"
    );
    assert!(
        all.iter().any(|run| run["storage_kind"] == "limbo"),
        "{all:?}"
    );
    assert_eq!(bad(&["--limit", "1"]).len(), 1);
    let refused = program.run(&["list", "models", "--bad"]);
    assert_error(&refused, 2, &["`--bad` selects runs"]);
}

#[test]
fn a_part_of_a_card_is_no_verdict_on_the_rest() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = |model: &str, range: &[&str]| {
        let words = [&["verify", model][..], range].concat();
        program.run(&words)
    };
    let good = run("sim:limbo-32gb", &["--to", "5"]);
    assert_eq!(good.code, 0, "{good}");
    let message = good.stdout.replace("\n  ", " ");
    assert!(
        message.contains(
            "No bad block: from 0 % to 5 % of 32.5 GB (30.3 GiB), every block kept its data."
        ) && message.contains("the capacity is not confirmed"),
        "{good}"
    );
    let bad = run("sim:limbo-32gb", &["--from", "50", "--to", "60"]);
    assert_eq!(bad.code, 1, "{bad}");
    let message = bad.stdout.replace("\n  ", " ");
    assert!(
        message.contains("DATA LOST in the part tested, from 50 % to 60 % of 32.5 GB"),
        "{bad}"
    );
    assert!(
        !message.contains("FALSE") && !message.contains("sfdisk"),
        "{bad}"
    );
    // Parts that follow each other leave no gap and do not overlap.
    let parts = [
        ["--from", "0", "--to", "33.3"],
        ["--from", "33.3", "--to", "66.7"],
        ["--from", "66.7", "--to", "100"],
    ];
    let mut end = 0;
    for part in parts {
        let words = [&part[..], &["--json"]].concat();
        let found = record(&run("sim:a1-32gb", &words)).integrity.unwrap();
        assert_eq!(
            (found.test, found.from_bytes),
            (IntegrityTest::Verify, Some(end))
        );
        end += found.size_bytes;
    }
    assert_eq!(end, 32_010_928_128);
    for range in [&["--from", "20", "--to", "10"][..], &["--from", "100"]] {
        assert_error(&run("sim:a1-32gb", range), 2, &["there is nothing to test"]);
    }
}

#[test]
fn a_part_of_a_device_is_all_that_is_written_and_goes_on_only_as_that_part() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let middle = ["verify", "--from", "25", "--to", "75"];
    rig.stop_in_reading(&middle);
    let other = rig.run(&["verify", "--from", "30", "--to", "75"]);
    assert_eq!(other.code, 0, "{other}");
    let message = "begins again: the interrupted test is of another part";
    assert!(other.stderr.contains(message), "{other}");
    rig.stop_in_reading(&middle);
    let output = rig.run(&[&middle[..], &["--json"]].concat());
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains("continues the test"), "{output}");
    let found = record(&output).integrity.unwrap();
    assert_eq!(
        (found.from_bytes, found.size_bytes),
        (Some(SIZE / 4), SIZE / 2)
    );
    assert_eq!(found.kind, StorageKind::Confirmed);
    let image = File::open(rig.device.file()).unwrap();
    let mut expected = vec![0; usize::try_from(8 * MIB).unwrap()];
    let mut held = expected.clone();
    for offset in (0..SIZE).step_by(expected.len()) {
        fill_payload(offset, &mut expected);
        image.read_exact_at(&mut held, offset).unwrap();
        let is_part = (SIZE / 4..SIZE * 3 / 4).contains(&offset);
        assert_eq!(held == expected, !is_part, "{offset}");
    }
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

#[test]
fn a_card_is_read_twice_and_nothing_is_written() {
    let scratch = scratch();
    let program = program(&scratch);
    for (model, kind, message) in [
        (
            "a1-32gb",
            StorageKind::Readable,
            "was read twice, with the same content",
        ),
        (
            "patchy-32gb",
            StorageKind::Readable,
            "Slow sectors, the slowest first:",
        ),
        (
            "unreadable-64gb",
            StorageKind::Damaged,
            "could not be read. Copy what you need",
        ),
        (
            "flipping-32gb",
            StorageKind::Damaged,
            "differed when read again",
        ),
    ] {
        let target = format!("sim:{model}");
        let output = program.run(&["verify", &target, "--read-only", "--to", "80"]);
        assert_eq!(
            output.code,
            i32::from(kind == StorageKind::Damaged),
            "{output}"
        );
        assert!(
            output.stdout.replace("\n  ", " ").contains(message),
            "{output}"
        );
        let shown = program.run(&["show", "last", "--json"]);
        let record = record(&shown);
        let found = record.integrity.unwrap();
        assert_eq!(
            (found.test, found.kind),
            (IntegrityTest::Read, kind),
            "{model}"
        );
        assert_eq!((record.written_bytes, found.from_bytes), (0, Some(0)));
        assert_eq!(found.slow.is_empty(), model != "patchy-32gb", "{model}");
    }
    let directory = program.run(&["verify", text(scratch.path()), "--read-only"]);
    assert_error(
        &directory,
        2,
        &["is a directory", "reads a device as a whole"],
    );
}

#[test]
fn a_device_is_read_without_consent_even_in_use() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let image = scratch.path().join("image");
    write_card(&image, SIZE, 0);
    let device = LoopDevice::attach(&image, true);
    let program = program(&scratch);
    let read = |device: &LoopDevice| program.run(&["verify", text(device.path()), "--read-only"]);
    let idle = read(&device);
    assert_eq!(idle.code, 0, "{idle}");
    assert!(
        idle.stdout.contains("READABLE: every block of 201 MB"),
        "{idle}"
    );
    assert!(!idle.stderr.contains("in use"), "{idle}");
    let mut expected = vec![0; usize::try_from(8 * MIB).unwrap()];
    let mut held = expected.clone();
    let file = File::open(&image).unwrap();
    for offset in (0..SIZE).step_by(expected.len()) {
        fill_payload(offset, &mut expected);
        file.read_exact_at(&mut held, offset).unwrap();
        assert!(held == expected, "{offset}");
    }
    let mounted = Mount::ext4(scratch.path(), 96 * MIB);
    let used = read(mounted.device());
    assert_eq!(used.code, 0, "{used}");
    assert!(
        used.stderr
            .contains("the device is in use: content that differs"),
        "{used}"
    );
}

/// The printed command makes a partition of the real part, and of nothing else.
#[test]
fn a_fake_gets_a_partition_of_what_is_real() {
    needs!(Sfdisk);
    let scratch = scratch();
    let output = program(&scratch).run(&["probe", "sim:limbo-32gb"]);
    assert_eq!(output.code, 1, "{output}");
    let last_sector = 1_777_645_568 / 512 - 1;
    let message = format!("Last good sector: {last_sector} ");
    assert!(output.stdout.contains(&message), "{output}");
    let command = output.stdout.lines().find(|line| line.contains("sfdisk"));
    let image = scratch.path().join("image");
    let file = File::create(&image).unwrap();
    file.set_len(32_010_928_128).unwrap();
    let command = command
        .unwrap()
        .replace("sudo ", "")
        .replace("/dev/DEVICE", text(&image));
    let shell = |command: &str| {
        let ran = std::process::Command::new("sh")
            .args(["-c", command])
            .output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    shell(&command);
    let table = shell(&format!("sfdisk --json {}", text(&image)));
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    let parts = table["partitiontable"]["partitions"].as_array().unwrap();
    let [part] = parts.as_slice() else {
        panic!("{table}");
    };
    let sectors = |name: &str| part[name].as_u64().unwrap();
    assert_eq!(sectors("start"), 4 * MIB / 512);
    let end = sectors("start") + sectors("size");
    assert!(
        end < last_sector && end > last_sector / 100 * 98,
        "{end} {last_sector}"
    );
}

#[test]
fn a_probe_of_a_whole_device_gives_it_back_as_it_was() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    let output = rig.run(&["probe", "--cache", CACHE, "--json"]);
    assert_eq!(output.code, 0, "{output}");
    let record = record(&output);
    let found = record.integrity.unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert!(found.excluded_cache_bytes.unwrap() >= 16 * MIB);
    assert!(record.written_bytes > 100 * MIB, "{}", record.written_bytes);
    assert!(rig.is_untouched());
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

/// Ctrl-C restores at once.
#[test]
fn a_probe_that_is_stopped_loses_nothing() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    let running = rig.start(&["probe", "--cache", CACHE]);
    running.hear("writes samples");
    running.signal(Signal::INT);
    let stopped = running.wait();
    assert!([0, 130].contains(&stopped.code), "{stopped}");
    assert!(rig.is_untouched());
}

#[test]
fn who_insists_on_an_end_while_it_is_put_back_is_told_how_to_go_on() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let slow = RateCap::on(&rig.device, 128 * MIB);
    let running = rig.start(&["probe", "--cache", CACHE]);
    running.hear("writes samples");
    let cap = RateCap::on(&rig.device, 4 * MIB);
    running.signal(Signal::INT);
    running.hear("what was there is put back then");
    running.hear("putting back what was there: ");
    running.signal(Signal::INT);
    let ended = running.wait();
    drop((cap, slow));
    assert_eq!(ended.code, 130, "{ended}");
    let kept = ended.stderr.lines().last().unwrap();
    for message in [".undo`", "the same command puts it back"] {
        assert!(kept.contains(message), "{ended}");
    }
    assert!(!rig.is_untouched());
    let again = rig.run(&["probe", "--cache", CACHE]);
    assert_eq!(again.code, 0, "{again}");
    assert!(rig.is_untouched());
}

#[test]
fn what_was_on_a_card_is_not_put_onto_another() {
    needs!(Root, LoopDevice, Strace);
    let rig = Rig::new();
    rig.kill_dirty();
    let first = rig.scratch.path().join("first");
    std::fs::copy(rig.device.file(), &first).unwrap();
    rig.change_card();
    let output = rig.run(&["probe", "--cache", CACHE]);
    let message = ["not the card", ".undo`", "--save-to", "nothing was written"];
    assert_error(&output, 3, &message);
    assert_eq!(output.stdout, "", "{output}");
    assert!(rig.holds_data(SIZE));
    // Undo log, its map, and the journal that names them.
    assert_eq!(rig.remembered().len(), 3);
    // The first one again.
    std::fs::copy(&first, rig.device.file()).unwrap();
    let output = rig.run(&["probe", "--cache", CACHE]);
    assert_eq!(output.code, 0, "{output}");
    assert!(rig.is_untouched());
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

#[test]
fn anatomy_tells_the_inside_and_gives_a_device_back_as_it_was() {
    let scratch = scratch();
    let output = program(&scratch).run(&["anatomy", "sim:units-16gb"]);
    assert_eq!(output.code, 0, "{output}");
    for message in [
        "erase blocks look 4 MiB large",
        "5 units of 4 MiB (as found)",
    ] {
        assert!(output.stdout.contains(message), "{output}");
    }
    needs!(Root, LoopDevice);
    let rig = Rig::of(64 * MIB);
    for (options, has_turns) in [(&["--read-only"][..], false), (&["--unit", "2MiB"], true)] {
        let output = rig.run(&[&["anatomy", "--json"], options].concat());
        assert_eq!(output.code, 0, "{output}");
        let record = record(&output);
        let found = record.anatomy.unwrap();
        assert!(!found.boundaries.is_empty());
        assert_eq!(!found.turns.is_empty(), has_turns);
        assert_eq!(record.written_bytes > 0, has_turns);
        assert!(rig.is_untouched());
        assert_eq!(rig.remembered(), <[&str; 0]>::default());
    }
}

#[test]
fn nothing_is_written_that_could_not_be_put_back() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    // A filesystem too small for what is overwritten.
    let small = Mount::ext4(rig.scratch.path(), 32 * MIB);
    let output = rig.run(&["probe", "--cache", CACHE, "--save-to", text(small.folder())]);
    assert_error(
        &output,
        4,
        &["cannot be kept", "hint: `--destroy`", "nothing was written"],
    );
    let output = rig.run(&["anatomy", "--save-to", text(small.folder())]);
    assert_error(&output, 4, &["what is overwritten cannot be kept"]);
    assert!(rig.is_untouched());
    let device = text(rig.device.path());
    for command in ["probe", "verify", "endure"] {
        let output = rig.program.run(&[command, device]);
        assert_error(
            &output,
            4,
            &["there is no terminal to confirm", "nothing was written"],
        );
        assert_nothing_kept(&rig.program, &output);
    }
    assert!(rig.is_untouched());
}

#[test]
fn verify_of_a_device_goes_on_after_it_was_stopped() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let cap = RateCap::on(&rig.device, 64 * MIB);
    rig.stop_when_moved(&["verify", "--json", "--seed", "5"], WRITTEN);
    assert_eq!(rig.remembered().len(), 1);
    drop(cap);
    let again = rig.run(&["verify", "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("continues the test"), "{again}");
    let found = record(&again);
    assert_eq!(found.seed.as_deref(), Some("0000000000000005"));
    let integrity = found.integrity.unwrap();
    assert_eq!(integrity.kind, StorageKind::Confirmed);
    assert_eq!(integrity.size_bytes, SIZE);
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

#[test]
fn verify_goes_on_only_where_nobody_else_has_written() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    rig.stop_in_reading(&["verify"]);
    let again = rig.run(&["verify", "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("continues the test"), "{again}");
    rig.stop_in_reading(&["verify"]);
    // As a new filesystem does.
    let image = File::options().write(true).open(rig.device.file()).unwrap();
    image.write_all_at(&[0x55; 65536], 0).unwrap();
    image.sync_all().unwrap();
    drop(image);
    let again = rig.run(&["verify", "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("begins again"), "{again}");
    assert_eq!(record(&again).written_bytes, SIZE);
    rig.stop_in_reading(&["verify"]);
    // As a copy that was made before the end was written.
    let image = File::options().write(true).open(rig.device.file()).unwrap();
    image.write_all_at(&[0x55; 65536], SIZE - 65536).unwrap();
    image.sync_all().unwrap();
    drop(image);
    let again = rig.run(&["verify", "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("begins again"), "{again}");
}

#[test]
fn endure_has_its_result_kept_by_the_same_command_where_that_failed() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    let command = ["endure", "--cycles", "1", "--json"];
    let cap = RateCap::on(&rig.device, 128 * MIB);
    let before = rig.moved_bytes(READ);
    let running = rig.start(&command);
    rig.await_moved(READ, before);
    let crawl = RateCap::on(&rig.device, 4 * MIB);
    let mut options = File::options();
    let store = options.read(true).write(true).open(rig.program.database());
    let store = store.unwrap();
    fcntl_lock(&store, FlockOperation::NonBlockingLockExclusive).unwrap();
    drop((crawl, cap));
    assert_error(&running.wait(), 3, &["is locked by another process"]);
    drop(store);
    let written = rig.moved_bytes(WRITTEN);
    let again = rig.run(&command);
    assert_eq!(again.code, 0, "{again}");
    let found = record(&again).integrity.unwrap();
    assert_eq!(found.cycles_count, Some(1));
    assert_eq!(rig.moved_bytes(WRITTEN), written);
    assert_eq!(rig.remembered(), <[&str; 0]>::default());
}

#[test]
fn endure_does_not_go_on_with_another_card() {
    needs!(Root, LoopDevice, Blkio);
    let rig = Rig::new();
    rig.stop_in_reading(&["endure", "--cycles", "1"]);
    rig.change_card();
    let again = rig.run(&["endure", "--cycles", "1", "--json"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stderr.contains("begins again"), "{again}");
    assert_eq!(record(&again).written_bytes, SIZE);
}

/// The program knows a card by size and name; here it is changed between that and the opening.
#[test]
fn a_card_that_is_changed_before_it_is_opened_is_not_taken_for_the_first() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    rig.stop_in_reading(&["verify"]);
    let journals = rig.program.journals();
    // The size has been read when the program waits for the store.
    let mut options = File::options();
    let store = options.read(true).write(true).open(rig.program.database());
    let store = store.unwrap();
    fcntl_lock(&store, FlockOperation::NonBlockingLockExclusive).unwrap();
    let running = rig.start(&["verify"]);
    running.await_open(&rig.program.database());
    let image = File::options().write(true).open(rig.device.file()).unwrap();
    image.set_len(SIZE / 2).unwrap();
    // A file that is open for writing is in use.
    drop(image);
    rig.device.notice_size();
    drop(store);
    let message = ["changed while it was looked at", "nothing was written"];
    let output = running.wait();
    assert_error(&output, 4, &message);
    assert_eq!(output.stdout, "", "{output}");
    assert_eq!(rig.program.journals(), journals);
    assert_eq!(rig.program.runs_count(), 0);
}

#[test]
fn verify_of_a_directory_leaves_nothing_behind() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = folder(&scratch);
    let output = program.run(&["verify", text(&folder), "--size", "96MiB", "--json"]);
    assert_eq!(output.code, 0, "{output}");
    let found = record(&output).integrity.unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    assert_eq!(found.size_bytes, 96 * MIB);
    assert!(!found.written.is_empty() && !found.read.is_empty());
    assert_empty(&folder);
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = folder(&scratch);
    let theirs = folder.join("cardmark-verify");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("notes"), "mine").unwrap();
    let output = program.run(&["verify", text(&folder), "--size", "8MiB"]);
    assert_error(&output, 4, &["is there already", "nothing was written"]);
    assert_eq!(
        std::fs::read_to_string(theirs.join("notes")).unwrap(),
        "mine"
    );
    std::fs::remove_file(theirs.join("notes")).unwrap();
    std::fs::write(theirs.join("00000.blocks"), "left").unwrap();
    // Of another user, where owners are real.
    if geteuid().is_root() {
        chown(&theirs, Some(NOBODY), None).unwrap();
        let output = program.run(&["verify", text(&folder), "--size", "8MiB"]);
        assert_error(&output, 4, &["is there already", "nothing was written"]);
        chown(&theirs, Some(0), None).unwrap();
    }
    // What a killed test left is ours, though nothing is remembered of it.
    let output = program.run(&["verify", text(&folder), "--size", "8MiB"]);
    assert_eq!(output.code, 0, "{output}");
    assert_empty(&folder);
}

#[test]
fn endure_goes_on_within_the_limits_that_are_asked_for_now() {
    needs!(Root, LoopDevice);
    let rig = Rig::new();
    let small = rig.run(&["endure", "--budget", "100MB"]);
    assert_error(&small, 2, &["does not hold one cycle"]);
    assert!(rig.is_untouched());
    let before = rig.moved_bytes(WRITTEN);
    let running = rig.start(&["endure", "--cycles", "1000"]);
    rig.await_moved(WRITTEN, before);
    running.signal(Signal::INT);
    assert_eq!(running.wait().code, 130);
    let output = rig.run(&["endure", "--cycles", "1", "--json"]);
    // As far as it came; it never goes on to a thousand.
    match output.code {
        0 => assert_eq!(record(&output).integrity.unwrap().cycles_count, Some(1)),
        _ => assert_error(&output, 2, &["has reached this limit already", "--restart"]),
    }
}

#[test]
fn endure_ends_and_tells_what_was_reached() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["endure", "sim:wearing-1gb", "--until", "1", "--json"]);
    assert_eq!(output.code, 1, "{output}");
    let found = record(&output).integrity.unwrap();
    let shares: Vec<f64> = found.milestones.iter().map(|m| m.bad_ratio).collect();
    assert_eq!(shares, [0.0, 0.001, 0.01]);
    let endless = program.run(&["endure", "sim:a1-32gb"]);
    assert_error(&endless, 2, &["never wears out", "--cycles"]);
    let three = program.run(&["endure", "sim:a1-32gb", "--cycles", "3", "--json"]);
    assert_eq!(three.code, 0, "{three}");
    assert_eq!(record(&three).integrity.unwrap().cycles_count, Some(3));
}
