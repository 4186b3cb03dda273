//! Search for the end of the storage that is kept.

use super::field::{Field, Sentinel};
use crate::verdict::{LEAST_TAIL_BLOCKS, SILENT_SHARE};
use crate::{Held, Medium, Span, Trouble};

/// Number of last places that must be lost before the end counts as lost.
const LOST_COUNT: usize = 2;
/// Number of places behind the boundary that are checked before it is accepted.
const CONFIRMING_COUNT: u64 = 16;
/// Behind a cache, an interval of up to this size is written as a whole, blocks (128 MiB): writing it costs less than
/// displacing the cache once more.
const WHOLE_BLOCKS: u64 = 128 << 11;

/// End of the storage that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// Number of blocks in front of it.
    pub(super) real_blocks: u64,
    /// True if the blocks behind it were written and read without an error.
    pub(super) is_silent: bool,
}

/// Returns whether the last of these places are lost and none before them, so that only missing storage
/// explains it: if addresses repeated, some places further up would be kept, too.
pub(super) fn is_all_below_kept(sentinels: &[Sentinel]) -> bool {
    let kept = sentinels.iter().take_while(|sentinel| sentinel.is_kept);
    is_tail_lost(sentinels)
        && sentinels[kept.count()..]
            .iter()
            .all(|sentinel| !sentinel.is_kept)
}

/// Returns whether the last of these places are lost, so that more may be missing than isolated spots. They are
/// sorted by rising address.
pub(super) fn is_tail_lost(sentinels: &[Sentinel]) -> bool {
    let lost = sentinels
        .iter()
        .rev()
        .take_while(|sentinel| !sentinel.is_kept);
    lost.count() >= LOST_COUNT.min(sentinels.len())
}

impl<M: Medium> Field<'_, M> {
    /// Returns the number of blocks below `end`, if the last of these places are lost, and with them everything
    /// behind the last one that is kept. Less than 1 MiB at the end counts as present: that is damage.
    ///
    /// Ends the probe if the storage returns nothing but errors any more.
    pub(super) fn boundary(
        &mut self,
        sentinels: &[Sentinel],
        end: u64,
        displaced_blocks: u64,
        module: Option<u64>,
    ) -> Result<Boundary, Trouble> {
        let (mut kept, mut lost) = if displaced_blocks == 0 {
            bracket(sentinels, 0, end, self.grain())
        } else {
            // A cache may have had those that seemed kept.
            (0, first_of_tail(sentinels).min(end))
        };
        let is_missing = |kept: u64| kept == 0 || end - kept >= LEAST_TAIL_BLOCKS;
        while is_missing(kept) {
            // Once the two have met: whether all blocks behind them are lost. Isolated spots may have been
            // mistaken for the boundary.
            let is_met = kept >= lost;
            if displaced_blocks > 0 && !is_met && lost - kept <= WHOLE_BLOCKS {
                self.expect(2 * displaced_blocks + lost - kept);
                kept = self.end_within(Span::between(kept, lost), displaced_blocks, module)?;
                lost = kept;
                continue;
            }
            let (behind, count) = if is_met {
                (end, CONFIRMING_COUNT)
            } else {
                (lost, self.places_count(displaced_blocks))
            };
            let rounds_count = match is_met {
                true => 1,
                false => rounds_left(lost - kept, count),
            };
            self.expect(rounds_count * displaced_blocks);
            let mut starts = self.spread_starts(kept, behind, count);
            // If no storage exists at all, the first place shows it at once.
            if starts.first() != Some(&kept) {
                starts.insert(0, kept);
            }
            // Below it, too: one displacement serves both.
            let mut all = match is_met && displaced_blocks > 0 {
                true => self.markers(0, kept),
                false => Vec::new(),
            };
            let below = all.len();
            all.extend(starts);
            let mut sentinels = self.sentinels(&all, displaced_blocks, module)?;
            sentinels.drain(..below);
            let (further, first_lost) = bracket(&sentinels, kept, behind, self.grain());
            if is_met && further == kept {
                let is_silent = are_lost_silently(&sentinels);
                if !is_silent {
                    self.look_once_more()?;
                }
                return Ok(Boundary {
                    real_blocks: kept,
                    is_silent,
                });
            }
            (kept, lost) = (further, first_lost);
        }
        Ok(Boundary {
            real_blocks: end,
            is_silent: false,
        })
    }

    /// Writes all of an interval, displaces the cache, and returns the end of the last block in it that is kept.
    fn end_within(
        &mut self,
        interval: Span,
        displaced_blocks: u64,
        module: Option<u64>,
    ) -> Result<u64, Trouble> {
        self.write(interval)?;
        self.flush()?;
        self.displace_past(displaced_blocks, &[interval])?;
        let runs = self.read(interval)?;
        let is_alias =
            |shift: i64| module.is_some_and(|module| shift.unsigned_abs().is_multiple_of(module));
        let kept = runs.iter().rfind(|run| {
            matches!(run.held, Held::Good | Held::Changed) || run.shift().is_some_and(is_alias)
        });
        let end = kept.map_or(interval.start, |run| run.span.end());
        Ok(self.aligned(end))
    }
}

/// Returns the number of rounds behind a cache, each of `places_count` evenly spread places, until a boundary among
/// `blocks_count` blocks is known, plus one that writes all of the rest, and one to confirm it.
fn rounds_left(mut blocks_count: u64, places_count: u64) -> u64 {
    let mut rounds_count = 2;
    while blocks_count > WHOLE_BLOCKS {
        blocks_count /= places_count + 1;
        rounds_count += 1;
    }
    rounds_count
}

/// Returns whether these lost places were written and read without an error.
fn are_lost_silently(sentinels: &[Sentinel]) -> bool {
    let silent = sentinels
        .iter()
        .filter(|sentinel| !sentinel.is_refused && !sentinel.is_unreadable);
    silent.count() as f64 >= SILENT_SHARE * sentinels.len() as f64
}

/// The first of the last places that are lost.
fn first_of_tail(sentinels: &[Sentinel]) -> u64 {
    let lost = sentinels
        .iter()
        .rev()
        .take_while(|sentinel| !sentinel.is_kept);
    lost.last().map_or(u64::MAX, |sentinel| sentinel.start)
}

/// From the end of the last place that is kept to the first one behind it, which is lost.
fn bracket(sentinels: &[Sentinel], kept: u64, lost: u64, grain: u64) -> (u64, u64) {
    let here = || sentinels.iter().filter(|sentinel| sentinel.start < lost);
    let kept = here()
        .filter(|sentinel| sentinel.is_kept)
        .map(|sentinel| sentinel.start + grain)
        .fold(kept, u64::max);
    let lost = here()
        .map(|sentinel| sentinel.start)
        .filter(|&start| start >= kept)
        .fold(lost, u64::min);
    (kept, lost)
}
