//! Verify under load: blocks in random order, several requests in flight, a discard between two writes.

use cardmark_core::{Shuffle, WritePattern, mix};
use serde::{Deserialize, Serialize};

use super::{DURABLE_BLOCKS, GIVE_UP_BLOCKS, Pass, STEP_BLOCKS, Speed, Verify, note, spread};
use crate::{Answer, Content, Direction, Extent, Medium, Span, Surface, Trouble, Unit};

/// Blocks of a request: 64 KiB. In random order, requests of 4 KiB would take days on a large slow card.
const UNIT_BLOCKS: u64 = 128;
/// Distinguishes the draw of the blocks to discard.
const DISCARD_SALT: u64 = 0x6469_7363_6172_6400;

/// Load of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Order in which blocks are written.
    pub pattern: WritePattern,
    /// Maximum number of writes or reads in flight.
    pub queue_depth: u32,
    /// True to discard a half of the blocks after they were read, and to write it again.
    pub discards: bool,
}

/// Writes or reads of one step.
struct Step {
    direction: Direction,
    units: Vec<Unit>,
    /// Position after the step.
    end: u64,
}

impl Verify {
    /// Returns the load; `None` for a test by rising address in large requests.
    pub fn load(&self) -> Option<Load> {
        self.load
    }

    /// Returns whether blocks are written in random order.
    pub fn is_random(&self) -> bool {
        self.load
            .is_some_and(|load| load.pattern == WritePattern::Random)
    }

    /// Returns the number of blocks that were discarded.
    pub fn discarded_blocks(&self) -> u64 {
        self.discarded_blocks
    }

    /// Returns the number of blocks that are written if nothing is wrong; about a half of them twice if it discards.
    pub fn blocks_to_write(&self) -> u64 {
        match self.load.is_some_and(|load| load.discards) {
            true => self.blocks_count + self.blocks_count / 2,
            false => self.blocks_count,
        }
    }

    /// Returns the number of blocks written and read so far, and in all.
    pub fn moved_blocks(&self) -> (u64, u64) {
        let count = self.blocks_count;
        let discards = self.load.is_some_and(|load| load.discards);
        let half = count / 2;
        let all = match discards {
            true => 3 * count + half,
            false => 2 * count,
        };
        let moved = match self.pass {
            Pass::Write => self.position,
            Pass::Read => count + self.position,
            Pass::Wait => count,
            Pass::Displace | Pass::Doubt | Pass::Discard => 2 * count,
            Pass::Rewrite => 2 * count + self.position / 2,
            Pass::Check => 2 * count + half + self.position,
            Pass::Renew | Pass::Done => all,
        };
        (moved, all)
    }

    /// Returns a few blocks, spread over those that surely hold the content of the test, in stretches of one grain.
    pub fn durable_places(&self, medium: &dyn Medium, most: u64) -> Vec<Span> {
        let grain = medium.grain_blocks();
        let is_partly = self.pass == Pass::Write && self.content.round == 0;
        let written = match is_partly {
            true => self.position,
            // Above its position stands what the round before wrote.
            false => self.blocks_count,
        };
        let unit = match self.load {
            Some(_) => unit_blocks(grain),
            None => grain,
        };
        let count = written / unit;
        let looks = count.min(most);
        let shuffle = Shuffle::new(self.blocks_count.div_ceil(unit), self.content.seed);
        let numbers = (0..looks).map(|look| (count - 1) * look / (looks - 1).max(1));
        let starts = numbers.map(|number| match is_partly && self.is_random() {
            true => shuffle.at(number) * unit,
            false => number * unit,
        });
        let places = starts.map(|start| Span::new(start, grain.min(self.blocks_count - start)));
        let is_rewritten = matches!(self.pass, Pass::Discard | Pass::Rewrite | Pass::Check);
        let discard_unit = self.discard_unit(medium);
        let is_kept = |place: &Span| !is_rewritten || !self.is_discarded(place.start, discard_unit);
        places.filter(is_kept).collect()
    }

    /// Blocks that are discarded together, or not.
    fn discard_unit(&self, medium: &(impl Medium + ?Sized)) -> u64 {
        let unit = unit_blocks(medium.grain_blocks());
        let grain = medium.discard_grain_blocks().unwrap_or(unit);
        grain.div_ceil(unit).max(1) * unit
    }

    /// Returns whether that block is in the half to discard.
    fn is_discarded(&self, block: u64, discard_unit: u64) -> bool {
        let drawn = mix(self.content.seed ^ mix(DISCARD_SALT ^ (block / discard_unit)));
        drawn & 1 == 1
    }

    /// Content of blocks that were discarded and written again.
    fn second_content(&self) -> Content {
        Content {
            round: self.content.round + 1,
            ..self.content
        }
    }

    pub(super) fn write_loaded(
        &mut self,
        medium: &mut impl Medium,
        load: Load,
    ) -> Result<(), Trouble> {
        let step = self.step_of_writes(medium);
        let span = Span::between(self.position, step.end);
        let mut answer = self.try_step(medium, &step, load)?;
        self.position = step.end;
        let is_last = self.position == self.blocks_count;
        if is_last || self.position - self.durable >= DURABLE_BLOCKS {
            answer.span_ns += medium.flush()?;
            self.durable = self.position;
        }
        self.written_blocks += count_of(&step.units);
        self.refused = self.refused.with(&answer.runs);
        let is_first = self.pass == Pass::Write;
        if is_first {
            note(&mut self.written, span, answer.span_ns);
        }
        if is_last {
            if self.is_random() {
                self.written = over_all(&self.written, self.blocks_count);
            }
            match is_first {
                true => self.begin(Pass::Wait),
                false => {
                    self.surface = Surface::default();
                    self.begin(Pass::Check);
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_loaded(
        &mut self,
        medium: &mut impl Medium,
        load: Load,
    ) -> Result<(), Trouble> {
        let step = self.step_of_reads(medium);
        let span = Span::between(self.position, step.end);
        let answer = self.try_step(medium, &step, load)?;
        self.position = step.end;
        self.surface.extend(&answer.runs, &self.refused);
        if self.pass == Pass::Read {
            note(&mut self.read, span, answer.span_ns);
            self.end_read();
        } else if self.position == self.blocks_count {
            self.begin(Pass::Done);
        }
        Ok(())
    }

    pub(super) fn discard_on(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let span = self.next_span();
        let unit = self.discard_unit(medium);
        let mut chosen = Surface::default();
        for part in span.parts(unit_blocks(medium.grain_blocks())) {
            if self.is_discarded(part.start, unit) {
                chosen.push(Extent::new(part, crate::Held::Foreign));
            }
        }
        let mut discarded = 0;
        for run in chosen.runs() {
            if medium.discard(run.span)? {
                discarded += run.span.count;
            }
        }
        self.position = span.end();
        self.discarded_blocks += discarded;
        if self.position == self.blocks_count {
            self.durable = 0;
            self.begin(Pass::Rewrite);
        }
        Ok(())
    }

    /// The next writes: by rising address, or a part of the random order of all units.
    fn step_of_writes(&self, medium: &impl Medium) -> Step {
        let unit = unit_blocks(medium.grain_blocks());
        let end = self.blocks_count.min(self.position + STEP_BLOCKS);
        let units_count = self.blocks_count.div_ceil(unit);
        let shuffle = Shuffle::new(units_count, self.content.seed);
        let (is_rewrite, discard_unit) = (self.pass == Pass::Rewrite, self.discard_unit(medium));
        let content = match is_rewrite {
            true => self.second_content(),
            false => self.content,
        };
        let mut units = Vec::new();
        for place in self.position / unit..end.div_ceil(unit) {
            let number = match self.is_random() {
                true => shuffle.at(place),
                false => place,
            };
            let start = number * unit;
            let span = Span::between(start, self.blocks_count.min(start + unit));
            if !is_rewrite || self.is_discarded(start, discard_unit) {
                units.push(Unit { span, content });
            }
        }
        Step {
            direction: Direction::Write,
            units,
            end,
        }
    }

    /// The next reads: all blocks of the next stretch, which are in random order within it.
    fn step_of_reads(&self, medium: &impl Medium) -> Step {
        let unit = unit_blocks(medium.grain_blocks());
        let span = self.next_span();
        let discard_unit = self.discard_unit(medium);
        let is_check = self.pass == Pass::Check;
        let all = span.parts(unit).map(|part| Unit {
            span: part,
            content: match is_check && self.is_discarded(part.start, discard_unit) {
                true => self.second_content(),
                false => self.content,
            },
        });
        let mut units: Vec<Unit> = all.collect();
        if self.is_random() {
            let seed = mix(self.content.seed ^ span.start);
            units.sort_by_key(|unit| mix(seed ^ unit.span.start));
        }
        Step {
            direction: Direction::Read,
            units,
            end: span.end(),
        }
    }

    /// Tries all of a step, unless too many blocks failed in a row: then it is assumed to fail, too.
    fn try_step(
        &mut self,
        medium: &mut impl Medium,
        step: &Step,
        load: Load,
    ) -> Result<Answer, Trouble> {
        if let Some(held) = self.given_up() {
            let runs = step.units.iter().map(|unit| Extent::new(unit.span, held));
            return Ok(Answer {
                span_ns: 0,
                runs: Surface::of(runs.collect()).runs().to_vec(),
            });
        }
        let answer = medium.transfer(step.direction, &step.units, load.queue_depth)?;
        let mut failing_blocks = self.failing_with(count_of(&step.units), &answer);
        if failing_blocks >= GIVE_UP_BLOCKS {
            let rest = Span::between(step.end, self.blocks_count);
            for span in spread(rest, medium.grain_blocks()) {
                let content = self.content;
                let unit = Unit { span, content };
                let tried = medium.transfer(step.direction, &[unit], load.queue_depth)?;
                if !tried.runs.iter().any(|run| run.has_failed()) {
                    failing_blocks = 0;
                    break;
                }
            }
        }
        self.failing_blocks = failing_blocks;
        if answer.runs.iter().any(|run| run.has_failed()) {
            self.look_whether_it_answers(medium, &answer)?;
        }
        Ok(answer)
    }
}

/// Blocks of a request: whole grains.
pub(super) fn unit_blocks(grain: u64) -> u64 {
    UNIT_BLOCKS.div_ceil(grain.max(1)) * grain.max(1)
}

fn count_of(units: &[Unit]) -> u64 {
    units.iter().map(|unit| unit.span.count).sum()
}

/// One speed for all blocks: those of a stretch were not written together.
fn over_all(speeds: &[Speed], blocks_count: u64) -> Vec<Speed> {
    vec![Speed {
        span: Span::new(0, blocks_count),
        span_ns: speeds.iter().map(|speed| speed.span_ns).sum(),
    }]
}
