//! The history of cards: how they were brought into a known state.

use cardmark_core::{Fill, Preparation, name_of};
use rusqlite::{Error, OptionalExtension, Params, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::damage::Variant;
use crate::rows::integer;
use crate::secret::secret;
use crate::{Store, StoreError};

/// Name of a card in this store: a hash of its identity and of a secret of the store.
///
/// The owner of the store also has its secret, and can find out whether a known serial number is in it; to
/// others the key reveals nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardKey([u8; 32]);

impl CardKey {
    /// A name for files about the card.
    pub fn name(&self) -> String {
        let digits = self.0.iter().take(8).map(|byte| format!("{byte:02x}"));
        digits.collect()
    }
}

/// The number of a preparation in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparationId(i64);

impl Store {
    /// Returns the key of a card in this store.
    ///
    /// # Errors
    /// If the store fails.
    pub fn card_key(&mut self, identity: &[u8]) -> Result<CardKey, StoreError> {
        let secret = self.read(secret)?;
        let hash = Sha256::new().chain_update(secret).chain_update(identity);
        Ok(CardKey(hash.finalize().into()))
    }

    /// Records the start of a preparation, which is from now on the last one of its card.
    ///
    /// # Errors
    /// If the store fails.
    pub fn begin_preparation(
        &mut self,
        card: &CardKey,
        preparation: &Preparation,
    ) -> Result<PreparationId, StoreError> {
        self.write(|connection| {
            connection.execute(
                "INSERT INTO preparations (card_key, fill, seed, started_at, finished_at, \
                 size_bytes, done_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    card.0,
                    name_of(&preparation.fill),
                    preparation.seed,
                    preparation.started_at,
                    preparation.finished_at,
                    integer(preparation.size_bytes),
                    integer(preparation.done_bytes),
                ],
            )?;
            Ok(PreparationId(connection.last_insert_rowid()))
        })
    }

    /// Records the number of bytes that are durable.
    ///
    /// # Errors
    /// If the store fails.
    pub fn note_progress(&mut self, id: PreparationId, done_bytes: u64) -> Result<(), StoreError> {
        let sql = "UPDATE preparations SET done_bytes = ?2 WHERE sequence = ?1";
        self.change(sql, params![id.0, integer(done_bytes)])
    }

    /// Records that all bytes are durable.
    ///
    /// # Errors
    /// If the store fails.
    pub fn finish_preparation(
        &mut self,
        id: PreparationId,
        finished_at: &str,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE preparations SET done_bytes = size_bytes, finished_at = ?2 \
                   WHERE sequence = ?1";
        self.change(sql, params![id.0, finished_at])
    }

    /// Removes a preparation that changed nothing on the card.
    ///
    /// # Errors
    /// If the store fails.
    pub fn forget_preparation(&mut self, id: PreparationId) -> Result<(), StoreError> {
        self.change("DELETE FROM preparations WHERE sequence = ?1", [id.0])
    }

    /// Returns the preparation of a card that began last, finished or not, with its number.
    ///
    /// # Errors
    /// If the store fails, or the row is damaged.
    pub fn last_preparation(
        &mut self,
        card: &CardKey,
    ) -> Result<Option<(PreparationId, Preparation)>, StoreError> {
        let sql = "SELECT sequence, fill, seed, started_at, finished_at, size_bytes, done_bytes \
                   FROM preparations WHERE card_key = ?1 ORDER BY sequence DESC LIMIT 1";
        let row = self.read(|connection| {
            let decode = |row: &Row<'_>| Ok((row.get(0)?, preparation(row)));
            Ok(connection.query_row(sql, [card.0], decode).optional()?)
        })?;
        match row {
            None => Ok(None),
            Some((number, Ok(preparation))) => Ok(Some((PreparationId(number), preparation))),
            Some((number, Err(_))) => Err(StoreError::DamagedPreparation {
                path: self.path.clone(),
                number,
            }),
        }
    }

    /// Returns the preparation of a card that can be resumed: the last one, if it is not finished
    /// and has this fill. A later preparation with another fill overwrote earlier ones.
    ///
    /// # Errors
    /// If the store fails, or the row is damaged.
    pub fn unfinished_preparation(
        &mut self,
        card: &CardKey,
        fill: Fill,
    ) -> Result<Option<(PreparationId, Preparation)>, StoreError> {
        let can_go_on = |(_, last): &(PreparationId, Preparation)| {
            last.finished_at.is_none() && last.fill == fill
        };
        Ok(self.last_preparation(card)?.filter(can_go_on))
    }

    fn change(&mut self, sql: &str, parameters: impl Params) -> Result<(), StoreError> {
        self.write(|connection| {
            connection.execute(sql, parameters)?;
            Ok(())
        })
    }
}

fn preparation(row: &Row<'_>) -> Result<Preparation, Error> {
    let bytes = |index| {
        let bytes: i64 = row.get(index)?;
        u64::try_from(bytes).map_err(|_| Error::IntegralValueOutOfRange(index, bytes))
    };
    Ok(Preparation {
        fill: row.get::<_, Variant<_>>(1)?.0,
        seed: row.get(2)?,
        started_at: row.get(3)?,
        finished_at: row.get(4)?,
        size_bytes: bytes(5)?,
        done_bytes: bytes(6)?,
    })
}
