//! Reading and writing the document. Readers accept all older formats by pure upgrade steps;
//! format 1 is the first, so there is no step yet.

use serde_json::Value;
use thiserror::Error;

use crate::{FORMAT, Record};

/// Reason why a text is not a record.
#[derive(Debug, Error)]
pub enum ParseError {
    /// Not JSON, or not of the record's shape.
    #[error("not a record")]
    Shape(#[from] serde_json::Error),
    /// The field `format` is missing.
    #[error("not a record: no `format`")]
    NoFormat,
    /// The format is one this program does not know.
    #[error("record of format {0}; this program reads formats up to {FORMAT}")]
    Newer(u64),
}

/// Reads a record of any known format.
///
/// # Errors
/// When the text is no JSON, has no known `format`, or is not of its shape.
pub fn parse_record(text: &str) -> Result<Record, ParseError> {
    let value: Value = serde_json::from_str(text)?;
    match value.get("format").and_then(Value::as_u64) {
        None => Err(ParseError::NoFormat),
        Some(format) if format == u64::from(FORMAT) => Ok(serde_json::from_value(value)?),
        Some(format) => Err(ParseError::Newer(format)),
    }
}

/// Writes a record as one line of JSON, fields in the order of the type.
///
/// # Errors
/// When a number is not finite, which no code path here makes.
pub fn record_to_json(record: &Record) -> Result<String, serde_json::Error> {
    serde_json::to_string(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_fields_make_a_record_and_unknown_ones_survive() {
        let text = r#"{"format":1,"id":"67e55044-10b1-426f-9247-bb680e5fe0c8","origin":{"kind":"published"},"unheard_of":[{"start_bytes":0}]}"#;
        let record = parse_record(text).unwrap();
        let again = record_to_json(&record).unwrap();
        assert!(
            again.contains(r#""unheard_of":[{"start_bytes":0}]"#),
            "{again}"
        );
        assert_eq!(parse_record(&again).unwrap(), record);
    }

    #[test]
    fn a_newer_format_is_named() {
        let error = parse_record(r#"{"format":2}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "record of format 2; this program reads formats up to 1"
        );
        assert!(matches!(parse_record("{}"), Err(ParseError::NoFormat)));
        assert!(matches!(parse_record("]"), Err(ParseError::Shape(_))));
    }
}
