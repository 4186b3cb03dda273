//! Copies: records with another id and the same measurements.

use std::collections::{BTreeSet, HashMap};

use cardmark_core::Record;
use uuid::Uuid;

use crate::damage::collect;
use crate::{Condition, Store, StoreError};

const DAMAGE: &str = "its evidence digest is not readable";

impl Store {
    /// Returns the ids of all other records with the measurements of this one, in the order of storing.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn copies(&mut self, id: Uuid) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT record_id FROM heads WHERE record_id <> ?1 AND evidence = \
                       (SELECT evidence FROM heads WHERE record_id = ?1) ORDER BY sequence";
            let id = id.to_string();
            collect(connection, sql, [id], DAMAGE, |row| row.get(0))
        })
    }

    /// Returns the record with the measurements of this one that was stored first; `None` if it is this one.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn copied_from(&mut self, id: Uuid) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT first.record_id FROM heads AS first JOIN heads AS one \
                       ON first.evidence = one.evidence AND first.sequence < one.sequence \
                       WHERE one.record_id = ?1 ORDER BY first.sequence LIMIT 1";
            let id = id.to_string();
            let found = collect(connection, sql, [id], DAMAGE, |row| row.get(0))?;
            Ok(found.into_iter().next())
        })
    }

    /// Returns the ids of all records that have an evidence digest, and the digests, in the order of storing.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn digests(&mut self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection| {
            // Without the index, SQLite reads the pages of all heads, because the digest is behind them.
            let sql = "SELECT record_id, evidence FROM heads INDEXED BY heads_of_evidence \
                       WHERE evidence IS NOT NULL ORDER BY sequence";
            let digest = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            collect(connection, sql, [], DAMAGE, digest)
        })
    }

    /// Like [`Store::select`], but of copies only the one that was stored first.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn select_distinct(&mut self, conditions: &[Condition]) -> Result<Vec<Record>, StoreError> {
        let mut records = self.select(conditions)?;
        let digests: HashMap<String, String> = self.digests()?.into_iter().collect();
        let mut met = BTreeSet::new();
        records.retain(|record| {
            let digest = digests.get(&record.id.to_string());
            digest.is_none_or(|digest| met.insert(digest))
        });
        Ok(records)
    }
}
