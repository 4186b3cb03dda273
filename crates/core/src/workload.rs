//! A workload: one I/O pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order the blocks of the span are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One block after the other; at the end of the span it starts again. A later trial goes on
    /// where the one before stopped.
    Sequential,
    /// Uniformly drawn, aligned to the block size, with replacement.
    Random,
    /// Every block once, in the order that iozone always takes: see [`permutation`].
    ///
    /// [`permutation`]: crate::permutation
    Permuted,
}

/// When written data are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// Never asked for within a trial; once after it, outside the clock, and its time is recorded.
    AfterTrial,
    /// `fdatasync` after every write; both together are one operation with one latency.
    EachOperation,
    /// Once at the end of a trial, by `fsync`, inside its span: what the old tools do.
    InSpan,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// Seeded, incompressible, different in every 4 KiB block.
    Incompressible,
    /// Zeros, as dd and ddrescue take them from `/dev/zero`.
    Zeros,
    /// iozone's: eight bytes 0x5F at the start of every 4 KiB, zeros else.
    Iozone,
}

/// What a workload works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Object {
    /// The target itself: our file in the directory, or the device.
    #[default]
    Target,
    /// The disk below the target; it is only read.
    Disk,
}

/// Whether the page cache stands between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is passed by (`O_DIRECT`).
    #[default]
    Direct,
    /// Operations go through it. What it holds of the object is dropped before the trial.
    Cached,
}

/// The state of the file before the clock starts. A device stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// As the workload before left it.
    #[default]
    Kept,
    /// Cut to nothing.
    Empty,
    /// Cut to nothing, then its blocks reserved but not written (`fallocate`).
    Allocated,
    /// Cut to nothing, then written once through the page cache and made durable.
    Written,
}

/// When a trial ends: as soon as *both* minima are reached, or `most_bytes` have been moved. Where
/// both minima are zero, `most_bytes` alone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRule {
    /// Least span of the trial, nanoseconds.
    #[serde(default)]
    pub least_span_ns: u64,
    /// Least number of operations completed.
    #[serde(default)]
    pub least_operations_count: u64,
    /// The trial ends once this many bytes have been submitted (exact work, as for the layout).
    /// 0 in a suite: the whole span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
}

impl StopRule {
    /// Whether the minima say when the trial ends.
    #[must_use]
    pub fn has_minima(&self) -> bool {
        let is_exact = self.most_bytes.is_some();
        self.least_span_ns > 0 || self.least_operations_count > 0 || !is_exact
    }
}

/// One I/O pattern on one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name of the workload and of its rate metric, such as `rand_read_4k`.
    pub id: String,
    /// Share of reads among the operations, 0–100.
    pub read_share_percent: u8,
    /// Order of the blocks.
    pub order: Order,
    /// Size of one operation in bytes; a power of two of at least 512.
    pub block_bytes: u64,
    /// Operations in flight, 1–256.
    pub queue_depth: u32,
    /// Bytes of the object from its start in which offsets lie. 0 in a suite: all of it.
    pub span_bytes: u64,
    /// When written data are made durable.
    pub flush: Flush,
    /// What is written.
    pub payload: Payload,
    /// Operations run before the clock starts, for this long, nanoseconds.
    #[serde(default)]
    pub ramp_ns: u64,
    /// When a trial ends.
    pub stop: StopRule,
    /// Whether `<id>_p50`, `<id>_p99` and `<id>_max` are derived too.
    #[serde(default)]
    pub latency_metrics: bool,
    /// What an old tool does otherwise than we do.
    #[serde(default, skip_serializing_if = "is_default")]
    pub manner: Manner,
}

/// What an old tool does otherwise than we do. The default is our way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Manner {
    /// What the workload works on.
    #[serde(skip_serializing_if = "is_default")]
    pub object: Object,
    /// Whether the page cache stands between.
    #[serde(skip_serializing_if = "is_default")]
    pub access: Access,
    /// The state of the file before the clock starts.
    #[serde(skip_serializing_if = "is_default")]
    pub start: Start,
    /// Idle time before the clock starts, nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub rest_ns: u64,
    /// Whether the first block is read once before the clock starts.
    #[serde(skip_serializing_if = "is_default")]
    pub lead_read: bool,
    /// After a read, inside the clock: one byte in so many is touched; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub touch_bytes: u64,
    /// Streams at once, each at queue depth 1 on an object of its own. The first that is through
    /// its span ends the counting for all (iozone's stone wall).
    #[serde(skip_serializing_if = "is_one")]
    pub streams_count: u32,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            object: Object::Target,
            access: Access::Direct,
            start: Start::Kept,
            rest_ns: 0,
            lead_read: false,
            touch_bytes: 0,
            streams_count: 1,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl Workload {
    /// Whether any operation writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_share_percent < 100
    }

    /// Whether any operation reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.read_share_percent > 0
    }

    /// Operations in flight at once, over all streams.
    #[must_use]
    pub fn in_flight_count(&self) -> u32 {
        self.queue_depth.saturating_mul(self.manner.streams_count)
    }

    /// Number of whole blocks in the span.
    #[must_use]
    pub fn blocks_count(&self) -> u64 {
        self.span_bytes / self.block_bytes.max(1)
    }
}
