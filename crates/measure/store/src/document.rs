//! Documents: records as the bytes that are stored.

use std::string::FromUtf8Error;

use cardmark_core::{Record, parse_record, record_id, record_to_json};
use rusqlite::Row;
use serde_json::Value;
use uuid::Uuid;

use crate::damage::run_of;
use crate::failure::Failure;
use crate::{DocumentError, StoreError, rows};

/// Damage of a row whose document is not readable.
pub(crate) const DOCUMENT_DAMAGE: &str = "its document is not readable";

/// Parses the record in a row of id and document. Returns the document too.
pub(crate) fn record_of(row: &Row<'_>) -> Result<(Record, String), Failure> {
    let (run, document) = text_of(row)?;
    Ok((parse(&run, &document)?, document))
}

/// Returns id and document of a row, whose document is not read further than that.
pub(crate) fn document_in_row(row: &Row<'_>) -> Result<(Uuid, String), Failure> {
    let (run, document) = text_of(row)?;
    let refuse = |source| StoreError::Document {
        id: run.clone(),
        source,
    };
    let id = record_id(&document).map_err(|error| refuse(DocumentError::Parse(error)))?;
    match id.to_string() == run {
        true => Ok((id, document)),
        false => Err(refuse(DocumentError::OtherRun(id)).into()),
    }
}

/// The run of a row, and its document.
fn text_of(row: &Row<'_>) -> Result<(String, String), Failure> {
    let run = run_of(row);
    let Ok(document) = row.get::<_, Vec<u8>>(1) else {
        let what = DOCUMENT_DAMAGE;
        return Err(Failure::Damaged { run, what });
    };
    let refuse = |error: FromUtf8Error| StoreError::Document {
        id: run.clone(),
        source: DocumentError::NotText(error.utf8_error()),
    };
    let document = String::from_utf8(document).map_err(refuse)?;
    Ok((run, document))
}

/// Returns the document of a record, whose figures must be finite.
pub(crate) fn document_of(record: &Record) -> Result<String, StoreError> {
    let refuse = |source| StoreError::Document {
        id: record.id.to_string(),
        source,
    };
    if let Some(metric) = rows::not_finite(record) {
        return Err(refuse(DocumentError::NotFinite(metric.to_owned())));
    }
    record_to_json(record).map_err(|error| refuse(DocumentError::Encode(error)))
}

/// Parses the document of the run with this id.
pub(crate) fn parse(id: &str, document: &str) -> Result<Record, StoreError> {
    let refuse = |source| StoreError::Document {
        id: id.to_owned(),
        source,
    };
    let record = parse_record(document).map_err(|error| refuse(DocumentError::Parse(error)))?;
    if record.id.to_string() == id {
        Ok(record)
    } else {
        Err(refuse(DocumentError::OtherRun(record.id)))
    }
}

/// Returns whether two documents have the same content, fields unknown to this version included. White space, the order of
/// fields and the way of writing a number do not matter.
pub(crate) fn is_same(stored: &[u8], document: &str) -> bool {
    if stored == document.as_bytes() {
        return true;
    }
    let value = |text: &[u8]| serde_json::from_slice::<Value>(text);
    match (value(stored), value(document.as_bytes())) {
        (Ok(one), Ok(other)) => is_same_value(&one, &other),
        _ => false,
    }
}

fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same_value(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in = |(key, value): (&String, &Value)| {
                other
                    .get(key)
                    .is_some_and(|other| is_same_value(value, other))
            };
            one.len() == other.len() && one.iter().all(is_in)
        }
        (Value::Number(number), Value::Number(other)) if number.is_f64() || other.is_f64() => {
            number.as_f64() == other.as_f64()
        }
        _ => one == other,
    }
}
