//! What 32 bits could break: offsets past 4 GiB and past 2 TiB, where the number of a sector needs more of them, and
//! queues without `io_uring`. As a 32-bit program under qemu-arm (rig S6):
//! `CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER="qemu-arm-static -L /usr/arm-linux-gnueabihf" cargo test
//! -p cardmark-device --test it wide --target armv7-unknown-linux-gnueabihf`.

use std::fs::File;
use std::sync::Arc;

use cardmark_device::{Blocks, RealBackend, TestFile, open_device_for_writing};
use cardmark_engine::{Backend, Done, Op, OpKind, Pulse};
use cardmark_integrity::{Content, Extent, Held, Medium, Span};
use cardmark_testkit::{FuseDir, LoopDevice, needs};
use rustix::fs::SeekFrom;

use crate::support::{BLOCK, backend_in, has, workload};

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const PAGE: u64 = BLOCK as u64;
const FILE_BYTES: u64 = 3 * TIB;
/// Blocks to write; the last ends with the file.
const OFFSETS: [u64; 6] = [
    4 * GIB - PAGE,
    4 * GIB,
    5 * GIB + 3 * PAGE,
    2 * TIB - PAGE,
    2 * TIB,
    FILE_BYTES - PAGE,
];
/// The same as stretches of the file.
const STRETCHES: [(u64, u64); 4] = [
    (4 * GIB - PAGE, 4 * GIB + PAGE),
    (5 * GIB + 3 * PAGE, 5 * GIB + 4 * PAGE),
    (2 * TIB - PAGE, 2 * TIB + PAGE),
    (FILE_BYTES - PAGE, FILE_BYTES),
];

/// Returns the stretches of a sparse file that hold data, as the filesystem reports them.
fn data_of(file: &File) -> Vec<(u64, u64)> {
    let mut stretches = Vec::new();
    let mut end = 0;
    while let Ok(start) = rustix::fs::seek(file, SeekFrom::Data(end)) {
        end = rustix::fs::seek(file, SeekFrom::Hole(start)).unwrap();
        stretches.push((start, end));
    }
    stretches
}

fn operation(kind: OpKind, offset: u64, slot: u32) -> Op {
    Op {
        kind,
        offset,
        bytes: BLOCK,
        slot,
        stream: 0,
    }
}

fn can_be_large() -> bool {
    let large = tempfile::tempfile().unwrap().set_len(FILE_BYTES);
    has("files of 3 TiB in the temporary directory", large.is_ok())
}

#[test]
fn blocks_past_4_gib_and_2_tib_are_written_and_read_at_their_place() {
    if !can_be_large() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for (depth, threads) in [(1, false), (32, true), (32, false)] {
        let (mut backend, look) = backend_in(directory.path(), 5);
        if threads {
            backend = backend.force_threads();
        }
        backend.prepare(&workload(0, depth)).unwrap();
        for (slot, offset) in (0..).zip(OFFSETS) {
            backend.submit(operation(OpKind::Write, offset, slot % depth));
            assert_eq!(backend.reap().outcome, Ok(BLOCK), "write at {offset}");
        }
        backend.flush().unwrap();
        assert_eq!(data_of(&look), STRETCHES, "depth {depth}");
        backend.prepare(&workload(100, depth)).unwrap();
        // The file ends there; at 0 it has a hole.
        for (offset, outcome) in [(FILE_BYTES - PAGE, Ok(BLOCK)), (FILE_BYTES, Ok(0))] {
            backend.submit(operation(OpKind::Read, offset, 0));
            assert_eq!(backend.reap().outcome, outcome, "read at {offset}");
        }
    }
}

#[test]
fn writes_past_4_gib_are_remembered_apart_from_those_before() {
    let directory = tempfile::tempdir().unwrap();
    let (backend, _look) = backend_in(directory.path(), 5);
    let mut backend = backend.keep_in_mind(4 * GIB + 16 * PAGE);
    let offsets = [4 * GIB - PAGE, 4 * GIB + 7 * PAGE];
    backend.prepare(&workload(0, 1)).unwrap();
    for offset in offsets {
        backend.submit(operation(OpKind::Write, offset, 0));
        assert_eq!(backend.reap().outcome, Ok(BLOCK));
    }
    backend.flush().unwrap();
    for offset in offsets {
        let found = backend.read_back(offset, PAGE).unwrap().unwrap();
        assert_eq!((found.read_bytes, found.lost_bytes), (PAGE, 0), "{offset}");
    }
}

#[test]
fn blocks_of_a_device_of_3_tib_are_tested_at_their_place() {
    needs!(LoopDevice);
    if !can_be_large() {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(FILE_BYTES).unwrap();
    let device = LoopDevice::attach(file.path(), false);
    let target = open_device_for_writing(device.path()).unwrap();
    assert_eq!(target.size_bytes, FILE_BYTES);
    let mut blocks = Blocks::of_device(target, Arc::new(Pulse::new())).unwrap();
    let content = Content { seed: 7, round: 0 };
    let spans = STRETCHES.map(|(start, end)| Span::between(start >> 9, end >> 9));
    for span in spans {
        assert_eq!(blocks.write(span, content).unwrap().runs, []);
    }
    blocks.flush().unwrap();
    for span in spans {
        let runs = blocks.read(span, content).unwrap().runs;
        assert_eq!(runs, [Extent::new(span, Held::Good)]);
    }
    drop(blocks);
    file.as_file().sync_all().unwrap();
    assert_eq!(data_of(file.as_file()), STRETCHES);
}

/// The filesystem counts the reads that wait for its answer.
#[test]
fn threads_have_32_operations_in_flight_at_once() {
    needs!(Fuse);
    const DEPTH: u32 = 32;
    let directory = FuseDir::mount_with_threads(
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")),
        DEPTH as usize + 2,
    );
    let file = TestFile::create(directory.path(), 64 << 20).unwrap();
    let mut backend = RealBackend::new(file, 5, Box::new(|| None));
    if cfg!(target_pointer_width = "64") {
        backend = backend.force_threads();
    }
    backend.prepare(&workload(0, 1)).unwrap();
    for place in 0..DEPTH {
        backend.submit(operation(OpKind::Write, u64::from(place) * PAGE, 0));
        assert_eq!(backend.reap().outcome, Ok(BLOCK));
    }
    backend.prepare(&workload(100, DEPTH)).unwrap();
    assert!(backend.used_threads());
    directory.hang_after(0);
    for slot in 0..DEPTH {
        backend.submit(operation(OpKind::Read, u64::from(slot) * PAGE, slot));
    }
    directory.await_hanging_count(DEPTH as usize);
    directory.release();
    let mut done: Vec<Done> = (0..DEPTH).map(|_| backend.reap()).collect();
    done.sort_unstable_by_key(|done| done.slot);
    let expected = |slot| Done {
        slot,
        outcome: Ok(BLOCK),
    };
    assert_eq!(done, (0..DEPTH).map(expected).collect::<Vec<_>>());
}
