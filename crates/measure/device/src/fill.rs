//! Filling a device with known content, from a place on to its end.
//!
//! Four threads make content and write blocks of 1 MiB: alone, making `random` would cost half of
//! the rate of a fast device. After each stretch all are waited for and `fdatasync` is called;
//! only then its bytes count as durable: they survive a loss of power, as far as the device keeps its
//! word.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use cardmark_core::{Fill, MIB, fill_content, mix};
use cardmark_engine::Pulse;
use rustix::io::{Errno, pread, pwrite, retry_on_intr};
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use thiserror::Error;

use crate::buffer::AlignedBuffer;
use crate::target::OpenTarget;

/// Size of a write, bytes.
const BLOCK_BYTES: u64 = MIB;
/// Writes in flight.
const DEPTH: usize = 4;
/// Number of blocks that may be written before earlier blocks are reported: the receiver may need a moment to
/// record a report.
const UNTOLD_COUNT: usize = 16;
/// Number of bytes after which they are made durable.
const STRETCH_BYTES: u64 = 64 * MIB;
/// Number of bytes after which they are made durable if the page cache is used: with more, a slow card would
/// exceed the time limit for an answer.
const BUFFERED_STRETCH_BYTES: u64 = 8 * MIB;
/// Size of one discard in bytes: large enough for speed, small enough to complete in time.
const DISCARD_STRETCH_BYTES: u64 = 128 * MIB;
/// Size of a mark, bytes.
const MARK_BYTES: u64 = 4096;
/// Number of blocks that are checked before a fill is continued.
const LOOKS_COUNT: u64 = 16;
/// `BLKDISCARD`: `_IO(0x12, 119)`, which takes start and length as two `u64`.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// Reason for the early end of a fill.
#[derive(Debug, Error)]
pub enum FillError {
    /// An operation failed.
    #[error("cannot {action} at byte {offset_bytes}")]
    Operation {
        /// Attempted action, such as `write`.
        action: &'static str,
        /// Position, bytes from the start of the device.
        offset_bytes: u64,
        /// Error of the system.
        source: io::Error,
    },
    /// The device, or its connection, does not support discard.
    #[error("the device cannot discard")]
    NoDiscard,
}

/// Result of a fill.
#[derive(Debug)]
pub struct Filled {
    /// Durable up to here: the end of the stretch, unless the filling was stopped or failed.
    pub durable_bytes: u64,
    /// Error, if the fill failed.
    pub error: Option<FillError>,
}

/// Content to fill a device with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillContent {
    /// The kind.
    pub fill: Fill,
    /// Of `random`: the seed.
    pub seed: u64,
}

/// Fills an open device.
#[derive(Debug)]
pub struct Filler {
    target: OpenTarget,
    /// One for each write in flight.
    buffers: Vec<AlignedBuffer>,
    /// For reading.
    found: AlignedBuffer,
    /// Content of the buffers, if it is equal in all blocks.
    generated: Option<FillContent>,
}

/// State shared by the threads of a stretch.
struct Stretch<'a> {
    file: &'a File,
    content: FillContent,
    end_bytes: u64,
    /// Start of the next block that no thread has taken.
    next_bytes: AtomicU64,
    has_failed: AtomicBool,
    pulse: &'a Pulse,
}

/// A block that was written, or where and why it failed.
type Written = Result<(), (u64, io::Error)>;

impl Filler {
    /// Takes the device; `None`: no memory.
    #[must_use]
    pub fn new(target: OpenTarget) -> Option<Self> {
        let alignment = target.memory_alignment_bytes;
        let block = usize::try_from(BLOCK_BYTES).ok()?;
        let buffers: Option<Vec<AlignedBuffer>> = (0..DEPTH)
            .map(|_| AlignedBuffer::new(block, alignment))
            .collect();
        Some(Self {
            target,
            buffers: buffers?,
            found: AlignedBuffer::new(block, alignment)?,
            generated: None,
        })
    }

    /// Size of the device, bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.target.size_bytes
    }

    /// Checks with 16 blocks, the first and the last among them, whether the device is filled up to
    /// `until_bytes`; returns the first block that differs. For `discard`, no check is possible.
    ///
    /// # Errors
    /// If the device cannot be read.
    pub fn first_difference(
        &mut self,
        content: FillContent,
        until_bytes: u64,
        pulse: &Pulse,
    ) -> Result<Option<u64>, FillError> {
        pulse.set_waiting(true);
        let difference = self.look(content, until_bytes.min(self.size_bytes()), pulse);
        pulse.set_waiting(false);
        difference
    }

    fn look(
        &mut self,
        content: FillContent,
        until_bytes: u64,
        pulse: &Pulse,
    ) -> Result<Option<u64>, FillError> {
        self.generated = None;
        let blocks_count = until_bytes.div_ceil(BLOCK_BYTES);
        let looks_count = blocks_count.min(LOOKS_COUNT);
        let Some(expected) = self.buffers.first_mut() else {
            return Ok(None);
        };
        for look in 0..looks_count {
            let block = (blocks_count - 1) * look / (looks_count - 1).max(1);
            let offset = block * BLOCK_BYTES;
            let length = block_length(offset, until_bytes);
            let found = &mut self.found.bytes_mut()[..length];
            let expected = &mut expected.bytes_mut()[..length];
            read_whole(&self.target.file, found, offset)?;
            pulse.beat();
            fill_content(content.fill, content.seed, offset, expected);
            if found != expected && content.fill != Fill::Discard {
                return Ok(Some(offset));
            }
        }
        Ok(None)
    }

    /// Writes the mark of the fill with that random id behind the stretch that begins at `from_bytes`; in the last stretch
    /// to the end of the device, where the fill itself overwrites it. It becomes durable with the stretch.
    ///
    /// Content that is equal in all blocks does not identify a device: others hold it, too. The mark is on no other
    /// device, and on a copy of this one only at the place where the fill had arrived then.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn mark(&mut self, id: u64, fill: Fill, from_bytes: u64) -> Result<(), FillError> {
        let Some(&at) = self.mark_places(fill, from_bytes).first() else {
            return Ok(());
        };
        let mark = mark_of(&mut self.found, id, at);
        write_whole(&self.target.file, mark, at)
            .map_err(|(at, source)| operation("write", at, source))
    }

    /// Returns whether the device has the mark of the fill with that id behind `from_bytes`, up to which the fill is known
    /// to be durable. It may have gone further.
    ///
    /// # Errors
    /// If the device cannot be read.
    pub fn is_marked(
        &mut self,
        (id, fill): (u64, Fill),
        from_bytes: u64,
        pulse: &Pulse,
    ) -> Result<bool, FillError> {
        pulse.set_waiting(true);
        let found = self.find_mark(id, &self.mark_places(fill, from_bytes), pulse);
        pulse.set_waiting(false);
        found
    }

    fn find_mark(&mut self, id: u64, places: &[u64], pulse: &Pulse) -> Result<bool, FillError> {
        self.generated = None;
        let Some(expected) = self.buffers.first_mut() else {
            return Ok(false);
        };
        for &at in places {
            let expected = mark_of(expected, id, at);
            let found = &mut self.found.bytes_mut()[..expected.len()];
            read_whole(&self.target.file, found, at)?;
            pulse.beat();
            if *found == *expected {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Places where a mark may be if the fill is durable up to `from_bytes`: the one of that stretch first.
    fn mark_places(&self, fill: Fill, from_bytes: u64) -> Vec<u64> {
        let Some(last) = self.size_bytes().checked_sub(MARK_BYTES) else {
            return Vec::new();
        };
        let stretch_bytes = self.stretch_bytes(fill);
        let next = (from_bytes / stretch_bytes + 1).saturating_mul(stretch_bytes);
        let ends = (next..last).step_by(usize::try_from(stretch_bytes).unwrap_or(usize::MAX));
        // The mark of the stretch before may not have been overwritten yet.
        let before =
            (from_bytes > 0 && from_bytes.is_multiple_of(stretch_bytes)).then_some(from_bytes);
        let before = before.filter(|&at| at < last);
        ends.chain([last]).chain(before).collect()
    }

    /// Fills from `from_bytes` to the end of that stretch: up to 64 MiB, or 8 MiB through the page cache; of
    /// `discard` up to 128 MiB. Ends early when the pulse is stopped, and at the first error.
    pub fn fill_stretch(&mut self, content: FillContent, from_bytes: u64, pulse: &Pulse) -> Filled {
        let size_bytes = self.size_bytes();
        let stretch_bytes = self.stretch_bytes(content.fill);
        let start_bytes = from_bytes.min(size_bytes) / BLOCK_BYTES * BLOCK_BYTES;
        let end_bytes = (start_bytes / stretch_bytes + 1).saturating_mul(stretch_bytes);
        let range = (start_bytes, end_bytes.min(size_bytes));
        self.generate(content);
        pulse.set_waiting(true);
        let (reached_bytes, failed) = match content.fill {
            Fill::Discard => discard(&self.target.file, range),
            _ => self.write_stretch(content, range, pulse),
        };
        let synced = sync(&self.target.file, start_bytes);
        pulse.beat();
        pulse.set_waiting(false);
        Filled {
            durable_bytes: match synced {
                Ok(()) => reached_bytes,
                Err(_) => start_bytes,
            },
            error: failed.or(synced.err()),
        }
    }

    /// Generates content that is equal in all blocks, once.
    fn generate(&mut self, content: FillContent) {
        if self.generated == Some(content) {
            return;
        }
        for buffer in &mut self.buffers {
            fill_content(content.fill, content.seed, 0, buffer.bytes_mut());
        }
        self.generated = Some(content);
    }

    fn stretch_bytes(&self, fill: Fill) -> u64 {
        match (fill, self.target.direct) {
            (Fill::Discard, _) => DISCARD_STRETCH_BYTES,
            (_, true) => STRETCH_BYTES,
            (_, false) => BUFFERED_STRETCH_BYTES,
        }
    }

    /// Writes a stretch; returns the end of the part written without a gap, and the first error in the order of
    /// the device.
    fn write_stretch(
        &mut self,
        content: FillContent,
        (start_bytes, end_bytes): (u64, u64),
        pulse: &Pulse,
    ) -> (u64, Option<FillError>) {
        let stretch = Stretch {
            file: &self.target.file,
            content,
            end_bytes,
            next_bytes: AtomicU64::new(start_bytes),
            has_failed: AtomicBool::new(false),
            pulse,
        };
        let mut first_failed: Option<(u64, io::Error)> = None;
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(UNTOLD_COUNT);
            for buffer in &mut self.buffers {
                let (stretch, sender) = (&stretch, sender.clone());
                let work = move || stretch.write_blocks(buffer.bytes_mut(), &sender);
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                    first_failed = Some((start_bytes, error));
                    stretch.has_failed.store(true, Ordering::Relaxed);
                }
            }
            drop(sender);
            for written in receiver {
                pulse.beat();
                if let Err(failed) = written
                    && first_failed.as_ref().is_none_or(|(at, _)| failed.0 < *at)
                {
                    first_failed = Some(failed);
                }
            }
        });
        match first_failed {
            // The block that failed may be written in part.
            Some((at, error)) => (
                at / BLOCK_BYTES * BLOCK_BYTES,
                Some(operation("write", at, error)),
            ),
            None => (stretch.next_bytes.into_inner().min(end_bytes), None),
        }
    }
}

impl Stretch<'_> {
    /// Takes one block after the other until none is left, one failed, or a stop is requested.
    fn write_blocks(&self, buffer: &mut [u8], sender: &SyncSender<Written>) {
        while !self.pulse.is_stopped() && !self.has_failed.load(Ordering::Relaxed) {
            let offset = self.next_bytes.fetch_add(BLOCK_BYTES, Ordering::Relaxed);
            if offset >= self.end_bytes {
                return;
            }
            let block = &mut buffer[..block_length(offset, self.end_bytes)];
            if self.content.fill == Fill::Random {
                fill_content(self.content.fill, self.content.seed, offset, block);
            }
            let written = write_whole(self.file, block, offset);
            if written.is_err() {
                self.has_failed.store(true, Ordering::Relaxed);
            }
            // The caller waits until all threads have ended.
            let _ = sender.send(written);
        }
    }
}

/// The mark of a fill at that place, in a buffer.
fn mark_of(buffer: &mut AlignedBuffer, id: u64, at_bytes: u64) -> &mut [u8] {
    let length = usize::try_from(MARK_BYTES).unwrap_or(0);
    let mark = &mut buffer.bytes_mut()[..length];
    fill_content(Fill::Random, mix(id ^ at_bytes), 0, mark);
    mark
}

/// Length of the block at `offset`; the last one may be shorter.
fn block_length(offset: u64, end_bytes: u64) -> usize {
    // At most 1 MiB.
    usize::try_from(BLOCK_BYTES.min(end_bytes - offset)).unwrap_or(0)
}

fn write_whole(file: &File, block: &[u8], offset: u64) -> Written {
    let mut done = 0;
    while done < block.len() {
        let at = offset + done as u64;
        match retry_on_intr(|| pwrite(file, &block[done..], at)) {
            Ok(0) => return Err((at, io::ErrorKind::WriteZero.into())),
            Ok(bytes) => done += bytes,
            Err(errno) => return Err((at, errno.into())),
        }
    }
    Ok(())
}

fn read_whole(file: &File, block: &mut [u8], offset: u64) -> Result<(), FillError> {
    let mut done = 0;
    while done < block.len() {
        let at = offset + done as u64;
        match retry_on_intr(|| pread(file, &mut block[done..], at)) {
            Ok(0) => {
                let end = io::ErrorKind::UnexpectedEof.into();
                return Err(operation("read", at, end));
            }
            Ok(bytes) => done += bytes,
            Err(errno) => return Err(operation("read", at, errno.into())),
        }
    }
    Ok(())
}

fn sync(file: &File, from_bytes: u64) -> Result<(), FillError> {
    retry_on_intr(|| rustix::fs::fdatasync(file))
        .map_err(|errno| operation("make durable what was written", from_bytes, errno.into()))
}

/// Discards this range; returns the end of the discarded part and the error that stopped it.
///
/// If a device turns out not to support the command, the kernel reports success and refuses only the next
/// discard. The first block is therefore discarded twice.
fn discard(file: &File, (start_bytes, end_bytes): (u64, u64)) -> (u64, Option<FillError>) {
    let first_end_bytes = end_bytes.min(start_bytes + BLOCK_BYTES);
    let discarded = discard_range(file, start_bytes, end_bytes)
        .and_then(|()| discard_range(file, start_bytes, first_end_bytes));
    let error = match discarded {
        Ok(()) => return (end_bytes, None),
        // Some USB bridges announce the command and refuse it so.
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::REMOTEIO) => FillError::NoDiscard,
        Err(errno) => operation("discard", start_bytes, errno.into()),
    };
    (start_bytes, Some(error))
}

/// Discards all `size_bytes` of the device, until a stop is requested.
pub(crate) fn discard_all(file: &File, size_bytes: u64, pulse: &Pulse) -> Result<(), FillError> {
    let mut at = 0;
    while at < size_bytes && !pulse.is_stopped() {
        pulse.beat();
        let end_bytes = size_bytes.min(at + DISCARD_STRETCH_BYTES);
        match discard(file, (at, end_bytes)) {
            (_, Some(error)) => return Err(error),
            (discarded_bytes, None) => at = discarded_bytes,
        }
    }
    Ok(())
}

pub(crate) fn discard_range(file: &File, start_bytes: u64, end_bytes: u64) -> Result<(), Errno> {
    let range = [start_bytes, end_bytes - start_bytes];
    // SAFETY: for this opcode the kernel reads two `u64`, and writes no memory of ours.
    unsafe { ioctl(file, Setter::<BLKDISCARD, _>::new(range)) }
}

fn operation(action: &'static str, offset_bytes: u64, source: io::Error) -> FillError {
    FillError::Operation {
        action,
        offset_bytes,
        source,
    }
}
