//! Every block is read twice: what cannot be read, what differs, and what is slow. Nothing is written.

use crate::verdict::of_reading;
use crate::{Answer, Content, Extent, Held, Medium, Span, Speed, StorageVerdict, Surface, Trouble};
use crate::{Pass, Verify};

/// Size of the unit whose content is compared and timed, blocks: 1 MiB.
pub(crate) const UNIT_BLOCKS: u64 = 2048;
/// A unit is slow if, in both passes, it took at least this many times as long as the median unit.
const SLOW_FACTOR: u64 = 3;
/// Number of slow places that are reported at most: the slowest.
const MOST_SLOW: usize = 1024;

/// Storage whose blocks can be read whatever they hold.
pub trait Contents: Medium {
    /// Reads at most 1 MiB, past every cache of the computer. The runs are good or unreadable. Returns also a digest of
    /// the content; `None` if some of it could not be read.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn digest(&mut self, span: Span) -> Result<(Answer, Option<u64>), Trouble>;
}

impl<M: Contents + ?Sized> Contents for &mut M {
    fn digest(&mut self, span: Span) -> Result<(Answer, Option<u64>), Trouble> {
        (**self).digest(span)
    }
}

/// A unit after its last reading.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    digest: Option<u64>,
    /// Time of the shorter reading, nanoseconds.
    least_ns: u64,
}

/// A test that reads all blocks in two passes and compares them.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The current pass.
    test: Verify,
    /// Blocks as they were read in the first pass, once it is complete.
    first: Option<Surface>,
    units: Vec<Unit>,
    /// Blocks of units that differed although others may have written them.
    excused_blocks: u64,
    is_in_use: bool,
}

impl Reading {
    /// Creates a test of the blocks of `scope`, whose content is not written. If the storage is in use, differences
    /// between the passes do not count as damage.
    pub fn new(scope: &Verify, is_in_use: bool) -> Self {
        let units_count = scope.blocks_count().div_ceil(UNIT_BLOCKS);
        Self {
            test: scope.again(),
            first: None,
            units: vec![Unit::default(); usize::try_from(units_count).unwrap_or(0)],
            excused_blocks: 0,
            is_in_use,
        }
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// If the test cannot continue.
    pub fn advance(&mut self, medium: &mut impl Contents) -> Result<(), Trouble> {
        let mut comparing = Comparing {
            medium,
            start: self.test.part_start().unwrap_or(0),
            units: &mut self.units,
            is_second: self.first.is_some(),
            excused_blocks: &mut self.excused_blocks,
            is_in_use: self.is_in_use,
        };
        self.test.advance(&mut comparing)?;
        if self.test.is_done() && self.first.is_none() {
            self.first = Some(self.test.surface().clone());
            self.test = self.test.again();
        }
        Ok(())
    }

    /// Returns whether both passes are complete.
    pub fn is_done(&self) -> bool {
        self.first.is_some() && self.test.is_done()
    }

    /// Returns the number of blocks that were read in both passes, and that will be.
    pub fn moved_blocks(&self) -> (u64, u64) {
        let all = self.test.blocks_count();
        let before = if self.first.is_some() { all } else { 0 };
        let now = match self.test.place() {
            (Pass::Done, _) => all,
            (_, position) => position,
        };
        (before + now, 2 * all)
    }

    /// Returns the pass as a test: its scope, and the speeds of its stretches.
    pub fn pass(&self) -> &Verify {
        &self.test
    }

    /// Returns the blocks as they were in both passes: unreadable if they were in either.
    pub fn surface(&self) -> Surface {
        let mut surface = Surface::default();
        let first = self.first.as_ref();
        for run in self.test.surface().runs() {
            let before = first.into_iter().flat_map(|first| first.within(run.span));
            for part in before {
                let held = if part.has_failed() {
                    part.held
                } else {
                    run.held
                };
                surface.push(Extent::new(part.span, held));
            }
        }
        surface
    }

    /// Returns the verdict, once the test is done.
    pub fn verdict(&self) -> Option<StorageVerdict> {
        self.is_done().then(|| of_reading(&self.surface()))
    }

    /// Returns the number of blocks that differed between the passes of storage in use, in units of 1 MiB; `None` if it is
    /// not in use.
    pub fn excused_blocks(&self) -> Option<u64> {
        self.is_in_use.then_some(self.excused_blocks)
    }

    /// Returns the places that were slow in both passes, by rising address, with the time of the shorter reading. Places
    /// with unreadable blocks are not among them.
    pub fn slow(&self) -> Vec<Speed> {
        let all = self.test.blocks_count();
        let read = (0..).zip(&self.units);
        let timed = read.filter(|(_, unit)| unit.digest.is_some());
        let timed: Vec<(u64, u64)> = timed.map(|(index, unit)| (index, unit.least_ns)).collect();
        let whole = timed
            .iter()
            .filter(|(index, _)| (index + 1) * UNIT_BLOCKS <= all);
        let mut times: Vec<u64> = whole.map(|(_, span_ns)| *span_ns).collect();
        times.sort_unstable();
        let Some(median) = times.get(times.len() / 2).filter(|median| **median > 0) else {
            return Vec::new();
        };
        let mut slow: Vec<Speed> = Vec::new();
        for (index, span_ns) in timed {
            if span_ns < median * SLOW_FACTOR {
                continue;
            }
            let start = index * UNIT_BLOCKS;
            let span = Span::between(start, all.min(start + UNIT_BLOCKS));
            match slow.last_mut() {
                Some(last) if last.span.end() == start => {
                    last.span.count += span.count;
                    last.span_ns += span_ns;
                }
                _ => slow.push(Speed { span, span_ns }),
            }
        }
        slow.sort_by_key(|place| std::cmp::Reverse(place.span_ns / place.span.count.max(1)));
        slow.truncate(MOST_SLOW);
        slow.sort_by_key(|place| place.span.start);
        slow
    }
}

/// Storage in a pass: units that differ from the first pass count as changed.
struct Comparing<'a, M> {
    medium: &'a mut M,
    /// First block of the tested part.
    start: u64,
    units: &'a mut Vec<Unit>,
    is_second: bool,
    excused_blocks: &'a mut u64,
    is_in_use: bool,
}

impl<M: Contents> Comparing<'_, M> {
    /// Reads at most a unit.
    fn read_unit(&mut self, span: Span) -> Result<Answer, Trouble> {
        let (mut answer, digest) = self.medium.digest(span)?;
        let place = span.start - self.start;
        let index = usize::try_from(place / UNIT_BLOCKS).unwrap_or(usize::MAX);
        let is_whole = place.is_multiple_of(UNIT_BLOCKS)
            && (span.count == UNIT_BLOCKS || span.end() == self.medium.blocks_count());
        let Some(unit) = self.units.get_mut(index).filter(|_| is_whole) else {
            return Ok(answer);
        };
        let before = *unit;
        *unit = Unit {
            digest,
            least_ns: answer.span_ns,
        };
        if !self.is_second {
            return Ok(answer);
        }
        unit.least_ns = before.least_ns.min(answer.span_ns);
        match before.digest {
            Some(known) if digest.is_some_and(|now| now != known) => {
                if self.is_in_use {
                    *self.excused_blocks += span.count;
                } else {
                    answer.runs = vec![Extent::new(span, Held::Changed)];
                }
            }
            Some(_) => {}
            None => unit.digest = None,
        }
        Ok(answer)
    }
}

impl<M: Contents> Medium for Comparing<'_, M> {
    fn blocks_count(&self) -> u64 {
        self.medium.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.medium.grain_blocks()
    }

    fn write(&mut self, span: Span, _content: Content) -> Result<Answer, Trouble> {
        // No pass of this test writes.
        let errno = cardmark_core::Errno::ROFS;
        Ok(Answer {
            span_ns: 0,
            runs: vec![Extent::new(span, Held::Refused { errno })],
        })
    }

    fn read(&mut self, span: Span, _content: Content) -> Result<Answer, Trouble> {
        let mut surface = Surface::default();
        let mut span_ns = 0;
        for unit in span.parts(UNIT_BLOCKS) {
            let answer = self.read_unit(unit)?;
            span_ns += answer.span_ns;
            answer.runs.into_iter().for_each(|run| surface.push(run));
        }
        Ok(Answer {
            span_ns,
            runs: surface.runs().to_vec(),
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Ok(0)
    }
}
