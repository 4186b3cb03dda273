//! Raw block devices.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use cardmark_core::{FindingKind, TargetKind};
use cardmark_testkit::{LoopDevice, needs};
use tempfile::TempDir;

use crate::common::{
    MIB, QUICKEST, assert_error, assert_nothing_kept, finding, program, scratch, text,
};

/// A file full of different words, and a loop device on it.
fn device(scratch: &TempDir, size_bytes: u64) -> (PathBuf, LoopDevice) {
    let path = scratch.path().join("image");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
    for word in 0..size_bytes / 8 {
        file.write_all(&cardmark_core::mix(word).to_le_bytes())
            .unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    let device = LoopDevice::attach(&path, true);
    (path, device)
}

fn is_untouched(path: &PathBuf) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes
        .chunks_exact(8)
        .zip(0_u64..)
        .all(|(word, number)| *word == cardmark_core::mix(number).to_le_bytes())
}

#[test]
fn a_device_is_read_and_not_written() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let (file, device) = device(&scratch, 320 * MIB);
    let output = program.run(&[
        "run",
        text(device.path()),
        QUICKEST,
        "--read-only",
        "--json=-",
    ]);
    assert_eq!(output.code, 0, "{output}");
    let record = output.record();
    assert_eq!(record.target.as_ref().unwrap().kind, TargetKind::Device);
    assert_eq!(record.written_bytes, 0);
    assert!(!record.trials.is_empty());
    for trial in &record.trials {
        let counted = trial.device_counters.unwrap();
        assert_eq!(
            (counted.write_bytes, counted.write_operations_count),
            (0, 0)
        );
        assert!(counted.read_bytes > 0);
    }
    assert!(finding(&record, FindingKind::UnwrittenSpan).is_some());
    assert!(program.journals().is_empty());
    drop(device);
    assert!(is_untouched(&file));
}

#[test]
fn a_device_is_not_written_by_what_only_writes() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let (file, device) = device(&scratch, 320 * MIB);
    let only_writes = [
        "run",
        text(device.path()),
        "--read-only",
        "--only=rand_write_4k",
    ];
    let output = program.run(&only_writes);
    assert_error(
        &output,
        2,
        &["nothing is left to measure without writing", "hint: "],
    );
    assert_nothing_kept(&program, &output);
    drop(device);
    assert!(is_untouched(&file));
}

#[test]
fn a_device_smaller_than_the_suite() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    let (file, device) = device(&scratch, 64 * MIB);
    let output = program.run(&["run", text(device.path()), "--read-only"]);
    assert_error(
        &output,
        3,
        &["has 67108864 bytes, suite `quick` needs 268435456"],
    );
    assert_nothing_kept(&program, &output);
    drop(device);
    assert!(is_untouched(&file));
}

#[test]
fn a_character_device_is_no_target() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "/dev/null", "--read-only"]);
    assert_error(&output, 2, &["neither a directory nor a block device"]);
    assert_nothing_kept(&program, &output);
}
