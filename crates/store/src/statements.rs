//! Statements: the labels of a record, and how often they changed.

use cardmark_core::{Record, Statement};
use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use crate::damage::collect;
use crate::document::record_of;
use crate::failure::Failure;
use crate::heads::{Labels, labels_of};
use crate::rows::{integer, put_label};
use crate::{Inserted, StoreError};

/// Label with the name of the computer; it stays in the store.
pub const HOST_LABEL: &str = "host";

/// What is stated of a record, without what stays in the store.
pub(crate) fn statement(connection: &Connection, id: Uuid) -> Result<Option<Statement>, Failure> {
    let run = id.to_string();
    let Some(revision) = revision(connection, &run)? else {
        return Ok(None);
    };
    let labels = stated(labels_of(connection, &run)?);
    Ok(Some(Statement::of(id, revision, &labels)))
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

fn set_revision(connection: &Connection, run: &str, revision: u64) -> Result<(), Failure> {
    let sql = "INSERT INTO statements (record_id, revision) VALUES (?1, ?2) \
               ON CONFLICT (record_id) DO UPDATE SET revision = excluded.revision";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute((run, integer(revision)))?;
    Ok(())
}

/// Changes labels and counts the change, if there is one.
pub(crate) fn change<'a>(
    connection: &Connection,
    run: &str,
    changes: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    now: i64,
) -> Result<(), Failure> {
    let before = stated(labels_of(connection, run)?);
    for (key, value) in changes {
        put_label(connection, run, key, value, now)?;
    }
    if stated(labels_of(connection, run)?) != before {
        let number = revision(connection, run)?.unwrap_or(0);
        set_revision(connection, run, number + 1)?;
    }
    Ok(())
}

/// Sets the labels that a record has in memory.
pub(crate) fn put(connection: &Connection, record: &Record, now: i64) -> Result<(), Failure> {
    let labels = record.labels.iter();
    let labels = labels.map(|(key, value)| (key.as_str(), Some(value.as_str())));
    change(connection, &record.id.to_string(), labels, now)
}

/// Returns whether labels are only a copy of those in the document, as programs before statements wrote it. Any
/// statement is later.
fn is_copied(connection: &Connection, run: &str, labels: &Labels) -> Result<bool, Failure> {
    let sql = "SELECT id, document FROM records WHERE id = ?1";
    let (record, _) = connection.query_row(sql, [run], |row| Ok(record_of(row)))??;
    Ok(!labels.is_empty() && stated(record.labels) == *labels)
}

/// Takes in a statement that came from elsewhere. The one with the higher number counts.
pub(crate) fn take_in(
    connection: &Connection,
    given: &Statement,
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
    if number > given.revision || number == given.revision && known == labels {
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
    set_revision(connection, &run, given.revision)?;
    Ok(if number == 0 {
        Inserted::New
    } else {
        Inserted::Replaced
    })
}
