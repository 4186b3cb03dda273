//! Check of a result against all that was observed, and against fresh markers; the upper bound if nothing explains it.

use cardmark_core::{Rng, StorageKind};

use super::evidence::{Found, Shape};
use super::field::{Field, Stage};
use super::within::{THOROUGH, USUAL, strata};
use crate::{Content, Medium, Span, Trouble};

/// Markers below the end of the storage that exists, and as many above it.
const MARKERS_COUNT: u64 = 32;
/// Places that were good and are written again to see whether the storage still takes writes.
const REWRITTEN_COUNT: usize = 16;
/// Places at once in the search for an upper bound.
const BOUND_PLACES: u64 = 8;
/// Rounds in the search for an upper bound, at most.
const MOST_ROUNDS: u32 = 24;
/// Divisor of the bound: the search ends when it is known to this part.
const BOUND_PART: u64 = 64;
/// Divisor of the bound: this part of it is left out, for losses between the markers.
const MARGIN_PART: u64 = 8;
/// Pairs of places that share storage that are examined in a round, at most.
const MOST_PAIRS: usize = 32;

impl<M: Medium> Field<'_, M> {
    /// Returns whether this shape, behind a cache of at most `displaced_blocks`, explains all that was observed, and then
    /// what fresh markers show over all of the storage.
    pub(super) fn agrees(&mut self, shape: Shape, displaced_blocks: u64) -> Result<bool, Trouble> {
        if !self.evidence.is_explained(shape, displaced_blocks) {
            return Ok(false);
        }
        self.stage(Stage::Checking);
        let real = shape.real_blocks();
        match shape {
            Shape::Prefix { .. } => {
                // Behind a cache, the search has confirmed the boundary with markers on both sides.
                if displaced_blocks == 0 {
                    let mut starts = self.markers(0, real);
                    starts.extend(self.markers(real, self.all_blocks));
                    self.sentinels(&starts, 0, None)?;
                }
            }
            Shape::Repeating { module, .. } => self.mark_repetition(module, displaced_blocks)?,
        }
        // Whatever the shape, no two places below its capacity may share storage.
        if real > 0 && self.evidence.is_explained(shape, displaced_blocks) {
            self.examine(real, USUAL, 0)?;
        }
        Ok(self.evidence.is_explained(shape, displaced_blocks))
    }

    /// Writes markers within the first repetition, and looks for each of them in another one.
    fn mark_repetition(&mut self, module: u64, displaced_blocks: u64) -> Result<(), Trouble> {
        let starts = self.markers(0, module);
        self.sentinels(&starts, displaced_blocks, Some(module))?;
        let mut rng = self.marker_rng();
        let content = self.content();
        for start in starts {
            let times = (self.all_blocks - self.grain() - start) / module;
            if times > 0 {
                let place = start + module * (1 + rng.below(times));
                // The content of the marker is expected there, or what displaced it.
                self.look_at_copy(place, content, displaced_blocks)?;
            }
        }
        Ok(())
    }

    /// Reads a place at which the content of another one is expected, and notes what stands there. The place may not have
    /// been written: then nothing was lost.
    fn look_at_copy(
        &mut self,
        start: u64,
        displacing: Content,
        displaced_blocks: u64,
    ) -> Result<(), Trouble> {
        let runs = self.read_as(Span::new(start, self.grain()), displacing)?;
        let found = match Found::of(&runs) {
            // It was written while the cache was displaced, or a cache may have answered.
            Found::Kept => return Ok(()),
            Found::Old if displaced_blocks == 0 => return Ok(()),
            found @ (Found::Elsewhere(_) | Found::Failed) => found,
            _ => Found::Nothing,
        };
        self.note(start, found, displaced_blocks);
        Ok(())
    }

    /// A marker at a random place in each of equal strata.
    pub(super) fn markers(&self, start: u64, end: u64) -> Vec<u64> {
        let grains = end.saturating_sub(start) / self.grain();
        let drawn = strata(grains, MARKERS_COUNT, &mut self.marker_rng());
        let place = |grain: u64| start + grain * self.grain();
        drawn.into_iter().map(place).collect()
    }

    /// Random numbers that differ from one round of markers to the next.
    fn marker_rng(&self) -> Rng {
        self.rng(&format!("markers {}", self.rounds()))
    }

    /// Writes places that were good with new content. Returns the kind of storage that no longer takes it: old content
    /// comes back, or the writes are refused.
    pub(super) fn worn_kind(&mut self) -> Result<Option<StorageKind>, Trouble> {
        let kept = self.evidence.kept();
        let step = kept.len().div_ceil(REWRITTEN_COUNT).max(1);
        let starts: Vec<u64> = kept.into_iter().step_by(step).collect();
        if starts.is_empty() {
            return Ok(None);
        }
        let content = self.fresh();
        let refused = self.write_sentinels(&starts, content)?;
        self.flush()?;
        let mut old_count = 0;
        for &start in &starts {
            let (found, _) = self.look(start, content, 0)?;
            old_count += usize::from(found == Found::Old);
        }
        // Some of these places may lie in samples that are read later.
        self.write_sentinels(&starts, self.content())?;
        self.flush()?;
        // After a refused write, old content is right.
        Ok(match 2 * old_count >= starts.len() {
            _ if 2 * refused.len() >= starts.len() => {
                self.look_once_more()?;
                Some(StorageKind::ReadOnly)
            }
            true => Some(StorageKind::IgnoresWrites),
            false => None,
        })
    }

    /// Returns an upper bound of the blocks, from the first on, that can be relied on: below it, fresh markers are kept, and
    /// no two of them share storage.
    pub(super) fn bound(&mut self, displaced_blocks: u64) -> Result<u64, Trouble> {
        self.stage(Stage::Checking);
        if self.evidence.has_failed() {
            self.look_once_more()?;
        }
        let mut end = self.known_bound();
        for _ in 0..MOST_ROUNDS {
            let before = end;
            end = self.lowered(end, displaced_blocks)?;
            if end < self.grain() {
                break;
            }
            // Behind a cache, each displacement costs more than all that it serves.
            if displaced_blocks == 0 {
                let starts = self.markers(0, end);
                self.sentinels(&starts, 0, None)?;
            }
            if self.known_bound() >= end {
                self.examine(end, THOROUGH, displaced_blocks)?;
            }
            let known = self.known_bound();
            if known >= end && before == end {
                break;
            }
            end = end.min(known);
        }
        Ok(end)
    }

    /// Lowers a bound that was found without displacing anything, until it holds behind a cache of `displaced_blocks` too:
    /// such a cache would have returned every marker.
    pub(super) fn bound_behind(
        &mut self,
        bound: u64,
        displaced_blocks: u64,
    ) -> Result<u64, Trouble> {
        let mut end = bound;
        while end >= self.grain() {
            self.examine(end, THOROUGH, displaced_blocks)?;
            let known = end.min(self.known_bound());
            if end - known <= end / BOUND_PART {
                return Ok(known);
            }
            end = known;
        }
        Ok(end)
    }

    /// The bound that follows from the evidence alone.
    pub(super) fn known_bound(&self) -> u64 {
        let lost = self.evidence.lowest_lost().unwrap_or(self.all_blocks);
        let pairs = self.evidence.pairs_below(lost);
        // Of two places that share storage, at most the lower one exists.
        pairs.first().map_or(lost, |&(_, upper)| upper).min(lost)
    }

    pub(super) fn with_margin(&self, end: u64) -> u64 {
        self.aligned(end - end / MARGIN_PART)
    }

    /// Lowers the bound to the first place that is lost, or that overwrites a lower one.
    fn lowered(&mut self, end: u64, displaced_blocks: u64) -> Result<u64, Trouble> {
        self.settle_pairs(end, displaced_blocks)?;
        let end = end.min(self.known_bound());
        match self.evidence.pairs_below(end + 1).first() {
            Some(&(lower, upper)) if upper == end => {
                self.lowest_sharing((lower, upper), displaced_blocks)
            }
            _ => self.lowest_lost_below(end, displaced_blocks),
        }
    }

    /// Two places with one content may share storage, or the lower one has none and returns anything. Writes the lower
    /// ones alone: they are lost or kept then.
    fn settle_pairs(&mut self, end: u64, displaced_blocks: u64) -> Result<(), Trouble> {
        let pairs = self.evidence.pairs_below(end + 1);
        let most = match displaced_blocks {
            0 => MOST_PAIRS,
            _ => 1,
        };
        let mut lower: Vec<u64> = pairs.iter().map(|pair| pair.0).take(most).collect();
        lower.sort_unstable();
        lower.dedup();
        for start in lower {
            // Another place afterwards, which a place without storage may return.
            let other = match start >= self.grain() {
                true => start - self.grain(),
                false => start + self.grain(),
            };
            let content = self.fresh();
            self.write_sentinels(&[start, other], content)?;
            self.flush()?;
            self.displace(displaced_blocks, &[start.min(other), start.max(other)])?;
            let (found, _) = self.look(start, content, displaced_blocks)?;
            if !matches!(found, Found::Kept) {
                self.note(start, Found::Lost, displaced_blocks);
            }
        }
        Ok(())
    }

    /// Searches the lowest lost place between the highest one known to be kept and `end`.
    fn lowest_lost_below(&mut self, end: u64, displaced_blocks: u64) -> Result<u64, Trouble> {
        let (mut low, mut high) = (0, end);
        while high - low > self.grain().max(high / BOUND_PART) {
            let starts = self.spread_starts(low, high - self.grain(), BOUND_PLACES);
            if starts.is_empty() {
                break;
            }
            let sentinels = self.sentinels(&starts, displaced_blocks, None)?;
            let lost = sentinels.iter().position(|sentinel| !sentinel.is_kept);
            let before = lost.unwrap_or(sentinels.len()).checked_sub(1);
            let was = (low, high);
            low = before.map_or(low, |index| sentinels[index].start + self.grain());
            high = lost.map_or(high, |index| sentinels[index].start);
            if was == (low, high) {
                break;
            }
        }
        Ok(high)
    }

    /// Searches the lowest place that overwrites one at the distance of this pair.
    fn lowest_sharing(
        &mut self,
        (lower, upper): (u64, u64),
        displaced_blocks: u64,
    ) -> Result<u64, Trouble> {
        let distance = upper - lower;
        let (mut low, mut high) = (distance, upper);
        while high - low > self.grain().max(high / BOUND_PART) {
            let places = self.spread_starts(low, high - self.grain(), BOUND_PLACES);
            if places.is_empty() {
                break;
            }
            let lowers: Vec<u64> = places.iter().map(|place| place - distance).collect();
            let content = self.fresh();
            self.write_sentinels(&lowers, content)?;
            self.write_sentinels(&places, content)?;
            self.flush()?;
            let mut all = [lowers.clone(), places.clone()].concat();
            all.sort_unstable();
            self.displace(displaced_blocks, &all)?;
            let was = (low, high);
            for (&place, &lower) in places.iter().zip(&lowers) {
                let (found, _) = self.look(lower, content, displaced_blocks)?;
                if found == Found::Elsewhere(place) {
                    high = place;
                    break;
                }
                low = place + self.grain();
            }
            if was == (low, high) || low >= high {
                break;
            }
        }
        Ok(high)
    }
}
