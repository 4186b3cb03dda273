//! The secret of the store: keys of cards, and permissions to change runs on results sites, derive from it.

use rusqlite::Connection;

use crate::failure::Failure;
use crate::{Store, StoreError};

/// Size of the secret, bytes.
pub const SECRET_BYTES: usize = 32;

/// Use of a store's secret so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretState {
    /// Number of submissions that only this secret can change.
    pub submissions_count: u64,
    /// Number of preparations of cards that only this secret can find.
    pub preparations_count: u64,
}

impl SecretState {
    /// Returns whether something would be lost with the secret.
    pub fn is_used(self) -> bool {
        self != Self::default()
    }
}

impl Store {
    /// Returns the secret.
    ///
    /// # Errors
    /// If the store fails, or the secret is damaged.
    pub fn secret(&mut self) -> Result<[u8; SECRET_BYTES], StoreError> {
        let bytes = self.read(secret)?;
        let path = self.path.clone();
        <[u8; SECRET_BYTES]>::try_from(bytes).map_err(|_| StoreError::DamagedSecret { path })
    }

    /// Returns what depends on the secret.
    ///
    /// # Errors
    /// If the store fails.
    pub fn secret_state(&mut self) -> Result<SecretState, StoreError> {
        self.read(state)
    }

    /// Replaces the secret. One that is used is replaced only if `is_forced`; the same secret again is no change.
    /// Returns the state of the former secret.
    ///
    /// # Errors
    /// If the store fails.
    pub fn replace_secret(
        &mut self,
        new: &[u8; SECRET_BYTES],
        is_forced: bool,
    ) -> Result<SecretReplaced, StoreError> {
        self.write(|connection| {
            if secret(connection)? == new {
                return Ok(SecretReplaced::Same);
            }
            let state = state(connection)?;
            if state.is_used() && !is_forced {
                return Ok(SecretReplaced::Refused(state));
            }
            connection.execute("UPDATE secret SET bytes = ?1", [new])?;
            Ok(SecretReplaced::Replaced)
        })
    }
}

/// Effect of replacing the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretReplaced {
    /// The store had this secret before.
    Same,
    /// The store has it now.
    Replaced,
    /// The former secret stays: this depends on it.
    Refused(SecretState),
}

pub(crate) fn secret(connection: &Connection) -> Result<Vec<u8>, Failure> {
    Ok(connection.query_row("SELECT bytes FROM secret", [], |row| row.get(0))?)
}

fn state(connection: &Connection) -> Result<SecretState, Failure> {
    let count = |table: &str| -> Result<u64, Failure> {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    };
    Ok(SecretState {
        submissions_count: count("submissions")?,
        preparations_count: count("preparations")?,
    })
}
