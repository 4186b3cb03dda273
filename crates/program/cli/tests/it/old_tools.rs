//! The suites of the old tools, run by their users.

use std::os::unix::fs::{PermissionsExt, chown};

use cardmark_core::{FindingKind, IntervalKind, Severity};
use cardmark_testkit::{FuseDir, LoopDevice, Mount, Program, needs};

use crate::common::{
    BINARY, MIB, NOBODY, assert_empty, assert_error, assert_nothing_kept, finding, program,
    scratch, text,
};

/// The workloads of `dramble`; the first two are of the disk.
pub(crate) const ALL: [&str; 9] = [
    "hdparm_t",
    "hdparm_T",
    "dd_write",
    "iozone_write",
    "iozone_rewrite",
    "iozone_read",
    "iozone_reread",
    "iozone_random_read",
    "iozone_random_write",
];

/// Part of a disk that another program may have read just before, to look for partitions:
/// hdparm reads through the page cache, and that is there already.
const READ_BY_OTHERS: u64 = MIB;

#[test]
fn all_of_dramble_leaves_nothing_behind() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    card.device().disguise();
    let free = card.free_bytes();
    let program = program(&scratch);
    let output = program.run(&["run", text(card.folder()), "--suite=dramble"]);
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    let ids: Vec<&str> = record.metrics.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ALL);
    assert_eq!(record.written_bytes, 700 * MIB);
    assert!(record.trials.iter().all(|trial| trial.is_whole()));
    // What was read of the disk is counted there.
    let hdparm = &record.trials[0];
    let counted = hdparm.device_counters.unwrap().read_bytes;
    let (read, others) = (hdparm.bytes(), READ_BY_OTHERS);
    assert!(counted + others >= read, "{counted} of {read}");
    assert_empty(card.folder());
    assert_eq!(card.free_bytes(), free);
}

#[test]
fn an_ordinary_user_gets_all_but_what_the_disk_would_tell() {
    needs!(Root, LoopDevice, Ext4);
    // In a place that everybody may enter.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).unwrap();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    let point = card.folder().parent().unwrap();
    std::fs::set_permissions(point, PermissionsExt::from_mode(0o755)).unwrap();
    chown(card.folder(), Some(NOBODY), Some(NOBODY)).unwrap();
    let program = Program::new(&BINARY, scratch.path()).as_user(NOBODY);
    let output = program.run(&["run", text(card.folder()), "--suite=dramble"]);
    assert_eq!(output.code, 3, "{output}");
    assert!(
        output.stdout.contains("no permission to read the disk"),
        "{output}"
    );
    let record = program.last();
    let ids: Vec<&str> = record.metrics.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ALL[2..]);
    for missing in &ALL[..2] {
        let found = record
            .findings
            .iter()
            .find(|f| f.workloads == [*missing])
            .unwrap();
        let kind = (found.kind, found.severity);
        assert_eq!(
            kind,
            (FindingKind::NotPermitted, Severity::Error),
            "{missing}"
        );
    }
    assert_empty(card.folder());
}

#[test]
fn rounds_of_an_old_tool_give_intervals_between_them() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let card = Mount::ext4_in_memory(scratch.path(), 600 * MIB);
    let program = program(&scratch);
    for (rounds, kind) in [(None, false), (Some("--rounds=3"), true)] {
        let only = "--only=dd_write,iozone_write";
        let mut arguments = vec!["run", text(card.folder()), "--suite=dramble", only];
        arguments.extend(rounds);
        let output = program.run(&arguments);
        assert_eq!(output.code, 0, "{output}");
        let record = program.last();
        assert_eq!(record.metrics.len(), 2);
        for metric in &record.metrics {
            let between = metric.interval_kind == IntervalKind::BetweenRounds;
            assert_eq!(between, kind, "{metric:?}");
            if kind {
                assert_eq!(metric.trials.len(), 3);
                assert!(metric.low < Some(metric.value) && metric.high > Some(metric.value));
            }
        }
    }
}

#[test]
fn only_lists_are_told_how_often() {
    let scratch = scratch();
    let program = program(&scratch);
    for suite in ["quick", "agnostics"] {
        let suite = format!("--suite={suite}");
        let output = program.run(&["run", "sim:a1-32gb", &suite, "--rounds=3"]);
        let said = [
            "sets its own number of rounds",
            "hint: leave `--rounds` out",
        ];
        assert_error(&output, 2, &said);
        assert_nothing_kept(&program, &output);
    }
}

#[test]
fn a_suite_on_another_kind_of_target_is_a_mistake() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let image = scratch.path().join("image");
    let file = std::fs::File::create(&image).unwrap();
    file.set_len(2 << 30).unwrap();
    let device = LoopDevice::attach(&image, true);
    let folder = scratch.path().join("card");
    std::fs::create_dir(&folder).unwrap();
    for (target, suite, wants) in [
        (device.path(), "parallel4", "needs files in a directory"),
        (device.path(), "agnostics", "needs files in a directory"),
        (device.path(), "pibenchmarks", "needs files in a directory"),
        (&folder, "raw-survey", "needs a whole block device"),
    ] {
        let suite = format!("--suite={suite}");
        let mut arguments = vec!["run", text(target), &suite];
        // Writing to a device is another question.
        if target == device.path() {
            arguments.push("--read-only");
        }
        let output = program.run(&arguments);
        assert_error(&output, 2, &[wants, "hint: `cardmark list suites`"]);
        assert_nothing_kept(&program, &output);
    }
    assert_empty(&folder);
}

#[test]
fn where_no_disk_is_known_its_figures_are_not_applicable() {
    needs!(Root, Fuse);
    let scratch = scratch();
    let (program, card) = (program(&scratch), FuseDir::mount(scratch.path()));
    let only = "--only=hdparm_t";
    let output = program.run(&["run", text(card.path()), "--suite=dramble", only]);
    assert_eq!(output.code, 0, "{output}");
    let record = program.last();
    let found = finding(&record, FindingKind::NotApplicable).unwrap();
    assert_eq!(
        (found.severity, &found.workloads[..]),
        (Severity::Note, &["hdparm_t".to_owned()][..])
    );
    assert!(record.trials.is_empty() && record.metrics.is_empty());
    card.await_empty();
}

#[test]
fn a_record_of_quick_says_nothing_of_manners() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:a1-32gb", "--json=-"]);
    assert_eq!(output.code, 0, "{output}");
    // But for the reads of the whole device, which say what they work on. A workload is written once.
    let manners = output.stdout.matches("\"manner\"").count();
    assert_eq!(manners, 1);
    for word in ["\"printed\"", "\"derived\""] {
        assert!(!output.stdout.contains(word), "{word}");
    }
    let output = program.run(&["run", "sim:a1-32gb", "--suite=dramble", "--json=-"]);
    assert!(output.stdout.contains("\"manner\""), "{output}");
    assert_eq!(output.record(), program.last(), "it survives the store");
}
