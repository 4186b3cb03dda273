//! Objects as the old tools' workloads want them: state of the file, page cache, streams, disk.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_core::{Access, Object, Order, Payload, Start, Workload};
use cardmark_device::{RealBackend, TestFile, open_device_readonly};
use cardmark_engine::{Backend, Op, OpKind};
use cardmark_testkit::{LoopDevice, Mount, needs};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::support::{BLOCK, backend_in, has, workload};

const MIB: u64 = 1 << 20;

/// One operation of the first stream.
fn run(
    backend: &mut RealBackend,
    kind: OpKind,
    offset: u64,
    bytes: u32,
) -> Result<u32, cardmark_core::Errno> {
    run_on(backend, 0, kind, offset, bytes)
}

fn run_on(
    backend: &mut RealBackend,
    stream: u32,
    kind: OpKind,
    offset: u64,
    bytes: u32,
) -> Result<u32, cardmark_core::Errno> {
    backend.submit(Op {
        kind,
        offset,
        bytes,
        slot: stream,
        stream,
    });
    backend.reap().outcome
}

fn number(errno: Errno) -> cardmark_core::Errno {
    cardmark_core::Errno(errno.raw_os_error())
}

/// Writes of 1 MiB that start so.
fn starting(start: Start) -> Workload {
    let mut workload = workload(0, 1);
    workload.manner.start = start;
    workload.span_bytes = 4 * MIB;
    workload
}

/// Size and bytes of blocks of a file.
fn size(look: &File) -> (u64, u64) {
    let metadata = look.metadata().unwrap();
    (metadata.len(), 512 * metadata.blocks())
}

fn content(look: &File) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(look.metadata().unwrap().len()).unwrap()];
    look.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn a_file_is_brought_into_the_state_that_a_workload_starts_from() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, look) = backend_in(directory.path(), 9);
    // A whole block at 6 MiB, so that there is something to be cut.
    let dirty = |backend: &mut RealBackend| {
        backend.prepare(&starting(Start::Kept)).unwrap();
        assert_eq!(run(backend, OpKind::Write, 6 * MIB, BLOCK), Ok(BLOCK));
        backend.flush().unwrap();
    };
    let whole = 6 * MIB + u64::from(BLOCK);

    dirty(&mut backend);
    backend.prepare(&starting(Start::Kept)).unwrap();
    assert_eq!(size(&look).0, whole);

    dirty(&mut backend);
    backend.prepare(&starting(Start::Empty)).unwrap();
    assert_eq!(size(&look), (0, 0));

    dirty(&mut backend);
    backend.prepare(&starting(Start::Erased)).unwrap();
    assert_eq!(size(&look), (0, 0));
    assert!(!backend.kept_content());

    dirty(&mut backend);
    backend.prepare(&starting(Start::Allocated)).unwrap();
    let (bytes, blocks) = size(&look);
    assert_eq!(bytes, 4 * MIB);
    assert!(blocks >= 4 * MIB, "reserved: {blocks}");
    assert!(content(&look).iter().all(|byte| *byte == 0), "not written");

    dirty(&mut backend);
    backend.prepare(&starting(Start::Written)).unwrap();
    let (bytes, blocks) = size(&look);
    assert_eq!(bytes, 4 * MIB);
    assert!(blocks >= 4 * MIB, "written: {blocks}");
    let content = content(&look);
    let zeros = content.iter().filter(|byte| **byte == 0).count();
    // One in 256 by chance.
    assert!(
        (8_000..32_000).contains(&zeros),
        "incompressible: {zeros} zeros"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_cannot_grow_so_far_is_an_error_before_the_clock() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _look) = backend_in(directory.path(), 9);
    let mut huge = starting(Start::Allocated);
    huge.span_bytes = 1 << 62;
    let errno = backend.prepare(&huge).unwrap_err();
    assert!(
        [Errno::FBIG, Errno::NOSPC].map(number).contains(&errno),
        "{errno}"
    );
}

/// Returns whether one of our files is open for direct I/O now.
fn is_direct(look: &File) -> bool {
    let inode = look.metadata().unwrap().ino();
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let flags: Vec<OFlags> = entries
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let is_it = std::fs::metadata(&path).is_ok_and(|one| one.ino() == inode);
            let name = path.file_name()?.to_str()?.to_owned();
            // The look itself was opened by path, without O_TMPFILE.
            let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{name}")).ok()?;
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
            let bits = u32::from_str_radix(flags.trim(), 8).ok()?;
            is_it.then(|| OFlags::from_bits_retain(bits))
        })
        .collect();
    // Ours and the look, which is never direct.
    assert_eq!(flags.len(), 2, "{flags:?}");
    flags.iter().any(|flags| flags.contains(OFlags::DIRECT))
}

#[test]
fn the_page_cache_is_chosen_by_workload_on_the_same_file() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, look) = backend_in(directory.path(), 9);
    if !has("a filesystem with O_DIRECT", backend.is_direct()) {
        return;
    }
    for start in [Start::Kept, Start::Empty, Start::Allocated, Start::Written] {
        for access in [
            Access::Direct,
            Access::Cached,
            Access::Cached,
            Access::Direct,
        ] {
            let mut one = starting(start);
            one.manner.access = access;
            backend.prepare(&one).unwrap();
            assert_eq!(
                is_direct(&look),
                access == Access::Direct,
                "{start:?} {access:?}"
            );
            assert_eq!(run(&mut backend, OpKind::Write, 0, BLOCK), Ok(BLOCK));
            assert_eq!(run(&mut backend, OpKind::Sync, 0, 0), Ok(0));
        }
    }
    // Through the page cache blocks of any size can be moved.
    let mut odd = starting(Start::Kept);
    odd.block_bytes = 1000;
    odd.manner.access = Access::Cached;
    backend.prepare(&odd).unwrap();
    assert_eq!(run(&mut backend, OpKind::Write, 1000, 1000), Ok(1000));
    odd.manner.access = Access::Direct;
    assert_eq!(backend.prepare(&odd), Err(number(Errno::INVAL)));
}

/// Returns the number of pages of a file in memory, without reading it (`preadv2` with `RWF_NOWAIT` starts to read).
fn pages_in_memory(look: &File) -> u64 {
    let path = format!("/proc/{}/fd/{}", std::process::id(), look.as_raw_fd());
    let mut fincore = Command::new("fincore");
    fincore.args(["--noheadings", "--output", "PAGES", &path]);
    let output = fincore.output().expect("fincore (util-linux)");
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

#[test]
fn what_is_read_through_the_page_cache_is_not_there_before() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, look) = backend_in(directory.path(), 9);
    let mut reads = starting(Start::Written);
    reads.read_share_percent = 100;
    reads.order = Order::Sequential;
    reads.manner.access = Access::Cached;
    // One block: nothing that is still being read ahead can stay.
    reads.span_bytes = u64::from(BLOCK);
    for start in [Start::Written, Start::Kept] {
        reads.manner.start = start;
        backend.prepare(&reads).unwrap();
        assert_eq!(pages_in_memory(&look), 0, "{start:?}");
        assert_eq!(run(&mut backend, OpKind::Read, 0, BLOCK), Ok(BLOCK));
        assert!(pages_in_memory(&look) > 0);
    }
}

#[test]
fn streams_have_files_of_their_own_that_leave_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (backend, look) = backend_in(directory.path(), 9);
    let mut backend = backend.with_directory(directory.path().to_owned());
    let mut four = starting(Start::Empty);
    four.manner.streams_count = 4;
    four.payload = Payload::Incompressible;
    backend.prepare(&four).unwrap();
    let open = |directory: &Path| {
        let entries = std::fs::read_dir("/proc/self/fd").unwrap();
        let links = entries.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
        let mut links: Vec<PathBuf> = links.filter(|link| link.starts_with(directory)).collect();
        links.sort();
        links.dedup();
        links.len()
    };
    assert_eq!(open(directory.path()), 4);
    for stream in 0..4 {
        let offset = u64::from(stream) * u64::from(BLOCK);
        assert_eq!(
            run_on(&mut backend, stream, OpKind::Write, offset, BLOCK),
            Ok(BLOCK)
        );
        assert_eq!(run_on(&mut backend, stream, OpKind::Sync, 0, 0), Ok(0));
    }
    // Each wrote at another place of its own file: the first file holds the first alone.
    assert_eq!(look.metadata().unwrap().len(), u64::from(BLOCK));
    four.manner.start = Start::Kept;
    four.read_share_percent = 100;
    backend.prepare(&four).unwrap();
    assert_eq!(open(directory.path()), 4, "the same files");
    for stream in 0..4 {
        let own = u64::from(stream) * u64::from(BLOCK);
        assert_eq!(
            run_on(&mut backend, stream, OpKind::Read, own, BLOCK),
            Ok(BLOCK)
        );
        assert_eq!(
            run_on(
                &mut backend,
                stream,
                OpKind::Read,
                own + u64::from(BLOCK),
                BLOCK
            ),
            Ok(0)
        );
    }
    // One of them again, and not by threads of the others.
    backend.prepare(&starting(Start::Kept)).unwrap();
    assert_eq!(run(&mut backend, OpKind::Write, 0, BLOCK), Ok(BLOCK));
    assert!(
        !backend.used_threads(),
        "threads did not stand in for anything"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    drop(backend);
    // Only the look is left.
    assert_eq!(open(directory.path()), 1);
}

#[test]
fn streams_without_a_directory_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _look) = backend_in(directory.path(), 9);
    let mut two = starting(Start::Kept);
    two.manner.streams_count = 2;
    assert_eq!(backend.prepare(&two), Err(number(Errno::INVAL)));
}

/// Reads of the disk below.
fn on_disk() -> Workload {
    let mut workload = workload(100, 1);
    workload.order = Order::Sequential;
    workload.manner.object = Object::Disk;
    workload.manner.access = Access::Cached;
    workload
}

fn no_counters() -> cardmark_device::CountersSource {
    Box::new(|| None)
}

#[test]
fn a_disk_that_is_not_known_or_not_there_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let (mut backend, _look) = backend_in(directory.path(), 9);
    assert_eq!(backend.prepare(&on_disk()), Err(number(Errno::NXIO)));
    for (path, errno) in [
        ("/dev/no-such-disk", Errno::NOENT),
        ("/dev/null", Errno::NOTBLK),
    ] {
        let (backend, _look) = backend_in(directory.path(), 9);
        let mut backend = backend.with_disk(path.into(), no_counters());
        assert_eq!(backend.prepare(&on_disk()), Err(number(errno)), "{path}");
        // The file is not harmed by it.
        backend.prepare(&starting(Start::Kept)).unwrap();
        assert_eq!(run(&mut backend, OpKind::Write, 0, BLOCK), Ok(BLOCK));
    }
}

#[test]
fn a_disk_without_the_right_to_read_it_says_so() {
    if rustix::process::geteuid().is_root() {
        return cardmark_testkit::run_as_nobody(
            "manners::a_disk_without_the_right_to_read_it_says_so",
        );
    }
    let entries = std::fs::read_dir("/dev").unwrap().flatten();
    let mut disks = entries.map(|entry| entry.path()).filter(|path| {
        let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| std::os::unix::fs::FileTypeExt::is_block_device(&kind))
            && File::open(path).is_err()
    });
    let disk = disks.next();
    if !has("a block device that this user may not read", disk.is_some()) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (backend, _look) = backend_in(directory.path(), 9);
    let mut backend = backend.with_disk(disk.unwrap(), no_counters());
    assert_eq!(backend.prepare(&on_disk()), Err(number(Errno::ACCESS)));
}

#[test]
fn the_disk_is_read_through_the_page_cache_and_counted_by_itself() {
    needs!(Root, LoopDevice);
    let directory = tempfile::tempdir().unwrap();
    let mut image = tempfile::NamedTempFile::new_in(directory.path()).unwrap();
    image.write_all(&vec![7; 4 << 20]).unwrap();
    let device = LoopDevice::attach(image.path(), false);
    let counted = |read_bytes| {
        move || {
            Some(cardmark_core::DeviceCounters {
                read_bytes,
                ..Default::default()
            })
        }
    };
    let file = TestFile::create(directory.path(), MIB).unwrap();
    let mut backend = RealBackend::new(file, 1, Box::new(counted(1)))
        .with_disk(device.path().to_owned(), Box::new(counted(2)));
    let counters = |backend: &mut RealBackend| backend.counters().unwrap().read_bytes;
    for (workload, expected) in [
        (starting(Start::Empty), 1),
        (on_disk(), 2),
        (starting(Start::Kept), 1),
    ] {
        backend.prepare(&workload).unwrap();
        assert_eq!(counters(&mut backend), expected);
    }
    // The disk is never truncated or written, regardless of the workload.
    for access in [Access::Cached, Access::Direct] {
        let mut reads = on_disk();
        reads.manner.start = Start::Empty;
        reads.manner.access = access;
        reads.manner.touch_bytes = 512;
        reads.read_share_percent = 50;
        backend.prepare(&reads).unwrap();
        for offset in [0, 2 * MIB] {
            assert_eq!(run(&mut backend, OpKind::Read, offset, BLOCK), Ok(BLOCK));
        }
        assert_eq!(run(&mut backend, OpKind::Read, 4 * MIB, BLOCK), Ok(0));
        assert_eq!(
            run(&mut backend, OpKind::Write, 0, BLOCK),
            Err(number(Errno::BADF))
        );
    }
    assert_eq!(content(image.as_file()), vec![7; 4 << 20]);
}

#[test]
fn a_device_as_target_stays_as_it_is() {
    needs!(Root, LoopDevice);
    let mut image = tempfile::NamedTempFile::new().unwrap();
    image.write_all(&vec![7; 4 << 20]).unwrap();
    let device = LoopDevice::attach(image.path(), false);
    let target = open_device_readonly(device.path()).unwrap();
    let mut backend = RealBackend::new(target, 1, no_counters());
    for start in [Start::Empty, Start::Allocated, Start::Written] {
        let mut reads = starting(start);
        reads.read_share_percent = 100;
        for access in [Access::Direct, Access::Cached] {
            reads.manner.access = access;
            backend.prepare(&reads).unwrap();
            assert_eq!(
                run(&mut backend, OpKind::Read, 4 * MIB - 4096, BLOCK),
                Ok(BLOCK)
            );
        }
    }
    assert_eq!(content(image.as_file()), vec![7; 4 << 20]);
}

#[test]
fn zeros_and_iozones_pattern_are_what_arrives() {
    let directory = tempfile::tempdir().unwrap();
    for depth in [1, 4] {
        let (mut backend, look) = backend_in(directory.path(), 9);
        let mut write = |payload: Payload, block: u32| {
            let mut writing = workload(0, depth);
            writing.block_bytes = u64::from(block);
            writing.payload = payload;
            backend.prepare(&writing).unwrap();
            for offset in [0, u64::from(block)] {
                assert_eq!(run(&mut backend, OpKind::Write, offset, block), Ok(block));
            }
            backend.flush().unwrap();
            let mut found = vec![1; 2 * block as usize];
            look.read_exact_at(&mut found, 0).unwrap();
            found
        };
        let mut page = [0; 4096];
        page[..8].fill(0x5F);
        for block in [4096, 1 << 20] {
            let pages = 2 * block as usize / 4096;
            assert_eq!(write(Payload::Iozone, block), page.repeat(pages));
            assert_eq!(write(Payload::Zeros, block), vec![0; pages * 4096]);
            // Ours again, in the same memory.
            let ours = write(Payload::Incompressible, block);
            assert!(ours.iter().filter(|byte| **byte == 0).count() < ours.len() / 100);
        }
    }
}

#[test]
fn a_filesystem_has_its_room_back_after_every_manner() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = tempfile::tempdir().unwrap();
    let card = Mount::ext4(scratch.path(), 64 * MIB);
    let free = card.free_bytes();
    let (backend, look) = backend_in(card.folder(), 9);
    let mut backend = backend.with_directory(card.folder().to_owned());
    for streams_count in [1, 4] {
        for start in [
            Start::Written,
            Start::Allocated,
            Start::Empty,
            Start::Written,
        ] {
            for access in [Access::Cached, Access::Direct] {
                let mut one = starting(start);
                one.manner.streams_count = streams_count;
                one.manner.access = access;
                backend.prepare(&one).unwrap();
                assert_eq!(run(&mut backend, OpKind::Write, 0, BLOCK), Ok(BLOCK));
            }
        }
    }
    let files = 4 * MIB;
    assert!(free - card.free_bytes() >= 4 * files, "four files of 4 MiB");
    drop((backend, look));
    assert_eq!(card.free_bytes(), free);
    assert_eq!(std::fs::read_dir(card.folder()).unwrap().count(), 0);
}
