//! Does storage keep what it acknowledged when it loses power?
//!
//! Numbered writes go to rotating places of an area that was filled before. Each is acknowledged by a flush, and each
//! acknowledgement is noted in a log elsewhere ([`LogLine`]) before the next write begins. After the power was cut,
//! every place must hold the last acknowledged write to it, or one that was under way ([`CutCheck`]).

mod check;
mod evidence;
mod log;
mod plan;

use crate::{Answer, Held, Medium, Span, Trouble};

pub use check::{CutCheck, CutOutcome, LostWrite, WriteState};
pub use evidence::{CutEvidence, NoCut, Surroundings, evidence};
pub use log::{CutBegin, CutChecked, CutCycle, CutEnd, CutLog, CutTotals, LogLine};
pub use plan::{CutPlan, MOST_WRITES, PLACE_BLOCKS};

/// Size of a write of the preparation, blocks: 1 MiB.
const FILL_BLOCKS: u64 = 2048;

/// Storage that reports whether it flushed.
pub trait Confirming: Medium {
    /// Flushes. A flush that fails acknowledges nothing.
    ///
    /// # Errors
    /// If the storage did not confirm the flush.
    fn confirm(&mut self) -> Result<(), Trouble>;
}

/// Progress made by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutStep {
    /// A part of the area was filled.
    Filled,
    /// The whole area is filled and flushed.
    Ready,
    /// All writes up to this number are acknowledged.
    Acknowledged(u32),
}

/// The writes before a power cut.
#[derive(Clone, Debug)]
pub struct PowerCut {
    plan: CutPlan,
    filled_blocks: u64,
    is_ready: bool,
    acknowledged: u32,
}

impl PowerCut {
    /// Creates a test whose area is not yet filled.
    pub fn new(plan: CutPlan) -> Self {
        Self {
            plan,
            filled_blocks: 0,
            is_ready: false,
            acknowledged: 0,
        }
    }

    /// Returns whether the area is filled and flushed.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Returns the number of acknowledged writes.
    pub fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    /// Returns whether no number is left for a further write.
    pub fn is_used_up(&self) -> bool {
        self.acknowledged > MOST_WRITES - self.plan.batch()
    }

    /// Returns the number of blocks written: of the preparation, and of acknowledged writes.
    pub fn written_blocks(&self) -> (u64, u64) {
        let acknowledged = u64::from(self.acknowledged) * PLACE_BLOCKS;
        (self.filled_blocks, acknowledged)
    }

    /// Fills a part of the area, or writes and flushes one batch.
    ///
    /// # Errors
    /// If the storage did not take or confirm it.
    pub fn advance(&mut self, medium: &mut impl Confirming) -> Result<CutStep, Trouble> {
        if !self.is_ready {
            return self.fill(medium);
        }
        let last = self.acknowledged + self.plan.batch();
        for number in self.acknowledged + 1..=last {
            let span = self.plan.span(self.plan.place(number));
            let answer = medium.write(span, self.plan.content(number))?;
            refuse(&answer)?;
        }
        medium.confirm()?;
        self.acknowledged = last;
        Ok(CutStep::Acknowledged(last))
    }

    fn fill(&mut self, medium: &mut impl Confirming) -> Result<CutStep, Trouble> {
        let all = self.plan.blocks_count();
        let end = all.min(self.filled_blocks + FILL_BLOCKS);
        let span = Span::between(self.filled_blocks, end);
        refuse(&medium.write(span, self.plan.content(0))?)?;
        self.filled_blocks = end;
        if end < all {
            return Ok(CutStep::Filled);
        }
        medium.confirm()?;
        self.is_ready = true;
        Ok(CutStep::Ready)
    }
}

/// A refused block ends the test: nothing behind it would be acknowledged.
fn refuse(answer: &Answer) -> Result<(), Trouble> {
    let refused = answer.runs.iter().find_map(|run| match run.held {
        Held::Refused { errno } => Some(errno),
        _ => None,
    });
    refused.map_or(Ok(()), |errno| Err(Trouble::OnlyErrors { errno }))
}
