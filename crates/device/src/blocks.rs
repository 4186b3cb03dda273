//! Real storage as blocks of 512 bytes: written with content that says where it belongs, and read
//! back, at the storage's own speed.
//!
//! Large spans are cut into requests of 1 MiB, on which a few threads work: while one waits for the
//! storage, another makes or looks at content. So the storage always has the next request.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use cardmark_engine::Pulse;
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Content, Held, Medium, Piece, Raw, Run, Span, Surface, Trouble, fill, look,
};
use rustix::fs::Advice;
use rustix::io::{Errno, pread, pwrite, retry_on_intr};

use crate::buffer::AlignedBuffer;
use crate::target::OpenTarget;

/// Size of a request, blocks: 1 MiB.
const REQUEST_BLOCKS: u64 = 2048;
/// Requests in flight.
const DEPTH: usize = 3;
/// Buffers start at a multiple of at least this, bytes: a page.
const LEAST_ALIGNMENT_BYTES: u32 = 4096;
/// No medium in the drive; not every system names it.
const ENOMEDIUM: i32 = 123;

/// Real storage as blocks.
#[derive(Debug)]
pub struct Blocks {
    storage: Storage,
    /// One for each request in flight.
    buffers: Vec<AlignedBuffer>,
    pulse: Arc<Pulse>,
}

/// The files that blocks lie in, one behind the other.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) files: Vec<File>,
    /// Blocks in each file but the last.
    pub(crate) file_blocks: u64,
    pub(crate) blocks_count: u64,
    pub(crate) grain_blocks: u64,
    /// Whether the page cache stands between.
    pub(crate) is_buffered: bool,
    /// Where the kernel shows the device as long as it is there.
    pub(crate) shown: Option<PathBuf>,
}

/// What is done with blocks.
#[derive(Clone, Copy)]
enum Work {
    Write(Content),
    Read(Content),
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
            shown: Some(PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))),
            files: vec![target.file],
        };
        Self::new(storage, alignment_bytes, pulse)
    }

    pub(crate) fn new(storage: Storage, alignment_bytes: u32, pulse: Arc<Pulse>) -> Option<Self> {
        let alignment = alignment_bytes.max(LEAST_ALIGNMENT_BYTES) as usize;
        let bytes = usize::try_from(Span::new(0, REQUEST_BLOCKS).bytes()).ok()?;
        let buffers: Option<Vec<AlignedBuffer>> = (0..DEPTH)
            .map(|_| AlignedBuffer::new(bytes, alignment))
            .collect();
        Some(Self {
            storage,
            buffers: buffers?,
            pulse,
        })
    }

    /// Takes out what blocks hold. Where some cannot be read, all others are taken: they will be
    /// written, too.
    fn take_part(&mut self, span: Span, pieces: &mut Vec<BlocksPiece>) -> Result<(), Trouble> {
        if self.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let Some(buffer) = self.buffers.first_mut() else {
            return Ok(());
        };
        let bytes = &mut buffer.bytes_mut()[..length(span)];
        let read = self.storage.read_whole(span, bytes);
        self.pulse.beat();
        match read {
            Ok(()) => {
                let bytes = bytes.to_vec();
                pieces.push(BlocksPiece { span, bytes });
                Ok(())
            }
            Err(errno) if self.storage.is_gone(errno.raw_os_error()) => Err(Trouble::Gone {
                errno: errno.raw_os_error(),
            }),
            // What cannot be read now was lost before.
            Err(_) if span.count <= self.storage.grain_blocks => Ok(()),
            Err(_) => {
                let [low, high] = self.storage.halves(span);
                self.take_part(low, pieces)?;
                self.take_part(high, pieces)
            }
        }
    }

    /// Does it with all of these blocks.
    fn work(&mut self, span: Span, work: Work) -> Result<Answer, Trouble> {
        let started = Instant::now();
        self.pulse.set_waiting(true);
        if self.storage.is_buffered {
            self.storage.forget_cached();
        }
        let worked = if span.count <= REQUEST_BLOCKS {
            self.work_alone(span, work)
        } else {
            self.work_together(span, work)
        };
        self.pulse.set_waiting(false);
        Ok(Answer {
            runs: worked?.runs().to_vec(),
            span_ns: elapsed_ns(started),
        })
    }

    fn work_alone(&mut self, span: Span, work: Work) -> Result<Surface, Trouble> {
        let mut surface = Surface::default();
        if self.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        if let Some(buffer) = self.buffers.first_mut() {
            self.storage
                .request(span, work, buffer.bytes_mut(), &mut surface)?;
        }
        self.pulse.beat();
        Ok(surface)
    }

    fn work_together(&mut self, span: Span, work: Work) -> Result<Surface, Trouble> {
        let share = Share {
            storage: &self.storage,
            pulse: &self.pulse,
            span,
            work,
            next: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
        };
        let parts = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .buffers
                .iter_mut()
                .map(|buffer| scope.spawn(|| share.work(buffer.bytes_mut())))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                let bug = |_| Err(Trouble::Gone { errno: 0 });
                thread.join().unwrap_or_else(bug)
            });
            ended.collect::<Result<Vec<_>, Trouble>>()
        })?;
        if self.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let mut parts: Vec<(u64, Surface)> = parts.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|(start, _)| *start);
        let mut surface = Surface::default();
        for (_, part) in &parts {
            part.runs().iter().for_each(|run| surface.push(*run));
        }
        Ok(surface)
    }
}

/// What the threads that work on a span share.
struct Share<'a> {
    storage: &'a Storage,
    pulse: &'a Pulse,
    span: Span,
    work: Work,
    /// The number of the request that no thread has taken.
    next: AtomicU64,
    has_failed: AtomicBool,
}

impl Share<'_> {
    /// Takes one request after the other; what came of each, by its first block.
    fn work(&self, buffer: &mut [u8]) -> Result<Vec<(u64, Surface)>, Trouble> {
        let mut parts = Vec::new();
        while !self.pulse.is_stopped() && !self.has_failed.load(Ordering::Relaxed) {
            let start =
                self.span.start + self.next.fetch_add(1, Ordering::Relaxed) * REQUEST_BLOCKS;
            if start >= self.span.end() {
                break;
            }
            let part = Span::between(start, self.span.end().min(start + REQUEST_BLOCKS));
            let mut surface = Surface::default();
            let worked = self.storage.request(part, self.work, buffer, &mut surface);
            if let Err(trouble) = worked {
                self.has_failed.store(true, Ordering::Relaxed);
                return Err(trouble);
            }
            parts.push((start, surface));
            self.pulse.beat();
        }
        Ok(parts)
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

    /// Tries it once; notes what came of it unless it failed.
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
                    surface.push(Run::new(Span::new(block, 1), held));
                }
                Ok(())
            }
        }
    }

    /// Seeks out which blocks of a request fail. Where the first, a middle and the last one do, all of
    /// it is taken for failed: each try may take seconds.
    fn search(
        &self,
        span: Span,
        work: Work,
        buffer: &mut [u8],
        surface: &mut Surface,
        errno: Errno,
    ) -> Result<(), Trouble> {
        let errno = errno.raw_os_error();
        if self.is_gone(errno) {
            return Err(Trouble::Gone { errno });
        }
        let grain = self.grain_blocks;
        let halves = self.halves(span);
        let middle = halves[1].start;
        let has_failed = |start: u64, buffer: &mut [u8]| {
            let probed = Span::new(start, grain.min(span.end() - start));
            self.attempt(probed, work, buffer, &mut Surface::default())
                .is_err()
        };
        let last = span.end().saturating_sub(grain).max(span.start);
        let is_all = span.count <= grain
            || [span.start, middle, last]
                .into_iter()
                .all(|start| has_failed(start, buffer));
        if is_all {
            let held = match work {
                Work::Write(_) => Held::Refused { errno },
                Work::Read(_) => Held::Unreadable { errno },
            };
            surface.push(Run::new(span, held));
            return Ok(());
        }
        for half in halves {
            self.request(half, work, buffer, surface)?;
        }
        Ok(())
    }

    /// The two halves of a span, in whole grains.
    fn halves(&self, span: Span) -> [Span; 2] {
        let middle = span.start + span.count / self.grain_blocks / 2 * self.grain_blocks;
        [
            Span::between(span.start, middle),
            Span::between(middle, span.end()),
        ]
    }

    /// Writes back a piece, or those of its grains that hold what a test wrote; how many blocks were not
    /// taken.
    fn put(
        &self,
        piece: &BlocksPiece,
        over: Option<Content>,
        buffer: &mut [u8],
    ) -> Result<u64, Trouble> {
        let mut stretches = vec![piece.span];
        if let Some(content) = over {
            let mut now = Surface::default();
            self.request(piece.span, Work::Read(content), buffer, &mut now)?;
            stretches = self.ours(&now);
        }
        let mut refused_blocks = 0;
        for span in stretches {
            refused_blocks += self.put_stretch(piece, span, buffer)?;
        }
        Ok(refused_blocks)
    }

    /// Writes back a part of a piece; where some of it is not taken, all else is.
    fn put_stretch(
        &self,
        piece: &BlocksPiece,
        span: Span,
        buffer: &mut [u8],
    ) -> Result<u64, Trouble> {
        let from = length(Span::between(piece.span.start, span.start));
        let bytes = &mut buffer[..length(span)];
        bytes.copy_from_slice(&piece.bytes[from..from + bytes.len()]);
        match self.write_whole(span, bytes) {
            Ok(()) => Ok(0),
            Err(errno) if self.is_gone(errno.raw_os_error()) => Err(Trouble::Gone {
                errno: errno.raw_os_error(),
            }),
            Err(_) if span.count <= self.grain_blocks => Ok(span.count),
            Err(_) => {
                let [low, high] = self.halves(span);
                let refused = self.put_stretch(piece, low, buffer)?;
                Ok(refused + self.put_stretch(piece, high, buffer)?)
            }
        }
    }

    /// Stretches of whole grains that hold what a test wrote.
    fn ours(&self, now: &Surface) -> Vec<Span> {
        let grain = self.grain_blocks;
        let mut ours: Vec<Span> = Vec::new();
        for run in now.runs().iter().filter(|run| run.is_ours()) {
            // A test writes whole grains: one that holds some of it was written by it.
            let start = run.span.start / grain * grain;
            let end = run.span.end().div_ceil(grain) * grain;
            match ours.last_mut() {
                Some(last) if start <= last.end() => *last = Span::between(last.start, end),
                _ => ours.push(Span::between(start, end)),
            }
        }
        ours
    }

    fn is_gone(&self, errno: i32) -> bool {
        let gone = [Errno::NODEV, Errno::NXIO].map(Errno::raw_os_error);
        let is_shown = self.shown.as_ref().is_none_or(|path| path.exists());
        gone.contains(&errno) || errno == ENOMEDIUM || !is_shown
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
            match retry_on_intr(|| pwrite(file, &bytes[done..], at))? {
                0 => return Err(Errno::IO),
                count => done += count,
            }
        }
        Ok(())
    }

    fn read_whole(&self, span: Span, bytes: &mut [u8]) -> Result<(), Errno> {
        let (file, offset) = self.place(span.start)?;
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            match retry_on_intr(|| pread(file, &mut bytes[done..], at))? {
                0 => return Err(Errno::IO),
                count => done += count,
            }
        }
        Ok(())
    }

    /// Empties the page cache of what is durable.
    fn forget_cached(&self) {
        for file in &self.files {
            // Advice: where it is not taken, reads tell of the cache, and the caller says so.
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

    fn flush(&mut self) -> Result<u64, Trouble> {
        let started = Instant::now();
        self.pulse.set_waiting(true);
        let synced: Result<(), Errno> = self
            .storage
            .files
            .iter()
            .try_for_each(|file| retry_on_intr(|| rustix::fs::fdatasync(file)));
        self.pulse.set_waiting(false);
        match synced {
            // What did not get there will be missing when it is read.
            Ok(()) => Ok(elapsed_ns(started)),
            Err(errno) if !self.storage.is_gone(errno.raw_os_error()) => Ok(elapsed_ns(started)),
            Err(errno) => Err(Trouble::Gone {
                errno: errno.raw_os_error(),
            }),
        }
    }
}

/// What blocks of real storage held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlocksPiece {
    /// Where it belongs.
    pub(crate) span: Span,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Piece for BlocksPiece {
    fn span(&self) -> Span {
        self.span
    }
}

impl Raw for Blocks {
    type Piece = BlocksPiece;

    fn take(&mut self, span: Span) -> Result<Vec<BlocksPiece>, Trouble> {
        let mut pieces = Vec::new();
        self.pulse.set_waiting(true);
        let taken = span
            .parts(REQUEST_BLOCKS)
            .try_for_each(|part| self.take_part(part, &mut pieces));
        self.pulse.set_waiting(false);
        taken.map(|()| pieces)
    }

    fn put(&mut self, piece: &BlocksPiece, over: Option<Content>) -> Result<u64, Trouble> {
        let Some(buffer) = self.buffers.first_mut() else {
            return Ok(0);
        };
        self.pulse.set_waiting(true);
        let put = self.storage.put(piece, over, buffer.bytes_mut());
        self.pulse.set_waiting(false);
        self.pulse.beat();
        put
    }
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

    const OURS: Content = Content { seed: 7, round: 0 };

    fn blocks(file: File) -> Blocks {
        let storage = Storage {
            files: vec![file],
            file_blocks: u64::MAX,
            blocks_count: 2048,
            grain_blocks: 4,
            is_buffered: true,
            shown: None,
        };
        Blocks::new(storage, 512, Arc::new(Pulse::new())).unwrap()
    }

    #[test]
    fn a_block_that_cannot_be_read_hides_no_other() {
        // There is nothing behind the end of a file.
        let file = tempfile::tempfile().unwrap();
        file.set_len(1500 * 512).unwrap();
        let pieces = blocks(file).take(Span::new(0, 2048)).unwrap();
        let mut end = 0;
        for piece in &pieces {
            assert_eq!(piece.span.start, end);
            end = piece.span.end();
        }
        assert_eq!(end, 1500);
    }

    #[test]
    fn what_somebody_else_wrote_since_is_not_overwritten() {
        let mut blocks = blocks(tempfile::tempfile().unwrap());
        let whole = Span::new(0, 2048);
        blocks.write(whole, Content { seed: 1, round: 0 }).unwrap();
        let before = blocks.take(whole).unwrap();
        blocks.write(Span::new(100, 900), OURS).unwrap();
        let theirs = Content { seed: 2, round: 0 };
        blocks.write(Span::new(400, 80), theirs).unwrap();
        for piece in &before {
            assert_eq!(blocks.put(piece, Some(OURS)), Ok(0));
        }
        let mut held = |span, content| blocks.read(span, content).unwrap().runs;
        let good = |span| vec![Run::new(span, Held::Good)];
        let (low, high) = (Span::new(0, 400), Span::new(480, 1568));
        assert_eq!(held(low, Content { seed: 1, round: 0 }), good(low));
        assert_eq!(held(high, Content { seed: 1, round: 0 }), good(high));
        assert_eq!(held(Span::new(400, 80), theirs), good(Span::new(400, 80)));
    }
}
