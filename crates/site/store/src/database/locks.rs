//! Locks of PostgreSQL, for writers of several instances.
//!
//! Each transaction takes its locks in this order, so that no two wait for each other: that of decisions first, then those of
//! record ids and those of everything else that its writes read or change, both in ascending order, and that of changes last.

use std::collections::BTreeSet;

use sqlx::AnyConnection;

use crate::database::sql::{Result, run, values};

/// The lock under which changes are numbered, until the transaction is committed: the order of their numbers is that in which
/// they become visible.
const CHANGES: i64 = i64::MAX;
/// The lock of decisions: shared by writes that follow them, held alone by a new act.
const DECISIONS: i64 = i64::MAX - 1;

/// Locks to take.
#[derive(Debug, Default)]
pub(crate) struct Locks(BTreeSet<i64>);

impl Locks {
    /// Adds the lock of a record id.
    pub(crate) fn add_id(&mut self, id: &[u8]) {
        self.0.insert(hash("id", id) | i64::MIN);
    }

    /// Adds a lock of another key. `kind` separates keys of different kinds.
    pub(crate) fn add(&mut self, kind: &str, key: impl AsRef<[u8]>) {
        self.0.insert(hash(kind, key.as_ref()) & (i64::MAX >> 1));
    }

    /// Adds the lock of a key, if there is one.
    pub(crate) fn add_some(&mut self, kind: &str, key: Option<impl AsRef<[u8]>>) {
        if let Some(key) = key {
            self.add(kind, key);
        }
    }

    /// Takes all locks, until the end of the transaction.
    pub(crate) async fn take(&self, connection: &mut AnyConnection) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let text = "select count(pg_advisory_xact_lock(key)::text) from \
                    (select key from unnest($1::text::bigint[]) as key order by key offset 0) as keys";
        run(connection, text, values![format!("{{{}}}", keys.join(","))]).await?;
        Ok(())
    }
}

/// Takes the lock of changes, until the end of the transaction.
pub(crate) async fn take_changes(connection: &mut AnyConnection) -> Result<()> {
    run(
        connection,
        "select pg_advisory_xact_lock($1)",
        values![CHANGES],
    )
    .await?;
    Ok(())
}

/// Takes the lock of decisions, until the end of the transaction.
pub(crate) async fn take_decisions(connection: &mut AnyConnection, is_alone: bool) -> Result<()> {
    let text = match is_alone {
        true => "select pg_advisory_xact_lock($1)",
        false => "select pg_advisory_xact_lock_shared($1)",
    };
    run(connection, text, values![DECISIONS]).await?;
    Ok(())
}

/// FNV-1a: the same in each version of the program, since instances of several may run at once.
fn hash(kind: &str, key: &[u8]) -> i64 {
    let bytes = kind.bytes().chain([0]).chain(key.iter().copied());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash.cast_signed()
}
