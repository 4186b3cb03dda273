//! Opens the database: file, connection, version of the tables.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::failure::Failure;
use crate::files::make_directory;

/// A migration: the version of the tables it leads to, and its SQL.
pub(crate) type Step = (i64, &'static str);
/// Steps that lead from an empty database to the current tables. A released step never changes.
/// The version is kept in `PRAGMA user_version`. Versions before the first are those of development.
pub(crate) const STEPS: &[Step] = &[(11, include_str!("../migrations/0011_tables.sql"))];

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
pub(crate) fn open(
    path: &Path,
    busy_timeout: Duration,
    steps: &[Step],
) -> Result<Connection, StoreError> {
    refuse_others(path)?;
    make_file(path)?;
    check_head(path)?;
    let connection = connect(path, busy_timeout).map_err(|failure| failure.at(path))?;
    bring_up(connection, path, steps)
}

/// Brings the tables of an open database up to date. Errors name `path`.
pub(crate) fn bring_up(
    mut connection: Connection,
    path: &Path,
    steps: &[Step],
) -> Result<Connection, StoreError> {
    let found = version(&mut connection, path, steps).map_err(|failure| failure.at(path))?;
    let settings = connection.execute_batch(SETTINGS);
    settings.map_err(|error| Failure::from(error).at(path))?;
    if found < newest(steps) {
        let migrated = migrate(&mut connection, steps).map_err(|failure| failure.at(path));
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

/// Returns the version of the tables, 0 for an empty database.
/// Reads in one transaction, because another process may be migrating.
///
/// # Errors
/// If it is a database of another program, of a newer version, or of a development version.
pub(crate) fn version(
    connection: &mut Connection,
    path: &Path,
    steps: &[Step],
) -> Result<i64, Failure> {
    let (path, known) = (path.into(), newest(steps));
    let reading = connection.transaction()?;
    let refused = match tables(&reading)? {
        Tables::None => return Ok(0),
        Tables::Of(found) if (steps[0].0..=known).contains(&found) => return Ok(found),
        Tables::Of(found) if found > known => StoreError::Newer { path, found, known },
        Tables::Of(found) => StoreError::Outdated {
            path,
            found,
            first: steps[0].0,
        },
        Tables::OfOthers => StoreError::Foreign { path },
    };
    Err(refused.into())
}

/// Version that steps lead to.
pub(crate) const fn newest(steps: &[Step]) -> i64 {
    steps[steps.len() - 1].0
}

/// Tables of a database.
enum Tables {
    None,
    /// Of this version.
    Of(i64),
    /// Of another program.
    OfOthers,
}

fn tables(connection: &Connection) -> Result<Tables, rusqlite::Error> {
    let number = |sql: &str| -> Result<i64, rusqlite::Error> {
        connection.query_row(sql, [], |row| row.get(0))
    };
    if number("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(Tables::None);
    }
    if number("PRAGMA application_id")? != APPLICATION_ID {
        return Ok(Tables::OfOthers);
    }
    number("PRAGMA user_version").map(Tables::Of)
}

/// Runs all missing migrations in one transaction. It takes the write lock first: two processes
/// that open a new or old store at the same time take turns, and the second finds nothing to do.
fn migrate(connection: &mut Connection, steps: &[Step]) -> Result<(), Failure> {
    let writing = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let found = match tables(&writing)? {
        Tables::Of(found) => found,
        Tables::None | Tables::OfOthers => 0,
    };
    for (_, sql) in steps.iter().filter(|(version, _)| *version > found) {
        writing.execute_batch(sql)?;
    }
    writing.pragma_update(None, "user_version", found.max(newest(steps)))?;
    writing.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests;
