//! An `SQLite` database with successive transactions.

use std::path::Path;

use cardmark_core::{DatabaseJournal, Errno, Procedure, name_of};
use rusqlite::types::FromSql;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, params};

use crate::content::Content;

/// Value of `synchronous=FULL` in SQLite.
const FULL: i64 = 2;
const SCHEMA: &str = "CREATE TABLE entry (
        id INTEGER PRIMARY KEY, key INTEGER NOT NULL, value BLOB NOT NULL
    );
    CREATE INDEX entry_by_key ON entry (key);";
const INSERT: &str = "INSERT INTO entry (id, key, value) VALUES (?1, ?2, ?3)";
const UPDATE: &str = "UPDATE entry SET value = ?2 WHERE id = ?1";
const DELETE: &str = "DELETE FROM entry WHERE id = ?1";

/// An open database.
pub(crate) struct Database {
    connection: Connection,
    rows_count: u32,
    /// Size of a row's value, bytes.
    value_bytes: usize,
    /// Number of the oldest row; the numbers are consecutive.
    oldest: i64,
}

/// Settings of a database.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) journal: DatabaseJournal,
    page_bytes: u32,
    cache_bytes: u64,
    rows_count: u32,
    checkpoint_pages_count: Option<u32>,
}

impl Settings {
    /// Returns the settings of a procedure that is a transaction.
    pub(crate) fn of(procedure: &Procedure) -> Option<Self> {
        match *procedure {
            Procedure::Transaction {
                journal,
                page_bytes,
                cache_bytes,
                rows_count,
                checkpoint_pages_count,
            } => Some(Self {
                journal,
                page_bytes,
                cache_bytes,
                rows_count,
                checkpoint_pages_count,
            }),
            Procedure::Install { .. } | Procedure::Append | Procedure::Other(_) => None,
        }
    }
}

impl Database {
    /// Creates and fills a database. No part of the path may be a link.
    pub(crate) fn create(
        path: &Path,
        settings: Settings,
        value_bytes: usize,
        content: &mut Content,
    ) -> Result<Self, Error> {
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(path, flags)?;
        set_up(&connection, settings)?;
        connection.execute_batch(SCHEMA)?;
        let transaction = connection.transaction()?;
        for id in 0..settings.rows_count {
            let value = content.next(value_bytes);
            let row = params![i64::from(id), key_of(value), value];
            transaction.prepare_cached(INSERT)?.execute(row)?;
        }
        transaction.commit()?;
        if settings.journal == DatabaseJournal::Wal {
            // The first trial must begin with an empty log.
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(Self {
            connection,
            rows_count: settings.rows_count,
            value_bytes,
            oldest: 0,
        })
    }

    /// Inserts a row, updates the remaining row at `place`, and deletes the oldest row.
    pub(crate) fn transact(&mut self, place: u64, content: &mut Content) -> Result<(), Error> {
        let rows = i64::from(self.rows_count);
        let newest = self.oldest + rows;
        let place = i64::try_from(place).unwrap_or(0).min(rows - 1);
        let transaction = self.connection.transaction()?;
        let value = content.next(self.value_bytes);
        let inserted = params![newest, key_of(value), value];
        one(transaction.prepare_cached(INSERT)?.execute(inserted)?)?;
        let updated = params![self.oldest + 1 + place, content.next(self.value_bytes)];
        one(transaction.prepare_cached(UPDATE)?.execute(updated)?)?;
        one(transaction.prepare_cached(DELETE)?.execute([self.oldest])?)?;
        transaction.commit()?;
        self.oldest += 1;
        Ok(())
    }

    /// Describes the first inconsistency of the database.
    pub(crate) fn damage(&self) -> Option<String> {
        match self.looked_at() {
            Ok(None) => None,
            Ok(Some(damage)) => Some(damage),
            Err(error) => Some(format!("the database cannot be read: {error}")),
        }
    }

    fn ask<T: FromSql>(&self, query: &str) -> Result<T, Error> {
        self.connection.query_row(query, [], |row| row.get(0))
    }

    fn looked_at(&self) -> Result<Option<String>, Error> {
        let said: String = self.ask("PRAGMA integrity_check")?;
        if said != "ok" {
            return Ok(Some(format!("the database is damaged: {said}")));
        }
        let rows = i64::from(self.rows_count);
        let bytes = rows * i64::try_from(self.value_bytes).unwrap_or(0);
        let expected = [
            ("SELECT count(*) FROM entry", rows),
            ("SELECT min(id) FROM entry", self.oldest),
            ("SELECT max(id) FROM entry", self.oldest + rows - 1),
            ("SELECT sum(length(value)) FROM entry", bytes),
        ];
        for (query, expected) in expected {
            let found: i64 = self.ask(query)?;
            if found != expected {
                return Ok(Some(format!(
                    "`{query}` returned {found} instead of {expected}"
                )));
            }
        }
        Ok(None)
    }
}

/// Sets everything that determines how often the library flushes, and verifies it.
fn set_up(connection: &Connection, settings: Settings) -> Result<(), Error> {
    let journal = name_of(&settings.journal);
    let cache_kib = i64::try_from(settings.cache_bytes / 1024).unwrap_or(i64::MAX);
    // Some pragmas return the new value, some return nothing.
    let is_held = |name: &str, value: i64| -> Result<bool, Error> {
        connection.pragma_update(None, name, value)?;
        let held: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok(held == value)
    };
    // The page size must be set before there is a log.
    let mut is_set = is_held("page_size", i64::from(settings.page_bytes))?;
    let set = connection.pragma_update_and_check(None, "journal_mode", &journal, |row| {
        row.get::<_, String>(0)
    })?;
    is_set &= set == journal;
    is_set &= is_held("cache_size", -cache_kib)?;
    is_set &= is_held("synchronous", FULL)?;
    if let Some(pages) = settings.checkpoint_pages_count {
        is_set &= is_held("wal_autocheckpoint", i64::from(pages))?;
    }
    if is_set {
        Ok(())
    } else {
        // For example on a filesystem that does not support a shared log.
        Err(Error::InvalidQuery)
    }
}

fn one(rows: usize) -> Result<(), Error> {
    if rows == 1 {
        Ok(())
    } else {
        Err(Error::StatementChangedRows(rows))
    }
}

/// Key of a row, as random as its value.
fn key_of(value: &[u8]) -> i64 {
    value
        .first_chunk::<8>()
        .map_or(0, |head| i64::from_le_bytes(*head))
}

/// Returns the system's error number that is closest to the library's error.
pub(crate) fn errno_of(error: &Error) -> Errno {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Errno::NOSPC,
        Some(ErrorCode::ReadOnly) => Errno::ROFS,
        Some(ErrorCode::PermissionDenied) => Errno::ACCESS,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Errno::BUSY,
        Some(_) => Errno::IO,
        None => Errno::INVAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(journal: DatabaseJournal) -> Settings {
        Settings {
            journal,
            page_bytes: 8192,
            cache_bytes: 1 << 20,
            rows_count: 10,
            checkpoint_pages_count: (journal == DatabaseJournal::Wal).then_some(77),
        }
    }

    #[test]
    fn the_library_does_what_it_was_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        for journal in [DatabaseJournal::Delete, DatabaseJournal::Wal] {
            let path = scratch.path().join(format!("{journal:?}"));
            let mut content = Content::new(3);
            let database = Database::create(&path, settings(journal), 100, &mut content).unwrap();
            let held = |name: &str| -> i64 {
                let value = |row: &rusqlite::Row<'_>| row.get(0);
                database
                    .connection
                    .pragma_query_value(None, name, value)
                    .unwrap()
            };
            assert_eq!(held("synchronous"), 2, "FULL");
            assert_eq!(held("page_size"), 8192);
            assert_eq!(held("cache_size"), -1024);
            if journal == DatabaseJournal::Wal {
                assert_eq!(held("wal_autocheckpoint"), 77);
            }
            assert_eq!(database.damage(), None);
        }
    }

    #[test]
    fn links_are_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (real, link) = (scratch.path().join("real"), scratch.path().join("link"));
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let settings = settings(DatabaseJournal::Delete);
        let made = Database::create(&link, settings, 100, &mut Content::new(3));
        assert!(made.is_err() && !real.exists());
    }

    #[test]
    fn a_setting_that_is_not_heeded_is_an_error() {
        // A database in memory supports neither kind of journal.
        for journal in [DatabaseJournal::Delete, DatabaseJournal::Wal] {
            let connection = Connection::open_in_memory().unwrap();
            let error = set_up(&connection, settings(journal)).unwrap_err();
            assert_eq!(errno_of(&error), Errno::INVAL);
        }
    }
}
