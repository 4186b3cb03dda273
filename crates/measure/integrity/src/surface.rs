//! Content of the blocks of an area.

use cardmark_core::Errno;
use serde::{Deserialize, Serialize};

use crate::Span;

/// Content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "held")]
pub enum Held {
    /// Its own data.
    Good,
    /// Data of another block, or of this one in an earlier round.
    Other {
        /// Number of that block; for a run, of its first block.
        block: u64,
        /// Its round.
        round: u32,
    },
    /// Its own data, with some bits changed.
    Changed,
    /// Nothing that was written with this seed.
    Foreign,
    /// The storage does not give it out.
    Unreadable {
        /// The system's error number.
        errno: Errno,
    },
    /// The storage did not take it.
    Refused {
        /// The system's error number.
        errno: Errno,
    },
}

/// Consecutive blocks that hold the same kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The blocks.
    pub span: Span,
    /// Their content; with [`Held::Other`] each further block holds the data of one block further.
    #[serde(flatten)]
    pub held: Held,
}

impl Extent {
    /// These blocks hold that.
    pub fn new(span: Span, held: Held) -> Self {
        Self { span, held }
    }

    /// Returns the distance in blocks between the run and the proper place of its content; only for data of
    /// other places.
    #[must_use]
    pub fn shift(self) -> Option<i64> {
        match self.held {
            Held::Other { block, .. } if block != self.span.start => {
                Some(block.cast_signed() - self.span.start.cast_signed())
            }
            _ => None,
        }
    }

    /// Returns whether the content of the blocks can be discarded: it was written with the seed, in its place
    /// or not, or it cannot be read.
    pub fn is_ours(self) -> bool {
        self.bears_seed() || matches!(self.held, Held::Unreadable { .. })
    }

    /// Returns whether the storage lost the written data: the blocks hold something from before.
    pub fn is_lost(self) -> bool {
        match self.held {
            Held::Foreign | Held::Refused { .. } => true,
            Held::Other { block, .. } => block == self.span.start,
            Held::Good | Held::Changed | Held::Unreadable { .. } => false,
        }
    }

    /// Returns whether the storage answered with an error.
    pub fn has_failed(self) -> bool {
        matches!(self.held, Held::Unreadable { .. } | Held::Refused { .. })
    }

    /// Returns whether they hold any data written with the expected seed.
    pub fn bears_seed(self) -> bool {
        matches!(self.held, Held::Good | Held::Changed | Held::Other { .. })
    }

    /// Returns whether storage exists for the blocks: they hold the data written to them, possibly with bits
    /// changed or from an earlier round.
    pub fn is_there(self) -> bool {
        match self.held {
            Held::Good | Held::Changed => true,
            Held::Other { block, .. } => block == self.span.start,
            Held::Foreign | Held::Unreadable { .. } | Held::Refused { .. } => false,
        }
    }

    /// Returns whether `next` continues this run with the same content.
    fn goes_on_in(self, next: Self) -> bool {
        let is_same = match (self.held, next.held) {
            (
                Held::Other { block, round },
                Held::Other {
                    block: next_block,
                    round: next_round,
                },
            ) => round == next_round && block + self.span.count == next_block,
            (held, next_held) => held == next_held,
        };
        is_same && self.span.end() == next.span.start
    }

    /// The part of it that lies in these blocks, if any.
    fn within(self, span: Span) -> Option<Self> {
        let start = self.span.start.max(span.start);
        let end = self.span.end().min(span.end());
        let held = match self.held {
            Held::Other { block, round } => Held::Other {
                block: block + (start.saturating_sub(self.span.start)),
                round,
            },
            held => held,
        };
        (start < end).then(|| Self::new(Span::between(start, end), held))
    }
}

/// Content of blocks, by rising address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Surface {
    runs: Vec<Extent>,
}

impl Surface {
    /// The runs, by rising address; two that follow each other differ.
    pub fn runs(&self) -> &[Extent] {
        &self.runs
    }

    /// Creates it of runs in any order that do not overlap.
    pub fn of(mut runs: Vec<Extent>) -> Self {
        runs.sort_unstable_by_key(|run| run.span.start);
        let mut surface = Self::default();
        runs.into_iter().for_each(|run| surface.push(run));
        surface
    }

    /// Returns it with these runs, by rising address, in place of what is known of their blocks.
    pub(crate) fn with(&self, runs: &[Extent]) -> Self {
        let mut all = Self::default();
        let mut start = 0;
        for run in runs {
            let before = self.within(Span::between(start, run.span.start));
            before.for_each(|known| all.push(known));
            all.push(*run);
            start = run.span.end();
        }
        let rest = self.within(Span::between(start, u64::MAX));
        rest.for_each(|known| all.push(known));
        all
    }

    /// Adds blocks behind all that are known.
    pub fn push(&mut self, run: Extent) {
        if run.span.count == 0 {
            return;
        }
        match self.runs.last_mut() {
            Some(last) if last.goes_on_in(run) => last.span.count += run.span.count,
            _ => self.runs.push(run),
        }
    }

    /// Adds blocks behind all known ones. Blocks that were refused in writing are recorded as refused, unless
    /// they hold the right data: they never existed.
    pub fn extend(&mut self, read: &[Extent], refused: &Self) {
        for run in read {
            if run.held == Held::Good {
                self.push(*run);
                continue;
            }
            let mut start = run.span.start;
            for part in refused.within(run.span) {
                self.extend_plain(*run, Span::between(start, part.span.start));
                self.push(part);
                start = part.span.end();
            }
            self.extend_plain(*run, Span::between(start, run.span.end()));
        }
    }

    fn extend_plain(&mut self, run: Extent, span: Span) {
        if let Some(part) = run.within(span) {
            self.push(part);
        }
    }

    /// Returns the known runs of these blocks.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Extent> {
        let first = self
            .runs
            .partition_point(|run| run.span.end() <= span.start);
        self.runs[first..]
            .iter()
            .take_while(move |run| run.span.start < span.end())
            .filter_map(move |run| run.within(span))
    }

    /// Forgets all from that block on.
    pub(crate) fn truncate(&mut self, end: u64) {
        self.runs.retain(|run| run.span.start < end);
        if let Some(last) = self.runs.last_mut() {
            last.span = Span::between(last.span.start, last.span.end().min(end));
        }
    }

    /// Returns the number of blocks that do not hold the data written to them.
    pub fn bad_blocks_count(&self) -> u64 {
        let bad = self.runs.iter().filter(|run| run.held != Held::Good);
        bad.map(|run| run.span.count).sum()
    }

    /// Returns the number of blocks that do not hold the data written to them, but did before.
    pub fn bad_since(&self, before: &Self) -> u64 {
        let bad = self.runs.iter().filter(|run| run.held != Held::Good);
        let were_good = bad.flat_map(|run| before.within(run.span));
        were_good
            .filter(|run| run.held == Held::Good)
            .map(|run| run.span.count)
            .sum()
    }

    /// Returns the number of known blocks.
    pub fn blocks_count(&self) -> u64 {
        self.runs.iter().map(|run| run.span.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, count: u64, held: Held) -> Extent {
        Extent::new(Span::new(start, count), held)
    }

    fn other(block: u64) -> Held {
        Held::Other { block, round: 0 }
    }

    #[test]
    fn what_is_the_same_is_joined() {
        let mut surface = Surface::default();
        for part in [
            run(0, 8, Held::Good),
            run(8, 8, Held::Good),
            run(16, 4, other(100)),
            run(20, 4, other(104)),
            run(24, 4, other(104)),
        ] {
            surface.push(part);
        }
        let expected = [
            run(0, 16, Held::Good),
            run(16, 8, other(100)),
            run(24, 4, other(104)),
        ];
        assert_eq!(surface.runs(), expected);
        assert_eq!(surface.bad_blocks_count(), 12);
        assert_eq!(surface.blocks_count(), 28);
        let within: Vec<Extent> = surface.within(Span::new(18, 8)).collect();
        assert_eq!(within, [run(18, 6, other(102)), run(24, 2, other(104))]);
    }

    #[test]
    fn what_became_bad_is_told_from_what_was_bad() {
        let mut before = Surface::default();
        let mut now = Surface::default();
        for part in [
            run(0, 8, Held::Good),
            run(8, 8, Held::Changed),
            run(16, 8, Held::Good),
        ] {
            before.push(part);
        }
        for part in [
            run(0, 6, Held::Good),
            run(6, 12, Held::Changed),
            run(18, 6, Held::Good),
        ] {
            now.push(part);
        }
        assert_eq!(now.bad_since(&before), 4);
        assert_eq!(before.bad_since(&before), 0);
    }

    #[test]
    fn refused_blocks_are_said_to_be_refused_unless_they_are_good() {
        let refuse = Held::Refused { errno: Errno::IO };
        let mut refused = Surface::default();
        refused.push(run(4, 8, refuse));
        let mut surface = Surface::default();
        surface.extend(
            &[run(0, 6, Held::Good), run(6, 10, Held::Foreign)],
            &refused,
        );
        let expected = [
            run(0, 6, Held::Good),
            run(6, 6, refuse),
            run(12, 4, Held::Foreign),
        ];
        assert_eq!(surface.runs(), expected);
    }
}
