//! Samples, and the damage that a cache could hide.

use cardmark_core::{Rng, Sampling};

use super::boundary::is_tail_lost;
use super::field::{Field, MEBI_BLOCKS, Sentinel, Stage};
use super::power::{caught_region, caught_share};
use crate::verdict::counts;
use crate::{Held, Medium, Span, Surface, Trouble};

/// Samples, of the largest plan: if one extent in a hundred is bad, all samples miss it in less than one
/// case of a thousand.
const SAMPLES_COUNT: u64 = 689;
/// Groups of sentinels, for one look each; reading might keep a block in the cache.
const GROUPS_COUNT: u64 = 24;
/// Sentinels in a group, and the distance of two groups, blocks.
const GROUP_COUNT: u64 = 16;
const GROUP_BLOCKS: u64 = 128;
/// Extents written one after the other to displace a cache: sequential writes are faster.
const CHUNK_EXTENTS: u64 = 16;
/// Divisor: the amount written exceeds the size of the cache to be excluded by this part of it.
const MORE: u64 = 16;
/// Divisor of an extent's size: if this part of it is kept, the extent counts as kept. Single bad blocks are
/// damage.
const KEPT_PART: u64 = 2;

/// Places of the samples, and the extents that displace a cache.
///
/// Samples are drawn from all extents, one at random from each of `samples_count` equal strata. All of
/// them are written first. Then a cache is displaced by writing `displacing_count` other extents, in
/// chunks spread evenly over all of the storage. No sample is written twice, so every sample, those at
/// the end included, is followed by more writes than the excluded cache holds. Spreading them displaces
/// also a cache that takes only what the flash does not keep, if at least half of the storage is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    all_blocks: u64,
    samples_count: u64,
    displacing_count: u64,
}

impl Plan {
    /// The plan for storage of `all_blocks`, a multiple of its grain, that excludes a cache of `cache_blocks`.
    pub(super) fn of(all_blocks: u64, cache_blocks: u64) -> Self {
        let extents_count = all_blocks.div_ceil(MEBI_BLOCKS);
        let cache = cache_blocks.div_ceil(MEBI_BLOCKS);
        let cache = cache + cache.div_ceil(MORE);
        // Of the samples and these, half must exceed the cache.
        let wanted = cache.max((2 * cache).saturating_sub(SAMPLES_COUNT));
        let most = (extents_count / 2).max(extents_count.saturating_sub(SAMPLES_COUNT));
        let displacing_count = wanted.min(most);
        Self {
            all_blocks,
            samples_count: SAMPLES_COUNT.min(extents_count - displacing_count),
            displacing_count,
        }
    }

    /// Extents of 1 MiB in the storage; the last one may be shorter.
    fn extents_count(&self) -> u64 {
        self.all_blocks.div_ceil(MEBI_BLOCKS)
    }

    /// Blocks of the storage that displace a cache.
    pub(super) fn displacing_blocks(&self) -> u64 {
        self.displacing_count * MEBI_BLOCKS
    }

    pub(super) fn written_blocks(&self) -> u64 {
        (self.samples_count + self.displacing_count) * MEBI_BLOCKS
    }

    pub(super) fn moved_blocks(&self) -> u64 {
        self.written_blocks() + self.samples_count * MEBI_BLOCKS
    }

    /// Largest amount that is written at the end of the storage to displace a cache, blocks.
    fn most_displaced(&self) -> u64 {
        let half = self.extents_count() / 2 * MEBI_BLOCKS;
        self.written_blocks().min(half)
    }

    /// Returns the size of the largest cache that cannot hide damage, blocks: one that takes all writes has
    /// evicted every sample; one that takes only data that the flash does not keep has evicted the first of
    /// them if half of the storage is bad.
    pub(super) fn excluded_blocks(&self) -> u64 {
        let half = (self.samples_count + self.displacing_count) / 2;
        let blocks = self.displacing_count.min(half) * MEBI_BLOCKS;
        blocks - blocks.div_ceil(MORE + 1)
    }

    /// The extents of the samples, in rising order.
    fn sampled_extents(&self, rng: &mut Rng) -> Vec<u64> {
        let extents = self.extents_count();
        let begin = |index: u64| {
            let place = u128::from(extents) * u128::from(index) / u128::from(self.samples_count);
            u64::try_from(place).unwrap_or(extents)
        };
        (0..self.samples_count)
            .map(|index| {
                let (from, to) = (begin(index), begin(index + 1));
                from + rng.below(to - from)
            })
            .collect()
    }

    /// The samples, by rising address.
    fn samples(&self, rng: &mut Rng) -> Vec<Span> {
        let extents = self.sampled_extents(rng);
        let span = |&extent: &u64| self.extents(extent, extent + 1);
        extents.iter().map(span).collect()
    }

    /// Returns the spans that displace a cache: chunks of at most [`CHUNK_EXTENTS`] extents that are no
    /// samples, one at a random place in each of the same number of strata. The end of the storage comes first:
    /// in most fakes it is the missing part.
    fn displacing(&self, samples: &mut Rng, places: &mut Rng) -> Vec<Span> {
        let sampled = self.sampled_extents(samples);
        let gaps_count = self.extents_count() - self.samples_count - self.displacing_count;
        let chunks_count = self.displacing_count.div_ceil(CHUNK_EXTENTS);
        let share = |all: u64, index: u64| all * index / chunks_count;
        let mut spans = Vec::new();
        let mut skipped = 0;
        for index in 0..chunks_count {
            let [chunk, gap] = [self.displacing_count, gaps_count]
                .map(|all| share(all, index + 1) - share(all, index));
            let before = share(self.displacing_count, index) + share(gaps_count, index);
            let first = before + places.below(gap + 1);
            spans.extend(self.unsampled(first, chunk, &sampled, &mut skipped));
        }
        spans.reverse();
        spans
    }

    /// Returns `count` extents from number `first` on, samples neither counted nor included. `skipped` samples
    /// are known to precede them.
    fn unsampled(&self, first: u64, count: u64, sampled: &[u64], skipped: &mut usize) -> Vec<Span> {
        let next = |skipped: usize| sampled.get(skipped).copied().unwrap_or(u64::MAX);
        let mut start = first + *skipped as u64;
        let mut left = count;
        let mut spans = Vec::new();
        while left > 0 {
            while next(*skipped) <= start {
                *skipped += 1;
                start += 1;
            }
            let length = left.min(next(*skipped) - start);
            spans.push(self.extents(start, start + length));
            start += length;
            left -= length;
        }
        spans
    }

    /// The blocks of the extents `from..to`.
    fn extents(&self, from: u64, to: u64) -> Span {
        Span::between(from * MEBI_BLOCKS, (to * MEBI_BLOCKS).min(self.all_blocks))
    }
}

impl<M: Medium> Field<'_, M> {
    /// Writes the samples, and then the extents that displace a cache. Stops early if a group of sentinels that
    /// was written before is lost: returns that group, and the number of blocks written since.
    pub(super) fn write_samples(
        &mut self,
        plan: &Plan,
    ) -> Result<Option<(Vec<Sentinel>, u64)>, Trouble> {
        let mut groups = self.write_groups(plan)?;
        self.stage(Stage::Samples);
        let mut samples = plan.samples(&mut self.rng("samples"));
        shuffle(&mut self.rng("order of samples"), &mut samples);
        let displacing = plan.displacing(&mut self.rng("samples"), &mut self.rng("displacing"));
        let spans_count = samples.len() + displacing.len();
        let begun_blocks = self.written_blocks;
        let mut next_blocks = MEBI_BLOCKS;
        for (index, span) in samples.iter().chain(&displacing).enumerate() {
            if index == samples.len() {
                self.stage(Stage::Displacing);
            }
            self.write(*span)?;
            let displaced = self.written_blocks - begun_blocks;
            let is_last = index + 1 == spans_count;
            if displaced < next_blocks && !is_last {
                continue;
            }
            next_blocks = displaced * 2;
            self.flush()?;
            let Some(group) = groups.pop() else { continue };
            let sentinels = self.read_sentinels(&group, None)?;
            if is_tail_lost(&sentinels) {
                return Ok(Some((sentinels, displaced.min(plan.most_displaced()))));
            }
        }
        Ok(None)
    }

    /// Writes sentinels in groups, each spread over the space that displacing does not reach. The groups are
    /// adjacent.
    fn write_groups(&mut self, plan: &Plan) -> Result<Vec<Vec<u64>>, Trouble> {
        let starts = self.spread_starts(0, self.all_blocks - plan.most_displaced(), GROUP_COUNT);
        let group = |number: u64| -> Vec<u64> {
            let shifted = starts
                .iter()
                .map(|start| start.saturating_sub(number * GROUP_BLOCKS));
            shifted.collect()
        };
        let groups: Vec<Vec<u64>> = (0..GROUPS_COUNT).map(group).collect();
        for starts in &groups {
            self.write_sentinels(starts)?;
        }
        self.flush()?;
        Ok(groups)
    }

    /// Reads all samples: evaluates them for isolated bad spots, and returns each as a place that is kept or
    /// lost.
    pub(super) fn read_samples(
        &mut self,
        plan: &Plan,
    ) -> Result<(Sampling, Vec<Sentinel>), Trouble> {
        let samples = plan.samples(&mut self.rng("samples"));
        let mut surface = Surface::default();
        let mut places = Vec::new();
        let mut bad_samples_count = 0;
        for sample in samples {
            let runs = self.read(sample)?;
            let good = runs.iter().filter(|run| run.held == Held::Good);
            let good_blocks: u64 = good.map(|run| run.span.count).sum();
            bad_samples_count += u64::from(good_blocks < sample.count);
            places.push(Sentinel {
                start: sample.start,
                is_kept: good_blocks * KEPT_PART >= sample.count,
                is_refused: false,
                is_unreadable: runs.iter().all(|run| run.has_failed()),
            });
            runs.into_iter().for_each(|run| surface.push(run));
        }
        let sampling = Sampling {
            samples_count: plan.samples_count,
            bad_samples_count,
            blocks: counts(surface.runs(), None),
            caught_ratio: caught_share(plan.extents_count(), plan.samples_count),
            caught_region_ratio: Some(caught_region(plan.extents_count(), plan.samples_count)),
        };
        Ok((sampling, places))
    }
}

fn shuffle(rng: &mut Rng, spans: &mut [Span]) {
    for behind in (2..=spans.len()).rev() {
        let below = u64::try_from(behind).unwrap_or(u64::MAX);
        let other = usize::try_from(rng.below(below)).unwrap_or(0);
        spans.swap(behind - 1, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(extents: u64, odd_blocks: u64, cache_extents: u64) -> Plan {
        let all_blocks = extents * MEBI_BLOCKS + odd_blocks;
        Plan::of(all_blocks, cache_extents * MEBI_BLOCKS)
    }

    #[test]
    fn no_extent_is_written_twice_and_as_many_as_planned() {
        for (extents, odd) in [
            (0, 8),
            (1, 0),
            (2, 0),
            (9, 1),
            (953, 1376),
            (1907, 0),
            (61_035, 328),
        ] {
            for cache in [0, 1, 64, 1024, 4096] {
                let plan = plan(extents, odd, cache);
                let samples = plan.samples(&mut Rng::for_part(5, "s", 0));
                let rng = &mut Rng::for_part(5, "s", 0);
                let displacing = plan.displacing(rng, &mut Rng::for_part(5, "d", 0));
                let spans = || samples.iter().chain(&displacing);
                let count: u64 = spans().map(|span| span.count.div_ceil(MEBI_BLOCKS)).sum();
                assert_eq!(count, plan.samples_count + plan.displacing_count);
                let mut ends: Vec<(u64, u64)> =
                    spans().map(|span| (span.start, span.end())).collect();
                ends.sort_unstable();
                assert!(
                    ends.windows(2).all(|pair| pair[0].1 <= pair[1].0),
                    "{extents} {cache}"
                );
                assert!(
                    ends.iter()
                        .all(|end| end.0 < end.1 && end.1 <= plan.all_blocks)
                );
            }
        }
    }

    #[test]
    fn the_cache_asked_for_is_excluded_where_there_is_room() {
        for (extents, cache) in [(7629, 64), (7629, 1024), (61_035, 1024), (61_035, 4096)] {
            let excluded = plan(extents, 0, cache).excluded_blocks();
            assert!(
                excluded >= cache * MEBI_BLOCKS,
                "{extents} {cache}: {excluded}"
            );
        }
        let small = plan(953, 0, 1024);
        assert_eq!(small.displacing_count, 476);
        assert_eq!(small.samples_count, 477);
    }
}
