//! Records with defaults.

use cardmark_core::{
    Finding, FindingKind, Flush, IntervalKind, Manner, Metric, Order, Origin, OriginKind, Payload,
    Quantity, Record, Severity, StopRule, SuiteRef, Target, TargetKind, Trial, Workload,
};
use uuid::Uuid;

/// A measured record of `quick` whose id begins with these digits.
pub(crate) fn record(digits: &str) -> Record {
    let id = Uuid::parse_str(&format!("{digits:0<32}")).unwrap();
    let mut record = Record::new(id, Origin::of(OriginKind::Measured));
    record.started_at = Some("2025-03-04T12:00:00Z".to_owned());
    record.suite = Some(SuiteRef {
        name: "quick".to_owned(),
        version: 1,
        digest: None,
        only: Vec::new(),
        tier: None,
    });
    record.target = Some(Target {
        kind: TargetKind::Directory,
        layers: Vec::new(),
        filesystem: Some("ext4".to_owned()),
        span_bytes: 268_435_456,
        free_bytes: None,
        filesystem_bytes: None,
        direct: Some(true),
        mount_options: Vec::new(),
        nocow: None,
        named_file: None,
        payload_rate_bytes_per_s: Some(0.1 + 0.2),
    });
    record
        .labels
        .insert("product".to_owned(), "Example 64".to_owned());
    record.metrics = vec![
        metric("seq_write_1m", Quantity::ByteRate, 23_456_789.125),
        metric("rand_read_4k", Quantity::OperationRate, 2310.5),
        metric("rand_read_4k_p99", Quantity::Span, 1_234_567.0),
    ];
    record
}

pub(crate) fn metric(id: &str, quantity: Quantity, value: f64) -> Metric {
    Metric {
        low: Some(value * 0.97),
        high: Some(value * 1.03),
        interval_kind: IntervalKind::BetweenRounds,
        trials: vec![0, 1, 2],
        ..Metric::new(id, quantity, value)
    }
}

pub(crate) fn trial(id: u32) -> Trial {
    let workload = Workload {
        id: "seq_write_1m".to_owned(),
        read_share_percent: 0,
        order: Order::Sequential,
        block_bytes: 1 << 20,
        queue_depth: 1,
        span_bytes: 1 << 28,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: 1,
            least_operations_count: 1,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    };
    let json = serde_json::json!({
        "id": id, "workload": workload, "round_index": id, "started_ns": 7, "span_ns": 1000,
        "streams": [{"bytes": 1 << 20, "operations_count": 1, "read_operations_count": 0, "span_ns": 1000}],
        "latency": {"step_bits": 7, "min_ns": 1, "max_ns": 9, "sum_ns": 10, "buckets": [0, 1, -7, 1]},
        "slice_span_ns": 100, "slices": [[1 << 20, 1, 1000, null]],
        "written_bytes": 1 << 20, "stopped_by": "goal",
    });
    serde_json::from_value(json).unwrap()
}

pub(crate) fn finding() -> Finding {
    Finding::new(
        FindingKind::Throttled,
        Severity::Warning,
        "the board slowed itself down",
    )
    .on("seq_write_1m")
}
