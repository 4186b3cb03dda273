//! Words and numbers of cardmark: workloads, suites, the record, the seeded generator.
//!
//! Pure: nothing here reads a clock, a file, the environment or a random source.

pub use cardmark_cards::{Card, CardFacts, CardKind, Health, SerialKind, Word};

mod anatomy;
mod buckets;
mod columns;
mod constants;
mod context;
mod counters;
mod device;
mod errno;
mod evidence;
mod finding;
mod host;
mod identity;
mod integrity;
mod kernel_log;
mod look;
mod metric;
mod offsets;
mod payload;
mod permutation;
mod preparation;
mod printed;
mod procedure;
mod public_form;
mod readings;
mod record;
mod rng;
mod shared_workload;
mod shuffle;
mod spread;
mod statement;
mod subject;
mod suite;
mod text;
mod trial;
mod trials;
mod upgrade;
mod verdict;
mod workload;

pub use anatomy::{Anatomy, BoundaryTime, OpenUnits, TurnTime, UnitSource, UnitStep};
pub use constants::{CONSTANTS, Constant};
pub use context::{ContextRow, context_rows, told};
pub use counters::DeviceCounters;
pub use device::{
    AspmState, Bus, BusMode, BusSource, DeviceInfo, NoSample, PcieLink, Queue, Reader, ReaderKind,
    Sample, SampleFrom, SampleOf, UsbBridge, UsbController, is_sold_as,
};
pub use errno::Errno;
pub use evidence::evidence_digest;
pub use finding::{Finding, FindingKind, NoticedBy, Severity, name_of};
pub use host::{Board, Firmware, FirmwareKind, Host, HostLoad, MOST_MESSAGES, SensorSample};
pub use identity::{run_id_from_bytes, simulated_run_id};
pub use integrity::{
    ASSUMED_CACHE_BYTES, BlockCounts, BlockState, Integrity, IntegrityTest, Milestone, PlaceSpeed,
    Sampling, StorageKind, SurfacePart, WritePattern,
};
pub use kernel_log::{KernelFault, KernelTrouble, kernel_fault, kernel_trouble};
pub use look::{DiskLook, FilesystemLook, LogCount, LogLook, Look, PowerLook, ProcessWrites};
pub use metric::{
    Estimate, IntervalKind, LatencyFigure, Metric, Quantity, RateParts, RoundRates, StallCount,
    Stalls, Transition,
};
pub use offsets::{Offsets, ReadShare, TrialDraws};
pub use payload::{PAYLOAD_POOL_BYTES, STAMP_STRIDE_BYTES, fill_payload, stamp_payload};
pub use permutation::permutation;
pub use preparation::{FILL_BLOCK_BYTES, Fill, Preparation, fill_content};
pub use printed::{PrintStyle, Printed};
pub use procedure::{DatabaseJournal, Procedure};
pub use public_form::{PublicForm, is_keepable, keepable_fields, public_form};
pub use record::{
    Context, FORMAT, Layer, LayerKind, METHOD, Origin, OriginKind, ReadBack, Record, STATEMENT,
    SuiteRef, Target, TargetKind, Tool,
};
pub use rng::{Rng, mix};
pub use shared_workload::SharedWorkload;
pub use shuffle::Shuffle;
pub use spread::{SPREAD_PLACES_COUNT, spread_place, spread_start};
pub use statement::{
    CLAIMS_LABEL, Statement, documents_of, is_statement, parse_run_file, parse_statement,
};
pub use subject::Subject;
pub use suite::{CourseFigure, Figure, FigureOf, Passes, Score, Suite, TargetNeed, Tier, TierPart};
pub use text::{clean, is_hidden, visible};
pub use trial::{
    LatencyHistogram, OperationError, Slice, StopReason, StreamTotals, Trial, Untimed, Window,
    Windows,
};
pub use upgrade::{
    MINOR, MOST_INTEGER, MOST_ITEMS, MOST_RECORD_BYTES, MOST_TEXT_BYTES, ParseError, parse_record,
    record_id, record_to_json,
};
pub use verdict::{CAPACITY_RULE, Derived, Verdict, VerdictOutcome};
pub use workload::{
    Access, Flush, LeastWritten, Manner, Object, Order, Payload, Refill, Region, Rounds, Start,
    StopRule, Workload,
};

/// One kibibyte: 1,024 bytes.
pub const KIB: u64 = 1024;
/// One mebibyte: 2²⁰ bytes.
pub const MIB: u64 = 1024 * KIB;
/// One second in nanoseconds.
pub const SECOND_NS: u64 = 1_000_000_000;
