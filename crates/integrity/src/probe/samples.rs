//! Samples, and what a cache could hide.

use cardmark_core::{Rng, Sampling};

use super::field::{Field, MEBI_BLOCKS, Sentinel};
use super::power::caught_share;
use super::{ProbeRequest, Stage};
use crate::verdict::counts;
use crate::{Held, Medium, Span, Surface, Trouble};

/// Samples: storage of which one extent in a hundred is bad escapes all of them in less than one case
/// of a thousand.
const SAMPLES_COUNT: u64 = 689;
/// Groups of sentinels, for one look each; reading might keep a block in the cache.
const GROUPS_COUNT: u64 = 24;
/// Sentinels in a group, and the distance of two groups, blocks.
const GROUP_COUNT: u64 = 16;
const GROUP_BLOCKS: u64 = 128;
/// The samples are written in parts of the storage's end of so many blocks.
const PART_BLOCKS: u64 = 16 * MEBI_BLOCKS;
/// More is written than the cache that is to be excluded has, by this part of it.
const MORE: u64 = 16;
/// An extent of which this part is kept counts as kept: single bad blocks are damage.
const KEPT_PART: u64 = 2;

/// Where samples are, and how much displaces a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Extents of the storage.
    extents_count: u64,
    samples_count: u64,
    /// What is written at the end of the storage, after all samples.
    pub(super) top_blocks: u64,
}

impl Plan {
    pub(super) fn of(blocks_count: u64, request: &ProbeRequest) -> Self {
        let extents_count = blocks_count / MEBI_BLOCKS;
        let cache = request.cache_blocks.div_ceil(MEBI_BLOCKS);
        let top = (cache + cache.div_ceil(MORE)).min(extents_count / 2);
        Self {
            extents_count,
            samples_count: SAMPLES_COUNT.min(extents_count - top),
            top_blocks: top * MEBI_BLOCKS,
        }
    }

    /// Samples are taken from what is not written again at the end.
    fn sampled_extents_count(&self) -> u64 {
        self.extents_count - self.top_blocks / MEBI_BLOCKS
    }

    pub(super) fn written_blocks(&self) -> u64 {
        self.samples_count * MEBI_BLOCKS + self.top_blocks
    }

    pub(super) fn moved_blocks(&self) -> u64 {
        self.written_blocks() + self.samples_count * MEBI_BLOCKS
    }

    /// What is written at most at the end of the storage to make a cache give up all else.
    fn most_displaced(&self) -> u64 {
        let half = self.extents_count / 2 * MEBI_BLOCKS;
        self.written_blocks().min(half)
    }

    /// The largest cache that is sure to have given up all samples.
    pub(super) fn excluded_blocks(&self) -> u64 {
        self.top_blocks - self.top_blocks / (MORE + 1)
    }

    /// The samples, by rising address: one at a random place in each of as many equal parts.
    fn samples(&self, rng: &mut Rng) -> Vec<Span> {
        let extents = self.sampled_extents_count();
        let begin = |index: u64| {
            let place = u128::from(extents) * u128::from(index) / u128::from(self.samples_count);
            u64::try_from(place).unwrap_or(extents)
        };
        (0..self.samples_count)
            .map(|index| {
                let (from, to) = (begin(index), begin(index + 1));
                let extent = from + rng.below(to - from);
                Span::new(extent * MEBI_BLOCKS, MEBI_BLOCKS)
            })
            .collect()
    }
}

impl<M: Medium> Field<'_, M> {
    /// Writes the samples, and then the end of the storage. Ends early where a group of sentinels that was
    /// written before proves lost: gives that group, and how much was written since.
    pub(super) fn write_samples(
        &mut self,
        plan: &Plan,
    ) -> Result<Option<(Vec<Sentinel>, u64)>, Trouble> {
        let mut groups = self.write_groups(plan)?;
        self.stage(Stage::Samples);
        let mut samples = plan.samples(&mut self.rng("samples"));
        shuffle(&mut self.rng("order of samples"), &mut samples);
        let top = Span::between(self.all_blocks - plan.top_blocks, self.all_blocks);
        let begun_blocks = self.written_blocks;
        let mut next_blocks = MEBI_BLOCKS;
        for span in samples.into_iter().chain(top.parts(PART_BLOCKS)) {
            if span.start == top.start {
                self.stage(Stage::Displacing);
            }
            self.write(span)?;
            let displaced = self.written_blocks - begun_blocks;
            let is_last = span.end() == top.end();
            if displaced < next_blocks && !is_last {
                continue;
            }
            next_blocks = displaced * 2;
            self.flush()?;
            let Some(group) = groups.pop() else { continue };
            let sentinels = self.read_sentinels(&group, None)?;
            if super::boundary::is_tail_lost(&sentinels) {
                return Ok(Some((sentinels, displaced.min(plan.most_displaced()))));
            }
        }
        Ok(None)
    }

    /// Writes sentinels in groups, each spread over what no displacing reaches. The groups stand side by
    /// side.
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

    /// Reads all samples: what they say of single spots, and each as a place that is kept or not.
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
            caught_ratio: caught_share(plan.sampled_extents_count(), plan.samples_count),
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
