//! What observers hear of.

use cardmark_core::{Finding, Trial};

use crate::Plan;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// What will be done.
        plan: &'a Plan,
    },
    /// A trial begins.
    TrialStarted {
        /// Name of its workload.
        workload: &'a str,
        /// The round, from 0.
        round_index: u32,
        /// Span the trial is expected to take, nanoseconds.
        expected_ns: u64,
        /// Span the whole run is expected to take from now on, nanoseconds.
        remaining_ns: u64,
        /// Whether it lays out the file.
        layout: bool,
        /// Operations until it ends, where their number alone decides that.
        operations_count: Option<u64>,
    },
    /// A trial ended, whole or not.
    TrialEnded {
        /// The trial.
        trial: &'a Trial,
    },
    /// What was written is read back.
    ReadingBack {
        /// Span it is expected to take, nanoseconds.
        expected_ns: u64,
        /// Pieces that are read; the pulse beats after each.
        pieces_count: u64,
    },
    /// Something was noticed.
    Found {
        /// The finding.
        finding: &'a Finding,
    },
}
