//! Lines of a dump's documents.

use cardmark_core::documents_of;
use cardmark_share::{Check, Level, from_hexadecimal, to_hexadecimal};
use cardmark_site_store::{Act, Deed, NewAct};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A document with what the site knows of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DocumentLine {
    /// Id of the run.
    pub id: Uuid,
    /// Time of arrival, milliseconds since 1970.
    pub received_ms: i64,
    /// `shared` or `quarantined`.
    pub state: String,
    /// Level of checking.
    pub level: Level,
    /// Submitter, 32 hexadecimal digits ([`cardmark_share::submitter_of`]).
    pub submitter: Option<String>,
    /// The act by which new runs were quarantined when it arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined_by: Option<i64>,
    /// Results of all checks.
    pub checks: Vec<Check>,
    /// SHA-256 of the document, hexadecimal.
    pub digest: String,
    /// The record as its owner sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<RawValue>>,
    /// The statement of its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<Box<RawValue>>,
    /// The whole document in place of record and statement, if these with line feeds behind them are not its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// An act of a moderator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ActLine {
    pub(crate) number: i64,
    pub(crate) at_ms: i64,
    pub(crate) account: String,
    #[serde(flatten)]
    pub(crate) deed: Deed,
    pub(crate) reason: String,
}

impl From<Act> for ActLine {
    fn from(act: Act) -> Self {
        Self {
            number: act.number,
            at_ms: act.at_ms,
            account: act.account,
            deed: act.deed,
            reason: act.reason,
        }
    }
}

impl From<ActLine> for NewAct {
    fn from(line: ActLine) -> Self {
        Self {
            account: line.account,
            deed: line.deed,
            reason: line.reason,
            at_ms: line.at_ms,
        }
    }
}

impl DocumentLine {
    /// Puts a document into the line: as record and statement if its bytes can be put together again from them.
    #[must_use]
    pub fn with(self, text: &str) -> Self {
        let (record, statement) = documents_of(text);
        let raw = |text: &str| RawValue::from_string(text.to_owned()).ok();
        let parts = match (raw(record), statement.map(raw)) {
            (Some(record), None) => Some((record, None)),
            (Some(record), Some(Some(statement))) => Some((record, Some(statement))),
            _ => None,
        };
        let is_same = |(record, statement): &(Box<RawValue>, Option<Box<RawValue>>)| {
            !record.get().contains(['\n', '\r']) && joined(record, statement.as_deref()) == text
        };
        match parts.filter(is_same) {
            Some((record, statement)) => Self {
                record: Some(record),
                statement,
                document: None,
                ..self
            },
            None => Self {
                record: None,
                statement: None,
                document: Some(text.to_owned()),
                ..self
            },
        }
    }

    /// The document as the site keeps it; `None` if the line holds none, or its bytes do not have the line's digest.
    pub fn text(&self) -> Option<String> {
        let text = match (&self.document, &self.record) {
            (Some(document), None) => document.clone(),
            (None, Some(record)) => joined(record, self.statement.as_deref()),
            _ => return None,
        };
        (to_hexadecimal(&Sha256::digest(text.as_bytes())) == self.digest).then_some(text)
    }

    /// The submitter; the inner `None` is a line without one, the outer one a submitter that cannot be read.
    pub(crate) fn submitter(&self) -> Option<Option<[u8; 16]>> {
        match &self.submitter {
            None => Some(None),
            Some(text) => from_hexadecimal(text).map(Some),
        }
    }
}

/// Record and statement, each with a line feed.
fn joined(record: &RawValue, statement: Option<&RawValue>) -> String {
    let mut text = record.get().to_owned() + "\n";
    if let Some(statement) = statement {
        text += statement.get();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"format":1,"number":1.0,  "text":"ä\u00e9"}"#;
    const STATEMENT: &str =
        r#"{"statement":1,"record_id":"67e55044-10b1-426f-9247-bb680e5fe0c8","revision":1}"#;

    fn line(text: &str) -> DocumentLine {
        DocumentLine {
            id: Uuid::nil(),
            received_ms: 0,
            state: "shared".to_owned(),
            level: Level::Measured,
            submitter: None,
            quarantined_by: None,
            checks: Vec::new(),
            digest: to_hexadecimal(&Sha256::digest(text.as_bytes())),
            record: None,
            statement: None,
            document: None,
        }
        .with(text)
    }

    #[test]
    fn every_document_comes_back_byte_for_byte() {
        let usual = [format!("{RECORD}\n"), format!("{RECORD}\n{STATEMENT}\n")];
        let unusual = [
            RECORD.to_owned(),
            format!("{RECORD}\r\n{STATEMENT}\r\n"),
            format!(" {RECORD}\n"),
            format!("{RECORD}\n\n"),
            format!("{RECORD} \n{STATEMENT}\n"),
            "{\n\"format\": 1}\n".to_owned(),
            "no JSON\n".to_owned(),
            String::new(),
        ];
        for (text, is_usual) in usual
            .iter()
            .map(|text| (text, true))
            .chain(unusual.iter().map(|text| (text, false)))
        {
            let written = serde_json::to_string(&line(text)).unwrap();
            assert!(!written.contains('\n'), "{written}");
            let read: DocumentLine = serde_json::from_str(&written).unwrap();
            assert_eq!(read.text().as_ref(), Some(text), "{written}");
            assert_eq!(read.record.is_some(), is_usual, "{text:?}");
        }
    }

    #[test]
    fn a_changed_document_is_seen() {
        let written = serde_json::to_string(&line(&format!("{RECORD}\n"))).unwrap();
        let changed = written.replace("\"number\":1.0", "\"number\":1.5");
        let read: DocumentLine = serde_json::from_str(&changed).unwrap();
        assert_eq!(read.text(), None);
    }
}
