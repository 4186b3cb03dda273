//! Errors inside a transaction, before they name the file.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::{DamagedPart, StoreError};

/// Reason why a transaction was rolled back.
#[derive(Debug)]
pub(crate) enum Failure {
    /// SQLite refused a statement, or a value could not be decoded.
    Sqlite(rusqlite::Error),
    /// A row cannot be what was stored.
    Damaged {
        /// Id of the run, as far as it is readable.
        run: String,
        /// Damaged part.
        what: &'static str,
    },
    /// The store refused the request.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    /// Converts to an error about the store at `path`.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        let source = match self {
            Self::Sqlite(source) => source,
            Self::Damaged { run, what } => {
                return StoreError::Damaged {
                    path,
                    run,
                    source: DamagedPart(what),
                };
            }
            Self::Refused(error) => return error,
        };
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Locked { path }
            }
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
                path,
                source: Some(source),
            },
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            _ => StoreError::Failed { path, source },
        }
    }
}
