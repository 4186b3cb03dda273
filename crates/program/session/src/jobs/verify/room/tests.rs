use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use cardmark_core::StorageKind;
use cardmark_engine::Pulse;
use cardmark_integrity::Held;

use super::*;
use crate::voice::Silent;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn room(free_bytes: u64, size_bytes: u64) -> Room {
    Room {
        free_bytes,
        size_bytes,
    }
}

#[test]
fn a_system_disk_of_4_gib_keeps_1_gib_and_a_large_one_a_twentieth() {
    let kept = |size: u64, is_system: bool| {
        let room = room(size, size);
        size - usable_bytes(room, is_system)
    };
    assert_eq!(kept(4 * GIB, true), GIB + MARGIN_BYTES);
    assert_eq!(kept(120 * GIB, true), 6 * GIB + MARGIN_BYTES);
    assert_eq!(kept(GIB, true), GIB, "nothing is used");
    assert_eq!(kept(4 * GIB, false), RESERVE_BYTES);
    for size in (1..200).map(|step| step * 700 * MIB + step * 4096) {
        let room = room(size, size);
        let least = GIB.max(size / 20);
        assert!(size - usable_bytes(room, true) >= least.min(size));
    }
}

/// A disk with room for the test and for others, only the files of the test are real.
struct Disk {
    blocks: Blocks,
    job: GivingWay,
    others_bytes: Rc<Cell<u64>>,
    size_bytes: u64,
    _folder: tempfile::TempDir,
}

fn files_bytes(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().metadata().unwrap().blocks() * 512)
        .sum()
}

impl Disk {
    /// The test wants `wanted_bytes`, and leaves `reserve_bytes` of the disk.
    fn new(wanted_bytes: u64, reserve_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let blocks_count = wanted_bytes / BLOCK_BYTES as u64;
        let blocks =
            Blocks::in_folder(folder.path(), blocks_count, Arc::new(Pulse::new())).unwrap();
        let size_bytes = wanted_bytes + reserve_bytes + MARGIN_BYTES;
        let others_bytes = Rc::new(Cell::new(0));
        let (others, path) = (Rc::clone(&others_bytes), folder.path().to_owned());
        let free = move || Ok(size_bytes - others.get() - files_bytes(&path));
        let content = Content { seed: 39, round: 0 };
        Self {
            blocks,
            job: GivingWay {
                test: Verify::new(blocks_count, content),
                guard: Some(Guard {
                    free: Box::new(free),
                    reserve_bytes,
                    voice: &Silent,
                }),
            },
            others_bytes,
            size_bytes,
            _folder: folder,
        }
    }

    fn free(&self) -> u64 {
        (self.job.guard.as_ref().unwrap().free)().unwrap()
    }

    fn step(&mut self) {
        self.job.step(&mut self.blocks).unwrap();
    }
}

#[test]
fn a_writer_that_starts_in_the_middle_gets_room_and_nothing_is_claimed_of_it() {
    let wanted = 160 * MIB;
    // Before the first step, while writing, and while reading.
    for steps_before in 0..6 {
        let mut disk = Disk::new(wanted, 32 * MIB);
        (0..steps_before).for_each(|_| disk.step());
        // More than the reserve would take.
        disk.others_bytes.set(40 * MIB);
        disk.step();
        disk.step();
        let is_over = disk.job.is_done();
        assert!(
            disk.free() >= 32 * MIB || is_over,
            "after {steps_before} steps"
        );
        while !disk.job.is_done() {
            disk.step();
            assert!(disk.free() >= 32 * MIB);
        }
        let verdict = disk.job.test.verdict().unwrap();
        assert_eq!(verdict.kind, StorageKind::Confirmed);
        let tested = bytes(disk.job.test.blocks_count());
        assert_eq!(
            disk.job.test.surface().blocks_count(),
            disk.job.test.blocks_count()
        );
        assert!(is_over || tested <= disk.size_bytes - 40 * MIB - 32 * MIB);
        assert!(is_over || tested >= 32 * MIB, "{tested}");
        let good = disk.job.test.surface().runs().iter();
        assert!(good.clone().all(|run| run.held == Held::Good));
    }
}

#[test]
fn who_needs_all_room_gets_it_and_the_test_ends() {
    let mut disk = Disk::new(96 * MIB, 32 * MIB);
    disk.step();
    disk.others_bytes.set(130 * MIB - 64 * MIB);
    let ended = disk.job.step(&mut disk.blocks);
    assert!(
        matches!(ended, Err(Trouble::Filesystem { .. })),
        "{ended:?}"
    );
    assert_eq!(disk.blocks.allocated_bytes(), 0);
}

#[test]
fn a_test_that_was_killed_after_giving_way_claims_only_what_its_files_hold() {
    let mut disk = Disk::new(96 * MIB, 32 * MIB);
    while disk.job.test.place().0 == Pass::Write {
        disk.step();
    }
    disk.blocks.shorten(64 * MIB / BLOCK_BYTES as u64).unwrap();
    disk.job.take_up(&disk.blocks);
    while !disk.job.is_done() {
        disk.step();
    }
    let verdict = disk.job.test.verdict().unwrap();
    assert_eq!(verdict.kind, StorageKind::Confirmed);
    assert_eq!(bytes(disk.job.test.blocks_count()), 64 * MIB);
}
