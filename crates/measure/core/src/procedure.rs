//! Filesystem work of an application in one operation.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// Method by which `SQLite` makes a transaction atomic.
    pub enum DatabaseJournal {
        /// A rollback journal, deleted at the end of each transaction (`journal_mode=DELETE`).
        Delete,
        /// A write-ahead log (`journal_mode=WAL`).
        Wal,
    }
}

/// One operation of an application's workload.
///
/// The workload's `block_bytes` are the bytes that the application hands over in one operation; additional
/// writes by library and filesystem show only in the counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Procedure {
    /// One transaction of `SQLite`, `synchronous=FULL`: one row inserted, one updated, the oldest
    /// deleted. Two rows' values are one block.
    Transaction {
        /// Method of making it atomic.
        journal: DatabaseJournal,
        /// Size of a database page, bytes.
        page_bytes: u32,
        /// Size of the library's own page cache, bytes.
        cache_bytes: u64,
        /// Rows in the table before and after each transaction.
        rows_count: u32,
        /// Number of pages in the write-ahead log from which on a commit moves them into the database.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkpoint_pages_count: Option<u32>,
    },
    /// One package installed over its former version: all files written under other names, then each
    /// made durable and renamed, then the folder made durable.
    Install {
        /// Number of packages that are installed in turn.
        packages_count: u32,
        /// Size of each file of a package, bytes; together they are one block.
        file_sizes_bytes: Vec<u32>,
    },
    /// One line appended to a log and made durable (`fsync`). At the end of the span the log starts again from
    /// the beginning.
    Append,
    /// A kind that this version does not know, with all its fields.
    #[serde(untagged)]
    Other(serde_json::Map<String, serde_json::Value>),
}

impl Procedure {
    /// Returns the number of things that one operation consists of: the files of a package, otherwise 1.
    pub fn parts_count(&self) -> u64 {
        match self {
            Self::Install {
                file_sizes_bytes, ..
            } => file_sizes_bytes.len() as u64,
            Self::Transaction { .. } | Self::Append | Self::Other(_) => 1,
        }
    }
}
