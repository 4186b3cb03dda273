//! Events for observers.

use cardmark_core::{Finding, Trial};

use crate::Plan;

/// An event in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run begins.
    Started {
        /// The plan that is executed.
        plan: &'a Plan,
    },
    /// A trial begins.
    TrialStarted {
        /// Name of its workload.
        workload: &'a str,
        /// The round, from 0.
        round_index: u32,
        /// Expected duration of the trial, nanoseconds.
        expected_ns: u64,
        /// Expected remaining duration of the whole run, nanoseconds.
        remaining_ns: u64,
        /// True if the trial lays out the file.
        layout: bool,
        /// Number of operations until it ends; absent if something else ends it.
        operations_count: Option<u64>,
        /// Time after which it ends earlier, nanoseconds.
        longest_ns: Option<u64>,
    },
    /// A trial ended, complete or not.
    TrialEnded {
        /// The trial.
        trial: &'a Trial,
    },
    /// The read-back begins.
    ReadingBack {
        /// Its expected duration, nanoseconds.
        expected_ns: u64,
        /// Number of pieces to read; the pulse counts each.
        pieces_count: u64,
    },
    /// A finding was added.
    Found {
        /// The finding.
        finding: &'a Finding,
    },
}
