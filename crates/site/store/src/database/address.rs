//! Opening a database.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AnyPool, ConnectOptions as _, Connection as _, Executor as _};

use crate::database::migrations;
use crate::database::sql::{Columns as _, Result, row};
use crate::types::SiteStoreError;

/// Connections for reading, and one for each writer.
const CONNECTIONS: u32 = 8;
/// Time to wait for a free connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Settings of each connection. A write that was answered survives a loss of power. Deleted content is overwritten: what was
/// withdrawn is not in free pages either.
const SQLITE_SETTINGS: &str = "pragma synchronous = full; pragma busy_timeout = 10000; \
    pragma cache_size = -8192; pragma secure_delete = on";
/// A connection that hangs in a transaction holds locks of all instances.
const POSTGRES_SETTINGS: &str =
    "set synchronous_commit = on; set idle_in_transaction_session_timeout = '60s'";

/// Kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// An open database.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) kind: Kind,
    pub(crate) pool: AnyPool,
    /// Locked until it is closed.
    pub(crate) lock: Option<File>,
}

/// Opens the database, creates it if it is a file, and brings its tables up to date. A file is locked.
pub(crate) async fn open(address: &str) -> Result<Opened> {
    let lock = sqlite_path(address).map(|path| lock(&path)).transpose()?;
    let opened = open_beside(address).await?;
    Ok(Opened { lock, ..opened })
}

/// As [`open`], without the lock.
pub(crate) async fn open_beside(address: &str) -> Result<Opened> {
    sqlx::any::install_default_drivers();
    if let Some(path) = sqlite_path(address) {
        return open_sqlite(&path).await;
    }
    if !is_postgres(address) {
        return Err(SiteStoreError::Address(address.to_owned()));
    }
    let pool = pool(address, POSTGRES_SETTINGS).await?;
    migrate(migrations::of_postgres(), &pool).await?;
    Ok(Opened {
        kind: Kind::Postgres,
        pool,
        lock: None,
    })
}

/// Opens a replica of a PostgreSQL database.
pub(crate) async fn open_replica(address: &str) -> Result<AnyPool> {
    match is_postgres(address) {
        true => pool(address, POSTGRES_SETTINGS).await,
        false => Err(SiteStoreError::Address(address.to_owned())),
    }
}

fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

fn sqlite_path(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    (!path.is_empty() && !path.starts_with(':')).then(|| path.into())
}

async fn open_sqlite(path: &Path) -> Result<Opened> {
    make_folder(path)?;
    refuse_others(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    // It makes the file, and sets the kind of its journal for good.
    options.connect().await?.close().await?;
    let pool = pool(options.to_url_lossy().as_str(), SQLITE_SETTINGS).await?;
    migrate(migrations::of_sqlite(), &pool).await?;
    Ok(Opened {
        kind: Kind::Sqlite,
        pool,
        lock: None,
    })
}

/// Brings the tables up to date. A database that a newer version made is used if its migrations allow that.
async fn migrate(mut migrator: Migrator, pool: &AnyPool) -> Result<()> {
    let known = migrator.iter().map(|migration| migration.version).max();
    migrator.set_ignore_missing(true);
    migrator.run(pool).await?;
    let mut connection = pool.acquire().await?;
    let text = "select max(oldest_migration) from compatibility";
    let row = row(&mut connection, text, vec![]).await?;
    let oldest = row
        .ok_or(SiteStoreError::Damaged("no compatibility"))?
        .integer(0)?;
    match known >= Some(oldest) {
        true => Ok(()),
        false => Err(SiteStoreError::Newer),
    }
}

fn make_folder(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(sqlx::Error::Io)?;
    }
    Ok(())
}

/// Rejects what is no regular file, without opening it: SQLite takes a block device for an empty database.
fn refuse_others(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let text = format!("{} is not a regular file", path.display());
            Err(sqlx::Error::Io(std::io::Error::other(text)).into())
        }
        _ => Ok(()),
    }
}

/// Locks the file beside the database.
fn lock(path: &Path) -> Result<File> {
    make_folder(path)?;
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    refuse_others(Path::new(&name))?;
    let file = File::create(name).map_err(sqlx::Error::Io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SiteStoreError::InUse(path.display().to_string())),
        Err(TryLockError::Error(error)) => Err(sqlx::Error::Io(error).into()),
    }
}

async fn pool(address: &str, settings: &'static str) -> Result<AnyPool> {
    let options = AnyConnectOptions::from_str(address)?;
    let pool = AnyPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(PATIENCE)
        .after_connect(move |connection, _| {
            Box::pin(async move {
                connection.execute(settings).await?;
                Ok(())
            })
        });
    Ok(pool.connect_with(options).await?)
}
