//! Tests that take hours: steps, and how far they are.

use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use cardmark_integrity::{BLOCK_BYTES, Medium, Pass, Trouble, Verify};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::keep::Kept;
use crate::fill_progress::FillProgress;

/// How far it is, is kept at most so often: each time takes the store's own medium a moment.
const KEEP_PAUSE: Duration = Duration::from_secs(10);

/// A test that can be put aside after any step.
pub(crate) trait Long: Serialize + DeserializeOwned {
    /// Goes one step on.
    fn advance(&mut self, medium: &mut dyn Medium) -> Result<(), Trouble>;
    /// Whether it came to its end.
    fn is_done(&self) -> bool;
    /// Bytes written and read so far, and in all as far as is known.
    fn moved_bytes(&self) -> (u64, u64);
}

impl Long for Verify {
    fn advance(&mut self, mut medium: &mut dyn Medium) -> Result<(), Trouble> {
        Self::advance(self, &mut medium)
    }

    fn is_done(&self) -> bool {
        Self::is_done(self)
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (pass, position) = self.place();
        let moved = match pass {
            Pass::Write => position,
            Pass::Read => self.blocks_count() + position,
            Pass::Displace | Pass::Doubt | Pass::Done => 2 * self.blocks_count(),
        };
        let block = BLOCK_BYTES as u64;
        (moved * block, 2 * self.blocks_count() * block)
    }
}

/// Goes through a test of a simulated card, which takes seconds.
pub(crate) fn drive_simulated<T: Long>(
    test: &mut T,
    medium: &mut dyn Medium,
) -> Result<(), Trouble> {
    while !test.is_done() {
        test.advance(medium)?;
    }
    Ok(())
}

/// Goes through a test of real storage until its end, tells how far it is, and keeps that where it can.
pub(crate) fn drive<T: Long>(
    test: &mut T,
    medium: &mut dyn Medium,
    kept: Option<&Kept>,
    pulse: &Pulse,
) -> Result<(), Trouble> {
    let (moved, all) = test.moved_bytes();
    let mut progress = FillProgress::for_stderr(moved, all);
    let mut kept_at = Instant::now();
    let mut ended = Ok(());
    while !test.is_done() && ended.is_ok() {
        ended = if pulse.is_stopped() {
            Err(Trouble::Stopped)
        } else {
            test.advance(medium)
        };
        progress.show(test.moved_bytes().0);
        if let Some(kept) = kept
            && kept_at.elapsed() >= KEEP_PAUSE
            && ended.is_ok()
        {
            kept.save(test)?;
            kept_at = Instant::now();
        }
    }
    progress.end();
    if let Some(kept) = kept {
        kept.save(test)?;
    }
    ended
}
