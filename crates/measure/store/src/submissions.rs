//! Runs that were sent to results sites, and those that wait for the next attempt.

use cardmark_core::{OriginKind, name_of};
use rusqlite::{Error, Row, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::damage::{Variant, collect};
use crate::statements::HOST_LABEL;
use crate::store::now;
use crate::{Store, StoreError};

const DAMAGE: &str = "its submission is not readable";

/// State of a run on a results site, as this store knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionState {
    /// To be sent with the next submission to that site; the site may have received it.
    Waiting,
    /// The site has received it.
    Sent,
    /// Its owner withdrew it.
    Withdrawn,
}

/// A run that was sent to a results site, or waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Id of the run.
    pub run: Uuid,
    /// Its state.
    pub state: SubmissionState,
    /// Names of fields that the owner kept in the public form.
    pub keep: Vec<String>,
    /// While it waits: the body of the request, byte for byte.
    pub body: Option<Vec<u8>>,
}

impl Store {
    /// Records the state of a run on a site, in place of an earlier one. `body` is kept while it waits.
    ///
    /// # Errors
    /// If the store fails.
    pub fn put_submission(&mut self, server: &str, queued: &Queued) -> Result<(), StoreError> {
        let keep = serde_json::json!(queued.keep).to_string();
        self.write(|connection| {
            connection.execute(
                "INSERT INTO submissions (record_id, server, state, changed_at, keep, body) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (record_id, server) DO UPDATE SET \
                 state = excluded.state, changed_at = excluded.changed_at, keep = excluded.keep, \
                 body = excluded.body",
                params![
                    queued.run.to_string(),
                    server,
                    name_of(&queued.state),
                    now(),
                    keep,
                    queued.body,
                ],
            )?;
            Ok(())
        })
    }

    /// Removes what is known of a run on a site, such as of one that the site refused.
    ///
    /// # Errors
    /// If the store fails.
    pub fn forget_submission(&mut self, server: &str, run: Uuid) -> Result<(), StoreError> {
        self.write(|connection| {
            let sql = "DELETE FROM submissions WHERE record_id = ?1 AND server = ?2";
            connection.execute(sql, [run.to_string(), server.to_owned()])?;
            Ok(())
        })
    }

    /// Returns what is known of a run on a site.
    ///
    /// # Errors
    /// If the store fails, or the row is damaged.
    pub fn submission(&mut self, server: &str, run: Uuid) -> Result<Option<Queued>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT record_id, state, keep, body FROM submissions \
                       WHERE server = ?1 AND record_id = ?2";
            let found = collect(
                connection,
                sql,
                params![server, run.to_string()],
                DAMAGE,
                queued,
            )?;
            Ok(found.into_iter().next())
        })
    }

    /// Returns the runs that were sent to a site or wait, in the order of their last change.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn submissions(&mut self, server: &str) -> Result<Vec<Queued>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT record_id, state, keep, body FROM submissions WHERE server = ?1 \
                       ORDER BY changed_at, rowid";
            collect(connection, sql, [server], DAMAGE, queued)
        })
    }

    /// Returns the runs that were measured on storage of this computer and are unknown to a site as far as this store
    /// knows, oldest first. Records that were imported are left out.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn unsent(&mut self, server: &str) -> Result<Vec<Uuid>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id FROM records WHERE origin_kind = ?1 AND is_imported = 0 \
                       AND NOT EXISTS (SELECT 1 FROM submissions \
                           WHERE record_id = records.id AND server = ?2) \
                       AND NOT EXISTS (SELECT 1 FROM labels \
                           WHERE record_id = records.id AND key = ?3) \
                       ORDER BY sequence";
            let measured = name_of(&OriginKind::Measured);
            let parameters = [measured.as_str(), server, HOST_LABEL];
            collect(connection, sql, parameters, DAMAGE, |row| id(row, 0))
        })
    }
}

fn queued(row: &Row<'_>) -> Result<Queued, Error> {
    let keep: String = row.get(2)?;
    let keep = serde_json::from_str(&keep);
    Ok(Queued {
        run: id(row, 0)?,
        state: row.get::<_, Variant<_>>(1)?.0,
        keep: keep.map_err(|error| conversion(2, error))?,
        body: row.get(3)?,
    })
}

fn id(row: &Row<'_>, index: usize) -> Result<Uuid, Error> {
    let text: String = row.get(index)?;
    Uuid::parse_str(&text).map_err(|error| conversion(index, error))
}

fn conversion(index: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, Box::new(error))
}
