//! A record with defaults, and pieces to add.

use cardmark_core::{
    Board, DeviceInfo, Finding, FindingKind, IntervalKind, Layer, LayerKind, Metric, Origin,
    OriginKind, Quantity, Record, Severity, SuiteRef, Target, TargetKind, Tool,
};
use uuid::Uuid;

/// A record of `quick` on a card in a Raspberry Pi, without figures.
pub(crate) fn empty() -> Record {
    let id = Uuid::parse_str("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap();
    let mut record = Record::new(id, Origin::of(OriginKind::Measured));
    record.tool = Some(Tool {
        name: "cardmark".to_owned(),
        version: "0.1.0".to_owned(),
        commit: None,
        modified: None,
        target: None,
        profile: None,
    });
    record.started_at = Some("2025-03-04T12:00:41Z".to_owned());
    record.suite = Some(SuiteRef {
        name: "quick".to_owned(),
        version: 1,
        digest: None,
        only: Vec::new(),
        tier: None,
    });
    record.target = Some(Target {
        kind: TargetKind::Directory,
        layers: vec![
            layer(LayerKind::Mount, None),
            layer(LayerKind::Partition, Some("mmcblk0p2")),
            layer(LayerKind::Disk, Some("mmcblk0")),
        ],
        filesystem: Some("ext4".to_owned()),
        span_bytes: 268_435_456,
        free_bytes: None,
        filesystem_bytes: None,
        direct: Some(true),
        mount_options: Vec::new(),
        nocow: None,
        named_file: None,
        payload_rate_bytes_per_s: None,
    });
    record.devices = vec![DeviceInfo {
        name: "mmcblk0".to_owned(),
        size_bytes: Some(63_864_569_856),
        model: Some("SD64G".to_owned()),
        ..DeviceInfo::default()
    }];
    record.board = Some(Board {
        model: Some("Raspberry Pi 4 Model B Rev 1.4".to_owned()),
        ..Board::default()
    });
    record
}

fn layer(kind: LayerKind, device: Option<&str>) -> Layer {
    Layer {
        kind,
        device: device.map(str::to_owned),
        start_bytes: None,
    }
}

/// A record of `quick` with all its figures but one, a warning and a note.
pub(crate) fn full() -> Record {
    let mut record = empty();
    for (id, megabytes_per_s, block_bytes, share) in [
        ("seq_write_1m", 23.44, 1_048_576.0, 0.012),
        ("seq_read_1m", 43.71, 1_048_576.0, 0.002),
        ("rand_read_4k", 9.216, 4096.0, 0.021),
        ("rand_write_4k", 2.871, 4096.0, 0.114),
        ("rand_read_4k_q32", 12.03, 4096.0, 0.018),
        ("mixed_4k", 3.114, 4096.0, 0.027),
        ("sync_write_4k", 0.4122, 4096.0, 0.03),
    ] {
        record
            .metrics
            .push(rate(id, megabytes_per_s * 1e6, block_bytes, share));
        if block_bytes < 5000.0 {
            record
                .metrics
                .push(span(&format!("{id}_p50"), 4.1e11 / megabytes_per_s / 1e6));
            record
                .metrics
                .push(span(&format!("{id}_p99"), 4.1e12 / megabytes_per_s / 1e6));
        }
    }
    warn(&mut record, "rand_write_4k", "wide_interval");
    record.findings = vec![
        Finding::new(
            FindingKind::Unverified,
            Severity::Note,
            "the model is what the reader says",
        ),
        Finding::new(
            FindingKind::WideInterval,
            Severity::Warning,
            "the interval is ±11 % of the rate after 24 rounds; the goal is ±3 %",
        )
        .on("rand_write_4k"),
        Finding::new(
            FindingKind::IoError,
            Severity::Error,
            "write at 12.3 MB failed: input/output error (EIO)",
        )
        .on("rand_write_4k_q32"),
    ];
    record.written_bytes = 1_612_345_678;
    record
        .labels
        .insert("product".to_owned(), "Example Ultra 64".to_owned());
    record
}

/// A rate with an interval of that relative half width.
pub(crate) fn rate(id: &str, bytes_per_s: f64, block_bytes: f64, share: f64) -> Metric {
    let (low, high) = (bytes_per_s * (1.0 - share), bytes_per_s * (1.0 + share));
    Metric {
        low: Some(low),
        high: Some(high),
        interval_kind: IntervalKind::BetweenRounds,
        rate_bytes_per_s: Some(bytes_per_s),
        rate_low_bytes_per_s: Some(low),
        rate_high_bytes_per_s: Some(high),
        operations_per_s: Some(bytes_per_s / block_bytes),
        operations_low_per_s: Some(low / block_bytes),
        operations_high_per_s: Some(high / block_bytes),
        ..bare(id, Quantity::ByteRate, bytes_per_s)
    }
}

pub(crate) fn span(id: &str, span_ns: f64) -> Metric {
    bare(id, Quantity::Span, span_ns)
}

/// A metric without an interval.
pub(crate) fn bare(id: &str, quantity: Quantity, value: f64) -> Metric {
    Metric {
        trials: vec![0, 1, 2],
        ..Metric::new(id, quantity, value)
    }
}

pub(crate) fn warn(record: &mut Record, id: &str, kind: &str) {
    for metric in record.metrics.iter_mut().filter(|metric| metric.id == id) {
        metric.warnings.push(kind.to_owned());
    }
}
