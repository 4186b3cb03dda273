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
}

/// When written data are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// Never asked for within a trial; once after it, outside the clock, and its time is recorded.
    AfterTrial,
    /// `fdatasync` after every write; both together are one operation with one latency.
    EachOperation,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// Seeded, incompressible, different in every 4 KiB block.
    Incompressible,
}

/// When a trial ends: as soon as *both* minima are reached, or `most_bytes` have been moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRule {
    /// Least span of the trial, nanoseconds.
    pub least_span_ns: u64,
    /// Least number of operations completed.
    pub least_operations_count: u64,
    /// The trial ends once this many bytes have been submitted (exact work, as for the layout).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
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
    /// Bytes of the object from its start in which offsets lie.
    pub span_bytes: u64,
    /// When written data are made durable.
    pub flush: Flush,
    /// What is written.
    pub payload: Payload,
    /// Operations run before the clock starts, for this long, nanoseconds.
    pub ramp_ns: u64,
    /// When a trial ends.
    pub stop: StopRule,
    /// Whether `<id>_p50`, `<id>_p99` and `<id>_max` are derived too.
    pub latency_metrics: bool,
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

    /// Number of whole blocks in the span.
    #[must_use]
    pub fn blocks_count(&self) -> u64 {
        self.span_bytes / self.block_bytes.max(1)
    }
}
