//! The last looks of other boards.

use rusqlite::{OptionalExtension, params};

use crate::document::is_same;
use crate::rows::integer;
use crate::store::now;
use crate::{Inserted, Store, StoreError};

/// The last look at a target of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLook {
    /// Name of the board.
    pub host: String,
    /// The document.
    pub document: String,
}

impl Store {
    /// Keeps a look in place of an earlier one at the same target of the board. A later look stays, unless its time is yet to come:
    /// then a clock was wrong. `at_s` is in seconds since 1970.
    ///
    /// # Errors
    /// If the store fails.
    pub fn put_look(
        &mut self,
        host: &str,
        target: &str,
        at_s: Option<u64>,
        document: &str,
    ) -> Result<Inserted, StoreError> {
        let at_s = integer(at_s.unwrap_or(0));
        self.write(|connection| {
            let sql = "SELECT at, document FROM looks WHERE host = ?1 AND target = ?2";
            let found = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let known: Option<(i64, String)> = connection
                .query_row(sql, [host, target], found)
                .optional()?;
            let is_known = known.as_ref().is_some_and(|(known_s, known)| {
                let is_later = *known_s > at_s && at_s > 0 && *known_s <= now();
                is_later || is_same(known.as_bytes(), document)
            });
            if is_known {
                return Ok(Inserted::Known);
            }
            let sql = "INSERT INTO looks (host, target, at, document) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (host, target) DO UPDATE SET at = excluded.at, \
                       document = excluded.document";
            connection.execute(sql, params![host, target, at_s, document])?;
            Ok(match known {
                Some(_) => Inserted::Replaced,
                None => Inserted::New,
            })
        })
    }

    /// Returns the last looks of all boards, by board and target.
    ///
    /// # Errors
    /// If the store fails.
    pub fn looks(&mut self) -> Result<Vec<StoredLook>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT host, document FROM looks ORDER BY host, target";
            let mut statement = connection.prepare(sql)?;
            let looks = statement.query_map([], |row| {
                Ok(StoredLook {
                    host: row.get(0)?,
                    document: row.get(1)?,
                })
            })?;
            Ok(looks.collect::<Result<_, _>>()?)
        })
    }
}
