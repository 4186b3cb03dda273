//! Real storage as blocks of 512 bytes: written with content that records its position, and read back, at the
//! storage's own speed.
//!
//! Large spans are split into requests of 1 MiB, on which a few threads work: while one waits for the storage,
//! another generates or checks content. The storage therefore always has the next request.

mod contents;
mod raw;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Confirming, Content, Direction, Extent, Held, Medium, Span, Surface,
    Trouble, Unit, fill, look,
};
use rustix::fs::Advice;
use rustix::io::{Errno, pread, pwrite, retry_on_intr};

use crate::buffer::AlignedBuffer;
use crate::fill::discard_range;
use crate::object::number;
use crate::target::OpenTarget;

pub use raw::BlocksPiece;

/// Steps in which a rest looks whether somebody wants an end.
const REST_STEP: Duration = Duration::from_millis(100);
/// Size of a request, blocks: 1 MiB.
const REQUEST_BLOCKS: u64 = 2048;
/// Requests in flight.
const DEPTH: usize = 3;
/// Errors of a filesystem that accepts no more data, regardless of the storage below.
const OF_FILESYSTEM: [Errno; 3] = [Errno::NOSPC, Errno::DQUOT, Errno::ROFS];
/// Files in which the kernel reports whether it still communicates with a SCSI disk, such as one behind a USB
/// reader: as seen from the disk, and from a partition of it.
const STATES: [&str; 2] = ["device/state", "../device/state"];
/// States of a disk that the kernel has given up. The disk remains visible, and every request to it fails.
const GIVEN_UP: [&str; 4] = ["offline", "transport-offline", "cancel", "deleted"];

/// Real storage as blocks.
#[derive(Debug)]
pub struct Blocks {
    pub(crate) storage: Storage,
    /// One for each request in flight.
    buffers: Vec<AlignedBuffer>,
    alignment_bytes: u32,
}

/// The files that blocks lie in, one behind the other.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) files: Vec<File>,
    /// Blocks in each file but the last.
    pub(crate) file_blocks: u64,
    pub(crate) blocks_count: u64,
    pub(crate) grain_blocks: u64,
    /// True if the page cache is used.
    pub(crate) is_buffered: bool,
    /// True if the blocks are on a filesystem, which may be full or read-only.
    pub(crate) is_on_filesystem: bool,
    /// Directory in which the kernel shows the device as long as it is present.
    pub(crate) shown: Option<PathBuf>,
    /// Beats with each try: on bad blocks, one request becomes many, and each may take seconds.
    pub(crate) pulse: Arc<Pulse>,
}

/// Operation on blocks.
#[derive(Clone, Copy)]
enum Work {
    Write(Content),
    Read(Content),
    /// Read it, whatever it is.
    Look,
}

impl Blocks {
    /// The blocks of an open device. `None`: no memory.
    #[must_use]
    pub fn of_device(target: OpenTarget, pulse: Arc<Pulse>) -> Option<Self> {
        let (major, minor) = target.device_id;
        let grain_bytes = u64::from(target.alignment_bytes).max(BLOCK_BYTES as u64);
        let alignment_bytes = target.memory_alignment_bytes;
        let storage = Storage {
            file_blocks: u64::MAX,
            blocks_count: target.size_bytes / BLOCK_BYTES as u64,
            grain_blocks: grain_bytes / BLOCK_BYTES as u64,
            is_buffered: !target.direct,
            is_on_filesystem: false,
            shown: Some(shown_at(major, minor)),
            files: vec![target.file],
            pulse,
        };
        Self::new(storage, alignment_bytes)
    }

    pub(crate) fn new(storage: Storage, alignment_bytes: u32) -> Option<Self> {
        let bytes = usize::try_from(Span::new(0, REQUEST_BLOCKS).bytes()).ok()?;
        let buffers: Option<Vec<AlignedBuffer>> = (0..DEPTH)
            .map(|_| AlignedBuffer::new(bytes, alignment_bytes))
            .collect();
        Some(Self {
            storage,
            buffers: buffers?,
            alignment_bytes,
        })
    }

    /// Returns whether the page cache is used, so that the order of requests and their number in flight are those of the
    /// kernel.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.storage.is_buffered
    }

    /// Does it with all of these blocks.
    fn work(&mut self, span: Span, work: Work) -> Result<Answer, Trouble> {
        let started = Instant::now();
        self.storage.pulse.set_waiting(true);
        if self.storage.is_buffered {
            self.storage.forget_cached();
        }
        let worked = if span.count <= REQUEST_BLOCKS {
            self.work_alone(span, work)
        } else {
            let requests = span.parts(REQUEST_BLOCKS).map(|part| (part, work));
            work_together(
                &self.storage,
                &mut self.buffers,
                &requests.collect::<Vec<_>>(),
            )
        };
        self.storage.pulse.set_waiting(false);
        Ok(Answer {
            runs: worked?.runs().to_vec(),
            span_ns: elapsed_ns(started),
        })
    }

    fn work_alone(&mut self, span: Span, work: Work) -> Result<Surface, Trouble> {
        let mut surface = Surface::default();
        if self.storage.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        if let Some(buffer) = self.buffers.first_mut() {
            self.storage
                .request(span, work, buffer.bytes_mut(), &mut surface)?;
        }
        Ok(surface)
    }

    /// Buffers for `depth` requests of at most `blocks` blocks in flight; `None`: no memory.
    fn queue_buffers(&self, depth: u32, blocks: u64) -> Option<Vec<AlignedBuffer>> {
        let bytes = length(Span::new(0, blocks));
        let buffer = |_| AlignedBuffer::new(bytes, self.alignment_bytes);
        (0..depth).map(buffer).collect()
    }
}

/// Executes requests, in this order, on one thread for each buffer, which has one in flight.
fn work_together(
    storage: &Storage,
    buffers: &mut [AlignedBuffer],
    requests: &[(Span, Work)],
) -> Result<Surface, Trouble> {
    let share = Share {
        storage,
        requests,
        next: AtomicUsize::new(0),
        has_failed: AtomicBool::new(false),
    };
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = buffers
            .iter_mut()
            .map(|buffer| scope.spawn(|| share.work(buffer.bytes_mut())))
            .collect();
        let ended = threads.into_iter().map(|thread| {
            let bug = |_| {
                Err(Trouble::Gone {
                    errno: cardmark_core::Errno::NONE,
                })
            };
            thread.join().unwrap_or_else(bug)
        });
        ended.collect::<Result<Vec<_>, Trouble>>()
    })?;
    if storage.pulse.is_stopped() {
        return Err(Trouble::Stopped);
    }
    let runs = parts.into_iter().flatten();
    Ok(Surface::of(runs.collect()))
}

/// State shared by the threads that work on requests.
struct Share<'a> {
    storage: &'a Storage,
    requests: &'a [(Span, Work)],
    /// The number of the request that no thread has taken.
    next: AtomicUsize,
    has_failed: AtomicBool,
}

impl Share<'_> {
    /// Takes one request after the other; returns the results.
    fn work(&self, buffer: &mut [u8]) -> Result<Vec<Extent>, Trouble> {
        let mut runs = Vec::new();
        while !self.storage.pulse.is_stopped() && !self.has_failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&(span, work)) = self.requests.get(number) else {
                break;
            };
            let mut surface = Surface::default();
            let worked = self.storage.request(span, work, buffer, &mut surface);
            if let Err(trouble) = worked {
                self.has_failed.store(true, Ordering::Relaxed);
                return Err(trouble);
            }
            runs.extend_from_slice(surface.runs());
        }
        Ok(runs)
    }
}

impl Storage {
    /// One request, which lies in one file or is cut.
    fn request(
        &self,
        span: Span,
        work: Work,
        buffer: &mut [u8],
        surface: &mut Surface,
    ) -> Result<(), Trouble> {
        let in_file = self.file_blocks - span.start % self.file_blocks;
        if span.count > in_file {
            let first = Span::new(span.start, in_file);
            self.request(first, work, buffer, surface)?;
            let rest = Span::between(first.end(), span.end());
            return self.request(rest, work, buffer, surface);
        }
        match self.attempt(span, work, buffer, surface) {
            Ok(()) => Ok(()),
            Err(errno) => self.search(span, work, buffer, surface, errno),
        }
    }

    /// Tries it once; records the result unless it failed.
    fn attempt(
        &self,
        span: Span,
        work: Work,
        buffer: &mut [u8],
        surface: &mut Surface,
    ) -> Result<(), Errno> {
        let bytes = &mut buffer[..length(span)];
        match work {
            Work::Write(content) => {
                fill(content, span.start, bytes);
                self.write_whole(span, bytes)
            }
            Work::Read(content) => {
                self.read_whole(span, bytes)?;
                for (block, bytes) in (span.start..).zip(bytes.as_chunks::<BLOCK_BYTES>().0) {
                    let held = look(content, block, bytes);
                    surface.push(Extent::new(Span::new(block, 1), held));
                }
                Ok(())
            }
            Work::Look => {
                self.read_whole(span, bytes)?;
                surface.push(Extent::new(span, Held::Good));
                Ok(())
            }
        }
    }

    /// Finds the blocks of a request that fail. If the first, a middle and the last one do, the whole request
    /// counts as failed: each try may take seconds.
    fn search(
        &self,
        span: Span,
        work: Work,
        buffer: &mut [u8],
        surface: &mut Surface,
        errno: Errno,
    ) -> Result<(), Trouble> {
        self.check(errno)?;
        let halves = self.halves(span);
        if span.count <= self.grain_blocks || self.fails_throughout(span, work, buffer)? {
            let errno = number(errno);
            let held = match work {
                Work::Write(_) => Held::Refused { errno },
                Work::Read(_) | Work::Look => Held::Unreadable { errno },
            };
            surface.push(Extent::new(span, held));
            return Ok(());
        }
        for half in halves {
            self.request(half, work, buffer, surface)?;
        }
        Ok(())
    }

    /// Returns whether the first, a middle and the last grain of a span fail.
    fn fails_throughout(&self, span: Span, work: Work, buffer: &mut [u8]) -> Result<bool, Trouble> {
        let grain = self.grain_blocks;
        let middle = self.halves(span)[1].start;
        let last = span.end().saturating_sub(grain).max(span.start);
        for start in [span.start, middle, last] {
            let tried = Span::new(start, grain.min(span.end() - start));
            match self.attempt(tried, work, buffer, &mut Surface::default()) {
                Ok(()) => return Ok(false),
                Err(errno) => self.check(errno)?,
            }
        }
        Ok(true)
    }

    /// The two halves of a span, in whole grains.
    fn halves(&self, span: Span) -> [Span; 2] {
        let middle = span.start + span.count / self.grain_blocks / 2 * self.grain_blocks;
        [
            Span::between(span.start, middle),
            Span::between(middle, span.end()),
        ]
    }

    fn sync(&self) -> Result<(), Errno> {
        let mut files = self.files.iter();
        files.try_for_each(|file| {
            let synced = retry_on_intr(|| rustix::fs::fdatasync(file));
            self.pulse.beat();
            synced
        })
    }

    /// Checks that an error is a result about blocks; otherwise returns its consequence for the test.
    fn check(&self, errno: Errno) -> Result<(), Trouble> {
        let is_of_filesystem = self.is_on_filesystem && OF_FILESYSTEM.contains(&errno);
        let errno = number(errno);
        let is_gone = errno.is_gone() || self.shown.as_deref().is_some_and(is_given_up);
        match (is_gone, is_of_filesystem) {
            (true, _) => Err(Trouble::Gone { errno }),
            (false, true) => Err(Trouble::Filesystem { errno }),
            (false, false) => Ok(()),
        }
    }

    /// The file of a block, and where in it, bytes.
    fn place(&self, block: u64) -> Result<(&File, u64), Errno> {
        let number = usize::try_from(block / self.file_blocks).map_err(|_| Errno::INVAL)?;
        let file = self.files.get(number).ok_or(Errno::INVAL)?;
        Ok((file, Span::new(block % self.file_blocks, 0).offset_bytes()))
    }

    fn write_whole(&self, span: Span, bytes: &[u8]) -> Result<(), Errno> {
        let (file, offset) = self.place(span.start)?;
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let written = retry_on_intr(|| pwrite(file, &bytes[done..], at));
            self.pulse.beat();
            match written? {
                0 => return Err(Errno::IO),
                count => done += count,
            }
        }
        self.pulse.note_written(done as u64);
        Ok(())
    }

    fn read_whole(&self, span: Span, bytes: &mut [u8]) -> Result<(), Errno> {
        let (file, offset) = self.place(span.start)?;
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let read = retry_on_intr(|| pread(file, &mut bytes[done..], at));
            self.pulse.beat();
            match read? {
                0 => return Err(Errno::IO),
                count => done += count,
            }
        }
        self.pulse.note_read(done as u64);
        Ok(())
    }

    /// Drops durable data from the page cache.
    fn forget_cached(&self) {
        for file in &self.files {
            // Advice only: if it is ignored, reads may come from the cache, and the caller reports that.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
    }
}

impl Medium for Blocks {
    fn blocks_count(&self) -> u64 {
        self.storage.blocks_count
    }

    fn grain_blocks(&self) -> u64 {
        self.storage.grain_blocks
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.work(span, Work::Write(content))
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.work(span, Work::Read(content))
    }

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        let most = units.iter().map(|unit| unit.span.count).max().unwrap_or(0);
        let no_memory = Trouble::NotKept {
            errno: number(Errno::NOMEM),
        };
        let mut buffers = self.queue_buffers(depth, most).ok_or(no_memory)?;
        let started = Instant::now();
        self.storage.pulse.set_waiting(true);
        if self.storage.is_buffered {
            self.storage.forget_cached();
        }
        let request = |unit: &Unit| {
            let work = match direction {
                Direction::Write => Work::Write(unit.content),
                Direction::Read => Work::Read(unit.content),
            };
            (unit.span, work)
        };
        let requests: Vec<(Span, Work)> = units.iter().map(request).collect();
        let worked = work_together(&self.storage, &mut buffers, &requests);
        self.storage.pulse.set_waiting(false);
        Ok(Answer {
            runs: worked?.runs().to_vec(),
            span_ns: elapsed_ns(started),
        })
    }

    fn discard_grain_blocks(&self) -> Option<u64> {
        let queue = self.storage.shown.as_ref()?.join("queue");
        let grain_bytes = discard_grain_bytes(&queue).filter(|_| !self.storage.is_on_filesystem)?;
        Some((grain_bytes / BLOCK_BYTES as u64).max(self.storage.grain_blocks))
    }

    fn discard(&mut self, span: Span) -> Result<bool, Trouble> {
        if self.storage.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let (file, start_bytes) = match self.storage.place(span.start) {
            Ok(place) if !self.storage.is_on_filesystem => place,
            _ => return Ok(false),
        };
        self.storage.pulse.set_waiting(true);
        let discarded = discard_range(file, start_bytes, start_bytes + span.bytes());
        self.storage.pulse.beat();
        self.storage.pulse.set_waiting(false);
        match discarded {
            Ok(()) => Ok(true),
            Err(errno) => self.storage.check(errno).map(|()| false),
        }
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        let started = Instant::now();
        self.storage.pulse.set_waiting(true);
        let synced = self.storage.sync();
        self.storage.pulse.set_waiting(false);
        // Data that did not arrive will be missing when it is read.
        synced.or_else(|errno| self.storage.check(errno))?;
        Ok(elapsed_ns(started))
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        let until = Instant::now() + Duration::from_nanos(span_ns);
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if self.storage.pulse.is_stopped() {
                return Err(Trouble::Stopped);
            }
            std::thread::sleep(left.min(REST_STEP));
        }
        Ok(())
    }
}

/// Returns the granularity of discards from the directory of a device's queue in sysfs; `None` if the device does not
/// support them.
fn discard_grain_bytes(queue: &Path) -> Option<u64> {
    let number = |name: &str| {
        let told = std::fs::read_to_string(queue.join(name)).ok()?;
        told.trim().parse::<u64>().ok()
    };
    let is_supported = number("discard_max_bytes").is_some_and(|most| most > 0);
    number("discard_granularity").filter(|grain| is_supported && *grain > 0)
}

/// Returns whether a disk of that kernel name supports discards.
#[must_use]
pub fn can_discard(disk: &str) -> bool {
    discard_grain_bytes(&Path::new("/sys/class/block").join(disk).join("queue")).is_some()
}

impl Confirming for Blocks {
    fn confirm(&mut self) -> Result<(), Trouble> {
        self.storage.pulse.set_waiting(true);
        let synced = self.storage.sync();
        self.storage.pulse.set_waiting(false);
        synced.or_else(|errno| {
            self.storage.check(errno)?;
            let errno = number(errno);
            Err(Trouble::OnlyErrors { errno })
        })
    }
}

/// Returns the directory in which the kernel shows a device with these numbers as long as it is present.
pub(crate) fn shown_at(major: u32, minor: u32) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))
}

/// Returns whether the kernel no longer shows the device there, or no longer communicates with it.
fn is_given_up(shown: &Path) -> bool {
    let states = STATES.iter().filter_map(|state| {
        let said = std::fs::read_to_string(shown.join(state)).ok()?;
        Some(said.trim().to_owned())
    });
    !shown.exists()
        || states
            .into_iter()
            .any(|said| GIVEN_UP.contains(&said.as_str()))
}

/// Length of a request, bytes: at most that of a buffer.
fn length(span: Span) -> usize {
    usize::try_from(span.bytes()).unwrap_or(0)
}

fn elapsed_ns(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Span = Span {
        start: 0,
        count: REQUEST_BLOCKS,
    };
    const OURS: Content = Content { seed: 7, round: 0 };
    const EIO: cardmark_core::Errno = cardmark_core::Errno::IO;

    /// Creates 1 MiB of storage in a file that ends after `readable_blocks`; later blocks cannot be read.
    fn storage(readable_blocks: u64) -> Storage {
        let file = tempfile::tempfile().unwrap();
        file.set_len(Span::new(0, readable_blocks).bytes()).unwrap();
        Storage {
            files: vec![file],
            file_blocks: u64::MAX,
            blocks_count: ALL.count,
            grain_blocks: 8,
            is_buffered: true,
            is_on_filesystem: false,
            shown: None,
            pulse: Arc::new(Pulse::new()),
        }
    }

    fn read(storage: Storage) -> Result<Vec<Extent>, Trouble> {
        let mut blocks = Blocks::new(storage, 512).unwrap();
        blocks.read(ALL, OURS).map(|answer| answer.runs)
    }

    #[test]
    fn each_try_of_a_search_is_a_sign_of_life() {
        // The last grain cannot be read: tried are the whole, then first, middle and last of it, its upper half,
        // and so on, eight times.
        let storage = storage(ALL.count - 8);
        let pulse = Arc::clone(&storage.pulse);
        let runs = read(storage).unwrap();
        let bad = Span::between(ALL.count - 8, ALL.count);
        let held = Held::Unreadable { errno: EIO };
        assert_eq!(runs.last(), Some(&Extent::new(bad, held)));
        assert!(pulse.reading().0 > 3 * 8, "{:?}", pulse.reading());
    }

    #[test]
    fn a_disk_that_the_kernel_has_given_up_is_gone() {
        let sys = tempfile::tempdir().unwrap();
        let disk = sys.path().join("sdx");
        std::fs::create_dir_all(disk.join("device")).unwrap();
        std::fs::create_dir_all(disk.join("sdx1")).unwrap();
        let unreadable = Ok(vec![Extent::new(ALL, Held::Unreadable { errno: EIO })]);
        let gone = Err(Trouble::Gone { errno: EIO });
        for (state, expected) in [
            (None, &unreadable),
            (Some("running\n"), &unreadable),
            (Some("blocked\n"), &unreadable),
            (Some("offline\n"), &gone),
            (Some("transport-offline\n"), &gone),
        ] {
            if let Some(state) = state {
                std::fs::write(disk.join("device/state"), state).unwrap();
            }
            for shown in [disk.clone(), disk.join("sdx1")] {
                let mut storage = storage(0);
                storage.shown = Some(shown);
                assert_eq!(&read(storage), expected, "{state:?}");
            }
        }
    }

    #[test]
    fn a_device_that_is_no_longer_shown_is_gone() {
        let mut storage = storage(0);
        storage.shown = Some(PathBuf::from("/nowhere/8:0"));
        assert_eq!(read(storage), Err(Trouble::Gone { errno: EIO }));
    }

    /// A thinly provisioned device may also report that it has no room: then it rejected the data.
    #[test]
    fn no_room_is_an_answer_of_a_device_and_none_of_a_directory() {
        let enospc = number(Errno::NOSPC);
        for is_on_filesystem in [false, true] {
            let mut storage = storage(0);
            storage.files = vec![File::options().write(true).open("/dev/full").unwrap()];
            storage.is_on_filesystem = is_on_filesystem;
            let mut blocks = Blocks::new(storage, 512).unwrap();
            let written = blocks.write(ALL, OURS).map(|answer| answer.runs);
            let expected = match is_on_filesystem {
                true => Err(Trouble::Filesystem { errno: enospc }),
                false => Ok(vec![Extent::new(ALL, Held::Refused { errno: enospc })]),
            };
            assert_eq!(written, expected);
        }
    }
}
