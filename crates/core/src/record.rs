//! The record, format 1: the single immutable document that a run produces.
//!
//! Only `format`, `id` and `origin` are required. A record is a view of its document: fields that this version does not
//! know survive there, and in no type.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_cards::Word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::finding::name_of;
use crate::{
    Anatomy, Board, Derived, DeviceCounters, DeviceInfo, Errno, Finding, FindingKind, Host,
    Integrity, Printed, SensorSample, SharedWorkload, SurfacePart, Workload,
};

/// Version of the document's shape.
pub const FORMAT: u32 = 1;
/// Version of a statement's shape.
pub const STATEMENT: u32 = 1;
/// Version of the method; it changes whenever numbers could change.
pub const METHOD: u32 = 2;

/// The document of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Version of the document's shape.
    pub format: u32,
    /// Version of the method that produced the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<u32>,
    /// Id of the run.
    pub id: Uuid,
    /// Origin of the numbers.
    pub origin: Origin,
    /// When the run began, RFC 3339, UTC; absent if it is not known or was simulated.
    #[serde(default)]
    pub started_at: Option<String>,
    /// The program that measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The method by name.
    #[serde(default)]
    pub suite: Option<SuiteRef>,
    /// Seed of offsets and payload, 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The target of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The devices below the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceInfo>,
    /// The computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The system on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// What the user states of the run, as labels. No part of the document: [`crate::Statement`] holds it. Documents of
    /// earlier versions have labels, which are read.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub labels: BTreeMap<String, String>,
    /// Properties that must be equal in two records whose figures are compared; any reader can rebuild it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The patterns of the trials, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Arc<Workload>>,
    /// The timed executions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::trials")]
    #[schemars(with = "crate::trials::TrialColumns")]
    pub trials: Vec<Trial>,
    /// Result of an integrity test: does the storage hold its data? Absent if not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// Read-back of the data that a suite wrote while measuring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    /// Internal structure, derived from the timing of reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anatomy: Option<Anatomy>,
    /// State of the blocks of the storage, by place; of tests of every block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surface: Vec<SurfacePart>,
    /// Figures derived from the trials; any reader can rebuild them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Verdicts derived from the metrics; any reader can rebuild them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derived>,
    /// Readings taken during the run.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "crate::readings"
    )]
    #[schemars(with = "crate::readings::SensorColumns")]
    pub sensors: Vec<SensorSample>,
    /// Observations that matter for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Bytes that the run wrote to the target, preparation included.
    #[serde(default)]
    pub bytes_written: u64,
}

impl Record {
    /// A record with the required fields only.
    #[must_use]
    pub fn new(id: Uuid, origin: Origin) -> Self {
        Self {
            format: FORMAT,
            method: None,
            id,
            origin,
            started_at: None,
            tool: None,
            suite: None,
            seed: None,
            target: None,
            devices: Vec::new(),
            board: None,
            host: None,
            labels: BTreeMap::new(),
            context: None,
            workloads: Vec::new(),
            trials: Vec::new(),
            integrity: None,
            read_back: None,
            anatomy: None,
            surface: Vec::new(),
            metrics: Vec::new(),
            derived: None,
            sensors: Vec::new(),
            findings: Vec::new(),
            bytes_written: 0,
        }
    }

    /// Holds the workload of each trial once, in [`Self::workloads`]. To be called when all trials are there.
    pub fn share_workloads(&mut self) {
        self.workloads.clear();
        for trial in &mut self.trials {
            trial.workload.share(&mut self.workloads);
        }
    }

    /// Gives trials that were read with the number of a workload that workload.
    pub(crate) fn resolve_workloads(&mut self) -> Result<(), (u32, u32)> {
        for trial in &mut self.trials {
            let resolved = trial.workload.resolve(&self.workloads);
            resolved.map_err(|number| (trial.id, number))?;
        }
        Ok(())
    }

    /// Returns the metric with that id.
    #[must_use]
    pub fn metric(&self, id: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.id == id)
    }
}

/// The context of a record, by name. Two records are known to match in a value only if it is equal and
/// `unknown` in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// Values that must match before figures are compared: `suite`, `method`, `origin`, `target`, `span`,
    /// `reader`, `bus`, `command_queue`, `cache`.
    pub must: BTreeMap<String, String>,
    /// Values shown beside a comparison that do not prevent it: `board`, `filesystem`, `kernel`, `governor`,
    /// `scheduler`, `preparation` (the last fill by `cardmark prepare`), `fill` (used share of the filesystem, to the
    /// nearest 10 %), `temperature` (highest, whole degrees Celsius).
    pub shown: BTreeMap<String, String>,
}

/// Kind of source of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// Measured by this program on storage.
    Measured,
    /// Measured by this program on a simulated card.
    Simulated,
    /// Read from another tool's output.
    Imported,
    /// Taken from a publication.
    Published,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// Origin of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Kind of source.
    pub kind: OriginKind,
    /// Address or name of the publication, or the model of a simulated card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tool that printed the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The figures as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_text: Option<String>,
}

impl Origin {
    /// Returns an origin of that kind.
    #[must_use]
    pub fn of(kind: OriginKind) -> Self {
        Self {
            kind,
            source: None,
            tool: None,
            printed_text: None,
        }
    }
}

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, where known. This and the next three are not of simulated runs, whose bytes are equal
    /// wherever they are made.
    #[serde(default)]
    pub commit: Option<String>,
    /// True if its sources differed from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<bool>,
    /// Platform it was built for, such as `aarch64-unknown-linux-musl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Profile of the compiler: `release`, or `debug`, whose figures are not the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// The method by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRef {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// SHA-256 of its file, hexadecimal digits; not of simulated runs, whose bytes are equal wherever they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The requested workloads, if not all were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Tier that was run, if the suite has tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
}

/// Kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A test file in a directory.
    Directory,
    /// A raw block device.
    Device,
    /// A simulated card.
    Sim,
    /// Unknown (imported).
    Unknown,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// The target of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Kind of target.
    pub kind: TargetKind,
    /// From the target down to the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Filesystem type, such as `ext4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// Size of the area that offsets lay in, bytes.
    pub span_bytes: u64,
    /// Free bytes before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Used and free bytes of the filesystem together before the run, without blocks reserved for root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem_bytes: Option<u64>,
    /// True if the page cache was bypassed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Mount options that affect the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount_options: Vec<String>,
    /// True if the file was created without copy-on-write, on filesystems that have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nocow: Option<bool>,
    /// True if the file had a name for a moment because `O_TMPFILE` is not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_file: Option<bool>,
    /// Highest speed of payload generation measured before the run, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_rate_bytes_per_s: Option<f64>,
}

impl Target {
    /// Returns a target of this kind with no other properties.
    #[must_use]
    pub fn of(kind: TargetKind) -> Self {
        Self {
            kind,
            layers: Vec::new(),
            filesystem: None,
            span_bytes: 0,
            free_bytes: None,
            filesystem_bytes: None,
            direct: None,
            mount_options: Vec::new(),
            nocow: None,
            named_file: None,
            payload_rate_bytes_per_s: None,
        }
    }
}

/// One step from the target down to the disk. Holds no path, label or UUID of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// What it is.
    pub kind: LayerKind,
    /// The kernel's name of the block device, such as `mmcblk0p2`; absent for mounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// For a partition: its start on the disk, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
}

impl Layer {
    /// Returns the name of the device, or else of the kind.
    #[must_use]
    pub fn name(&self) -> String {
        let device = self.device.clone();
        device.unwrap_or_else(|| name_of(&self.kind))
    }
}

/// Kind of a layer, written as its lower-case name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// A mounted filesystem.
    Mount,
    /// An overlay of several directories.
    Overlay,
    /// Btrfs, whose data may lie on several devices.
    Btrfs,
    /// A loop device.
    Loop,
    /// A device of the device mapper: LVM, encryption.
    Dm,
    /// A RAID of Linux.
    Md,
    /// A cached device.
    Bcache,
    /// A partition.
    Partition,
    /// A whole disk.
    Disk,
    /// Compressed memory.
    Zram,
    /// Storage on another machine.
    Network,
    /// Memory.
    Memory,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// Reason for the end of a trial or of a metric's series of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// One timed execution of a workload in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub bytes_written: u64,
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
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.bytes).sum()
    }

    /// Operations completed inside the clock.
    #[must_use]
    pub fn operations_count(&self) -> u64 {
        self.streams
            .iter()
            .map(|stream| stream.operations_count)
            .sum()
    }

    /// Returns whether the trial ran to its own end, so that figures may rely on it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.stopped_by == StopReason::Goal && self.span_ns > 0 && self.operations_count() > 0
    }
}

/// Share of the written data that was still intact afterwards, in a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// Bytes that were read and compared.
    pub read_bytes: u64,
    /// Of these, bytes of blocks that do not hold the data written to them last.
    pub lost_bytes: u64,
    /// Position of the first such block, bytes from the start of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_lost_bytes: Option<u64>,
}

/// Ramp and drain of a trial: operations before and after its timed span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Windows {
    /// Size of one, bytes.
    pub window_bytes: u64,
    /// Number of complete windows.
    pub windows_count: u64,
    /// The slowest windows, at most 16, slowest first.
    pub slowest: Vec<Window>,
}

/// One window of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Start, bytes from the start of the object.
    pub start_bytes: u64,
    /// Time taken, nanoseconds.
    pub span_ns: u64,
}

/// Totals of one stream of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyHistogram {
    /// Binary logarithm of the steps an octave.
    pub step_bits_count: u32,
    /// Smallest latency, nanoseconds, exact.
    pub min_ns: u64,
    /// Largest latency, nanoseconds, exact.
    pub max_ns: u64,
    /// Sum of all latencies, nanoseconds.
    pub sum_ns: u64,
    /// Index and number of operations of the buckets that are not empty, by rising index.
    #[serde(with = "crate::buckets")]
    #[schemars(with = "Vec<u64>")]
    pub buckets: Vec<(u32, u64)>,
}

/// Work done in a slice: bytes, operations, slowest latency in ns, offset of the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice(pub u64, pub u64, pub u64, pub Option<u64>);

/// An operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationError {
    /// Position, bytes from the start of the object.
    pub offset: u64,
    /// The system's error number; 0 if fewer bytes than requested were moved.
    pub errno: Errno,
    /// Time after the trial's start, nanoseconds.
    pub at_ns: u64,
}

/// Physical quantity of a metric's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Bytes per second.
    ByteRate,
    /// Operations per second.
    OperationRate,
    /// Nanoseconds.
    Span,
    /// Bytes.
    Size,
    /// A number of things.
    Count,
    /// A ratio without dimension.
    Ratio,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

impl Quantity {
    /// Returns whether it is a rate per second.
    #[must_use]
    pub fn is_rate(self) -> bool {
        matches!(self, Self::ByteRate | Self::OperationRate)
    }
}

/// Method by which an interval was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// From the differences between rounds.
    BetweenRounds,
    /// From one trial's own slices; no comparison may rest on it.
    WithinTrial,
    /// No interval.
    None,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// A figure derived from trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Name, such as `rand_read_4k` or `rand_read_4k_p99`; a promise to scripts.
    pub id: String,
    /// Quantity of the value; it determines the unit.
    pub quantity: Quantity,
    /// The point estimate.
    pub value: f64,
    /// Lower end of the 95 % interval; without an interval, the least value if the unit has two readings.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; without an interval, the largest value if the unit has two readings.
    #[serde(default)]
    pub high: Option<f64>,
    /// Method by which the interval was determined.
    pub interval_kind: IntervalKind,
    /// Trials that it is derived from.
    pub trials: Vec<u32>,
    /// Number of parts with independent errors behind the interval, if short trials were merged; otherwise
    /// each trial is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters_count: Option<u32>,
    /// Reason why no further rounds were added.
    pub stopped_by: StopReason,
    /// Kinds of findings that limit trust in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// For rates: bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s: Option<f64>,
    /// For rates: lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_low_bytes_per_s: Option<f64>,
    /// For rates: upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_high_bytes_per_s: Option<f64>,
    /// For rates: operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_s: Option<f64>,
    /// For rates: lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_low_per_s: Option<f64>,
    /// For rates: upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_high_per_s: Option<f64>,
    /// Components of a rate; only of suites that measure in rounds, since method 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<RateParts>,
    /// For rates of five or more rounds: how the rounds differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_rates: Option<RoundRates>,
    /// The figure as printed by the tool whose method the suite reproduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
}

/// Rates of the rounds of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundRates {
    /// Median of the rates, in the unit of the metric.
    pub median: f64,
    /// Trials whose rate is an outlier: its modified z-score (B. Iglewicz and D. Hoaglin, *How to Detect and Handle
    /// Outliers*, 1993) exceeds 3.5, and it is more than 15 % from the median. They count in the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlying_trials: Vec<u32>,
}

/// Latency figure that accompanies the rate of a workload as a metric of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyFigure {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// Largest latency.
    Max,
}

impl LatencyFigure {
    const ALL: [Self; 4] = [Self::Mean, Self::P50, Self::P99, Self::Max];

    fn ending(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Max => "max",
        }
    }

    /// Returns the name of this metric of a workload, such as `rand_read_4k_p99`.
    #[must_use]
    pub fn of(self, workload: &str) -> String {
        format!("{workload}_{}", self.ending())
    }
}

/// Components of a rate. Rates have the unit of the metric's value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateParts {
    /// The rate between stalls in this run, with its 95 % range.
    pub body: Estimate,
    /// Stalls that were seen; absent above queue depth 1, because operations wait for each other there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The rate over a long time on a device that behaves as in this run: its value is the metric's, its ends
    /// allow for stalls that are too rare to have been seen. Absent if stalls are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_run: Option<Estimate>,
    /// For writes: the rate including the flush after each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable_per_s: Option<f64>,
    /// Cost of changing to this workload and away from it; absent in records that do not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
}

/// A value and the ends of its 95 % range, if known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub high: Option<f64>,
}

/// Operations that took at least 100 ms longer than the median one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stalls {
    /// Time during which stalls were counted, nanoseconds.
    pub observed_ns: u64,
    /// Stalls of 100 ms and longer.
    pub over_100ms: StallCount,
    /// Stalls of 500 ms and longer.
    pub over_500ms: StallCount,
    /// Stalls of 1 s and longer.
    pub over_1s: StallCount,
    /// The longest stall, nanoseconds; absent if none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
    /// Share of the time spent in stalls, 0 to 1; the upper end holds for stalls of up to 2 s.
    pub time_ratio: Estimate,
}

/// Number of stalls seen, and the resulting stalls a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StallCount {
    /// Stalls seen.
    pub seen_count: u64,
    /// Stalls a minute, with the exact 95 % range of a Poisson process (Garwood 1936).
    pub per_minute: Estimate,
}

/// Time before, between and after trials in which a card does deferred work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transition {
    /// Extra time of ramp, drain and flush, compared with their operations at the body's rate, as a share of
    /// all time spent on the workload, 0 to 1.
    pub time_ratio: f64,
    /// The longest of ramp operations, drain operations and flushes, nanoseconds.
    pub longest_ns: u64,
}

impl Metric {
    /// A metric with neither interval nor rates, which rests on no trial yet.
    #[must_use]
    pub fn new(id: impl Into<String>, quantity: Quantity, value: f64) -> Self {
        Self {
            id: id.into(),
            quantity,
            value,
            low: None,
            high: None,
            interval_kind: IntervalKind::None,
            trials: Vec::new(),
            clusters_count: None,
            stopped_by: StopReason::Goal,
            warnings: Vec::new(),
            rate_bytes_per_s: None,
            rate_low_bytes_per_s: None,
            rate_high_bytes_per_s: None,
            operations_per_s: None,
            operations_low_per_s: None,
            operations_high_per_s: None,
            parts: None,
            round_rates: None,
            printed: None,
        }
    }

    /// Returns the workload and the figure if it is a latency that accompanies the rate of a workload.
    #[must_use]
    pub fn latency(&self) -> Option<(&str, LatencyFigure)> {
        let (workload, end) = self.id.rsplit_once('_')?;
        let figure = LatencyFigure::ALL
            .into_iter()
            .find(|figure| figure.ending() == end);
        Some((
            workload,
            figure.filter(|_| self.quantity == Quantity::Span)?,
        ))
    }

    /// Returns half of the width of its interval, relative to the middle of the interval; of a rate with parts that of
    /// the body. `None` without an interval.
    #[must_use]
    pub fn half_width_ratio(&self) -> Option<f64> {
        let body = self.parts.as_ref().map(|parts| parts.body);
        let body = body.and_then(|body| body.low.zip(body.high));
        // The two readings of a unit are no interval.
        let is_interval = self.interval_kind != IntervalKind::None;
        let own = self.low.zip(self.high).filter(|_| is_interval);
        let (low, high) = body.or(own).filter(|(low, high)| low + high > 0.0)?;
        Some((high - low) / (high + low))
    }

    /// Returns the warning that voids it as a figure of the device; `None` if there is none.
    #[must_use]
    pub fn voided_by(&self) -> Option<&str> {
        let is_voiding = |warning: &&str| {
            FindingKind::VOIDING
                .iter()
                .any(|kind| kind.name() == **warning)
        };
        self.warnings.iter().map(String::as_str).find(is_voiding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_kinds_are_names_and_those_of_other_versions_stay() {
        for (kind, name) in [
            (LayerKind::Loop, "loop"),
            (LayerKind::Md, "md"),
            (LayerKind::Other(Word::new("zoned").unwrap()), "zoned"),
        ] {
            let json = format!("{{\"kind\":\"{name}\"}}");
            let layer: Layer = serde_json::from_str(&json).unwrap();
            assert_eq!(layer.kind, kind);
            assert_eq!(layer.name(), name);
            assert_eq!(serde_json::to_string(&layer).unwrap(), json);
        }
        // A name of somebody's is no kind.
        assert!(serde_json::from_str::<Layer>("{\"kind\":\"Ada at home\"}").is_err());
    }

    #[test]
    fn the_half_width_is_that_of_the_body_if_there_is_one() {
        let mut metric = Metric::new("rand_read_4k", Quantity::OperationRate, 100.0);
        (metric.low, metric.high) = (Some(90.0), Some(110.0));
        // Two readings of a unit.
        assert_eq!(metric.half_width_ratio(), None);
        metric.interval_kind = IntervalKind::BetweenRounds;
        assert_eq!(metric.half_width_ratio(), Some(0.1));
        let body = Estimate {
            value: 100.0,
            low: Some(95.0),
            high: Some(105.0),
        };
        metric.parts = Some(RateParts {
            body,
            ..RateParts::default()
        });
        assert_eq!(metric.half_width_ratio(), Some(0.05));
    }

    #[test]
    fn latencies_belong_to_workloads() {
        let span = |id: &str| Metric::new(id, Quantity::Span, 1.0);
        let p99 = span(&LatencyFigure::P99.of("rand_read_4k"));
        assert_eq!(p99.id, "rand_read_4k_p99");
        assert_eq!(p99.latency(), Some(("rand_read_4k", LatencyFigure::P99)));
        assert_eq!(span("longest_pause").latency(), None);
        let rate = Metric::new("iozone_t4_read_max", Quantity::ByteRate, 1.0);
        assert_eq!(rate.latency(), None);
    }
}
