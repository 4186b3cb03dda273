//! After the cut: what does each place hold?

use cardmark_core::BlockCounts;

use super::{CutPlan, PLACE_BLOCKS};
use crate::{Extent, Held, Medium, Trouble};

/// Content found in place of an acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// All of it is there.
    Kept,
    /// An earlier write is there, or the preparation.
    Old,
    /// A part of it is there, beside something else.
    Torn,
    /// It is there with some bits changed.
    Changed,
    /// Something else is there.
    Foreign,
    /// The storage fails to read it.
    Unreadable,
}

/// An acknowledged write that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostWrite {
    /// Its number.
    pub number: u32,
    /// Content found in its place.
    pub state: WriteState,
}

/// Number of blocks of one place by their content.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Of the last acknowledged write, or of the preparation.
    expected: u64,
    /// Of later writes, and the highest number of these.
    newer: u64,
    newest: u32,
    /// Of earlier writes to this place.
    older: u64,
    /// With some bits changed.
    changed: u64,
    /// Data of other places.
    elsewhere: u64,
    foreign: u64,
    unreadable: u64,
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutOutcome {
    /// Number of acknowledged writes.
    pub acknowledged: u32,
    /// Number of acknowledged writes that no later acknowledged write replaced.
    pub checked: u32,
    /// Acknowledged writes that are not there, by rising number.
    pub lost: Vec<LostWrite>,
    /// Number of writes that were not acknowledged and are there.
    pub unacknowledged: u32,
    /// Number of places that a write under way left partly written.
    pub torn: u32,
    /// Number of places that only the preparation wrote.
    pub untouched: u32,
    /// Number of those that changed.
    pub collateral: u32,
    /// Blocks of all places but those of writes under way.
    pub blocks: BlockCounts,
}

/// A check of all places, which is done step by step.
#[derive(Clone, Debug)]
pub struct CutCheck {
    plan: CutPlan,
    acknowledged: u32,
    /// Last acknowledged write of each place.
    expected: Vec<u32>,
    found: Vec<Place>,
}

impl CutCheck {
    /// Creates the check of a cycle whose log shows that number of acknowledged writes.
    pub fn new(plan: CutPlan, acknowledged: u32) -> Self {
        Self {
            plan,
            acknowledged,
            expected: plan.last_writes(acknowledged),
            found: Vec::new(),
        }
    }

    /// Returns whether all places were read.
    pub fn is_done(&self) -> bool {
        self.found.len() == self.expected.len()
    }

    /// Returns the number of blocks read, and of all.
    pub fn read_blocks(&self) -> (u64, u64) {
        let read = self.found.len() as u64 * PLACE_BLOCKS;
        (read, self.plan.blocks_count())
    }

    /// Reads the next place.
    ///
    /// # Errors
    /// If the check cannot continue.
    pub fn advance(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let Some(expected) = self.expected.get(self.found.len()) else {
            return Ok(());
        };
        let place = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        let answer = medium.read(self.plan.span(place), self.plan.content(*expected))?;
        let found = self.count(place, *expected, &answer.runs);
        self.found.push(found);
        Ok(())
    }

    fn count(&self, place: u32, expected: u32, runs: &[Extent]) -> Place {
        let mut found = Place::default();
        for run in runs {
            let count = run.span.count;
            match run.held {
                Held::Good => found.expected += count,
                Held::Other { block, round } if block == run.span.start => {
                    if round > expected && self.plan.place(round) == place {
                        found.newer += count;
                        found.newest = found.newest.max(round);
                    } else if round < expected {
                        found.older += count;
                    } else {
                        found.elsewhere += count;
                    }
                }
                Held::Other { .. } => found.elsewhere += count,
                Held::Changed => found.changed += count,
                Held::Foreign => found.foreign += count,
                Held::Unreadable { .. } | Held::Refused { .. } => found.unreadable += count,
            }
        }
        found
    }

    /// Returns the result, once all places were read.
    pub fn outcome(&self) -> Option<CutOutcome> {
        self.is_done().then(|| self.judge())
    }

    fn judge(&self) -> CutOutcome {
        let under_way = self.under_way();
        let mut outcome = CutOutcome {
            acknowledged: self.acknowledged,
            ..CutOutcome::default()
        };
        let places = self.expected.iter().zip(&self.found).zip(under_way);
        for ((&number, found), is_under_way) in places {
            let is_whole_newer = found.newer == PLACE_BLOCKS;
            outcome.unacknowledged += u32::from(is_whole_newer);
            outcome.checked += u32::from(number > 0);
            outcome.untouched += u32::from(number == 0);
            // A place may hold parts of a write under way, whatever the rest is: that write may have destroyed it.
            let is_torn = is_under_way && !is_whole_newer && state(found) != WriteState::Kept;
            let is_old = is_under_way && state(found) == WriteState::Old;
            if is_torn && !is_old {
                outcome.torn += 1;
                continue;
            }
            add(&mut outcome.blocks, found);
            match state(found) {
                WriteState::Kept => {}
                _ if is_whole_newer => {}
                _ if number == 0 => outcome.collateral += 1,
                state => outcome.lost.push(LostWrite { number, state }),
            }
        }
        outcome.lost.sort_unstable_by_key(|lost| lost.number);
        outcome
    }

    /// Returns for each place whether a write to it may have been under way: the log ends at most one batch before the
    /// cut, unless its own end was lost; then the storage may show later writes.
    fn under_way(&self) -> Vec<bool> {
        let newest = self.found.iter().map(|found| found.newest).max();
        let last = self.acknowledged.max(newest.unwrap_or(0)) + self.plan.batch();
        let mut under_way = vec![false; self.expected.len()];
        let first = (self.acknowledged + 1).max(last.saturating_sub(self.plan.places_count()));
        for number in first..=last {
            under_way[self.plan.place(number) as usize] = true;
        }
        under_way
    }
}

fn state(found: &Place) -> WriteState {
    let is_all = |count: u64| count == PLACE_BLOCKS;
    match found {
        _ if is_all(found.expected) => WriteState::Kept,
        _ if is_all(found.older) => WriteState::Old,
        _ if is_all(found.expected + found.changed) => WriteState::Changed,
        _ if is_all(found.expected + found.unreadable) => WriteState::Unreadable,
        _ if found.expected + found.changed + found.newer > 0 => WriteState::Torn,
        _ if found.older > 0 => WriteState::Old,
        _ if is_all(found.unreadable) => WriteState::Unreadable,
        _ => WriteState::Foreign,
    }
}

fn add(counts: &mut BlockCounts, found: &Place) {
    counts.good_count += found.expected + found.newer;
    counts.changed_count += found.changed;
    counts.overwritten_count += found.elsewhere;
    counts.lost_count += found.older + found.foreign;
    counts.unreadable_count += found.unreadable;
}
