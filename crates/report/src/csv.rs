//! Comma-separated values as in RFC 4180: one row for each metric of each record.

use cardmark_core::{IntervalKind, Metric, Quantity, Record, TargetKind, is_hidden};

use crate::names::origin_word;

const COLUMNS: [&str; 15] = [
    "record_id",
    "started_at",
    "suite",
    "suite_version",
    "origin",
    "target_kind",
    "board_model",
    "metric",
    "quantity",
    "unit",
    "value",
    "low",
    "high",
    "interval_kind",
    "warnings",
];

/// The metrics of these records as a table, heading first. Texts that a spreadsheet would take
/// for a formula begin with an apostrophe; several warnings are separated by spaces.
#[must_use]
pub fn csv(records: &[Record]) -> String {
    let rows: String = records.iter().map(csv_rows).collect();
    csv_heading() + &rows
}

/// The heading of the table, for writing it record by record.
#[must_use]
pub fn csv_heading() -> String {
    COLUMNS.join(",") + "\r\n"
}

/// The rows of one record.
#[must_use]
pub fn csv_rows(record: &Record) -> String {
    record
        .metrics
        .iter()
        .map(|metric| row(record, metric).join(",") + "\r\n")
        .collect()
}

fn row(record: &Record, metric: &Metric) -> [String; COLUMNS.len()] {
    let suite = record.suite.as_ref();
    let board = record
        .board
        .as_ref()
        .and_then(|board| board.model.as_deref());
    [
        record.id.to_string(),
        text(record.started_at.as_deref().unwrap_or_default()),
        text(suite.map_or("", |suite| &suite.name)),
        suite
            .map(|suite| suite.version.to_string())
            .unwrap_or_default(),
        origin_word(record.origin.kind).to_owned(),
        record
            .target
            .as_ref()
            .map_or("", |target| target_kind(target.kind))
            .to_owned(),
        text(board.unwrap_or_default()),
        text(&metric.id),
        quantity(metric.quantity).0.to_owned(),
        quantity(metric.quantity).1.to_owned(),
        number(Some(metric.value)),
        number(metric.low),
        number(metric.high),
        interval_kind(metric.interval_kind).to_owned(),
        text(&metric.warnings.join(" ")),
    ]
}

/// A text as a field: `?` for hidden characters except tab and line feed, no formula, in quotes
/// where it needs them.
fn text(value: &str) -> String {
    let is_kept = |letter: char| matches!(letter, '\t' | '\n') || !is_hidden(letter);
    let value: String = value
        .chars()
        .map(|letter| if is_kept(letter) { letter } else { '?' })
        .collect();
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let value = if is_formula {
        format!("'{value}")
    } else {
        value
    };
    if value.contains([',', '"', '\r', '\n']) || value.starts_with(' ') || value.ends_with(' ') {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value
    }
}

/// The shortest text that reads back as the same number; empty where there is none.
fn number(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map(|value| value.to_string())
        .unwrap_or_default()
}

/// The name of a quantity and its unit.
fn quantity(quantity: Quantity) -> (&'static str, &'static str) {
    match quantity {
        Quantity::ByteRate => ("byte_rate", "bytes/s"),
        Quantity::OperationRate => ("operation_rate", "operations/s"),
        Quantity::Span => ("span", "ns"),
        Quantity::Size => ("size", "bytes"),
        Quantity::Count => ("count", "1"),
        Quantity::Ratio => ("ratio", "1"),
    }
}

fn target_kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "directory",
        TargetKind::Device => "device",
        TargetKind::Sim => "sim",
        TargetKind::Unknown => "unknown",
    }
}

fn interval_kind(kind: IntervalKind) -> &'static str {
    match kind {
        IntervalKind::BetweenRounds => "between_rounds",
        IntervalKind::WithinTrial => "within_trial",
        IntervalKind::None => "none",
    }
}
