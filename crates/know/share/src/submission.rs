//! The document of a submission: a public record and, in the next line, what its owner states of it.

use cardmark_core::{
    MOST_RECORD_BYTES, ParseError, Record, Statement, documents_of, is_keepable, parse_record,
    parse_statement, public_form, record_to_json,
};
use thiserror::Error;

/// Maximum size of a submission, unpacked, bytes.
pub const MOST_SENT_BYTES: usize = MOST_RECORD_BYTES;
/// Maximum size as sent, packed or not, bytes.
pub const MOST_PACKED_BYTES: usize = MOST_RECORD_BYTES / 2;
/// A record in its public form, and what its owner states of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The record as its document has it, with the labels of the statement.
    pub record: Record,
    /// The statement, if there is one.
    pub statement: Option<Statement>,
}

/// Reason for which a document is no submission.
#[derive(Debug, Error)]
pub enum SubmissionError {
    /// The record cannot be read.
    #[error("the record cannot be read")]
    Record(#[source] ParseError),
    /// The statement cannot be read.
    #[error("the statement cannot be read")]
    Statement(#[source] ParseError),
    /// The statement is on another run.
    #[error("the statement is on another run than the record")]
    OtherRun,
    /// It holds what no public form holds, such as a serial number.
    #[error("it is not a public form: it holds {0}")]
    NotPublic(String),
}

/// Reads a submission.
///
/// # Errors
/// If a document cannot be read, or holds what must not leave the computer of its owner.
pub fn read_submission(text: &str) -> Result<Submission, SubmissionError> {
    let (document, stated) = documents_of(text);
    let record = parse_record(document).map_err(SubmissionError::Record)?;
    let form = public_form(&record, &[]);
    if let Some(field) = form.withheld.iter().find(|field| !is_keepable(field)) {
        return Err(SubmissionError::NotPublic(field.clone()));
    }
    stated_of(record, stated)
}

/// Reads a submission that [`read_submission`] took before, such as one that a site keeps: what it holds is not looked for again.
///
/// # Errors
/// If a document cannot be read.
pub fn read_kept(text: &str) -> Result<Submission, SubmissionError> {
    let (document, stated) = documents_of(text);
    let record = parse_record(document).map_err(SubmissionError::Record)?;
    stated_of(record, stated)
}

/// The record with the labels of its statement.
fn stated_of(mut record: Record, stated: Option<&str>) -> Result<Submission, SubmissionError> {
    let statement = stated
        .map(parse_statement)
        .transpose()
        .map_err(SubmissionError::Statement)?;
    if let Some(statement) = &statement {
        if statement.record_id != record.id {
            return Err(SubmissionError::OtherRun);
        }
        record.labels = statement.as_labels();
    }
    Ok(Submission { record, statement })
}

/// Writes the public form of a record and of its labels, as it is sent, with the names of what was withheld. `keep` names
/// fields to keep. `revision` counts the changes of the labels; no statement is written without any label.
///
/// # Errors
/// When the document would exceed the limits of a record.
pub fn write_submission(
    record: &Record,
    revision: u64,
    keep: &[&str],
) -> Result<(String, Vec<String>), serde_json::Error> {
    let form = public_form(record, keep);
    let mut text = record_to_json(&form.record)? + "\n";
    if !form.record.labels.is_empty() {
        let statement = Statement::of(record.id, revision.max(1), &form.record.labels);
        let statement = serde_json::to_string(&statement)?;
        text += &cardmark_core::visible(&statement);
        text.push('\n');
    }
    Ok((text, form.withheld))
}
