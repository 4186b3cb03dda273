//! A contradiction within a record.

use std::fmt;

use cardmark_core::Trial;

/// Kind of a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiscrepancyKind {
    /// Counts, sizes and times of a trial do not fit together.
    Accounting,
    /// Trials are missing, are repeated, or overlap.
    Order,
    /// Operations lie where the seed does not draw them.
    Seed,
    /// Two trials are copies of each other.
    Copy,
}

/// A contradiction within a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// Kind of the contradiction.
    pub kind: DiscrepancyKind,
    /// Workload of the trial; absent if it concerns the whole record.
    pub workload: Option<String>,
    /// Round of the trial, from 0.
    pub round_index: Option<u32>,
    /// The contradiction as a sentence without a full stop.
    pub what: String,
}

impl Discrepancy {
    /// Creates a contradiction within a trial.
    pub(crate) fn of(kind: DiscrepancyKind, trial: &Trial, what: String) -> Self {
        Self {
            kind,
            workload: Some(trial.workload.id.clone()),
            round_index: Some(trial.round_index),
            what,
        }
    }

    /// Creates a contradiction of the whole record.
    pub(crate) fn of_record(kind: DiscrepancyKind, what: String) -> Self {
        Self {
            kind,
            workload: None,
            round_index: None,
            what,
        }
    }
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(workload) = &self.workload {
            write!(formatter, "{workload}")?;
            if let Some(round_index) = self.round_index {
                write!(formatter, " in round {}", u64::from(round_index) + 1)?;
            }
            write!(formatter, ": ")?;
        }
        write!(formatter, "{}", self.what)
    }
}
