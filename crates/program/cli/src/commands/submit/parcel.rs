//! The public form of a run as it is sent, and its description for the person who sends it.

use std::collections::BTreeMap;
use std::io::Write;

use cardmark_core::{OriginKind, Record, Statement, documents_of, parse_statement};
use cardmark_report::text::amount;
use cardmark_report::{device_line, method_of, result_of};
use cardmark_session::store_error;
use cardmark_share::{MOST_PACKED_BYTES, MOST_SENT_BYTES, read_submission, write_submission};
use cardmark_store::Store;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use uuid::Uuid;

use crate::error::{CommandError, Exit};
use crate::runs::short;
use crate::terminal::print;

/// A run in its public form.
pub(super) struct Parcel {
    pub(super) run: Uuid,
    /// The document: record and statement, each in a line.
    pub(super) text: String,
    /// The document packed with gzip: the body of the request.
    pub(super) packed: Vec<u8>,
    /// Names of withheld fields.
    pub(super) withheld: Vec<String>,
    /// The run in a few lines.
    pub(super) lines: Vec<String>,
}

impl Parcel {
    /// Makes the public form of a stored run with its present labels.
    pub(super) fn of(store: &mut Store, run: &str, keep: &[String]) -> Result<Self, CommandError> {
        let (record, revision) = present(store, run)?;
        let (text, withheld) = written(&record, revision, keep)?;
        let packed = pack(&text)?;
        if text.len() > MOST_SENT_BYTES || packed.len() > MOST_PACKED_BYTES {
            let run = record.id.to_string();
            let what = format!("Run {} is too large for a results site", short(&run));
            return Err(CommandError::new(Exit::Bad, what).because(format!(
                "{} bytes, packed {}",
                text.len(),
                packed.len()
            )));
        }
        // The description is read from the sent bytes, as the site reads them.
        let sent = read_submission(&text).map_err(|error| {
            CommandError::new(Exit::Bug, "the public form is not one").because(error.to_string())
        })?;
        Ok(Self {
            run: record.id,
            lines: lines(&sent.record, text.len(), packed.len()),
            text,
            packed,
            withheld,
        })
    }

    /// Names of the top-level fields that leave.
    pub(super) fn fields(&self) -> Vec<String> {
        let (record, statement) = documents_of(&self.text);
        let documents = std::iter::once(record).chain(statement);
        let values = documents.filter_map(|text| serde_json::from_str(text).ok());
        let keys = values.flat_map(|value| match value {
            Value::Object(fields) => fields.into_iter().map(|(key, _)| key).collect(),
            _ => Vec::new(),
        });
        keys.collect()
    }
}

/// The public statement of a run.
pub(super) struct PublicStatement {
    pub(super) run: Uuid,
    pub(super) revision: u64,
    /// True if it has no label.
    pub(super) is_empty: bool,
    /// Its document.
    pub(super) text: String,
    /// Its labels in words.
    pub(super) labels: String,
}

/// Makes the public statement of a run as it stands. One without any label is empty, not absent.
pub(super) fn public_statement(
    store: &mut Store,
    run: &str,
    keep: &[String],
) -> Result<PublicStatement, CommandError> {
    let (record, revision) = present(store, run)?;
    let revision = revision.max(1);
    let (text, _) = written(&record, revision, keep)?;
    let stated = documents_of(&text).1.map(parse_statement).transpose();
    let stated = stated.map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
    let stated = stated.unwrap_or_else(|| Statement::of(record.id, revision, &BTreeMap::new()));
    let labels = stated.as_labels();
    let named = labels.iter().map(|(key, value)| format!("{key} = {value}"));
    let named: Vec<String> = named.collect();
    Ok(PublicStatement {
        run: record.id,
        revision,
        is_empty: labels.is_empty(),
        text: print::statement(&stated)?.trim_end().to_owned(),
        labels: match labels.is_empty() {
            true => "no labels".to_owned(),
            false => named.join("; "),
        },
    })
}

/// A stored run with its present labels, and the revision of its statement; 0 if nothing was ever stated.
fn present(store: &mut Store, run: &str) -> Result<(Record, u64), CommandError> {
    let found = store.find(run).map_err(|error| store_error(&error))?;
    let mut record = found.record;
    record.labels = found.labels;
    let stated = store
        .statement(record.id)
        .map_err(|error| store_error(&error))?;
    let stated = stated.as_deref().map(parse_statement).transpose();
    let stated = stated.map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    Ok((record, stated.map_or(0, |statement| statement.revision)))
}

fn written(
    record: &Record,
    revision: u64,
    keep: &[String],
) -> Result<(String, Vec<String>), CommandError> {
    let keep: Vec<&str> = keep.iter().map(String::as_str).collect();
    write_submission(record, revision, &keep).map_err(|error| {
        CommandError::new(Exit::Bug, "the public form cannot be written").because(error.to_string())
    })
}

/// Packs the text. The same text gives the same bytes: there is no time in them.
fn pack(text: &str) -> Result<Vec<u8>, CommandError> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer
        .write_all(text.as_bytes())
        .and_then(|()| packer.finish());
    packed.map_err(|error| {
        CommandError::new(Exit::Bug, "the public form cannot be packed").because(error.to_string())
    })
}

/// Product, card, board, and number of figures.
fn lines(record: &Record, bytes: usize, packed_bytes: usize) -> Vec<String> {
    let run = record.id.to_string();
    let product = record.labels.get("product").cloned();
    let card = record
        .devices
        .first()
        .map(|device| device_line(device, &[]));
    let is_simulated = record.origin.kind == OriginKind::Simulated;
    let card = card.map(|line| match is_simulated {
        true => format!("simulated {line}"),
        false => line,
    });
    let card = card.filter(|line| !line.is_empty());
    let board = record.board.as_ref().and_then(|board| board.model.clone());
    let names: Vec<String> = [product, card, board].into_iter().flatten().collect();
    let method = method_of(record);
    let parts = [method, Some(result_of(record))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    vec![
        format!("{}: {}", short(&run), names.join("; ")),
        format!("  {}", parts.join(": ")),
        format!(
            "  {}, {}, {} ({} packed)",
            counted(record.metrics.len(), "figure"),
            counted(record.trials.len(), "trial"),
            amount(bytes as u64),
            amount(packed_bytes as u64)
        ),
    ]
}

/// `1 run`, `2 runs`.
pub(super) fn counted(count: usize, name: &str) -> String {
    match count {
        1 => format!("1 {name}"),
        _ => format!("{count} {name}s"),
    }
}
