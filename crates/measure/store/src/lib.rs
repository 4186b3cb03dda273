//! Stores measurements: the journal of unfinished work while it lasts, the store of records after it.
//!
//! The journal is a file of lines with a checksum, synced line by line, so that a crash or a loss of power costs
//! at most the step under way. The store is an SQLite database that holds each record as its
//! original document, extracts for listings, and the history of cards.

mod checksum;
mod content;
mod copies;
mod damage;
mod database;
mod document;
mod error;
mod failure;
mod figures;
mod files;
mod heads;
mod journal;
mod listing;
mod looks;
mod places;
mod preparations;
mod reading;
mod recover;
mod rows;
mod secret;
mod selection;
mod statements;
mod store;
mod submissions;

pub use content::{Content, JobKind, JournalHead};
pub use error::{DamagedPart, DocumentError, JournalError, StoreError};
pub use figures::StoredFigure;
pub use heads::Labels;
pub use journal::Journal;
pub use listing::Summary;
pub use looks::StoredLook;
pub use places::Places;
pub use preparations::{CardKey, PreparationId};
pub use recover::{Recovery, discard, peek, recover, unfinished};
pub use rows::Inserted;
pub use secret::{SECRET_BYTES, SecretReplaced, SecretState};
pub use selection::{Condition, IsBoard};
pub use statements::HOST_LABEL;
pub use store::{Found, Incoming, Store, sqlite_path};
pub use submissions::{Queued, SubmissionState};

/// Name of the directory of journals inside the data directory.
pub const JOURNALS_DIRECTORY: &str = "journals";
/// Name of the directory, inside the data directory, for the state of long tests.
pub const TESTS_DIRECTORY: &str = "tests";
/// Name of the database inside the data directory.
pub const DATABASE_FILE: &str = "records.sqlite";
