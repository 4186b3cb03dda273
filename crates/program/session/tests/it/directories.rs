//! Runs on directories: those that can be measured, and those that cannot.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cardmark_core::{Errno, FindingKind, OriginKind, Severity, StopReason, TargetKind};
use cardmark_judge::faults;
use cardmark_session::{Build, Exit};
use cardmark_testkit::{FuseDir, Mount, Refusal, needs};

use crate::run::{
    EIO, ENODEV, ENOSPC, LAYOUT, QUICKEST, Run, SPAN_BYTES, cut_short, finding, trial, whole_count,
};
use crate::world::{Act, Ended, MIB, Person, World, text};

/// The folder that was measured holds nothing.
#[track_caller]
pub(crate) fn assert_empty(folder: &Path) {
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// Nothing was begun there.
#[track_caller]
pub(crate) fn assert_refused(world: &World, ended: &Ended, exit: Exit, parts: &[&str]) {
    ended.assert_error(exit, parts);
    world.assert_nothing_kept();
}

#[test]
fn a_run_keeps_its_record_and_leaves_nothing_behind() {
    let build = Build {
        commit: Some("1f2e3d4c5b6a"),
        is_modified: false,
        target: "arm-unknown-linux-musleabihf",
        profile: "release",
        time_s: 0,
    };
    build.set();
    let world = World::new();
    let folder = world.folder("card");
    let mut run = Run::of(text(&folder)).only(&[QUICKEST]).seed(0x2a);
    run.labels = vec![("product".to_owned(), "Test 32 GB".to_owned())];
    let ended = run.execute(&world);
    ended.assert_exit(Exit::Done);
    assert_empty(&folder);
    let record = ended.record();
    assert_eq!(record.origin.kind, OriginKind::Measured);
    assert_eq!(record.labels["product"], "Test 32 GB");
    assert_eq!(record.seed.as_deref(), Some("000000000000002a"));
    let target = record.target.as_ref().unwrap();
    assert_eq!(target.kind, TargetKind::Directory);
    assert_eq!(target.span_bytes, SPAN_BYTES);
    assert_eq!(record.written_bytes, SPAN_BYTES);
    assert!(record.metric("rand_read_4k").unwrap().value > 0.0);
    let mut findings = record.findings.iter();
    assert!(findings.all(|finding| finding.severity < Severity::Error));
    // It names the build that made it; a simulated run is the same for all of a version.
    let commit = |record: &cardmark_core::Record| record.tool.as_ref().unwrap().commit.clone();
    assert_eq!(commit(record).as_deref(), build.commit);
    let simulated = Run::of("sim:a1-32gb").only(&[QUICKEST]).execute(&world);
    assert_eq!(commit(simulated.record()), None);
    assert_eq!(world.runs().len(), 2);
    // Neither the folder's path nor the host's name entered the record.
    let json = serde_json::to_string(record).unwrap();
    assert!(!json.contains(text(world.scratch.path())));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(!json.contains(&format!("\"{}\"", host.trim())));
}

#[test]
fn a_target_that_is_missing_or_no_directory() {
    let world = World::new();
    let (missing, file) = (world.path("missing"), world.path("file"));
    std::fs::write(&file, "precious").unwrap();
    for (target, exit, parts) in [
        (
            text(&missing),
            Exit::Trouble,
            &[
                "cannot find target `",
                "cause: No such file",
                "hint: a target is a directory",
            ][..],
        ),
        (
            "a1-32gb",
            Exit::Trouble,
            &["hint: the simulated card is called `sim:a1-32gb`"],
        ),
        (
            text(&file),
            Exit::Usage,
            &["neither a directory nor", "hint: to test what it lies on"],
        ),
    ] {
        assert_refused(&world, &Run::of(target).execute(&world), exit, parts);
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

#[test]
fn a_filesystem_that_is_read_only() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4(world.scratch.path(), 400 * MIB);
    card.make_read_only();
    let ended = Run::of(text(card.folder())).execute(&world);
    let parts = [
        "is read-only",
        "hint: a card that turned read-only by itself",
    ];
    assert_refused(&world, &ended, Exit::Trouble, &parts);
    assert_empty(card.folder());
}

#[test]
fn a_filesystem_without_room() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let small = Mount::ext4(world.scratch.path(), 64 * MIB);
    let free = small.free_bytes();
    let ended = Run::of(text(small.folder())).execute(&world);
    let parts = ["are needed", "hint: free some room"];
    assert_refused(&world, &ended, Exit::Trouble, &parts);
    assert_empty(small.folder());
    assert_eq!(small.free_bytes(), free);
}

#[test]
fn a_filesystem_that_the_suite_would_fill() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let tight = Mount::ext4(world.scratch.path(), 400 * MIB);
    let ballast = File::create(tight.folder().with_file_name("ballast")).unwrap();
    allocate(&ballast, 0, tight.free_bytes() - 300 * MIB).unwrap();
    let free = tight.free_bytes();
    assert!(free > SPAN_BYTES, "{free}");
    let ended = Run::of(text(tight.folder())).execute(&world);
    let parts = [
        "not enough room in `",
        "320 MiB are needed",
        "hint: free some",
    ];
    assert_refused(&world, &ended, Exit::Trouble, &parts);
    assert_empty(tight.folder());
    assert_eq!(tight.free_bytes(), free);
}

#[test]
fn a_filesystem_that_fills_up_meanwhile() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4(world.scratch.path(), 400 * MIB);
    let greedy = card.folder().with_file_name("greedy");
    let person = Person::absent().at(trial(2), Act::of(move || take_all_room(&greedy)));
    let run = Run::of(text(card.folder())).only(&[QUICKEST]);
    let ended = run.attended(&world, person);
    let record = world.partial(&ended, FindingKind::NoSpace);
    assert_eq!(cut_short(&record).errors[0].errno, ENOSPC);
    let found = finding(&record, FindingKind::NoSpace).unwrap();
    assert_eq!(found.severity, Severity::Error);
    assert_empty(card.folder());
}

/// Another program takes all room of a filesystem.
fn take_all_room(path: &Path) {
    let file = File::create(path).unwrap();
    let mut piece = 64 * MIB;
    while piece >= 4096 {
        let end = file.metadata().unwrap().len();
        if allocate(&file, end, piece).is_err() {
            piece /= 2;
        }
    }
}

fn allocate(file: &File, offset: u64, bytes: u64) -> rustix::io::Result<()> {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), offset, bytes)
}

#[test]
fn memory_is_refused() {
    needs!(Root);
    let world = World::new();
    let memory = Mount::tmpfs(world.scratch.path(), 512 * MIB);
    let ended = Run::of(text(memory.folder())).execute(&world);
    let parts = [
        "is in memory, not on storage",
        "direct I/O moves nothing",
        "hint: name a",
    ];
    assert_refused(&world, &ended, Exit::Trouble, &parts);
    assert_empty(memory.folder());
}

#[test]
fn a_filesystem_that_refuses_direct_io_is_measured_visibly_through_the_cache() {
    let world = World::new();
    let folder = world.folder("card");
    let run = Run::of(text(&folder)).only(&[QUICKEST]);
    let ended = Refusal::DirectIo.during(|| run.execute(&world));
    ended.assert_exit(Exit::Done);
    assert_empty(&folder);
    let record = ended.record();
    assert_eq!(record.target.as_ref().unwrap().direct, Some(false));
    let found = finding(record, FindingKind::Buffered).unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.detail.contains("refuses direct I/O"), "{found:?}");
    let metric = record.metric("rand_read_4k").unwrap();
    let name = FindingKind::Buffered.name();
    assert!(metric.warnings.contains(&name), "{metric:?}");
}

#[test]
fn a_filesystem_that_accepts_direct_io_and_does_not_heed_it_is_found_out() {
    needs!(Root, LoopDevice, Ext4);
    let world = World::new();
    let card = Mount::ext4_with_data_in_journal(world.scratch.path(), 600 * MIB);
    let ended = Run::of(text(card.folder()))
        .only(&[QUICKEST])
        .execute(&world);
    ended.assert_exit(Exit::Done);
    let metric = ended.record().metric("rand_read_4k").unwrap();
    // The way the file was opened shows it, or the counters of the block layer.
    let told = [FindingKind::NotReached, FindingKind::Buffered];
    let is_told = |kind: FindingKind| metric.warnings.contains(&kind.name());
    assert!(told.into_iter().any(is_told), "{metric:?}");
    assert_empty(card.folder());
}

#[test]
fn a_filesystem_without_nameless_files_is_left_empty_too() {
    needs!(Root, Fuse);
    let (world, card) = on_fuse();
    // While the run is under way already nothing has a name there, so that a crash leaves nothing.
    let person = in_trial(&card, 2, |card| {
        assert_eq!((card.names_count(), card.files_count()), (0, 1));
    });
    let run = Run::of(text(card.path())).only(&[QUICKEST]);
    let ended = run.attended(&world, person);
    ended.assert_exit(Exit::Done);
    let target = ended.record().target.as_ref().unwrap();
    assert_eq!(target.named_file, Some(true));
    assert_eq!(target.filesystem.as_deref(), Some("fuse"));
    // No block layer below it counts.
    assert!(finding(ended.record(), FindingKind::Unverified).is_some());
    card.await_empty();
    assert_empty(card.path());
}

#[test]
fn a_system_without_nameless_files_names_the_file_for_a_moment() {
    let world = World::new();
    let folder = world.folder("card");
    let there = folder.clone();
    let look = Act::Do(Box::new(move |pulse| {
        assert_empty(&there);
        pulse.stop();
    }));
    let person = Person::absent().at(trial(LAYOUT + 1), look);
    let run = Run::of(text(&folder)).only(&[QUICKEST]);
    let ended = Refusal::NamelessFile.during(|| run.attended(&world, person));
    let record = world.partial(&ended, FindingKind::Interrupted);
    assert_eq!(whole_count(&record), LAYOUT);
    assert_eq!(record.target.unwrap().named_file, Some(true));
    assert_empty(&folder);
}

#[test]
fn a_system_without_io_uring_uses_threads_and_says_so() {
    let world = World::new();
    let folder = world.folder("card");
    let run = Run::of(text(&folder)).only(&["rand_read_4k_q32"]);
    let ended = Refusal::IoUring.during(|| run.execute(&world));
    ended.assert_exit(Exit::Done);
    let found = finding(ended.record(), FindingKind::Threads).unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.detail.contains("error 1;"), "{}", found.detail);
    assert_empty(&folder);
}

/// A card whose filesystem fails on demand; it goes before its world.
fn on_fuse() -> (World, Arc<FuseDir>) {
    let world = World::new();
    let card = Arc::new(FuseDir::mount(world.scratch.path()));
    (world, card)
}

/// Does that to the card when its n-th trial begins.
fn in_trial(
    card: &Arc<FuseDir>,
    n: usize,
    act: impl FnOnce(&FuseDir) + Send + 'static,
) -> &'static Person {
    // Not kept alive by an act that never comes.
    let card = Arc::downgrade(card);
    Person::absent().at(trial(n), Act::of(move || act(&card.upgrade().unwrap())))
}

#[test]
fn the_layout_meets_an_error() {
    needs!(Root, Fuse);
    let (world, card) = on_fuse();
    card.fail_writes_beyond(150 * MIB, EIO);
    let ended = Run::of(text(card.path())).execute(&world);
    let record = world.partial(&ended, FindingKind::IoError);
    let last = cut_short(&record);
    assert_eq!((last.stopped_by, last.layout), (StopReason::Error, true));
    let error = last.errors[0];
    assert_eq!((error.offset_bytes, error.errno), (150 * MIB, EIO));
    assert_eq!(whole_count(&record), 2);
    let found = finding(&record, FindingKind::IoError).unwrap();
    assert_eq!(found.severity, Severity::Error);
    let said = format!("(error 5) at byte {}", 150 * MIB);
    assert!(found.detail.ends_with(&said), "{}", found.detail);
    assert!(found.detail.contains("input/output error"), "{found:?}");
    assert!(found.advice.is_some(), "{found:?}");
    card.await_empty();
    assert_empty(card.path());
}

#[test]
fn the_layout_meets_the_end_of_the_room_or_of_writing() {
    needs!(Root, Fuse);
    for (errno, kind) in [
        (ENOSPC, FindingKind::NoSpace),
        (Errno::ROFS, FindingKind::RemountedReadOnly),
    ] {
        let (world, card) = on_fuse();
        card.fail_writes_beyond(100 * MIB, errno);
        let ended = Run::of(text(card.path())).execute(&world);
        let record = world.partial(&ended, kind);
        assert_eq!(cut_short(&record).errors[0].errno, errno);
        assert!(finding(&record, kind).unwrap().advice.is_some());
        assert!(faults(&record).is_empty(), "{record:?}");
        card.await_empty();
    }
}

#[test]
fn one_workload_fails_and_the_others_go_on() {
    needs!(Root, Fuse);
    let (world, card) = on_fuse();
    let run = Run::of(text(card.path())).only(&["rand_write_4k", "rand_read_4k"]);
    // In the second round.
    let person = in_trial(&card, LAYOUT + 3, |card| {
        card.fail_writes_beyond(128 * MIB, EIO);
    });
    let ended = run.attended(&world, person);
    let record = world.partial(&ended, FindingKind::IoError);
    let found = finding(&record, FindingKind::IoError).unwrap();
    assert_eq!(found.workloads, ["rand_write_4k"]);
    let failed = record.trials.iter().find(|trial| !trial.errors.is_empty());
    let failed = failed.unwrap();
    let error = failed.errors[0];
    let id = failed.workload.id.as_str();
    assert_eq!((id, error.errno), ("rand_write_4k", EIO));
    let range = 128 * MIB..SPAN_BYTES;
    assert!(range.contains(&error.offset_bytes), "{error:?}");
    let trials = record.trials.iter();
    let reads = trials.filter(|trial| trial.workload.id == "rand_read_4k");
    assert!(reads.filter(|trial| trial.is_whole()).count() >= 6);
    assert!(record.metric("rand_read_4k").unwrap().value > 0.0);
    card.await_empty();
}

#[test]
fn a_device_vanishes() {
    needs!(Root, Fuse);
    for workload in [QUICKEST, "rand_read_4k_q32"] {
        let (world, card) = on_fuse();
        let run = Run::of(text(card.path())).only(&[workload]);
        let person = in_trial(&card, LAYOUT + 2, |card| card.fail_all_after(100, ENODEV));
        let ended = run.attended(&world, person);
        let record = world.partial(&ended, FindingKind::Vanished);
        let errors = &cut_short(&record).errors;
        assert!(!errors.is_empty());
        for error in errors {
            assert_eq!(error.errno, ENODEV);
            assert!(error.offset_bytes < SPAN_BYTES);
        }
        assert!(whole_count(&record) > LAYOUT);
        card.await_empty();
    }
}

#[test]
fn an_answer_that_is_late_but_within_the_limit_is_measured() {
    needs!(Root, Fuse);
    let (world, card) = on_fuse();
    // In the layout, which has no ramp outside the clock.
    card.hang_after(20);
    let run = Run::of(text(card.path())).only(&[QUICKEST]);
    let ended = std::thread::scope(|scope| {
        let job = scope.spawn(|| run.execute(&world));
        card.await_hanging();
        std::thread::sleep(Duration::from_millis(1100));
        card.release();
        job.join().unwrap()
    });
    ended.assert_exit(Exit::Done);
    let trials = ended.record().trials.iter();
    let slowest = trials.map(|trial| trial.latency.max_ns).max();
    assert!(slowest > Some(1_000_000_000), "{slowest:?}");
}
