//! Operations as processes see them, and what a process does to them.

use cardmark_core::{Order, Workload};
use serde::Deserialize;

/// An operation as processes see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) start_ns: u64,
    pub(crate) is_read: bool,
    pub(crate) is_sequential: bool,
    pub(crate) bytes: u64,
}

/// An operation of a workload, at no particular time.
pub(crate) fn call_of(workload: &Workload, is_read: bool) -> Call {
    Call {
        start_ns: 0,
        is_read,
        is_sequential: matches!(workload.order, Order::Sequential | Order::Spread),
        bytes: workload.block_bytes,
    }
}

/// Operations that a process concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Which {
    #[default]
    All,
    Reads,
    Writes,
    RandomReads,
    RandomWrites,
    SequentialReads,
    SequentialWrites,
}

impl Which {
    pub(super) fn holds(self, call: &Call) -> bool {
        match self {
            Self::All => true,
            Self::Reads => call.is_read,
            Self::Writes => !call.is_read,
            Self::RandomReads => call.is_read && !call.is_sequential,
            Self::RandomWrites => !call.is_read && !call.is_sequential,
            Self::SequentialReads => call.is_read && call.is_sequential,
            Self::SequentialWrites => !call.is_read && call.is_sequential,
        }
    }
}

/// Stalls of a stationary workload in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StallTruth {
    /// Mean length of a stall, nanoseconds.
    pub mean_ns: f64,
    /// Longest stall possible, nanoseconds.
    pub longest_ns: f64,
    /// Stalls per operation; 0 if they come by the clock.
    pub per_operation: f64,
    /// Stalls a second by the clock; 0 if they come by operations. A model with both counts only the
    /// latter.
    pub per_second: f64,
}

impl StallTruth {
    /// These and others, both per operation.
    pub(super) fn with(self, other: Self) -> Self {
        let per_operation = self.per_operation + other.per_operation;
        let sum_ns = self.per_operation * self.mean_ns + other.per_operation * other.mean_ns;
        Self {
            mean_ns: sum_ns / per_operation,
            longest_ns: self.longest_ns.max(other.longest_ns),
            per_operation,
            per_second: 0.0,
        }
    }
}

/// Changes the work of operations.
pub(super) trait Process: Send {
    /// Returns the work of an operation, nanoseconds, given its work without this process.
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64;

    /// Returns the mean of [`Process::work_ns`] in an endless workload with a share of `read_share` reads.
    /// `None` if it has no such mean.
    fn mean_ns(&self, call: &Call, work_ns: f64, read_share: f64) -> Option<f64>;

    /// Returns its stalls of 100 ms and longer.
    fn stalls(&self, _: &Call) -> Option<StallTruth> {
        None
    }
}
