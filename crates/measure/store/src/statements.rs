//! Statements: documents on records. The labels of a record are what this version reads from its statement.

use cardmark_core::{Record, Statement, parse_statement};
use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::damage::collect;
use crate::document::{is_same, record_of};
use crate::failure::Failure;
use crate::heads::{Labels, labels_of};
use crate::rows::{integer, put_label};
use crate::{Inserted, StoreError};

/// Label with the name of the computer; it stays in the store.
pub const HOST_LABEL: &str = "host";

const DAMAGE: &str = "its statement is not readable";
/// Fields that this version knows.
const FIELDS: [&str; 10] = [
    "statement",
    "record_id",
    "revision",
    "product",
    "product_id",
    "claims",
    "setting",
    "bought",
    "remark",
    "labels",
];

/// A statement with the fields of a document that this version does not know.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    known: &'a Statement,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// Returns the document of what is stated of a record.
pub(crate) fn document(connection: &Connection, id: Uuid) -> Result<Option<String>, Failure> {
    let run = id.to_string();
    let Some(revision) = revision(connection, &run)? else {
        return Ok(None);
    };
    let sql = "SELECT record_id, document FROM statements WHERE record_id = ?1";
    let mut found = collect(connection, sql, [&run], DAMAGE, |row| row.get(1))?;
    let document: String = found.pop().unwrap_or_default();
    let is_whole = parse_statement(&document)
        .is_ok_and(|read| read.record_id == id && integer(read.revision) == integer(revision));
    match is_whole {
        true => Ok(Some(document)),
        false => Err(Failure::Damaged { run, what: DAMAGE }),
    }
}

/// Returns the document with this statement in place of the fields that this version knows.
fn edited(document: Option<&str>, statement: &Statement) -> Result<String, Failure> {
    let run = statement.record_id.to_string();
    let refuse = |_| Failure::Damaged { run, what: DAMAGE };
    let unknown = document.map_or(Ok(Map::new()), serde_json::from_str);
    let write = |mut unknown: Map<String, Value>| {
        unknown.retain(|key, _| !FIELDS.contains(&key.as_str()));
        serde_json::to_string(&Whole {
            known: statement,
            unknown,
        })
    };
    unknown.and_then(write).map_err(refuse)
}

fn stated(mut labels: Labels) -> Labels {
    labels.remove(HOST_LABEL);
    labels
}

fn revision(connection: &Connection, run: &str) -> Result<Option<u64>, Failure> {
    let what = "the number of its statement is not readable";
    let sql = "SELECT record_id, revision FROM statements WHERE record_id = ?1";
    let found = collect(connection, sql, [run], what, |row| row.get::<_, i64>(1))?;
    let Some(number) = found.into_iter().next() else {
        return Ok(None);
    };
    let run = run.to_owned();
    let number = u64::try_from(number).map_err(|_| Failure::Damaged { run, what })?;
    Ok(Some(number))
}

fn put_document(
    connection: &Connection,
    run: &str,
    revision: u64,
    document: &str,
) -> Result<(), Failure> {
    let sql = "INSERT INTO statements (record_id, revision, document) VALUES (?1, ?2, ?3) \
               ON CONFLICT (record_id) DO UPDATE SET revision = excluded.revision, \
               document = excluded.document";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute((run, integer(revision), document))?;
    Ok(())
}

/// Changes labels and counts the change, if there is one.
pub(crate) fn change<'a>(
    connection: &Connection,
    id: Uuid,
    changes: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    now: i64,
) -> Result<(), Failure> {
    let run = id.to_string();
    let before = stated(labels_of(connection, &run)?);
    for (key, value) in changes {
        put_label(connection, &run, key, value, now)?;
    }
    let labels = stated(labels_of(connection, &run)?);
    if labels != before {
        let number = revision(connection, &run)?.map_or(1, |number| number.saturating_add(1));
        let old = document(connection, id)?;
        let new = edited(old.as_deref(), &Statement::of(id, number, &labels))?;
        put_document(connection, &run, number, &new)?;
    }
    Ok(())
}

/// Sets the labels that a record has in memory.
pub(crate) fn put(connection: &Connection, record: &Record, now: i64) -> Result<(), Failure> {
    let labels = record.labels.iter();
    let labels = labels.map(|(key, value)| (key.as_str(), Some(value.as_str())));
    change(connection, record.id, labels, now)
}

/// Returns whether labels are only a copy of those in the document, as programs before statements wrote it. Any
/// statement is later.
fn is_copied(connection: &Connection, run: &str, labels: &Labels) -> Result<bool, Failure> {
    let sql = "SELECT id, document FROM records WHERE id = ?1";
    let (record, _) = connection.query_row(sql, [run], |row| Ok(record_of(row)))??;
    Ok(!labels.is_empty() && stated(record.labels) == *labels)
}

/// Takes in a statement that came from elsewhere, as its document. The one with the higher number counts.
pub(crate) fn take_in(
    connection: &Connection,
    given: &Statement,
    text: &str,
    now: i64,
) -> Result<Inserted, Failure> {
    let run = given.record_id.to_string();
    let sql = "SELECT 1 FROM records WHERE id = ?1";
    let is_there = connection.query_row(sql, [&run], |_| Ok(())).optional()?;
    if is_there.is_none() {
        return Err(StoreError::NotFound { prefix: run }.into());
    }
    let labels = stated(given.as_labels());
    let known = stated(labels_of(connection, &run)?);
    let number = revision(connection, &run)?.unwrap_or(0);
    let kept = document(connection, given.record_id)?.unwrap_or_default();
    if number > given.revision || is_same(kept.as_bytes(), text) {
        return Ok(Inserted::Known);
    }
    if number == given.revision && !is_copied(connection, &run, &known)? {
        return Err(StoreError::Stated {
            id: given.record_id,
        }
        .into());
    }
    for key in known.keys().filter(|key| !labels.contains_key(*key)) {
        put_label(connection, &run, key, None, now)?;
    }
    for (key, value) in &labels {
        put_label(connection, &run, key, Some(value), now)?;
    }
    put_document(connection, &run, given.revision, text)?;
    Ok(if number == 0 {
        Inserted::New
    } else {
        Inserted::Replaced
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_those_of_the_schema() {
        let schema = include_str!("../../../../schema/statement-1.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let mut fields = FIELDS;
        fields.sort_unstable();
        assert!(properties.keys().eq(fields), "{properties:?}");
    }
}
