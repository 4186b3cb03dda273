//! Where what is kept ends.

use super::field::{Field, Sentinel};
use crate::verdict::{LEAST_TAIL_BLOCKS, SILENT_SHARE};
use crate::{Medium, Trouble};

/// So many of the last places must be lost to say that the end is.
const LOST_COUNT: usize = 2;
/// So many places behind the boundary are looked at before it is believed.
const CONFIRMING_COUNT: u64 = 16;

/// Where what is kept ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// How many blocks there are.
    pub(super) real_blocks: u64,
    /// Whether what is behind them was taken and given out without an error.
    pub(super) is_silent: bool,
}

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
    ///
    /// Ends the probe where the storage gives nothing but errors any more.
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
            // Once the two have met, whether all behind them is lost: single spots may have been taken for
            // the boundary.
            let is_met = kept >= lost;
            let (behind, count) = if is_met {
                (end, CONFIRMING_COUNT)
            } else {
                (lost, self.places_count(displaced_blocks))
            };
            let rounds_count = match is_met {
                true => 1,
                false => rounds_left(lost - kept, count, self.grain()),
            };
            self.expect(rounds_count * displaced_blocks);
            let mut starts = self.spread_starts(kept, behind, count);
            // Where nothing at all is there, the first place says so at once.
            if starts.first() != Some(&kept) {
                starts.insert(0, kept);
            }
            let sentinels = self.sentinels(&starts, displaced_blocks, module)?;
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
}

/// How often so many places are looked at, evenly spread, until a boundary among so many blocks is known,
/// and once more to confirm it.
fn rounds_left(mut blocks_count: u64, places_count: u64, grain: u64) -> u64 {
    let mut rounds_count = 2;
    while blocks_count > grain {
        blocks_count /= places_count + 1;
        rounds_count += 1;
    }
    rounds_count
}

/// Whether these places, which are lost, were taken and given out without an error.
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
