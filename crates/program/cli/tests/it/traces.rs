//! The old tools and ours, traced: the same offsets, sizes and flags in the same order.
//!
//! Where ours does otherwise and it does no harm, the test that allows it says so.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_core::{SECOND_NS, SensorSample, TargetKind, TargetNeed};
use cardmark_device::{MonotonicClock, RealBackend, TestFile};
use cardmark_engine::{
    Event, Observer, Ports, Pulse, Request, Sensors, TargetRoom, execute, make_plan,
};
use cardmark_testkit::{LoopDevice, Mount, RateCap, needs};

use crate::common::{MIB, program, scratch, text};
use crate::old_tools::ALL;
use crate::strace::{Act, Moved, NAMELESS, Pattern, Step, patterns, trace};

/// The journal is synced after each trial: there one workload ends.
fn is_trial_end(step: &Step) -> bool {
    step.file.contains("/journals/") && step.act == Act::Sync
}

fn never(_: &Step) -> bool {
    false
}

/// The workloads that an old tool ran through on that file.
fn of_tool(command: &mut Command, scratch: &Path, file: &str) -> Vec<Pattern> {
    let (steps, _) = trace(command, scratch);
    patterns(&steps, |name| name == file, never)
}

#[track_caller]
fn assert_same(workload: &str, theirs: &Pattern, ours: &Pattern) {
    assert_eq!(theirs.cut, ours.cut, "{workload}: created or emptied");
    assert_same_moves(workload, theirs, ours);
    assert_eq!(theirs.synced, ours.synced, "{workload}: made durable");
}

#[track_caller]
fn assert_same_moves(workload: &str, theirs: &Pattern, ours: &Pattern) {
    let mut pairs = theirs.moved.iter().zip(&ours.moved);
    if let Some(at) = pairs.position(|(one, other)| one != other) {
        let (one, other) = (theirs.moved[at], ours.moved[at]);
        panic!("{workload}: move {at}: theirs {one:?}, ours {other:?}");
    }
    assert_eq!(theirs.moved.len(), ours.moved.len(), "{workload}: moves");
}

#[test]
fn dd_and_iozone_move_the_same_in_the_same_order() {
    needs!(Root, LoopDevice, Ext4, Strace, Iozone);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    let (program, folder) = (program(&scratch), card.folder());

    let dd = [
        "if=/dev/zero",
        "of=file",
        "bs=8k",
        "count=50k",
        "conv=fsync",
    ];
    let mut dd_command = Command::new("dd");
    dd_command.args(dd).current_dir(folder);
    let mut theirs = of_tool(&mut dd_command, scratch.path(), "file");
    std::fs::remove_file(folder.join("file")).unwrap();
    let iozone = [
        "-e", "-I", "-a", "-s", "100M", "-r", "4k", "-i", "0", "-i", "1", "-i", "2",
    ];
    let mut iozone_command = Command::new("iozone");
    iozone_command.args(iozone).current_dir(folder);
    theirs.extend(of_tool(&mut iozone_command, scratch.path(), "iozone.tmp"));

    let workloads = &ALL[2..];
    let only = format!("--only={}", workloads.join(","));
    let arguments = ["run", text(folder), "--suite=dramble", &only];
    let (steps, _) = trace(&program.command(&arguments), scratch.path());
    let ours = patterns(&steps, |file| file.starts_with(NAMELESS), is_trial_end);

    assert_eq!((theirs.len(), ours.len()), (7, 7));
    for ((workload, theirs), ours) in workloads.iter().zip(&theirs).zip(&ours) {
        assert_same(workload, theirs, ours);
        println!(
            "{workload}: {} moves, the first {:?}",
            ours.moved.len(),
            ours.moved[0]
        );
    }
}

/// Most bytes a second: slow enough for three seconds to end before the device does.
const CAP_BYTES_PER_S: u64 = 100_000_000;

#[test]
fn hdparm_reads_the_same_for_as_long() {
    needs!(Root, LoopDevice, Ext4, Blkio, Strace, Hdparm);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    let _cap = RateCap::on(card.device(), CAP_BYTES_PER_S);
    card.device().disguise();
    let program = program(&scratch);
    let device = text(card.device().path());

    let only = "--only=hdparm_t,hdparm_T";
    let arguments = ["run", text(card.folder()), "--suite=dramble", only];
    let (steps, _) = trace(&program.command(&arguments), scratch.path());
    // On a directory it is the disk below that is read.
    let ours = patterns(&steps, |file| file == device, is_trial_end);
    let record = program.last();
    let options = ["-t", "-T"];
    assert_eq!((ours.len(), record.trials.len()), (2, 2));
    for ((option, ours), trial) in options.into_iter().zip(&ours).zip(&record.trials) {
        let mut hdparm = Command::new("hdparm");
        let (steps, said) = trace(hdparm.args([option, device]), scratch.path());
        // hdparm syncs and empties the cache of the device where ours only does the latter: after
        // `-t`, and before `-T`, which it begins with a read that it does not time.
        let theirs = patterns(&steps, |file| file == device, |step| step.act == Act::Sync);
        let (theirs, their_seconds, least_seconds) = match (option, &theirs[..]) {
            ("-t", [timed]) => (timed, seconds(&said), 3.0),
            // It takes off what seeking took, and says what is left.
            ("-T", [first, timed]) if first.moved.len() == 1 => (timed, 2.0, 2.0),
            _ => panic!("{option}: {theirs:?}"),
        };
        let our_seconds = trial.span_ns as f64 / 1e9;
        println!("{option}: {their_seconds} s and {our_seconds} s");
        for seconds in [their_seconds, our_seconds] {
            assert!(
                (least_seconds..least_seconds + 2.0).contains(&seconds),
                "{option}: {seconds}"
            );
        }
        // How much they read in that time is what they measure.
        assert_same_start(option, theirs, ours);
        assert!(!ours.cut && ours.moved.iter().all(|moved| !moved.is_write));
    }
}

/// The shorter of the two is the beginning of the longer one.
#[track_caller]
fn assert_same_start(workload: &str, theirs: &Pattern, ours: &Pattern) {
    let count = theirs.moved.len().min(ours.moved.len());
    assert!(count >= 10, "{workload}: only {count}");
    let start = |pattern: &Pattern| Pattern {
        moved: pattern.moved[..count].to_vec(),
        ..pattern.clone()
    };
    assert_same_moves(workload, &start(theirs), &start(ours));
}

/// What hdparm says, such as ` Timing buffered disk reads: 302 MB in  3.00 seconds = …`.
fn seconds(said: &str) -> f64 {
    let (_, rest) = said.split_once(" in ").unwrap();
    let (number, _) = rest.split_once(" seconds").unwrap();
    number.trim().parse().unwrap()
}

/// Where the worker measures, what, and how large a span of small blocks may be.
const WORKER: [&str; 3] = [
    "CARDMARK_TRACE_FOLDER",
    "CARDMARK_TRACE_SUITE",
    "CARDMARK_TRACE_BYTES",
];

/// This test binary again, as a program that runs a suite cut to a size at which a trace of it
/// takes seconds.
fn worker(folder: &Path, suite: &str, span_bytes: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "traces::a_suite_cut_for_a_trace"]);
    let values = [text(folder), suite, &span_bytes.to_string()].map(str::to_owned);
    command.envs(WORKER.into_iter().zip(values));
    command
}

/// Not a test by itself: what [`worker`] runs.
#[test]
fn a_suite_cut_for_a_trace() {
    let [Ok(folder), Ok(suite), Ok(bytes)] = WORKER.map(std::env::var) else {
        return;
    };
    let folder = Path::new(&folder);
    let most_bytes: u64 = bytes.parse().unwrap();
    let mut suite = cardmark_catalog::suite(&suite, None).unwrap();
    suite.needs = TargetNeed::Any;
    suite
        .workloads
        .retain(|workload| workload.id.starts_with("iozone"));
    for workload in &mut suite.workloads {
        workload.manner.rest_ns = 0;
        if workload.block_bytes == 4096 {
            workload.span_bytes = workload.span_bytes.min(most_bytes);
        }
    }
    let place = TargetRoom {
        kind: TargetKind::Directory,
        usable_bytes: u64::MAX,
        disk_bytes: None,
        units: cardmark_engine::Units::default(),
    };
    let request = Request {
        limit_ns: 60 * SECOND_NS,
        ..Request::default()
    };
    let plan = make_plan(&suite, &request, place).unwrap();
    let file = TestFile::create(folder, suite.file_bytes).unwrap();
    let backend = RealBackend::new(file, 1, Box::new(|| None));
    let ports = Ports {
        backend: &mut backend.with_directory(folder.to_owned()),
        clock: &mut MonotonicClock::new(),
        sensors: &mut NoSensors,
        observer: &mut Borders(folder.with_file_name("journals").join("of the worker")),
        pulse: &Pulse::new(),
    };
    let outcome = execute(&plan, ports);
    assert_eq!(outcome.findings, []);
}

struct NoSensors;

impl Sensors for NoSensors {
    fn take(&mut self) -> Vec<SensorSample> {
        Vec::new()
    }
}

/// Syncs a file after each trial, as the journal is.
struct Borders(PathBuf);

impl Observer for Borders {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::TrialEnded { .. }) {
            File::create(&self.0).unwrap().sync_all().unwrap();
        }
    }
}

/// A folder on storage, and one for the worker's borders beside it.
fn folders(scratch: &Path) -> PathBuf {
    std::fs::create_dir(scratch.join("journals")).unwrap();
    let folder = scratch.join("card");
    std::fs::create_dir(&folder).unwrap();
    folder
}

#[test]
fn iozone_on_a_device_moves_the_same_in_the_same_order() {
    needs!(Root, LoopDevice, Strace, Iozone);
    let scratch = scratch();
    let folder = folders(scratch.path());
    let image = scratch.path().join("image");
    File::create(&image).unwrap().set_len(128 * MIB).unwrap();
    let device = LoopDevice::attach(&image, false);
    // iozone removes what it worked on where that is a file: it gets a node of its own.
    let node = scratch.path().join("node");
    let number = std::fs::metadata(device.path()).unwrap().rdev();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &node,
        rustix::fs::FileType::BlockDevice,
        0o600.into(),
        number,
    )
    .unwrap();

    let mut theirs = Vec::new();
    for size in [["8m", "4k"], ["100M", "16M"]] {
        let mut iozone = Command::new("iozone");
        iozone.args(["-e", "-I", "-a", "-i", "0", "-i", "1", "-i", "2"]);
        iozone.args(["-s", size[0], "-r", size[1], "-f", text(&node)]);
        theirs.extend(of_tool(&mut iozone, scratch.path(), text(&node)));
    }
    let (steps, _) = trace(&worker(&folder, "raw-survey", 8 * MIB), scratch.path());
    let ours = patterns(&steps, |file| file.starts_with(NAMELESS), is_trial_end);
    assert_eq!((theirs.len(), ours.len()), (12, 12));
    for (index, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        assert_same(&format!("workload {index}"), theirs, ours);
    }

    // Reads work on the device itself.
    let only = "--only=iozone_read_16m,iozone_reread_16m,iozone_random_read_16m";
    let program = program(&scratch);
    let path = text(device.path());
    let arguments = ["run", path, "--suite=raw-survey", "--read-only", only];
    let (steps, _) = trace(&program.command(&arguments), scratch.path());
    let ours = patterns(&steps, |file| file == path, is_trial_end);
    assert_eq!(ours.len(), 3);
    for (theirs, ours) in theirs[8..11].iter().zip(&ours) {
        assert_same("16 MiB from the device", theirs, ours);
    }
}

#[test]
fn iozone_with_four_threads_moves_the_same_in_each_file() {
    needs!(Strace, Iozone);
    let scratch = scratch();
    let folder = folders(scratch.path());
    let options = [
        "-T", "-t", "4", "-s", "4m", "-r", "4k", "-I", "-i", "0", "-i", "1", "-i", "2",
    ];
    let mut iozone = Command::new("iozone");
    iozone.args(options).current_dir(&folder);
    let (their_steps, _) = trace(&iozone, scratch.path());
    let (our_steps, _) = trace(&worker(&folder, "parallel4", 4 * MIB), scratch.path());
    let mut names: Vec<&str> = our_steps.iter().map(|step| step.file.as_str()).collect();
    names.retain(|name| name.starts_with(NAMELESS));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4);
    let mut whole = [[0; 6]; 2];
    for (index, name) in names.into_iter().enumerate() {
        let their_name = format!("iozone.DUMMY.{index}");
        let theirs = patterns(&their_steps, |file| file == their_name, never);
        let ours = patterns(&our_steps, |file| file == name, is_trial_end);
        assert_eq!((theirs.len(), ours.len()), (6, 6));
        // Ours is cut before the first test; theirs was not there before.
        assert!(ours[0].cut && !theirs[0].cut);
        assert_same_moves("write", &theirs[0], &ours[0]);
        for (workload, index) in [("rewrite", 1), ("read", 2), ("reread", 3)] {
            assert_same_start(workload, &theirs[index], &ours[index]);
        }
        // Its threads share one generator, so that its order is another each time.
        let sorted = |pattern: &Pattern| {
            let mut moved = pattern.moved.clone();
            moved.sort_unstable();
            moved
        };
        assert_eq!(sorted(&theirs[5]), sorted(&ours[5]), "random write");
        for (side, tests) in [&theirs, &ours].into_iter().enumerate() {
            let mut once = sorted(&tests[4]);
            once.dedup();
            assert_eq!(once.len(), tests[4].moved.len(), "random read: each once");
            let shape = |read: &Moved| (read.is_write, read.bytes, read.direct, read.offset % 4096);
            assert!(
                once.iter()
                    .all(|read| shape(read) == (false, 4096, true, 0))
            );
            for (test, pattern) in tests.iter().enumerate() {
                assert!(pattern.synced, "test {test}");
                whole[side][test] += u32::from(pattern.moved.len() == 1024);
            }
        }
    }
    println!(
        "files gone through: theirs {:?}, ours {:?}",
        whole[0], whole[1]
    );
    for [write, rewrite, read, reread, random_read, random_write] in whole {
        // Only what later tests need is completed behind the stone wall.
        assert_eq!((write, random_write), (4, 4));
        for count in [rewrite, read, reread, random_read] {
            assert!((1..4).contains(&count), "{whole:?}");
        }
    }
}
