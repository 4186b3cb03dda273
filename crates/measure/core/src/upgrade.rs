//! Reading and writing the document. Readers accept all older formats by pure upgrade steps; format 1 is the first.

use std::borrow::Cow;

use serde::Deserialize;
use thiserror::Error;

use uuid::Uuid;

use crate::{FORMAT, Record, STATEMENT, visible};

/// Number of additions to the format: fields and words that an older reader keeps and does not understand.
pub const MINOR: u32 = 1;
/// Maximum size of a record's document, bytes. Packed for sending it is at most half of that.
pub const MOST_RECORD_BYTES: usize = 16 << 20;
/// Maximum depth of objects and lists in a document.
const MOST_DEPTH: usize = 32;
/// Maximum number of elements of a list, and of fields of an object.
pub const MOST_ITEMS: usize = 16_384;
/// Maximum length of a text in a document, bytes as written there.
pub const MOST_TEXT_BYTES: usize = 65_536;
/// Largest integer of a record, and, negative, the smallest: all readers of JSON represent it exactly.
pub const MOST_INTEGER: u64 = (1 << 53) - 1;

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
    /// The document is too large.
    #[error("more than {} MiB: no record is so large", MOST_RECORD_BYTES >> 20)]
    Large,
    /// Its objects and lists nest too deeply.
    #[error("nested more than {MOST_DEPTH} deep: no record is")]
    Deep,
    /// One of its lists is too long.
    #[error("a list of more than {MOST_ITEMS} elements: no record has one")]
    Long,
    /// One of its texts is too long.
    #[error("a text of more than {MOST_TEXT_BYTES} bytes: no record has one")]
    Text,
    /// One of its integers is too large.
    #[error("an integer beyond {MOST_INTEGER}: no record has one")]
    Integer,
    /// A statement of a version this program does not know.
    #[error("statement of version {0}; this program reads version {STATEMENT}")]
    NewerStatement(u64),
    /// A statement on another run than the record before it.
    #[error("the statement is on run {0}, the record of another")]
    OtherRun(Uuid),
    /// A trial names a workload that the record does not hold.
    #[error("trial {trial} names workload {number}, which the record does not hold")]
    NoWorkload {
        /// Id of the trial.
        trial: u32,
        /// Index in `workloads`.
        number: u32,
    },
}

/// Reads a record of any known format. `text` is read once, without a tree of it in memory.
///
/// # Errors
/// If the text exceeds [`MOST_RECORD_BYTES`], nests deeper than 32, has a list of more than
/// [`MOST_ITEMS`] elements, a text of more than [`MOST_TEXT_BYTES`] or an integer beyond [`MOST_INTEGER`], is not JSON, has
/// no known `format`, or is not of its shape.
pub fn parse_record(text: &str) -> Result<Record, ParseError> {
    head(text)?;
    let mut record: Record = serde_json::from_str(text)?;
    record
        .resolve_workloads()
        .map_err(|(trial, number)| ParseError::NoWorkload { trial, number })?;
    Ok(record)
}

/// Reads the id of a record of any known format, and no more than that.
///
/// # Errors
/// As [`parse_record`], but only the limits, the format and the id are checked.
pub fn record_id(text: &str) -> Result<Uuid, ParseError> {
    let no_id = || ParseError::Shape(serde::de::Error::missing_field("id"));
    head(text)?.id.ok_or_else(no_id)
}

#[derive(Deserialize)]
struct Head {
    format: Option<u64>,
    id: Option<Uuid>,
}

fn head(text: &str) -> Result<Head, ParseError> {
    check_shape(text)?;
    let head: Head = serde_json::from_str(text)?;
    match head.format {
        None => Err(ParseError::NoFormat),
        Some(format) if format == u64::from(FORMAT) => Ok(head),
        Some(format) => Err(ParseError::Newer(format)),
    }
}

/// Checks the limits of size, depth, length and integers before anything is built in memory.
pub(crate) fn check_shape(text: &str) -> Result<(), ParseError> {
    if text.len() > MOST_RECORD_BYTES {
        return Err(ParseError::Large);
    }
    // Commas seen in each open object or list.
    let mut commas: Vec<usize> = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_text(&mut bytes)?,
            b'0'..=b'9' => skip_number(byte, &mut bytes)?,
            b'[' | b'{' if commas.len() == MOST_DEPTH => return Err(ParseError::Deep),
            b'[' | b'{' => commas.push(0),
            b']' | b'}' => drop(commas.pop()),
            b',' => {
                if let Some(count) = commas.last_mut() {
                    *count += 1;
                    if *count == MOST_ITEMS {
                        return Err(ParseError::Long);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves behind the closing quotation mark.
fn skip_text(bytes: &mut std::str::Bytes<'_>) -> Result<(), ParseError> {
    let before = bytes.len();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if before - bytes.len() > MOST_TEXT_BYTES + 1 => return Err(ParseError::Text),
            b'"' => break,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    Ok(())
}

/// Moves to the last character of a number that begins with a digit.
fn skip_number(first: u8, bytes: &mut std::str::Bytes<'_>) -> Result<(), ParseError> {
    let mut value = u64::from(first - b'0');
    let mut is_integer = true;
    let mut ahead = bytes.clone();
    while let Some(byte) = ahead.next() {
        match byte {
            b'0'..=b'9' => {
                value = value
                    .saturating_mul(10)
                    .saturating_add(u64::from(byte - b'0'));
            }
            b'.' | b'e' | b'E' | b'+' | b'-' => is_integer = false,
            _ => break,
        }
        *bytes = ahead.clone();
    }
    match is_integer && value > MOST_INTEGER {
        true => Err(ParseError::Integer),
        false => Ok(()),
    }
}

/// Writes a record as one line of JSON, fields in the order of the type, hidden characters escaped.
///
/// # Errors
/// When the document would exceed the limits of [`parse_record`], or an offset is not that of a block.
pub fn record_to_json(record: &Record) -> Result<String, serde_json::Error> {
    let text = match record.is_shared() {
        true => serde_json::to_string(record)?,
        false => {
            let mut shared = record.clone();
            shared.share_workloads();
            serde_json::to_string(&shared)?
        }
    };
    let text = match visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(visible) => visible,
    };
    check_shape(&text).map_err(serde::ser::Error::custom)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_fields_make_a_record_and_unknown_words_survive() {
        let text = r#"{"format":1,"id":"67e55044-10b1-426f-9247-bb680e5fe0c8","origin":{"kind":"dreamt"},"unheard_of":[{"start_bytes":0}]}"#;
        let record = parse_record(text).unwrap();
        let again = record_to_json(&record).unwrap();
        assert!(again.contains(r#""origin":{"kind":"dreamt"}"#), "{again}");
        assert_eq!(parse_record(&again).unwrap(), record);
        for word in ["", "Dreamt", "a b", &"a".repeat(41)] {
            assert!(
                parse_record(&text.replace("dreamt", word)).is_err(),
                "{word}"
            );
        }
    }

    #[test]
    fn documents_have_no_hidden_characters() {
        let id = uuid::Uuid::nil();
        let mut record = Record::new(id, crate::Origin::of(crate::OriginKind::Measured));
        record.started_at = Some("a\u{202e}b\u{9b}".to_owned());
        let text = record_to_json(&record).unwrap();
        assert!(text.contains(r#""a\u202eb\u009b""#), "{text}");
        assert_eq!(parse_record(&text).unwrap(), record);
    }

    #[test]
    fn limits_hold_before_anything_is_built() {
        let record = |rest: &str| {
            let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
            format!(r#"{{"format":1,"id":"{id}","origin":{{"kind":"published"}},"new":{rest}}}"#)
        };
        let nested = |depth| format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_record(&record(&nested(MOST_DEPTH - 1))).is_ok());
        let deep = parse_record(&record(&nested(MOST_DEPTH)));
        assert!(matches!(deep, Err(ParseError::Deep)));
        let list = |count: usize| format!("[0{}]", ",0".repeat(count - 1));
        assert!(parse_record(&record(&list(MOST_ITEMS))).is_ok());
        let long = parse_record(&record(&list(MOST_ITEMS + 1)));
        assert!(matches!(long, Err(ParseError::Long)));
        let brackets = format!("\"{}\"", r#"[\"{"#.repeat(MOST_DEPTH));
        assert!(parse_record(&record(&brackets)).is_ok());
        let text = |bytes| record(&format!("\"{}\"", "a".repeat(bytes)));
        assert!(parse_record(&text(MOST_TEXT_BYTES)).is_ok());
        let long = parse_record(&text(MOST_TEXT_BYTES + 1));
        assert!(matches!(long, Err(ParseError::Text)));
        for number in [
            MOST_INTEGER.to_string(),
            format!("-{MOST_INTEGER}"),
            "9e300".to_owned(),
            "123456789012345678901.5".to_owned(),
            "\"99999999999999999999\"".to_owned(),
        ] {
            assert!(parse_record(&record(&number)).is_ok(), "{number}");
        }
        for number in [
            (MOST_INTEGER + 1).to_string(),
            format!("-{}", MOST_INTEGER + 1),
        ] {
            let large = parse_record(&record(&format!("[1,{number}]")));
            assert!(matches!(large, Err(ParseError::Integer)), "{number}");
        }
        let text = text(MOST_RECORD_BYTES);
        assert!(matches!(parse_record(&text), Err(ParseError::Large)));
    }

    #[test]
    fn a_newer_format_is_named() {
        let error = parse_record(r#"{"format":2}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "record of format 2; this program reads formats up to 1"
        );
        let id = uuid::Uuid::nil();
        let text = format!(r#"{{"format":1,"trials":[7],"id":"{id}"}}"#);
        assert_eq!(record_id(&text).unwrap(), id);
        for wrong in [
            r#"{"format":2}"#,
            r#"{"format":1}"#,
            "{}",
            &text[1..],
            &text[..40],
        ] {
            assert!(record_id(wrong).is_err(), "{wrong}");
        }
        assert!(matches!(parse_record("{}"), Err(ParseError::NoFormat)));
        assert!(matches!(parse_record("]"), Err(ParseError::Shape(_))));
    }
}
