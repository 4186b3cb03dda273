//! Samples, and the damage that a cache could hide.

use cardmark_core::{Rng, Sampling, StorageKind};

use super::boundary::is_tail_lost;
use super::evidence::Found;
use super::field::{Field, MEBI_BLOCKS, Sentinel, Stage};
use super::power::{caught_region, caught_share};
use crate::verdict::counts;
use crate::{BLOCK_BYTES, Held, Medium, Span, Surface, Trouble};

/// Samples, of the largest plan: if one extent in a hundred is bad, all samples miss it in less than one
/// case of a thousand.
const SAMPLES_COUNT: u64 = 689;
/// Divisor of the size: a small device gets fewer samples, because reading every block takes little longer there.
const SAMPLED_PART: u64 = 7;
/// Samples of such a device, at least.
const LEAST_SAMPLES: u64 = 200;
/// Extents written after the last sample, at least, MiB: real caches that hid scattered damage had up to 63.
const LEAST_DISPLACING: u64 = 64;
/// Room in the limit of a probe for the search of a boundary and for single blocks: 256 MiB.
const SEARCH_BLOCKS: u64 = 256 << 11;
/// Refused blocks in a row after which the storage is asked whether it takes writes at all: 16 MiB.
const REFUSED_BLOCKS: u64 = 16 << 11;
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
/// them are written first. Then a cache is displaced by writing `displacing_count` other extents of the upper half, in
/// chunks spread evenly over it. No extent is written twice. Missing storage lies in the upper half: half of the samples and
/// all other extents go there, so that a cache that takes only what the flash does not keep is displaced as well as one
/// that takes all writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    all_blocks: u64,
    samples_count: u64,
    displacing_count: u64,
    /// What displaces the cache if all of it goes to storage that does not exist.
    cache_count: u64,
}

impl Plan {
    /// The plan for storage of `all_blocks`, a multiple of its grain, that excludes a cache of `cache_blocks`.
    pub(super) fn of(all_blocks: u64, cache_blocks: u64) -> Self {
        let extents_count = all_blocks.div_ceil(MEBI_BLOCKS);
        let cache = cache_blocks.div_ceil(MEBI_BLOCKS);
        let cache = (cache + cache.div_ceil(MORE)).min(extents_count / 2);
        let most = (extents_count / SAMPLED_PART).max(LEAST_SAMPLES);
        let samples_count = SAMPLES_COUNT
            .min(most)
            .min((extents_count - extents_count / 5).max(1));
        // Extents of the upper half that are no samples.
        let room = (extents_count / 2).saturating_sub(samples_count.div_ceil(2));
        let displacing_count = cache
            .saturating_sub(samples_count / 2)
            .max(cache.min(LEAST_DISPLACING))
            .min(room);
        Self {
            all_blocks,
            samples_count: samples_count.min(extents_count),
            displacing_count,
            cache_count: cache,
        }
    }

    /// The first extent of the upper half.
    fn upper(&self) -> u64 {
        self.extents_count() - self.extents_count() / 2
    }

    /// Extents of 1 MiB in the storage; the last one may be shorter.
    fn extents_count(&self) -> u64 {
        self.all_blocks.div_ceil(MEBI_BLOCKS)
    }

    pub(super) fn written_blocks(&self) -> u64 {
        (self.samples_count + self.displacing_count) * MEBI_BLOCKS
    }

    pub(super) fn moved_blocks(&self) -> u64 {
        self.written_blocks() + self.samples_count * MEBI_BLOCKS
    }

    /// Number of blocks that a probe may write: the plan, three displacements of the cache for the search of the end behind it,
    /// and single blocks.
    pub(super) fn most_blocks(&self) -> u64 {
        self.written_blocks() + 3 * self.most_displaced() + SEARCH_BLOCKS
    }

    /// Largest amount that is written at the end of the storage to displace a cache, blocks.
    pub(super) fn most_displaced(&self) -> u64 {
        self.cache_count * MEBI_BLOCKS
    }

    /// Returns the size of the largest cache that cannot hide missing storage, blocks, if half of the storage is missing or
    /// more.
    pub(super) fn excluded_blocks(&self) -> u64 {
        less(self.displacing_count + self.samples_count / 2)
    }

    /// Returns the size of the largest cache that cannot hide damage in any sample, blocks, if it takes all writes.
    fn excluded_at_samples(&self) -> u64 {
        less(self.displacing_count)
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
    /// samples, one at a random place in each of the same number of strata of the upper half. The end of the storage comes
    /// first: in most fakes it is missing.
    fn displacing(&self, samples: &mut Rng, places: &mut Rng) -> Vec<Span> {
        let mut sampled = self.sampled_extents(samples);
        sampled.retain(|&extent| extent >= self.upper());
        let free = self.extents_count() - self.upper() - sampled.len() as u64;
        let gaps_count = free.saturating_sub(self.displacing_count);
        let chunks_count = self.displacing_count.div_ceil(CHUNK_EXTENTS);
        let share = |all: u64, index: u64| all * index / chunks_count;
        let mut spans = Vec::new();
        let mut skipped = 0;
        for index in 0..chunks_count {
            let [chunk, gap] = [self.displacing_count, gaps_count]
                .map(|all| share(all, index + 1) - share(all, index));
            let before = share(self.displacing_count, index) + share(gaps_count, index);
            let first = self.upper() + before + places.below(gap + 1);
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

/// How the samples were written.
pub(super) enum Written {
    /// All of them, and what displaces a cache.
    All,
    /// Not all: places written before are lost, and this number of blocks was written since.
    Lost(Vec<Sentinel>, u64),
    /// Not all: the storage takes no writes, as this kind says.
    Worn(StorageKind),
}

impl<M: Medium> Field<'_, M> {
    /// Writes the samples, and then the extents that displace a cache. Stops early if a group of sentinels that
    /// was written before is lost, or if the storage no longer takes writes.
    pub(super) fn write_samples(&mut self, plan: &Plan) -> Result<Written, Trouble> {
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
            if displaced < next_blocks && !is_last && self.refused_blocks < REFUSED_BLOCKS {
                continue;
            }
            next_blocks = displaced * 2;
            self.flush()?;
            if let Some(kind) = self.worn_kind()? {
                return Ok(Written::Worn(kind));
            }
            self.refused_blocks = 0;
            let Some(group) = groups.pop() else { continue };
            let sentinels = self.read_sentinels(&group, self.content(), (0, None))?;
            if is_tail_lost(&sentinels) {
                let displaced = displaced.min(plan.most_displaced());
                return Ok(Written::Lost(sentinels, displaced));
            }
        }
        Ok(Written::All)
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
            self.write_sentinels(starts, self.content())?;
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
            if let Some(lost) = runs.iter().find(|run| run.is_lost() || run.has_failed()) {
                let found = match lost.held {
                    Held::Unreadable { .. } => Found::Failed,
                    Held::Other { .. } => Found::Old,
                    _ => Found::Lost,
                };
                self.note(lost.span.start, found, plan.displacing_count * MEBI_BLOCKS);
            }
            runs.into_iter().for_each(|run| surface.push(run));
        }
        let sampling = Sampling {
            samples_count: plan.samples_count,
            bad_samples_count,
            blocks: counts(surface.runs(), None),
            caught_ratio: caught_share(plan.extents_count(), plan.samples_count),
            caught_region_ratio: Some(caught_region(plan.extents_count(), plan.samples_count)),
            excluded_cache_bytes: Some(plan.excluded_at_samples() * BLOCK_BYTES as u64),
        };
        Ok((sampling, places))
    }
}

/// The size of a cache that writing this number of extents displaces, blocks.
fn less(extents_count: u64) -> u64 {
    let blocks = extents_count * MEBI_BLOCKS;
    blocks - blocks.div_ceil(MORE + 1)
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
        let small = plan(953, 0, 256);
        assert!(small.excluded_blocks() >= 256 * MEBI_BLOCKS, "{small:?}");
        assert_eq!(small.samples_count, 200);
    }
}
