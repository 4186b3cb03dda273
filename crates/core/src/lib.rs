//! Words and numbers of cardmark: workloads, suites, the record, the seeded generator.
//!
//! Pure: nothing here reads a clock, a file, the environment or a random source.

mod finding;
mod identity;
mod payload;
mod preparation;
mod record;
mod rng;
mod suite;
mod upgrade;
mod workload;

pub use finding::{Finding, FindingKind, Severity};
pub use identity::{run_id_from_bytes, sample_id, simulated_run_id};
pub use payload::{PAYLOAD_POOL_BYTES, STAMP_STRIDE_BYTES, fill_payload, stamp_payload};
pub use preparation::{FILL_BLOCK_BYTES, Fill, Preparation, fill_content};
pub use record::{
    Board, DeviceCounters, DeviceInfo, FORMAT, Host, IntervalKind, LatencyHistogram, Layer, METHOD,
    Metric, OperationError, Origin, OriginKind, Quantity, Queue, Record, SensorSample, Slice,
    StopReason, StreamTotals, SuiteRef, Target, TargetKind, Tool, Trial,
};
pub use rng::{Rng, mix};
pub use suite::{Suite, SuiteError};
pub use upgrade::{ParseError, parse_record, record_to_json};
pub use workload::{Flush, Order, Payload, StopRule, Workload};

/// One kibibyte: 1,024 bytes.
pub const KIB: u64 = 1024;
/// One mebibyte: 2²⁰ bytes.
pub const MIB: u64 = 1024 * KIB;
/// One second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
