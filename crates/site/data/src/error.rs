//! Reasons for which a dump cannot be written or read.

use std::path::{Path, PathBuf};

use cardmark_site_store::SiteStoreError;
use thiserror::Error;

/// Failure of a dump, an import or a derivation.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file cannot be read or written.
    #[error("cannot use {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The folder of a new dump is there already.
    #[error("{0} is there already; name a folder that is not there yet")]
    Exists(PathBuf),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] SiteStoreError),
    /// A table cannot be written.
    #[error("cannot write the table {path}")]
    Table {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: parquet::errors::ParquetError,
    },
    /// The folder is not a dump, or not one that this version reads.
    #[error("{path} is no dump that this version reads: {why}")]
    NotADump {
        /// The folder or file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file of a dump is not what the dump says of it.
    #[error("{path} is damaged: {why}; nothing was changed")]
    Damaged {
        /// The file, with the number of the line.
        path: String,
        /// The reason.
        why: String,
    },
    /// The database to import into has records.
    #[error("the database is not empty; import into a new one (CARDMARK_DATABASE_URL)")]
    NotEmpty,
    /// The file is not named as a part of a dump's documents.
    #[error("{0} is no part of a dump's documents: its name has to end with .jsonl.zst")]
    NotAPart(PathBuf),
    /// A part of the work ended without a result.
    #[error("the work ended early: {0}")]
    Ended(#[from] tokio::task::JoinError),
}

/// Adds the path to an error of the system.
pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> DataError + '_ {
    move |source| DataError::File {
        path: path.to_owned(),
        source,
    }
}
