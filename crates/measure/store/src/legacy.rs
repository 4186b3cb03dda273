//! Stores of versions 1 to 4, whose tables were not strict and whose documents were text.

use rusqlite::{Connection, params};

use crate::document::record_of;
use crate::failure::Failure;
use crate::rows;

/// Newest version with such tables.
pub(crate) const LAST: i64 = 4;

/// Renames the old tables to make room for those of the current version. Drops the extracts;
/// [`copy`] rebuilds them from the documents.
pub(crate) fn set_aside(connection: &Connection, version: i64) -> Result<(), Failure> {
    connection.execute_batch(
        "DROP TABLE _sqlx_migrations;
         DROP TABLE metrics;
         DROP TABLE IF EXISTS heads;
         DROP INDEX IF EXISTS labels_of_value;
         ALTER TABLE records RENAME TO old_records;
         ALTER TABLE labels RENAME TO old_labels;",
    )?;
    if version > 1 {
        connection.execute_batch(
            "DROP INDEX preparations_of_card;
             ALTER TABLE secret RENAME TO old_secret;
             ALTER TABLE preparations RENAME TO old_preparations;",
        )?;
    }
    Ok(())
}

/// Copies the old rows into the new tables and drops the old ones. Documents keep their bytes.
pub(crate) fn copy(connection: &Connection, version: i64) -> Result<(), Failure> {
    copy_records(connection)?;
    connection.execute_batch(
        "INSERT INTO labels SELECT record_id, key, value, set_at FROM old_labels;
         INSERT INTO statements (record_id, revision) SELECT DISTINCT record_id, 1 FROM labels
             WHERE EXISTS (SELECT 1 FROM records WHERE id = labels.record_id);
         DROP TABLE old_labels;
         DROP TABLE old_records;",
    )?;
    if version > 1 {
        connection.execute_batch(
            "UPDATE secret SET bytes = (SELECT bytes FROM old_secret);
             INSERT INTO preparations SELECT sequence, card_key, fill, seed, started_at,
                 finished_at, size_bytes, done_bytes FROM old_preparations;
             DROP TABLE old_secret;
             DROP TABLE old_preparations;",
        )?;
    }
    Ok(())
}

fn copy_records(connection: &Connection) -> Result<(), Failure> {
    let mut statement = connection.prepare(
        "SELECT id, CAST(document AS BLOB), stored_at FROM old_records ORDER BY sequence",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Ok((record, document)) = record_of(row) {
            rows::put(connection, &record, document.as_bytes(), row.get(2)?)?;
        } else {
            // Keep an unreadable document too. Without a head, queries report its run.
            let id: String = row.get(0)?;
            connection.execute(
                "INSERT INTO records (id, started_at, stored_at, suite, suite_version, \
                 target_kind, origin_kind, metrics_count, document) \
                 SELECT id, started_at, stored_at, suite, suite_version, target_kind, \
                 origin_kind, 0, CAST(document AS BLOB) FROM old_records WHERE id = ?1",
                params![id],
            )?;
        }
    }
    Ok(())
}
