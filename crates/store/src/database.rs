//! The connection: opening, migrations, and the interpretation of SQLite's errors.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, query_scalar};

use crate::damage::Damage;
use crate::journal::make_directory;
use crate::{DamagedPart, StoreError};

static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// The mark in the header of our databases, as the first migration sets it.
const APPLICATION_ID: i64 = 1_668_117_099;
/// Page cache, KiB with SQLite's negative sign. A record has some 100 KiB; the program has 32 MiB.
const CACHE_SIZE: &str = "-1024";

/// First bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of SQLite's smallest page, and so of its smallest database.
const LEAST_BYTES: u64 = 512;

/// An error with the file it is about.
pub(crate) fn explain(path: &Path) -> impl Fn(sqlx::Error) -> StoreError + '_ {
    move |source| {
        let path = PathBuf::from(path);
        if let sqlx::Error::Decode(cause) = &source
            && let Some(Damage { run, what }) = cause.downcast_ref()
        {
            return StoreError::Damaged {
                path,
                run: run.clone(),
                source: DamagedPart(what),
            };
        }
        match primary_code(&source) {
            // Numbers as in SQLite's list of result codes.
            Some(5 | 6) => StoreError::Locked { path },
            Some(8) => StoreError::ReadOnly { path },
            Some(11 | 26) => StoreError::Corrupt {
                path,
                source: Some(source),
            },
            Some(13) => StoreError::Full { path },
            _ => StoreError::Failed { path, source },
        }
    }
}

/// SQLite's result code without its extension.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Opens the database, creates it if it is missing, and migrates its tables.
pub(crate) async fn open(
    path: &Path,
    busy_timeout: Duration,
) -> Result<SqliteConnection, StoreError> {
    make_file(path)?;
    check_head(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(busy_timeout)
        .journal_mode(SqliteJournalMode::Delete)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("cache_size", CACHE_SIZE)
        .statement_cache_capacity(16)
        .row_buffer_size(4);
    let explain = explain(path);
    let mut connection = SqliteConnection::connect_with(&options)
        .await
        .map_err(&explain)?;
    match table_version(&mut connection).await.map_err(&explain)? {
        Tables::Ours(found) if found == known_version() => {}
        Tables::Ours(found) if found > known_version() => {
            return Err(StoreError::Newer {
                path: path.into(),
                found,
                known: known_version(),
            });
        }
        Tables::Ours(_) | Tables::None => migrate(&mut connection, path).await?,
        Tables::Foreign => return Err(StoreError::Foreign { path: path.into() }),
    }
    Ok(connection)
}

/// Makes the file before SQLite does, so that only its owner can read it.
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

/// SQLite takes a file shorter than its smallest page for an empty one and would write over it.
/// While a rollback journal lies beside the file, SQLite has to mend it first.
fn check_head(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io {
        path: path.into(),
        source,
    };
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() || Path::new(&journal).exists() {
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

/// Whose tables a database has.
enum Tables {
    /// The database is empty.
    None,
    /// Ours, of this version.
    Ours(i64),
    /// Another program's.
    Foreign,
}

async fn table_version(connection: &mut SqliteConnection) -> Result<Tables, sqlx::Error> {
    let tables: i64 = query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await?;
    if tables == 0 {
        return Ok(Tables::None);
    }
    let mark: i64 = query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await?;
    if mark != APPLICATION_ID {
        return Ok(Tables::Foreign);
    }
    // Both questions were put outside a transaction: the mark comes and goes with the tables, and
    // migrations look again under the write lock.
    let version: Option<i64> = query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(Tables::Ours(version.unwrap_or(0)))
}

fn known_version() -> i64 {
    MIGRATOR
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0)
}

/// All migrations in one transaction that begins with the write lock: two processes that open a
/// new store at the same time take turns.
async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let explain = explain(path);
    let mut writing = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(&explain)?;
    MIGRATOR
        .run(&mut *writing)
        .await
        .map_err(|error| match error {
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => {
                explain(source)
            }
            MigrateError::VersionMissing(found) => StoreError::Newer {
                path: path.into(),
                found,
                known: known_version(),
            },
            other => StoreError::Failed {
                path: path.into(),
                source: other.into(),
            },
        })?;
    writing.commit().await.map_err(&explain)
}
