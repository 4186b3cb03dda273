//! Room that a test of a directory leaves to others.

use std::io;
use std::path::{Path, PathBuf};

use cardmark_core::Errno;
use cardmark_device::{Blocks, Room, free_bytes};
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Content, Medium, Pass, Span, Surface, Trouble, Verify,
};
use cardmark_report::text;
use serde::Serialize;

use crate::drive::job::Job;
use crate::voice::Voice;

/// The used room of a directory is a multiple of this, bytes.
pub(super) const UNIT_BYTES: u64 = 1 << 20;

/// Room left free on a filesystem, bytes: a full one takes no small files any more.
const RESERVE_BYTES: u64 = 64 << 20;
/// Least room left free on a filesystem of the running system, bytes, and the least share of it.
const SYSTEM_RESERVE_BYTES: u64 = 1 << 30;
const SYSTEM_SHARE: u64 = 20;
/// Room beyond the reserve that the filesystem itself may need for large files, bytes.
const MARGIN_BYTES: u64 = 16 << 20;
/// Room given back beyond what is missing, bytes, so that it does not happen at every step.
const SLACK_BYTES: u64 = 64 << 20;
/// Blocks between two looks at the room: 2 MiB, two seconds on a card of 1 MB/s.
const LOOK_BLOCKS: u64 = 2 << 11;
/// The kernel's number of the error of a full filesystem.
const FULL: Errno = Errno(28);

/// Returns the room that a test leaves free.
pub(super) fn reserve_bytes(room: Room, is_system: bool) -> u64 {
    match is_system {
        true => SYSTEM_RESERVE_BYTES.max(room.size_bytes / SYSTEM_SHARE),
        false => RESERVE_BYTES,
    }
}

/// Returns the room that a test may use, in whole units.
pub(super) fn usable_bytes(room: Room, is_system: bool) -> u64 {
    let margin = if is_system { MARGIN_BYTES } else { 0 };
    let kept = reserve_bytes(room, is_system) + margin;
    room.free_bytes.saturating_sub(kept) / UNIT_BYTES * UNIT_BYTES
}

/// Watch over the room that others need on a filesystem of the running system.
pub(super) struct Guard {
    /// Returns the free room, bytes.
    free: Box<dyn Fn() -> io::Result<u64>>,
    reserve_bytes: u64,
    voice: &'static dyn Voice,
}

impl Guard {
    /// A watch over the filesystem of a folder.
    pub(super) fn of(folder: &Path, reserve_bytes: u64, voice: &'static dyn Voice) -> Self {
        let folder: PathBuf = folder.to_owned();
        Self {
            free: Box::new(move || free_bytes(&folder).map_err(io::Error::other)),
            reserve_bytes,
            voice,
        }
    }

    /// Returns the room that is missing to others when the test has taken all that it wants, bytes.
    fn missing_bytes(&self, blocks: &Blocks, wanted_bytes: u64) -> u64 {
        // Without an answer, writing shows whether there is room.
        let free = (self.free)().unwrap_or(u64::MAX);
        let to_come = wanted_bytes.saturating_sub(blocks.allocated_bytes());
        (self.reserve_bytes.saturating_add(to_come)).saturating_sub(free)
    }

    /// Gives room back if others need it, from the end of the files.
    fn give_way(&self, test: &mut Verify, blocks: &mut Blocks) -> Result<(), Trouble> {
        let failed = |error: &io::Error| Trouble::Filesystem {
            errno: Errno::of(error),
        };
        let wanted_bytes = bytes(test.blocks_count());
        let missing = self.missing_bytes(blocks, wanted_bytes);
        if missing == 0 {
            return Ok(());
        }
        let left = wanted_bytes.saturating_sub(missing.saturating_add(SLACK_BYTES));
        let left = left / UNIT_BYTES * UNIT_BYTES;
        let left_blocks = left / BLOCK_BYTES as u64;
        blocks
            .shorten(left_blocks)
            .map_err(|error| failed(&error))?;
        if left == 0 {
            return Err(Trouble::Filesystem { errno: FULL });
        }
        blocks.flush()?;
        test.shorten(left_blocks);
        self.voice.notice(&format!(
            "others need room: gave back {}, which is not tested; {} remain under test",
            text::amount(wanted_bytes - left),
            text::amount(left)
        ));
        Ok(())
    }
}

fn bytes(blocks: u64) -> u64 {
    blocks * BLOCK_BYTES as u64
}

/// A test that gives way where it is watched.
pub(super) struct GivingWay {
    pub(super) test: Verify,
    pub(super) guard: Option<Guard>,
}

impl Job for GivingWay {
    type Io = Blocks;
    type Error = Trouble;

    fn step(&mut self, mut blocks: &mut Blocks) -> Result<(), Trouble> {
        let Some(guard) = &self.guard else {
            return self.test.advance(&mut blocks);
        };
        guard.give_way(&mut self.test, blocks)?;
        let mut watched = Watched {
            guard,
            wanted_bytes: bytes(self.test.blocks_count()),
            blocks,
            is_short: false,
        };
        let advanced = self.test.advance(&mut watched);
        match watched.is_short {
            // The step is repeated after giving way.
            true => Ok(()),
            false => advanced,
        }
    }

    fn look_back(&mut self, blocks: &mut Blocks) -> Result<(), Trouble> {
        self.test.note_last_written(blocks)
    }

    fn is_done(&self) -> bool {
        self.test.is_done()
    }

    fn moved_bytes(&self) -> (u64, u64) {
        Job::moved_bytes(&self.test)
    }

    fn state(&self) -> &impl Serialize {
        &self.test
    }
}

impl GivingWay {
    /// Gives up what the files no longer hold: a test may have been killed just after it gave way.
    pub(super) fn take_up(&mut self, blocks: &Blocks) {
        let is_writing = self.test.place().0 == Pass::Write;
        if self.guard.is_some() && !is_writing {
            self.test.shorten(blocks.held_blocks());
        }
    }
}

/// Storage that ends a step as soon as room is missing.
struct Watched<'a> {
    guard: &'a Guard,
    wanted_bytes: u64,
    blocks: &'a mut Blocks,
    is_short: bool,
}

impl Watched<'_> {
    fn in_parts(
        &mut self,
        span: Span,
        work: impl Fn(&mut Blocks, Span) -> Result<Answer, Trouble>,
    ) -> Result<Answer, Trouble> {
        let (mut runs, mut span_ns) = (Vec::new(), 0);
        for part in span.parts(LOOK_BLOCKS) {
            if self.guard.missing_bytes(self.blocks, self.wanted_bytes) > 0 {
                self.is_short = true;
                return Err(Trouble::Stopped);
            }
            let answer = work(self.blocks, part)?;
            span_ns += answer.span_ns;
            runs.extend(answer.runs);
        }
        let runs = Surface::of(runs).runs().to_vec();
        Ok(Answer { runs, span_ns })
    }
}

impl Medium for Watched<'_> {
    fn blocks_count(&self) -> u64 {
        self.blocks.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.blocks.grain_blocks()
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.in_parts(span, |blocks, part| blocks.write(part, content))
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.in_parts(span, |blocks, part| blocks.read(part, content))
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.blocks.flush()
    }
}

#[cfg(test)]
mod tests;
