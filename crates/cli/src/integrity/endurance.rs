//! Endurance, and how it goes on after a rest.

use cardmark_integrity::{Endure, Medium, Trouble, Verify};
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};

use super::long::Long;

/// A test of endurance, which a rest may follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Endurance {
    pub(crate) endure: Endure,
    /// The rest, once the cycles are done.
    pub(crate) rest: Option<Rest>,
}

/// A rest after the last cycle, whose content is read again when it is over.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// When it began.
    pub(crate) since: Timestamp,
    /// How long it is to last, days.
    pub(crate) days: u32,
    /// The reading afterwards, as far as it is.
    pub(crate) reading: Verify,
}

impl Rest {
    /// When it is over, if time goes as far as that: at a whole minute, as it is told.
    pub(crate) fn until(&self) -> jiff::Timestamp {
        let span = SignedDuration::from_hours(24 * i64::from(self.days));
        let whole = TimestampRound::new()
            .smallest(Unit::Minute)
            .mode(RoundMode::Ceil);
        let until = self.since.checked_add(span);
        let until = until.and_then(|until| until.round(whole));
        until.unwrap_or(Timestamp::MAX)
    }
}

impl Long for Endurance {
    fn advance(&mut self, mut medium: &mut dyn Medium) -> Result<(), Trouble> {
        match &mut self.rest {
            Some(rest) => rest.reading.advance(&mut medium),
            None => self.endure.advance(&mut medium),
        }
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
            // What was written before the rest is none of it.
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
