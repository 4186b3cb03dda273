//! Errors of journals and stores. Every message names the file.

use std::io;
use std::path::PathBuf;

use cardmark_core::{Errno, ParseError};
use thiserror::Error;
use uuid::Uuid;

/// Reason why a journal cannot be written or read.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refused an operation on the file.
    #[error("cannot {action} journal `{path}`")]
    Io {
        /// Attempted action, such as `write`.
        action: &'static str,
        /// The file or its directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A process that is still alive holds the journal.
    #[error("journal `{path}` belongs to work that is under way")]
    Live {
        /// The file.
        path: PathBuf,
    },
    /// An earlier write failed half-way and could not be undone.
    #[error("journal `{path}` ends in a torn line and cannot be continued")]
    Torn {
        /// The file.
        path: PathBuf,
    },
    /// The first line, or the record, cannot be read, so that the rest is useless.
    #[error("journal `{path}` has no readable header")]
    Unusable {
        /// The file; it is kept.
        path: PathBuf,
        /// Reason why its record cannot be parsed, if the line itself is intact.
        source: Option<ParseError>,
    },
    /// A trial, finding or header is not expressible in JSON.
    #[error("cannot encode a line of journal `{path}`")]
    Encode {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: serde_json::Error,
    },
}

impl JournalError {
    /// The system's error number; 0 if the system is not the cause.
    #[must_use]
    pub fn errno(&self) -> Errno {
        match self {
            Self::Io { source, .. } => Errno::of(source),
            _ => Errno::NONE,
        }
    }

    /// Returns whether the cause is that there is no such file.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }
}

/// Reason why a document is not stored or not returned.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// A figure is infinite or not a number; such a document could not be read again.
    #[error("metric `{0}` is not finite")]
    NotFinite(String),
    /// The record cannot be written as JSON.
    #[error("not expressible in JSON")]
    Encode(#[source] serde_json::Error),
    /// The stored bytes are no text.
    #[error("the stored bytes are not text")]
    NotText(#[source] std::str::Utf8Error),
    /// The stored text is the record of another run.
    #[error("the stored text is of run {0}")]
    OtherRun(Uuid),
    /// The stored text is not a record that this program reads.
    #[error("the stored text is not readable")]
    Parse(#[source] ParseError),
}

/// The damaged part of a run's rows.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct DamagedPart(pub(crate) &'static str);

/// Reason why the store failed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file or its directory cannot be made or read.
    #[error("cannot open store `{path}`")]
    Io {
        /// The file or its directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The path leads to a device, FIFO, socket or directory. It is never opened.
    #[error("store `{path}` is not a regular file")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is damaged or no database. It is never overwritten.
    #[error("store `{path}` is damaged or not a database")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Error of SQLite; absent if its head already shows that it is no database.
        source: Option<rusqlite::Error>,
    },
    /// The file is a database of another program. It is never written to.
    #[error("`{path}` is a database, but not one of cardmark's")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the store for longer than the time allowed.
    #[error("store `{path}` is locked by another process")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program made the store.
    #[error(
        "store `{path}` was made by a newer cardmark (version {found} of its tables, {known} known)"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the tables.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// A development version of this program made the store, before the first release.
    #[error(
        "store `{path}` was made by a development version of cardmark (version {found} of its tables, {first} is the first known)"
    )]
    Outdated {
        /// The file. It is not changed.
        path: PathBuf,
        /// Version of the tables.
        found: i64,
        /// Oldest version that this program knows.
        first: i64,
    },
    /// The disk is full.
    #[error("no room left for store `{path}`")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or the disk it is on cannot be written to.
    #[error("store `{path}` is read-only")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The tables of an older version cannot be converted. They stay as they are.
    #[error("cannot convert store `{path}` to the tables of this version; it was not changed")]
    NotMigrated {
        /// The file.
        path: PathBuf,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// Anything else that SQLite refuses.
    #[error("store `{path}` cannot be used")]
    Failed {
        /// The file.
        path: PathBuf,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// Only SQLite is offered.
    #[error("a store of kind `{scheme}` is not supported")]
    Unsupported {
        /// The part of the address before the colon; the rest may hold a password.
        scheme: String,
    },
    /// The address of the store names no file. It is not repeated: it may hold a password.
    #[error("the address of the store cannot be used: {why}")]
    Address {
        /// Cause.
        why: &'static str,
    },
    /// A different document is stored under the same id.
    #[error("a different record `{id}` is in the store")]
    Conflict {
        /// The id.
        id: Uuid,
    },
    /// Another statement with the same number is stored.
    #[error("another statement on run `{id}` is in the store")]
    Stated {
        /// Id of the run.
        id: Uuid,
    },
    /// One document is not fit to be stored or read.
    #[error("record `{id}` cannot be used")]
    Document {
        /// The id.
        id: String,
        /// Cause.
        source: DocumentError,
    },
    /// A row that belongs to a run cannot be read.
    #[error("run {run} is damaged in store `{path}`")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Id of the run, as far as it can be read.
        run: String,
        /// Damaged part.
        source: DamagedPart,
    },
    /// A preparation of a card cannot be read.
    #[error("preparation {number} of a card is damaged in store `{path}`")]
    DamagedPreparation {
        /// The file.
        path: PathBuf,
        /// Its number in the store.
        number: i64,
    },
    /// The secret of the store cannot be read.
    #[error("the secret of store `{path}` is damaged")]
    DamagedSecret {
        /// The file.
        path: PathBuf,
    },
    /// No record has an id that begins so.
    #[error("no record `{prefix}` in the store")]
    NotFound {
        /// Requested prefix.
        prefix: String,
    },
    /// Several records have ids that begin so.
    #[error("`{prefix}` is the beginning of several ids: {}", .ids.join(", "))]
    Ambiguous {
        /// Requested prefix.
        prefix: String,
        /// The first of them, oldest first.
        ids: Vec<String>,
    },
    /// The text is neither `last` nor at least four hexadecimal digits.
    #[error("no run `{text}`: use `last`, or the first four or more digits of an id")]
    NotAnId {
        /// The text.
        text: String,
    },
}
