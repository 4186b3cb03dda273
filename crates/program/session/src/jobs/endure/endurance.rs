//! Endurance, and the rest that may follow.

use cardmark_integrity::{Endure, Medium, Trouble, Verify};
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};

use crate::drive::job::Job;

/// A test of endurance, which a rest may follow.
#[derive(Debug, Serialize, Deserialize)]
pub struct Endurance {
    /// The cycles.
    pub endure: Endure,
    /// The rest, once the cycles are done.
    pub rest: Option<Rest>,
}

/// A rest after the last cycle, whose content is read again when it is over.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rest {
    /// Its beginning.
    pub since: Timestamp,
    /// Its length, days.
    pub days: u32,
    /// The reading afterwards, as far as it got.
    pub reading: Verify,
}

impl Rest {
    /// Returns its end at a whole minute, as it is shown; the end of time if that is too far away.
    #[must_use]
    pub fn until(&self) -> jiff::Timestamp {
        let span = SignedDuration::from_hours(24 * i64::from(self.days));
        let whole = TimestampRound::new()
            .smallest(Unit::Minute)
            .mode(RoundMode::Ceil);
        let until = self.since.checked_add(span);
        let until = until.and_then(|until| until.round(whole));
        until.unwrap_or(Timestamp::MAX)
    }
}

impl Job for Endurance {
    type Io = dyn Medium;
    type Error = Trouble;

    fn step(&mut self, mut medium: &mut Self::Io) -> Result<(), Trouble> {
        match &mut self.rest {
            Some(rest) => rest.reading.advance(&mut medium),
            None => self.endure.advance(&mut medium),
        }
    }

    fn look_back(&mut self, medium: &mut Self::Io) -> Result<(), Trouble> {
        match &self.rest {
            // It only reads.
            Some(_) => Ok(()),
            None => self.endure.note_last_written(medium),
        }
    }

    fn state(&self) -> &impl Serialize {
        self
    }

    fn is_done(&self) -> bool {
        match &self.rest {
            Some(rest) => rest.reading.is_done(),
            None => self.endure.is_done(),
        }
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (moved, cycle) = self.endure.verify().moved_bytes();
        match &self.rest {
            // Writing before the rest does not count.
            Some(rest) => {
                let (moved, all) = rest.reading.moved_bytes();
                (moved.saturating_sub(all / 2), all / 2)
            }
            None => {
                let before = u64::from(self.endure.cycles()) * cycle;
                (before + moved, before + cycle)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cardmark_integrity::Content;

    use super::*;

    #[test]
    fn a_rest_is_over_when_it_is_said_to_be() {
        let content = Content { seed: 1, round: 0 };
        let rest = Rest {
            since: "2026-11-22T14:03:41.5Z".parse().unwrap(),
            days: 30,
            reading: Verify::new(8, content),
        };
        assert_eq!(rest.until(), "2026-12-22T14:04:00Z".parse().unwrap());
    }
}
