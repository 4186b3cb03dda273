//! One timed execution of a workload, and its parts.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DeviceCounters, Errno, SharedWorkload};

words! {
    /// Reason for the end of a trial or of a metric's series of rounds.
    pub enum StopReason {
        /// The suite's rule was fulfilled: span and operations of a trial, or the goal of a metric.
        Goal,
        /// The time limit was reached.
        Budget,
        /// The suite's maximum number of rounds was run.
        Rounds,
        /// An operation failed.
        Error,
        /// The run was stopped from outside.
        Interrupted,
    }
}

/// One timed execution of a workload in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Number of the trial in the run, from 0.
    pub id: u32,
    /// The pattern as executed.
    pub workload: SharedWorkload,
    /// The round, from 0; trials of the layout count as rounds of their workload.
    pub round_index: u32,
    /// True if this trial laid out the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub layout: bool,
    /// Start, relative to the run's start on the monotonic clock, nanoseconds.
    pub started_ns: u64,
    /// Span from the first submission after the ramp to the last completion, nanoseconds.
    pub span_ns: u64,
    /// Totals per stream.
    pub streams: Vec<StreamTotals>,
    /// Latencies of all operations.
    pub latency: LatencyHistogram,
    /// Span of one slice, nanoseconds.
    pub slice_span_ns: u64,
    /// Work done in each slice.
    pub slices: Vec<Slice>,
    /// Counters of the block layer between start (ramp included) and end (flush included).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_counters: Option<DeviceCounters>,
    /// Bytes moved by the ramp before and the drain after the span: outside the clock, but inside
    /// the counters.
    #[serde(default)]
    pub untimed_bytes: u64,
    /// Work of the ramp and the drain; absent in records made before method 2, and with several streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untimed: Option<Untimed>,
    /// Bytes written, ramp and drain included.
    #[serde(default)]
    pub written_bytes: u64,
    /// Time of the flush after the trial, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_span_ns: Option<u64>,
    /// Times per window, for each of the sizes that the workload requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Windows>,
    /// Operations that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<OperationError>,
    /// Reason for its end.
    pub stopped_by: StopReason,
}

impl Trial {
    /// Bytes moved inside the clock.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.bytes).sum()
    }

    /// Operations completed inside the clock.
    pub fn operations_count(&self) -> u64 {
        self.streams
            .iter()
            .map(|stream| stream.operations_count)
            .sum()
    }

    /// Returns whether the trial ran to its own end, so that figures may rely on it.
    pub fn is_whole(&self) -> bool {
        self.stopped_by == StopReason::Goal && self.span_ns > 0 && self.operations_count() > 0
    }
}

/// Ramp and drain of a trial: operations before and after its timed span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Untimed {
    /// From the first submission to the start of the timed span, nanoseconds.
    pub ramp_span_ns: u64,
    /// Operations completed in the ramp.
    pub ramp_operations_count: u64,
    /// Longest latency in the ramp, nanoseconds.
    pub ramp_longest_ns: u64,
    /// From the end of the timed span to the last completion, nanoseconds.
    pub drain_span_ns: u64,
    /// Longest latency in the drain, nanoseconds.
    pub drain_longest_ns: u64,
}

/// The windows of a trial: stretches of equal size, each timed separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Windows {
    /// Size of one, bytes.
    pub window_bytes: u64,
    /// Number of complete windows.
    pub windows_count: u64,
    /// The slowest windows, at most 16, slowest first.
    pub slowest: Vec<Window>,
}

/// One window of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Window {
    /// Start, bytes from the start of the object.
    pub start_bytes: u64,
    /// Time taken, nanoseconds.
    pub span_ns: u64,
}

/// Totals of one stream of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StreamTotals {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations completed.
    pub operations_count: u64,
    /// Of these, reads.
    pub read_operations_count: u64,
    /// Span of the stream, nanoseconds.
    pub span_ns: u64,
}

/// Latencies, sparse. Bucket `i` of the log-linear layout with `2^bits` steps an octave holds the
/// value `i` itself below `2^bits`; above, with `o = i >> bits` and `s = i & (2^bits - 1)`, the
/// range starts at `(2^bits + s) << (o - 1)` and is `1 << (o - 1)` wide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LatencyHistogram {
    /// Binary logarithm of the steps an octave.
    pub step_bits: u32,
    /// Smallest latency, nanoseconds, exact.
    pub min_ns: u64,
    /// Largest latency, nanoseconds, exact.
    pub max_ns: u64,
    /// Sum of all latencies, nanoseconds.
    pub sum_ns: u64,
    /// Index and number of operations of the buckets that are not empty, by rising index. Written as counts from
    /// bucket 0 on, with −n for n empty buckets and 0 for one.
    #[serde(with = "crate::buckets")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<i64>"))]
    pub buckets: Vec<(u32, u64)>,
}

/// Work done in a slice: bytes, operations, slowest latency in ns, offset of the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Slice(pub u64, pub u64, pub u64, pub Option<u64>);

/// An operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OperationError {
    /// Position, bytes from the start of the object.
    pub offset_bytes: u64,
    /// The system's error number; 0 if fewer bytes than requested were moved.
    pub errno: Errno,
    /// Time after the trial's start, nanoseconds.
    pub at_ns: u64,
}
