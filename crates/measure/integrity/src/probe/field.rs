//! Storage under a probe: writing and reading places, and keeping account of it.

use cardmark_core::{Rng, Sampling, StorageKind};
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, Found, Observation};
use crate::answering::still_answers;
use crate::{Content, Extent, Held, Medium, Span, Trouble};

/// 1 MiB, blocks.
pub(super) const MEBI_BLOCKS: u64 = 2048;
/// Sentinels spread over all of the storage.
const SPREAD_COUNT: u64 = 32;
/// Number of places that are checked together in the search for the boundary: each check costs a flush, and
/// with a cache also the writes that displace it.
const PLACES_COUNT: u64 = 8;
const CACHED_PLACES_COUNT: u64 = 512;
/// Blocks written at once to displace the content of a cache.
const DISPLACING_BLOCKS: u64 = 16 * MEBI_BLOCKS;

/// Time that the storage is left alone between two reports of progress, nanoseconds.
const REST_NS: u64 = 1_000_000_000;

/// Current activity of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Single blocks are written and read.
    Sentinels,
    /// Searching for addresses that repeat.
    Repetition,
    /// Samples are written.
    Samples,
    /// Displacing the content of caches.
    Displacing,
    /// Samples are read.
    Reading,
    /// Searching for the boundary of the storage that is kept.
    Boundary,
    /// Checking a result against fresh markers over all of the storage.
    Checking,
    /// Leaving the storage alone before the last reading.
    Waiting,
}

/// Progress of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Current activity.
    pub stage: Stage,
    /// Blocks written and read so far.
    pub moved_blocks: u64,
    /// Blocks to write and read in all if the storage is whole.
    pub wanted_blocks: u64,
}

/// Result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The kind of storage.
    pub kind: StorageKind,
    /// Real number of blocks, from the first on; with `is_irregular`, an upper bound.
    pub real_blocks: u64,
    /// True if no regular geometry explains all that was kept and lost.
    pub is_irregular: bool,
    /// Distance in blocks after which addresses repeat, if they do.
    pub wrap_blocks: Option<u64>,
    /// Maximum size in blocks of a cache that hid the loss of data, if one did.
    pub cache_blocks: Option<u64>,
    /// A cache of up to this number of blocks would not have hidden anything. `None` if the storage was exposed
    /// before that was tested.
    pub excluded_cache_blocks: Option<u64>,
    /// Result about isolated bad spots; `None` if the storage was exposed before.
    pub sampling: Option<Sampling>,
    /// Blocks that were written.
    pub written_blocks: u64,
    /// Blocks that were read.
    pub read_blocks: u64,
    /// Longest time between a write and its reading, nanoseconds: that of the whole probe.
    pub span_ns: u64,
    /// Time without access before the last reading, nanoseconds; 0 if it did not come to that.
    pub waited_ns: u64,
}

/// A place that was written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sentinel {
    /// The block.
    pub(super) start: u64,
    /// True if storage exists: it holds its data, possibly with some bits changed.
    pub(super) is_kept: bool,
    /// True if the write failed.
    pub(super) is_refused: bool,
    /// True if the read failed.
    pub(super) is_unreadable: bool,
}

/// Storage under a probe.
pub(super) struct Field<'a, M> {
    medium: &'a mut M,
    content: Content,
    grain: u64,
    /// Number of blocks that it reports, in whole grains.
    pub(super) all_blocks: u64,
    /// The least distance at which something stood that belongs elsewhere, blocks.
    pub(super) shift: Option<u64>,
    /// True if content in wrong places was no regular repetition: then it only counts as lost.
    pub(super) ignores_shifts: bool,
    /// Content and displacement of all places that were read.
    pub(super) evidence: Evidence,
    /// Number of the last write of places; each has a number of its own, so that old content is recognised.
    round: u32,
    /// Blocks that may still be written.
    left_blocks: u64,
    /// Refused blocks in a row.
    pub(super) refused_blocks: u64,
    span_ns: u64,
    waited_ns: u64,
    /// Sentinels that were not as they should be.
    pub(super) bad_sentinels_count: u64,
    /// The first and the last of the blocks that were read without an error, with any content.
    given_out: Option<[u64; 2]>,
    stage: Stage,
    pub(super) written_blocks: u64,
    read_blocks: u64,
    wanted_blocks: u64,
    tell: &'a mut dyn FnMut(Progress),
}

impl<'a, M: Medium> Field<'a, M> {
    pub(super) fn new(
        medium: &'a mut M,
        seed: u64,
        (wanted_blocks, most_blocks): (u64, u64),
        tell: &'a mut dyn FnMut(Progress),
    ) -> Self {
        let grain = medium.grain_blocks().max(1);
        Self {
            content: Content { seed, round: 0 },
            grain,
            all_blocks: medium.blocks_count() / grain * grain,
            shift: None,
            ignores_shifts: false,
            evidence: Evidence::default(),
            round: 0,
            left_blocks: most_blocks,
            refused_blocks: 0,
            span_ns: 0,
            waited_ns: 0,
            bad_sentinels_count: 0,
            given_out: None,
            stage: Stage::Sentinels,
            written_blocks: 0,
            read_blocks: 0,
            wanted_blocks,
            tell,
            medium,
        }
    }

    pub(super) fn stage(&mut self, stage: Stage) {
        self.stage = stage;
        self.told();
    }

    /// Returns the result, as far as kind and size determine it.
    pub(super) fn found(&self, kind: StorageKind, real_blocks: u64) -> Probe {
        Probe {
            kind,
            real_blocks,
            is_irregular: false,
            wrap_blocks: None,
            cache_blocks: None,
            excluded_cache_blocks: None,
            sampling: None,
            written_blocks: self.written_blocks,
            read_blocks: self.read_blocks,
            span_ns: self.span_ns,
            waited_ns: self.waited_ns,
        }
    }

    /// Returns whether the probe ended because it had written as much as it may.
    pub(super) fn is_spent(&self) -> bool {
        self.left_blocks == 0
    }

    /// Blocks that may still be written.
    pub(super) fn left_blocks(&self) -> u64 {
        self.left_blocks
    }

    /// Content of samples, and of all that displaces a cache.
    pub(super) fn content(&self) -> Content {
        self.content
    }

    /// Number of contents so far.
    pub(super) fn rounds(&self) -> u32 {
        self.round
    }

    /// Returns content that was not written before.
    pub(super) fn fresh(&mut self) -> Content {
        let round = self.round;
        self.round += 1;
        Content {
            round,
            ..self.content
        }
    }

    /// Random numbers for that part of the probe, the same each time.
    pub(super) fn rng(&self, part: &str) -> Rng {
        Rng::for_part(self.content.seed, part, 0)
    }

    fn told(&mut self) {
        let moved_blocks = self.written_blocks + self.read_blocks;
        (self.tell)(Progress {
            stage: self.stage,
            moved_blocks,
            wanted_blocks: self.wanted_blocks.max(moved_blocks),
        });
    }

    /// Adds `more_blocks` to the number of blocks to be moved, as far as it is known now.
    pub(super) fn expect(&mut self, more_blocks: u64) {
        self.wanted_blocks = self.written_blocks + self.read_blocks + more_blocks;
    }

    /// A block as the beginning of a grain.
    pub(super) fn aligned(&self, block: u64) -> u64 {
        block / self.grain * self.grain
    }

    pub(super) fn grain(&self) -> u64 {
        self.grain
    }

    /// Writes a span; returns the refused part.
    pub(super) fn write(&mut self, span: Span) -> Result<Vec<Extent>, Trouble> {
        self.write_as(span, self.content)
    }

    /// Writes that content; returns the refused part. Ends the probe if it has written as much as it may.
    pub(super) fn write_as(
        &mut self,
        span: Span,
        content: Content,
    ) -> Result<Vec<Extent>, Trouble> {
        if span.count >= self.left_blocks {
            self.left_blocks = 0;
            return Err(Trouble::Stopped);
        }
        self.left_blocks -= span.count;
        let answer = self.medium.write(span, content)?;
        self.span_ns += answer.span_ns;
        self.written_blocks += span.count;
        let refused: u64 = answer.runs.iter().map(|run| run.span.count).sum();
        self.refused_blocks = match refused == span.count {
            true => self.refused_blocks + refused,
            false => 0,
        };
        self.told();
        Ok(answer.runs)
    }

    /// Reads a span, and notes displaced content.
    pub(super) fn read(&mut self, span: Span) -> Result<Vec<Extent>, Trouble> {
        let runs = self.read_as(span, self.content)?;
        // One of each stretch: the others follow from it.
        let displaced = runs.iter().find_map(|run| match run.held {
            Held::Other { block, .. } if run.shift().is_some() => Some((run.span.start, block)),
            _ => None,
        });
        if let Some((start, other)) = displaced {
            self.note(start, Found::Elsewhere(other), 0);
        }
        Ok(runs)
    }

    /// Reads a span that was written with that content.
    pub(super) fn read_as(&mut self, span: Span, content: Content) -> Result<Vec<Extent>, Trouble> {
        let answer = self.medium.read(span, content)?;
        self.span_ns += answer.span_ns;
        self.read_blocks += span.count;
        let shifts = answer.runs.iter().filter_map(|run| run.shift());
        let least = shifts.map(i64::unsigned_abs).min();
        self.shift = self.shift.into_iter().chain(least).min();
        if let Some(given) = answer.runs.iter().find(|run| !run.has_failed()) {
            let [first, _] = self.given_out.unwrap_or([given.span.start; 2]);
            self.given_out = Some([first, given.span.start]);
        }
        self.told();
        Ok(answer.runs)
    }

    /// Notes the content of a place.
    pub(super) fn note(&mut self, start: u64, found: Found, displaced_blocks: u64) {
        self.evidence.add(Observation {
            start,
            found,
            displaced_blocks,
        });
    }

    /// Reads a place that was written with that content, and notes what it holds.
    pub(super) fn look(
        &mut self,
        start: u64,
        content: Content,
        displaced_blocks: u64,
    ) -> Result<(Found, Vec<Extent>), Trouble> {
        let runs = self.read_as(Span::new(start, self.grain), content)?;
        let found = Found::of(&runs);
        self.note(start, found, displaced_blocks);
        Ok((found, runs))
    }

    /// Leaves the storage alone for this time, nanoseconds.
    pub(super) fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        if span_ns == 0 {
            return Ok(());
        }
        self.stage(Stage::Waiting);
        while self.waited_ns < span_ns {
            let rest_ns = REST_NS.min(span_ns - self.waited_ns);
            self.medium.rest(rest_ns)?;
            self.waited_ns += rest_ns;
            self.span_ns = self.span_ns.saturating_add(rest_ns);
            self.told();
        }
        Ok(())
    }

    /// Returns the displacement to repeat, if addresses seem to.
    pub(super) fn regular_shift(&self) -> Option<u64> {
        self.shift.filter(|_| !self.ignores_shifts)
    }

    /// Ends the probe if the storage returns nothing but errors any more: they carry no information about
    /// blocks.
    pub(super) fn look_once_more(&mut self) -> Result<(), Trouble> {
        let given_out = self.given_out.unwrap_or_default();
        still_answers(self.medium, self.content, &given_out)
    }

    pub(super) fn flush(&mut self) -> Result<(), Trouble> {
        self.span_ns += self.medium.flush()?;
        Ok(())
    }

    /// Displaces a cache of this size: writes the same number of blocks at the end of the storage, leaving out
    /// the grains that begin at `places`, which are sorted.
    pub(super) fn displace(&mut self, blocks: u64, places: &[u64]) -> Result<(), Trouble> {
        let spans = places.iter().map(|&place| Span::new(place, self.grain));
        let left_out: Vec<Span> = spans.collect();
        self.displace_past(blocks, &left_out)
    }

    /// Displaces a cache of this size, leaving out these spans, which are sorted.
    pub(super) fn displace_past(&mut self, blocks: u64, left_out: &[Span]) -> Result<(), Trouble> {
        if blocks == 0 {
            return Ok(());
        }
        let first = self.all_blocks.saturating_sub(blocks);
        let inside = left_out
            .iter()
            .map(|span| span.end().saturating_sub(first.max(span.start)));
        let more: u64 = inside.sum();
        let mut start = self.aligned(first.saturating_sub(more));
        let end = Span::new(self.all_blocks, 0);
        for left in left_out.iter().chain([&end]) {
            for part in Span::between(start, left.start).parts(DISPLACING_BLOCKS) {
                self.write(part)?;
            }
            start = start.max(left.end());
        }
        self.flush()
    }

    /// Writes these places, and `displaced_blocks` after them, and reads them.
    pub(super) fn sentinels(
        &mut self,
        starts: &[u64],
        displaced_blocks: u64,
        module: Option<u64>,
    ) -> Result<Vec<Sentinel>, Trouble> {
        let content = self.fresh();
        let refused = self.write_sentinels(starts, content)?;
        // Storage that does not exist may return the last block that was written: not one of these places.
        self.write_as(Span::new(0, self.grain), content)?;
        self.flush()?;
        self.displace(displaced_blocks, starts)?;
        let mut sentinels = self.read_sentinels(starts, content, (displaced_blocks, module))?;
        for sentinel in &mut sentinels {
            sentinel.is_refused = refused.contains(&sentinel.start);
        }
        Ok(sentinels)
    }

    /// Announces blocks that are written next, so that their content is saved at once.
    pub(super) fn announce(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.medium.expect(spans)
    }

    /// Writes these places; those that were refused.
    pub(super) fn write_sentinels(
        &mut self,
        starts: &[u64],
        content: Content,
    ) -> Result<Vec<u64>, Trouble> {
        let spans = starts.iter().map(|&start| Span::new(start, self.grain));
        self.announce(&spans.collect::<Vec<Span>>())?;
        let mut refused = Vec::new();
        for &start in starts {
            if !self
                .write_as(Span::new(start, self.grain), content)?
                .is_empty()
            {
                refused.push(start);
            }
        }
        Ok(refused)
    }

    /// Reads places that were written, and `displaced_blocks` after them. If addresses repeat after `module` blocks, data
    /// written to the same place under another address also proves that storage exists.
    pub(super) fn read_sentinels(
        &mut self,
        starts: &[u64],
        content: Content,
        (displaced_blocks, module): (u64, Option<u64>),
    ) -> Result<Vec<Sentinel>, Trouble> {
        let is_alias = |run: &Extent| {
            let shift = run.shift().map(i64::unsigned_abs);
            shift
                .zip(module)
                .is_some_and(|(shift, module)| shift % module == 0)
        };
        let mut sentinels = Vec::new();
        for &start in starts {
            let (found, runs) = self.look(start, content, displaced_blocks)?;
            let is_there = |run: &Extent| matches!(run.held, Held::Good | Held::Changed);
            let is_good = |run: &Extent| run.held == Held::Good || is_alias(run);
            self.bad_sentinels_count += u64::from(!runs.iter().all(is_good));
            sentinels.push(Sentinel {
                start,
                is_kept: runs.iter().all(|run| is_there(run) || is_alias(run)),
                is_refused: false,
                is_unreadable: found == Found::Failed,
            });
        }
        Ok(sentinels)
    }

    /// The first sentinels of all: some at the beginning, and others spread over all of it.
    pub(super) fn first_sentinels(&mut self) -> Result<Vec<Sentinel>, Trouble> {
        let mut starts = self.witnesses().to_vec();
        let behind = self.witnesses().map(|start| start + self.grain);
        let first = behind.into_iter().max().unwrap_or(0);
        starts.extend(self.spread_starts(first, self.all_blocks, SPREAD_COUNT));
        starts.dedup();
        self.sentinels(&starts, 0, None)
    }

    /// Writes and reads sentinels spread over the first `end` blocks.
    pub(super) fn spread_sentinels(
        &mut self,
        end: u64,
        displaced_blocks: u64,
        module: Option<u64>,
    ) -> Result<Vec<Sentinel>, Trouble> {
        let starts = self.spread_starts(0, end, self.places_count(displaced_blocks));
        self.sentinels(&starts, displaced_blocks, module)
    }

    /// Returns the number of places that are checked together.
    pub(super) fn places_count(&self, displaced_blocks: u64) -> u64 {
        if displaced_blocks == 0 {
            PLACES_COUNT
        } else {
            CACHED_PLACES_COUNT
        }
    }

    /// Returns `count` places from `start` to before `end`, evenly spread, the last of all among them. Returns
    /// all places if there are no more than that.
    pub(super) fn spread_starts(&self, start: u64, end: u64, count: u64) -> Vec<u64> {
        let grains = end.saturating_sub(start) / self.grain;
        let count = count.min(grains);
        (1..=count)
            .map(|index| {
                let behind = u128::from(grains) * u128::from(index) / u128::from(count);
                let behind = u64::try_from(behind).unwrap_or(grains);
                start + (behind - 1) * self.grain
            })
            .collect()
    }
}
