//! Where what is kept ends.

use super::field::{Field, Sentinel};
use crate::verdict::LEAST_TAIL_BLOCKS;
use crate::{Medium, Trouble};

/// So many of the last places must be lost to say that the end is.
const LOST_COUNT: usize = 2;
/// So many places behind the boundary are looked at before it is believed.
const CONFIRMING_COUNT: u64 = 16;

/// Whether the last of these places are lost and none before them, so that nothing but missing storage
/// explains it: where addresses repeat, some places further up would be kept, too.
pub(super) fn is_all_below_kept(sentinels: &[Sentinel]) -> bool {
    let kept = sentinels.iter().take_while(|sentinel| sentinel.is_kept);
    is_tail_lost(sentinels)
        && sentinels[kept.count()..]
            .iter()
            .all(|sentinel| !sentinel.is_kept)
}

/// Whether the last of these places are lost, so that more may be missing than single spots. They
/// stand by rising address.
pub(super) fn is_tail_lost(sentinels: &[Sentinel]) -> bool {
    let lost = sentinels
        .iter()
        .rev()
        .take_while(|sentinel| !sentinel.is_kept);
    lost.count() >= LOST_COUNT.min(sentinels.len())
}

impl<M: Medium> Field<'_, M> {
    /// How many blocks there are below `end`, if the last of these places are lost, and with them all
    /// that is behind the last that is kept. Anything less than 1 MiB at the end counts as there: that
    /// is damage.
    pub(super) fn boundary(
        &mut self,
        sentinels: &[Sentinel],
        end: u64,
        displaced_blocks: u64,
        module: Option<u64>,
    ) -> Result<u64, Trouble> {
        let (mut kept, mut lost) = if displaced_blocks == 0 {
            bracket(sentinels, 0, end, self.grain())
        } else {
            // A cache may have had those that seemed kept.
            (0, first_of_tail(sentinels).min(end))
        };
        let is_missing = |kept: u64| kept == 0 || end - kept >= LEAST_TAIL_BLOCKS;
        while is_missing(kept) {
            // Once the two have met, whether all behind them is lost: single spots may have been taken for
            // the boundary.
            let is_met = kept >= lost;
            let (behind, count) = if is_met {
                (end, CONFIRMING_COUNT)
            } else {
                (lost, self.places_count(displaced_blocks))
            };
            let starts = self.spread_starts(kept, behind, count);
            let sentinels = self.sentinels(&starts, displaced_blocks, module)?;
            let (further, first_lost) = bracket(&sentinels, kept, behind, self.grain());
            if is_met && further == kept {
                return Ok(kept);
            }
            (kept, lost) = (further, first_lost);
        }
        Ok(end)
    }
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
