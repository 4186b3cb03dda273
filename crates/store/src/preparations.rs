//! The history of cards: how they were brought into a known state.

use cardmark_core::{Fill, Preparation};
use sha2::{Digest, Sha256};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{query, query_as, query_scalar};

use crate::database::explain;
use crate::rows::{name, variant};
use crate::{Store, StoreError};

/// Name of a card in this store: a hash of its identity and of a secret of the store.
///
/// The owner of the store also has its secret, and can find out whether a known serial number is in it; to
/// others the key reveals nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardKey([u8; 32]);

impl CardKey {
    /// A name for files about the card.
    #[must_use]
    pub fn name(&self) -> String {
        let digits = self.0.iter().take(8).map(|byte| format!("{byte:02x}"));
        digits.collect()
    }
}

/// The number of a preparation in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparationId(i64);

type Row = (
    i64,
    String,
    Option<String>,
    String,
    Option<String>,
    i64,
    i64,
);

impl Store {
    /// The name of the card that is identified so.
    ///
    /// # Errors
    /// If the store fails.
    pub fn card_key(&mut self, identity: &[u8]) -> Result<CardKey, StoreError> {
        let reading = query_scalar("SELECT bytes FROM secret").fetch_one(&mut self.connection);
        let secret: Vec<u8> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let hash = Sha256::new().chain_update(secret).chain_update(identity);
        Ok(CardKey(hash.finalize().into()))
    }

    /// Notes that a preparation begins. From now on it is the last one of its card.
    ///
    /// # Errors
    /// If the store fails.
    pub fn begin_preparation(
        &mut self,
        card: &CardKey,
        preparation: &Preparation,
    ) -> Result<PreparationId, StoreError> {
        let inserting = query_scalar(
            "INSERT INTO preparations (card_key, fill, seed, started_at, finished_at, size_bytes, \
             done_bytes) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING sequence",
        )
        .bind(card.0.as_slice())
        .bind(name(preparation.fill))
        .bind(&preparation.seed)
        .bind(&preparation.started_at)
        .bind(&preparation.finished_at)
        .bind(integer(preparation.size_bytes))
        .bind(integer(preparation.done_bytes))
        .fetch_one(&mut self.connection);
        let sequence = self
            .runtime
            .block_on(inserting)
            .map_err(explain(&self.path))?;
        Ok(PreparationId(sequence))
    }

    /// Records the durable part of it.
    ///
    /// # Errors
    /// If the store fails.
    pub fn note_progress(&mut self, id: PreparationId, done_bytes: u64) -> Result<(), StoreError> {
        let changing = query("UPDATE preparations SET done_bytes = ? WHERE sequence = ?")
            .bind(integer(done_bytes))
            .bind(id.0);
        self.change(changing)
    }

    /// Notes that all of it is durable.
    ///
    /// # Errors
    /// If the store fails.
    pub fn finish_preparation(
        &mut self,
        id: PreparationId,
        finished_at: &str,
    ) -> Result<(), StoreError> {
        let changing = query(
            "UPDATE preparations SET done_bytes = size_bytes, finished_at = ? WHERE sequence = ?",
        )
        .bind(finished_at)
        .bind(id.0);
        self.change(changing)
    }

    /// Takes a preparation back that changed nothing on the card.
    ///
    /// # Errors
    /// If the store fails.
    pub fn forget_preparation(&mut self, id: PreparationId) -> Result<(), StoreError> {
        let removing = query("DELETE FROM preparations WHERE sequence = ?").bind(id.0);
        self.change(removing)
    }

    /// The preparation of a card that began last, finished or not.
    ///
    /// # Errors
    /// If the store fails, or the row is damaged.
    pub fn last_preparation(&mut self, card: &CardKey) -> Result<Option<Preparation>, StoreError> {
        Ok(self.last(card)?.map(|(_, preparation)| preparation))
    }

    /// Returns the preparation of a card that can be continued: the last one, if it is not finished and has
    /// this fill. A later fill invalidates an earlier one.
    ///
    /// # Errors
    /// If the store fails.
    pub fn unfinished_preparation(
        &mut self,
        card: &CardKey,
        fill: Fill,
    ) -> Result<Option<(PreparationId, Preparation)>, StoreError> {
        let can_go_on = |(_, last): &(PreparationId, Preparation)| {
            last.finished_at.is_none() && last.fill == fill
        };
        Ok(self.last(card)?.filter(can_go_on))
    }

    fn change(&mut self, statement: Query<'_, Sqlite, SqliteArguments>) -> Result<(), StoreError> {
        let changing = statement.execute(&mut self.connection);
        self.runtime
            .block_on(changing)
            .map_err(explain(&self.path))?;
        Ok(())
    }

    fn last(&mut self, card: &CardKey) -> Result<Option<(PreparationId, Preparation)>, StoreError> {
        let reading = query_as(
            "SELECT sequence, fill, seed, started_at, finished_at, size_bytes, done_bytes \
             FROM preparations WHERE card_key = ? ORDER BY sequence DESC LIMIT 1",
        )
        .bind(card.0.as_slice())
        .fetch_optional(&mut self.connection);
        let row: Option<Row> = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let Some(row) = row else {
            return Ok(None);
        };
        let number = row.0;
        let damaged = || StoreError::DamagedPreparation {
            path: self.path.clone(),
            number,
        };
        read(row).map(Some).ok_or_else(damaged)
    }
}

fn read(row: Row) -> Option<(PreparationId, Preparation)> {
    let (sequence, fill, seed, started_at, finished_at, size_bytes, done_bytes) = row;
    let preparation = Preparation {
        fill: variant(fill)?,
        seed,
        started_at,
        finished_at,
        size_bytes: u64::try_from(size_bytes).ok()?,
        done_bytes: u64::try_from(done_bytes).ok()?,
    };
    Some((PreparationId(sequence), preparation))
}

/// SQLite's numbers end at 2⁶³, devices do before.
fn integer(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
