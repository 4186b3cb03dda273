//! Directories: those that can be measured and those that cannot.

use std::fs::File;

use cardmark_core::{FindingKind, OriginKind, Severity, TargetKind};
use cardmark_testkit::{FuseDir, Mount, Program, RateCap, Refusal, needs};

use crate::common::{
    BINARY, ENOSPC, MIB, NOBODY, QUICKEST, assert_empty, assert_error, assert_nothing_kept,
    assert_partial, cut_short, finding, folder, program, scratch, text,
};

#[test]
fn a_run_keeps_its_record_and_leaves_nothing_behind() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let label = "--label=product=Test 32 GB";
    let output = program.run(&["run", text(&folder), QUICKEST, label, "--seed=0x2a"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("random read 4 KiB"), "{output}");
    assert!(
        output.stderr.contains("laying out the file, part 1"),
        "{output}"
    );
    assert!(output.stderr.contains("1/1 random read 4 KiB"), "{output}");
    assert_empty(&folder);
    assert!(program.journals().is_empty());
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert_eq!(record.origin.kind, OriginKind::Measured);
    assert_eq!(record.labels["product"], "Test 32 GB");
    assert_eq!(record.seed.as_deref(), Some("000000000000002a"));
    let target = record.target.as_ref().unwrap();
    assert_eq!(target.kind, TargetKind::Directory);
    assert_eq!(target.span_bytes, 256 * MIB);
    assert_eq!(record.written_bytes, 256 * MIB);
    assert!(record.metric("rand_read_4k").unwrap().value > 0.0);
    assert!(
        record
            .findings
            .iter()
            .all(|finding| finding.severity < Severity::Error)
    );
    // Neither the folder's path nor the host's name entered the record.
    let json = program.run(&["show", "last", "--json"]).stdout;
    assert!(!json.contains(text(scratch.path())));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(!json.contains(&format!("\"{}\"", host.trim())));
}

#[test]
fn a_target_that_is_missing_or_no_directory() {
    let scratch = scratch();
    let program = program(&scratch);
    let missing = scratch.path().join("missing");
    let output = program.run(&["run", text(&missing)]);
    assert_error(
        &output,
        3,
        &[
            "cannot find target `",
            "cause: No such file",
            "hint: a target is a directory",
        ],
    );
    assert_nothing_kept(&program, &output);
    let output = program.run(&["run", "a1-32gb"]);
    assert_error(
        &output,
        3,
        &["hint: the simulated card is called `sim:a1-32gb`"],
    );
    let file = scratch.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let output = program.run(&["run", text(&file)]);
    assert_error(
        &output,
        2,
        &["neither a directory nor", "hint: to test what it lies on"],
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    assert_nothing_kept(&program, &output);
}

#[test]
fn a_directory_that_is_not_writable() {
    // In a place that everybody may enter.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).unwrap();
    let folder = folder(&scratch);
    let nobody_writes = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(&folder, nobody_writes).unwrap();
    let mut program = Program::new(&BINARY, scratch.path());
    if rustix::process::geteuid().is_root() {
        program = program.as_user(NOBODY);
    }
    let output = program.run(&["run", text(&folder)]);
    assert_error(
        &output,
        3,
        &[
            "no permission to write in `",
            "hint: name a directory that you may write in",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(&folder);
}

#[test]
fn a_filesystem_that_is_read_only() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let (program, card) = (program(&scratch), Mount::ext4(scratch.path(), 400 * MIB));
    card.make_read_only();
    let output = program.run(&["run", text(card.folder())]);
    assert_error(
        &output,
        3,
        &[
            "is read-only",
            "hint: a card that turned read-only by itself",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(card.folder());
}

#[test]
fn a_filesystem_without_room() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let program = program(&scratch);
    let small = Mount::ext4(scratch.path(), 64 * MIB);
    let free = small.free_bytes();
    let output = program.run(&["run", text(small.folder())]);
    assert_error(&output, 3, &["are needed", "hint: free some room"]);
    assert_nothing_kept(&program, &output);
    assert_empty(small.folder());
    assert_eq!(small.free_bytes(), free);
}

#[test]
fn a_filesystem_that_the_suite_would_fill() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let program = program(&scratch);
    let tight = Mount::ext4(scratch.path(), 400 * MIB);
    let ballast = File::create(tight.folder().with_file_name("ballast")).unwrap();
    allocate(&ballast, tight.free_bytes() - 300 * MIB);
    let free = tight.free_bytes();
    assert!(free > 256 * MIB, "{free}");
    let output = program.run(&["run", text(tight.folder())]);
    assert_error(
        &output,
        3,
        &[
            "not enough room in `",
            "320 MiB are needed",
            "hint: free some",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(tight.folder());
    assert_eq!(tight.free_bytes(), free);
}

#[test]
fn a_filesystem_that_fills_up_meanwhile() {
    needs!(Root, LoopDevice, Ext4, Blkio);
    let scratch = scratch();
    let program = program(&scratch);
    let card = Mount::ext4(scratch.path(), 400 * MIB);
    // Slow enough for another program to be first.
    let _cap = RateCap::on(card.device(), 40 * MIB);
    let running = program.start(&["run", text(card.folder()), QUICKEST]);
    running.hear("part 2");
    let greedy = File::create(card.folder().with_file_name("greedy")).unwrap();
    let mut piece = 64 * MIB;
    while piece >= 4096 {
        let end = greedy.metadata().unwrap().len();
        if rustix::fs::fallocate(&greedy, rustix::fs::FallocateFlags::empty(), end, piece).is_err()
        {
            piece /= 2;
        }
    }
    let output = running.wait();
    assert_eq!(output.code, 3, "{output}");
    let record = assert_partial(&program, FindingKind::NoSpace);
    let error = cut_short(&record).errors[0];
    assert_eq!(error.errno, ENOSPC);
    let found = finding(&record, FindingKind::NoSpace).unwrap();
    assert_eq!(found.severity, Severity::Error);
    assert!(output.stdout.contains("error: "), "{output}");
    assert_empty(card.folder());
}

#[test]
fn memory_is_refused() {
    needs!(Root);
    let scratch = scratch();
    let (program, memory) = (program(&scratch), Mount::tmpfs(scratch.path(), 512 * MIB));
    let output = program.run(&["run", text(memory.folder())]);
    assert_error(
        &output,
        3,
        &[
            "is in memory, not on storage",
            "direct I/O moves nothing",
            "hint: name a",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(memory.folder());
}

#[test]
fn a_filesystem_that_refuses_direct_io_is_measured_visibly_through_the_cache() {
    let scratch = scratch();
    let (program, folder) = (
        program(&scratch).refused(Refusal::DirectIo),
        folder(&scratch),
    );
    let output = program.run(&["run", text(&folder), QUICKEST]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("refuses direct I/O"), "{output}");
    assert_empty(&folder);
    let record = program.last();
    assert_eq!(record.target.as_ref().unwrap().direct, Some(false));
    let found = finding(&record, FindingKind::Buffered).unwrap();
    assert_eq!(found.severity, Severity::Warning);
    let metric = record.metric("rand_read_4k").unwrap();
    assert!(
        metric.warnings.contains(&FindingKind::Buffered.name()),
        "{metric:?}"
    );
}

#[test]
fn a_filesystem_that_accepts_direct_io_and_does_not_heed_it_is_found_out() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let program = program(&scratch);
    let card = Mount::ext4_with_data_in_journal(scratch.path(), 600 * MIB);
    let output = program.run(&["run", text(card.folder()), QUICKEST]);
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    let metric = record.metric("rand_read_4k").unwrap();
    // Either the way the file was opened says so, or the counters of the block layer do.
    let told = [FindingKind::NotReached, FindingKind::Buffered];
    let is_told = |kind: FindingKind| metric.warnings.contains(&kind.name());
    assert!(told.into_iter().any(is_told), "{metric:?}");
    assert_empty(card.folder());
}

#[test]
fn a_filesystem_without_nameless_files_is_left_empty_too() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let running = program.start(&["run", text(card.path()), QUICKEST]);
    running.hear("part 2");
    // While the run is under way already nothing has a name there, so that a crash leaves nothing.
    assert_eq!((card.names_count(), card.files_count()), (0, 1));
    let output = running.wait();
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    assert_eq!(record.target.as_ref().unwrap().named_file, Some(true));
    assert_eq!(
        record.target.as_ref().unwrap().filesystem.as_deref(),
        Some("fuse")
    );
    // No block layer below it counts.
    assert!(finding(&record, FindingKind::Unverified).is_some());
    card.await_empty();
    assert_empty(card.path());
}

#[test]
fn a_system_without_nameless_files_names_the_file_for_a_moment() {
    let scratch = scratch();
    let (program, folder) = (
        program(&scratch).refused(Refusal::NamelessFile),
        folder(&scratch),
    );
    let running = program.start(&["run", text(&folder), QUICKEST]);
    running.hear("round 1");
    assert_empty(&folder);
    running.signal(rustix::process::Signal::INT);
    assert_eq!(running.wait().code, 130);
    assert_eq!(program.last().target.unwrap().named_file, Some(true));
    assert_empty(&folder);
}

#[test]
fn a_system_without_io_uring_uses_threads_and_says_so() {
    let scratch = scratch();
    let (program, folder) = (
        program(&scratch).refused(Refusal::IoUring),
        folder(&scratch),
    );
    let output = program.run(&["run", text(&folder), "--only=rand_read_4k_q32"]);
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    let found = finding(&record, FindingKind::Threads).unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.detail.contains("error 1;"), "{}", found.detail);
    assert_empty(&folder);
}

fn allocate(file: &File, bytes: u64) {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes).unwrap();
}
