//! A measurement request, its target, and the reasons why it cannot be planned.

use cardmark_core::{CardFacts, MIB, Suite, TargetKind, Workload};
use thiserror::Error;

/// Size of the sub-units in which larger allocation units are judged, bytes (SD Physical Layer, 4.13.1.8).
pub(crate) const SUB_UNIT_BYTES: u64 = 4 * MIB;

/// A measurement request, independent of the kind of target.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of the requested workloads; empty: all of the suite.
    pub only: Vec<String>,
    /// True if nothing may be written.
    pub read_only: bool,
    /// Seed of offsets and payload.
    pub seed: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
    /// Number of passes through a suite that is a list; absent: the suite's own.
    pub passes_count: Option<u32>,
    /// Tier of a suite with tiers; absent: the first that fits the target.
    pub tier: Option<String>,
    /// Maximum number of bytes for a series of writes that ends when its rate has settled. Replaces the
    /// suite's limits of bytes and time; absent: the suite's.
    pub most_bytes: Option<u64>,
    /// True if such a series writes as much as the storage holds, or until the suite's limit of time.
    pub until_settled: bool,
}

/// Target description for the planner.
#[derive(Clone, Copy, Debug)]
pub struct TargetRoom {
    /// Kind of target.
    pub kind: TargetKind,
    /// Usable bytes.
    pub usable_bytes: u64,
    /// Size of the disk below in bytes; absent if there is none, or more than one.
    pub disk_bytes: Option<u64>,
    /// Sizes of the card's units as reported by its registers.
    pub units: Units,
}

impl TargetRoom {
    /// Describes a target that is its own disk: a device or a simulated card.
    pub fn disk(kind: TargetKind, size_bytes: u64) -> Self {
        Self {
            kind,
            usable_bytes: size_bytes,
            disk_bytes: Some(size_bytes),
            units: Units::default(),
        }
    }

    /// Returns the same target with the units of its card.
    #[must_use]
    pub fn with_units(self, units: Units) -> Self {
        Self { units, ..self }
    }
}

/// Units of a card by which classes are judged, as reported by its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Window of the speed classes and UHS grades, bytes: the allocation unit, or its sub-unit.
    pub window_bytes: Option<u64>,
    /// Window of the video classes, bytes: the sub-unit of their allocation unit.
    pub video_window_bytes: Option<u64>,
}

impl Units {
    /// Reads the units from registers.
    pub fn of(facts: &CardFacts) -> Self {
        let allocation = facts
            .uhs_allocation_unit_bytes
            .or(facts.allocation_unit_bytes);
        Self {
            window_bytes: allocation.map(|bytes| bytes.min(SUB_UNIT_BYTES)),
            video_window_bytes: facts.video_allocation_unit_bytes.map(video_unit),
        }
    }
}

/// Returns the unit that a video allocation unit consists of (SD Physical Layer, 4.13.4).
fn video_unit(allocation_unit_bytes: u64) -> u64 {
    MIB * match allocation_unit_bytes / MIB {
        21 | 28 | 42 => 7,
        27 | 36 | 45 | 54 => 9,
        30 | 60 => 10,
        _ => 8,
    }
}

/// Reason why a request cannot be planned.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// The suite has no such workload.
    #[error("no workload `{id}` in suite `{suite}`; it has {known}")]
    UnknownWorkload {
        /// The requested name.
        id: String,
        /// The suite.
        suite: String,
        /// Names of the suite's workloads.
        known: String,
    },
    /// All requested workloads write, and nothing may be written.
    #[error("nothing is left to measure without writing")]
    NothingToRead,
    /// A directory contains no file of cardmark that could be read.
    #[error("cannot measure a directory read-only: the test file must be written first")]
    ReadOnlyDirectory,
    /// The suite needs another kind of target.
    #[error("suite `{suite}` needs {wants}")]
    WrongTarget {
        /// The suite.
        suite: String,
        /// The required kind of target.
        wants: &'static str,
    },
    /// The suite needs files, and this target has none.
    #[error("suite `{suite}` needs files in a directory, not a target below the filesystem")]
    NoFilesystem {
        /// The suite.
        suite: String,
        /// Kind of the target.
        kind: TargetKind,
    },
    /// The suite does not support a number of passes.
    #[error("suite `{suite}` sets its own number of rounds")]
    OwnPasses {
        /// The suite.
        suite: String,
    },
    /// The suite has no series of writes whose end could be chosen.
    #[error("suite `{suite}` has no long write whose end could be chosen")]
    NoLongWrite {
        /// The suite.
        suite: String,
    },
    /// The suite first brings its target into a known state, which writes.
    #[error("suite `{suite}` writes before it reads")]
    WritesFirst {
        /// The suite.
        suite: String,
    },
    /// The suite has no such tier.
    #[error("suite `{suite}` has no tier `{tier}`; it has {known}")]
    UnknownTier {
        /// The suite.
        suite: String,
        /// The requested name.
        tier: String,
        /// Names of the suite's tiers.
        known: String,
    },
    /// The target is smaller than the suite's file.
    #[error("the target has {has_bytes} bytes, suite `{suite}` needs {needs_bytes}")]
    TooSmall {
        /// The suite.
        suite: String,
        /// Size of the target.
        has_bytes: u64,
        /// Size of the suite's file.
        needs_bytes: u64,
    },
}

impl Request {
    /// True if the request would write on a device.
    pub fn writes(&self, suite: &Suite) -> bool {
        let is_asked = |w: &&Workload| self.only.is_empty() || self.only.contains(&w.id);
        let has_writing = suite
            .workloads
            .iter()
            .filter(is_asked)
            .any(Workload::writes);
        let is_prepared = !suite.layout.is_empty() || suite.is_preconditioned();
        !self.read_only && (has_writing || is_prepared)
    }
}
