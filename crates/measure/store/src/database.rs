//! Opens the database: file, connection, version of the tables.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::failure::Failure;
use crate::files::make_directory;
use crate::{StoreError, digests, legacy, statements};

/// Steps that lead from an empty database to the current tables, each with the version it leads to.
/// A released step never changes.
const MIGRATIONS: [(i64, &str); 5] = [
    (5, include_str!("../migrations/0005_strict.sql")),
    (6, include_str!("../migrations/0006_statements.sql")),
    (7, include_str!("../migrations/0007_documents.sql")),
    (8, include_str!("../migrations/0008_submissions.sql")),
    (9, include_str!("../migrations/0009_unknown_devices.sql")),
];
/// Current version of the tables, kept in `PRAGMA user_version`.
pub(crate) const VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// Version that keeps the documents of statements and the digests of records.
const DOCUMENTS: i64 = 7;

/// Mark in the header of our databases, set by the first migration.
const APPLICATION_ID: i64 = 1_668_117_099;
/// The page cache is small (KiB, negative by SQLite's convention): a record takes some 100 KiB, the
/// program 32 MiB.
pub(crate) const CACHE: &str = "PRAGMA cache_size = -1024";
/// Settings that may write to the file, hence only applied to our own databases.
const SETTINGS: &str = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; \
     PRAGMA foreign_keys = ON";

/// First bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of SQLite's smallest page, and so of its smallest database, in bytes.
const LEAST_BYTES: u64 = 512;

/// Opens the database, creates it if missing, and brings its tables up to date.
pub(crate) fn open(path: &Path, busy_timeout: Duration) -> Result<Connection, StoreError> {
    refuse_others(path)?;
    make_file(path)?;
    check_head(path)?;
    let connection = connect(path, busy_timeout).map_err(|failure| failure.at(path))?;
    bring_up(connection, path)
}

/// Brings the tables of an open database up to date. Errors name `path`.
pub(crate) fn bring_up(mut connection: Connection, path: &Path) -> Result<Connection, StoreError> {
    let version = version(&mut connection).map_err(|failure| failure.at(path))?;
    let found = version.ok_or_else(|| StoreError::Foreign { path: path.into() })?;
    if found > VERSION {
        return Err(StoreError::Newer {
            path: path.into(),
            found,
            known: VERSION,
        });
    }
    let settings = connection.execute_batch(SETTINGS);
    settings.map_err(|error| Failure::from(error).at(path))?;
    if found < VERSION {
        let migrated = migrate(&mut connection).map_err(|failure| failure.at(path));
        migrated.map_err(|error| match error {
            StoreError::Failed { path, source } if found > 0 => {
                StoreError::NotMigrated { path, source }
            }
            other => other,
        })?;
    }
    Ok(connection)
}

pub(crate) fn connect(path: &Path, busy_timeout: Duration) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.execute_batch(CACHE)?;
    Ok(connection)
}

/// Creates the file before SQLite does, so that only its owner can read it.
fn make_file(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io {
        path: path.into(),
        source,
    };
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        make_directory(dir).map_err(failed)?;
    }
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
    {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Rejects what is no regular file, without opening it: SQLite takes a block device, whose length it reads as 0, for an empty
/// database, and a FIFO would be waited for.
fn refuse_others(path: &Path) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(StoreError::NotAFile { path: path.into() }),
        _ => Ok(()),
    }
}

/// Rejects files that are not databases. SQLite takes a file shorter than its smallest page for an
/// empty one and would overwrite it. If a rollback journal lies beside the file, SQLite has to
/// repair the file first.
pub(crate) fn check_head(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io {
        path: path.into(),
        source,
    };
    refuse_others(path)?;
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    if Path::new(&journal).exists() {
        return Ok(());
    }
    file.take(LEAST_BYTES)
        .read_to_end(&mut head)
        .map_err(failed)?;
    let is_database = head.starts_with(MAGIC) && head.len() as u64 == LEAST_BYTES;
    if head.is_empty() || is_database {
        Ok(())
    } else {
        Err(StoreError::Corrupt {
            path: path.into(),
            source: None,
        })
    }
}

/// Returns the version of the tables, 0 for an empty database, `None` for another program's.
/// Reads in one transaction, because another process may be migrating.
pub(crate) fn version(connection: &mut Connection) -> Result<Option<i64>, Failure> {
    let reading = connection.transaction()?;
    Ok(version_within(&reading)?)
}

fn version_within(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    let number = |sql: &str| -> Result<i64, rusqlite::Error> {
        connection.query_row(sql, [], |row| row.get(0))
    };
    if number("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(Some(0));
    }
    if number("PRAGMA application_id")? != APPLICATION_ID {
        return Ok(None);
    }
    match number("PRAGMA user_version")? {
        // Up to version 4, sqlx kept the version in a table.
        0 => number("SELECT coalesce(max(version), 0) FROM _sqlx_migrations").map(Some),
        version => Ok(Some(version)),
    }
}

/// Runs all missing migrations in one transaction. It takes the write lock first: two processes
/// that open a new or old store at the same time take turns, and the second finds nothing to do.
fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    let writing = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = version_within(&writing)?.unwrap_or(0);
    let is_legacy = (1..=legacy::LAST).contains(&found);
    if is_legacy {
        legacy::set_aside(&writing, found)?;
    }
    for (_, sql) in MIGRATIONS.iter().filter(|(version, _)| *version > found) {
        writing.execute_batch(sql)?;
    }
    if is_legacy {
        legacy::copy(&writing, found)?;
    } else if found < DOCUMENTS {
        digests::fill(&writing)?;
    }
    if found < DOCUMENTS {
        statements::write_documents(&writing)?;
    }
    writing.pragma_update(None, "user_version", found.max(VERSION))?;
    writing.commit()?;
    Ok(())
}
