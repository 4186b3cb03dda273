//! The place that was written last, as a mark of the storage.
//!
//! Cards with the same name may be copies of each other, made while a test was under way. The first blocks of a test
//! are on every copy; those written last are only on the card of the test. Their content depends on the seed of the
//! test, which is random, on the place and on the round.

use cardmark_core::Shuffle;

use super::loaded::unit_blocks;
use super::{LastWritten, Pass, Verify};
use crate::{Content, Held, Medium, Span, Trouble};

impl Verify {
    /// Reads the place that was written last among those that are durable, once for each place, and keeps its state. To
    /// be called after each step, before the test is stored.
    ///
    /// # Errors
    /// If the test cannot continue.
    pub fn note_last_written(&mut self, medium: &mut dyn Medium) -> Result<(), Trouble> {
        let Some((span, content)) = self.last_written(medium) else {
            return Ok(());
        };
        let is_noted = |last: &LastWritten| (last.span, last.round) == (span, content.round);
        if self.last.as_ref().is_some_and(is_noted) {
            return Ok(());
        }
        let runs = self.look_for(medium, span, content)?;
        self.last = Some(LastWritten {
            span,
            round: content.round,
            is_held: runs.iter().all(|run| run.held == Held::Good),
        });
        Ok(())
    }

    /// Returns whether the place that was written last held its content then, and holds other content now: this is
    /// another storage, or it was written since.
    ///
    /// # Errors
    /// If the test cannot continue.
    pub fn lacks_last_written(&self, medium: &mut dyn Medium) -> Result<bool, Trouble> {
        let Some(last) = self.last.filter(|last| last.is_held) else {
            return Ok(false);
        };
        let content = Content {
            round: last.round,
            ..self.content
        };
        let runs = self.look_for(medium, last.span, content)?;
        let is_other = |held| matches!(held, Held::Foreign | Held::Other { .. });
        Ok(!runs.is_empty() && runs.iter().all(|run| is_other(run.held)))
    }

    /// The last place that surely holds content of the test, and that content.
    fn last_written(&self, medium: &dyn Medium) -> Option<(Span, Content)> {
        let grain = medium.grain_blocks().max(1);
        let unit = match self.load {
            Some(_) => unit_blocks(grain),
            None => grain,
        };
        let (written, content) = match self.pass {
            Pass::Write if self.durable >= unit => (self.durable, self.content),
            Pass::Write => {
                // The round before wrote all of it.
                let round = self.content.round.checked_sub(1)?;
                let seed = self.content.seed;
                (self.blocks_count, Content { seed, round })
            }
            Pass::Wait | Pass::Read | Pass::Done => (self.blocks_count, self.content),
            // These write some blocks once more.
            Pass::Displace
            | Pass::Doubt
            | Pass::Discard
            | Pass::Rewrite
            | Pass::Check
            | Pass::Renew => return None,
        };
        let number = (written / unit).checked_sub(1)?;
        let place = match self.is_random() {
            true => Shuffle::new(self.blocks_count.div_ceil(unit), self.content.seed).at(number),
            false => number,
        };
        let end = self.blocks_count.min((place + 1) * unit);
        Some((Span::between(end.checked_sub(grain)?, end), content))
    }
}
