//! Storage is written and read in cycles until it loses data.

use cardmark_core::Milestone;
use serde::{Deserialize, Serialize};

use crate::verdict::of_once_whole;
use crate::{BLOCK_BYTES, Content, Medium, StorageVerdict, Trouble, Verify};

/// When to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndureEnd {
    /// At this share of bad blocks, 0 to 1; at 0 with the first.
    pub bad_share: f64,
    /// Maximum number of bytes written.
    pub most_bytes: Option<u64>,
    /// Maximum number of cycles.
    pub most_cycles: Option<u32>,
}

/// Shares of bad blocks that are noted when they are reached; the first is a single block.
const MILESTONES: [f64; 6] = [0.0, 0.001, 0.01, 0.1, 0.25, 0.5];

/// Cycles of writing and reading every block, which can be put aside after any step and taken up
/// again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Endure {
    end: EndureEnd,
    seed: u64,
    /// The cycle under way; its number is one more than its round.
    verify: Verify,
    /// Blocks written in earlier cycles.
    written_blocks: u64,
    /// Bad blocks of the last whole cycle.
    bad_blocks: u64,
    cycles: u32,
    milestones: Vec<Milestone>,
    is_done: bool,
}

impl Endure {
    /// Creates cycles on storage with `blocks_count` blocks, until that end.
    pub fn new(blocks_count: u64, seed: u64, end: EndureEnd) -> Self {
        Self {
            end,
            seed,
            verify: Verify::new(blocks_count, Content { seed, round: 0 }),
            written_blocks: 0,
            bad_blocks: 0,
            cycles: 0,
            milestones: Vec::new(),
            is_done: false,
        }
    }

    /// Returns whether the end is reached.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Cycles that are whole.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// The cycle under way, or the last one.
    pub fn verify(&self) -> &Verify {
        &self.verify
    }

    /// Returns the verdict of the last cycle, once it is done.
    pub fn verdict(&self) -> Option<StorageVerdict> {
        self.verdict_of(&self.verify)
    }

    /// Returns the verdict of reading again after a rest, once it is done.
    pub fn verdict_of(&self, again: &Verify) -> Option<StorageVerdict> {
        // The first milestone is the first bad block.
        let first_bad = self.milestones.first();
        let was_whole = first_bad.is_none_or(|first| first.cycles_count > 1);
        again.verdict().map(|verdict| match was_whole {
            true => of_once_whole(verdict, again.surface()),
            false => verdict,
        })
    }

    /// Returns the number of blocks that did not hold their data in the last whole cycle.
    pub fn bad_blocks(&self) -> u64 {
        self.bad_blocks
    }

    /// Returns the milestones reached, in order.
    pub fn milestones(&self) -> &[Milestone] {
        &self.milestones
    }

    /// Returns the number of bytes written.
    pub fn written_bytes(&self) -> u64 {
        (self.written_blocks + self.verify.written_blocks()) * BLOCK_BYTES as u64
    }

    /// To be called when it is taken up again; from now on this end counts.
    pub fn take_up(&mut self, end: EndureEnd) {
        self.end = end;
        self.verify.take_up();
    }

    /// Reads the place that was written last, as [`Verify::note_last_written`].
    ///
    /// # Errors
    /// If the test cannot continue.
    pub fn note_last_written(&mut self, medium: &mut dyn Medium) -> Result<(), Trouble> {
        self.verify.note_last_written(medium)
    }

    /// Returns whether the complete cycles have used up the limits of this end.
    pub fn has_spent(&self, end: EndureEnd) -> bool {
        let next_bytes = self.written_bytes() + self.verify.blocks_count() * BLOCK_BYTES as u64;
        end.most_cycles.is_some_and(|most| self.cycles >= most)
            || end.most_bytes.is_some_and(|most| {
                // The cycle under way may still be finished.
                next_bytes - self.verify.written_blocks() * BLOCK_BYTES as u64 > most
            })
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// If the test cannot continue. It can be resumed then.
    pub fn advance(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        if self.is_done {
            return Ok(());
        }
        self.verify.advance(medium)?;
        if self.verify.is_done() {
            self.end_cycle();
        }
        Ok(())
    }

    fn end_cycle(&mut self) {
        self.cycles += 1;
        let all = self.verify.blocks_count();
        self.bad_blocks = self.verify.surface().bad_blocks_count();
        let bad_share = self.bad_blocks as f64 / all.max(1) as f64;
        for share in MILESTONES.into_iter().skip(self.milestones.len()) {
            if self.bad_blocks > 0 && bad_share >= share {
                self.milestones.push(Milestone {
                    bad_ratio: share,
                    cycles_count: self.cycles,
                    written_bytes: self.written_bytes(),
                });
            }
        }
        let is_worn = self.bad_blocks > 0 && bad_share >= self.end.bad_share;
        // A further cycle starts only if it can be completed.
        let next_bytes = self.written_bytes() + all * BLOCK_BYTES as u64;
        let is_spent = self.end.most_bytes.is_some_and(|most| next_bytes > most)
            || self.end.most_cycles.is_some_and(|most| self.cycles >= most);
        self.is_done = is_worn || is_spent;
        if !self.is_done {
            self.written_blocks += self.verify.written_blocks();
            let content = Content {
                seed: self.seed,
                round: self.cycles,
            };
            self.verify = Verify::new(all, content);
        }
    }
}
