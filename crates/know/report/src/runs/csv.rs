//! Comma-separated values as in RFC 4180: one row for each metric of each record.

use std::fmt::{self, Display, Formatter};

use cardmark_core::{Metric, Quantity, Record, is_hidden};
use serde::Serialize;

use crate::runs::survey::publication_of;

const COLUMNS: [&str; 22] = [
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
    "product",
    "printed",
    "publication",
    "author",
    "published",
    "address",
    "licence",
];

/// The metrics of these records as a table, heading first. Texts that a spreadsheet would take
/// for a formula begin with an apostrophe; several warnings are separated by spaces.
pub fn csv(records: &[Record]) -> String {
    let rows: String = records.iter().map(csv_rows).collect();
    csv_heading() + &rows
}

/// The heading of the table, for writing it record by record.
pub fn csv_heading() -> String {
    COLUMNS.join(",") + "\r\n"
}

/// The rows of one record.
pub fn csv_rows(record: &Record) -> String {
    record
        .metrics
        .iter()
        .map(|metric| row(record, metric).join(",") + "\r\n")
        .collect()
}

fn row(record: &Record, metric: &Metric) -> [String; COLUMNS.len()] {
    let suite = record.suite.as_ref();
    let publication = publication_of(record);
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
        Name(record.origin.kind).to_string(),
        record
            .target
            .as_ref()
            .map_or_else(String::new, |target| Name(target.kind).to_string()),
        text(board.unwrap_or_default()),
        text(&metric.id),
        Name(metric.quantity).to_string(),
        unit(metric.quantity).to_owned(),
        number(Some(metric.value)),
        number(metric.low),
        number(metric.high),
        Name(metric.interval_kind).to_string(),
        text(&metric.warnings.join(" ")),
        text(record.labels.get("product").map_or("", String::as_str)),
        text(metric.printed.as_ref().map_or("", |printed| &printed.text)),
        text(publication.map_or("", |known| &known.title)),
        text(publication.map_or("", |known| &known.author)),
        text(
            publication
                .and_then(|known| known.published.as_deref())
                .unwrap_or_default(),
        ),
        text(publication.map_or("", |known| &known.address)),
        text(publication.map_or("", |known| &known.licence)),
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

/// A value of an enumeration by its name in records.
struct Name<T>(T);

impl<T: Serialize> Display for Name<T> {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        self.0.serialize(text)
    }
}

fn unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ByteRate => "bytes/s",
        Quantity::OperationRate => "operations/s",
        Quantity::Span => "ns",
        Quantity::Size => "bytes",
        Quantity::Count | Quantity::Ratio => "1",
        Quantity::Other(_) => "",
    }
}
