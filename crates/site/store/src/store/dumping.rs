//! Reading everything in the order of arrival, for a dump, and loading it again.

use cardmark_share::Area;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, row, rows, values};
use crate::decisions::types::NewAct;
use crate::queue::work::Work;
use crate::store::SiteStore;
use crate::store::products;
use crate::tables::facets::Facet;
use crate::tables::record::{HEAD, HEAD_COLUMNS, figures_of, head_of, is_lowest_first};
use crate::types::{Arrival, Arrivals, Change, Cursor, StoredDocument};

/// Columns of an [`Arrival`] after those of its head.
const MORE: &str = "r.origin, r.command_queue, r.card, r.context, r.figures, r.quarantined_by, \
    b.packed, b.digest";

impl SiteStore {
    /// Returns the next records in the order of arrival, quarantined and simulated ones included: at most `limit` that arrived after
    /// `after` and not later than `until_ms`. All of them are read from indexes.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn arrivals(&self, after: Cursor, until_ms: i64, limit: u32) -> Result<Arrivals> {
        let mut connection = self.main().await?;
        let next = places(&mut connection, after, until_ms, limit).await?;
        let text = format!(
            "select {HEAD}, {MORE} from records r join bodies b on b.id = r.id where r.id = $1"
        );
        let last = next.last().copied();
        let mut arrivals = Vec::with_capacity(next.len());
        for (_, id) in next {
            // One without a row was withdrawn since its place was read.
            if let Some(row) = row(&mut connection, text.as_str(), values![id]).await? {
                arrivals.push(arrival_of(&row)?);
            }
        }
        Ok(Arrivals {
            arrivals,
            last: last.map(|(received_ms, id)| Cursor { received_ms, id }),
        })
    }

    /// Returns the place of the first record that arrived after `after` and not later than `until_ms`.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn next_arrival(&self, after: Cursor, until_ms: i64) -> Result<Option<Cursor>> {
        let next = places(&mut *self.main().await?, after, until_ms, 1).await?;
        let first = next.into_iter().next();
        Ok(first.map(|(received_ms, id)| Cursor { received_ms, id }))
    }

    /// Returns withdrawn records with the times of their withdrawals, milliseconds since 1970, in the order of their ids.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn tombstones(&self, after: Uuid, limit: u32) -> Result<Vec<(Uuid, i64)>> {
        let text = "select id, at_ms from tombstones where id > $1 order by id limit $2";
        let values = values![after, i64::from(limit)];
        let found = rows(&mut *self.main().await?, text, values).await?;
        found
            .iter()
            .map(|row| Ok((row.uuid(0)?, row.integer(1)?)))
            .collect()
    }

    /// Returns the last change, and everything up to it is visible.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn last_change(&self) -> Result<Option<Change>> {
        let text = "select sequence, id, kind, at_ms from changes order by sequence desc limit 1";
        let found = row(&mut *self.main().await?, text, vec![]).await?;
        found.as_ref().map(products::change_of).transpose()
    }

    /// Returns the latest time of arrival, milliseconds since 1970; `None` without a record.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn last_arrival_ms(&self) -> Result<Option<i64>> {
        let mut connection = self.main().await?;
        let text =
            "select received_ms from facets where facet = $1 order by received_ms desc limit 1";
        let mut last = None;
        for area in [Area::Shared, Area::Simulated] {
            let found = row(&mut connection, text, values![Facet::of_area(area).key()]).await?;
            last = last.max(found.map(|row| row.integer(0)).transpose()?);
        }
        Ok(last)
    }

    /// Returns ids of records withdrawn after a change, and the last of these withdrawals. `after` is its sequence.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn withdrawn_after(&self, after: i64) -> Result<Vec<(i64, Uuid)>> {
        let text =
            "select sequence, id from changes where sequence > $1 and kind = $2 order by sequence";
        let kind = crate::tables::batch::kind_number(crate::types::ChangeKind::Withdrawn);
        let found = rows(&mut *self.main().await?, text, values![after, kind]).await?;
        found
            .iter()
            .map(|row| Ok((row.integer(0)?, row.uuid(1)?)))
            .collect()
    }

    /// Returns whether the database holds no record, no withdrawal and no act of a moderator.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn is_empty(&self) -> Result<bool> {
        let mut connection = self.main().await?;
        for table in ["records", "tombstones", "changes", "seeds", "acts"] {
            let text = format!("select 1 from {table} limit 1");
            if row(&mut connection, text, vec![]).await?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Stores acts of another site in their order, before its records are loaded: these follow them at once.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn load_acts(&self, acts: Vec<NewAct>) -> Result<()> {
        self.write_patiently(Work::LoadActs(acts)).await?;
        Ok(())
    }

    /// Stores withdrawals of records that are not there, with their times, in one transaction.
    ///
    /// # Errors
    /// If one is there already, or the database fails.
    pub async fn load_tombstones(&self, tombstones: Vec<(Uuid, i64)>) -> Result<()> {
        self.write_patiently(Work::LoadTombstones(tombstones))
            .await?;
        Ok(())
    }
}

/// The next places in the order of arrival, of both areas.
async fn places(
    connection: &mut AnyConnection,
    after: Cursor,
    until_ms: i64,
    limit: u32,
) -> Result<Vec<(i64, Uuid)>> {
    let text = "select f.received_ms, f.id from facets f where f.facet = $1 \
                and (f.received_ms, f.id) > ($2, $3) and f.received_ms <= $4 \
                order by f.received_ms, f.id limit $5";
    let mut places = Vec::new();
    for area in [Area::Shared, Area::Simulated] {
        let facet = Facet::of_area(area).key();
        let limit = i64::from(limit);
        let values = values![facet, after.received_ms, after.id, until_ms, limit];
        for row in rows(connection, text, values).await? {
            places.push((row.integer(0)?, row.uuid(1)?));
        }
    }
    places.sort_unstable();
    places.truncate(limit as usize);
    Ok(places)
}

fn arrival_of(row: &AnyRow) -> Result<Arrival> {
    let column = |more: usize| HEAD_COLUMNS + more;
    let figures = figures_of(&row.text(column(4))?)?.into_iter();
    Ok(Arrival {
        head: head_of(row)?,
        origin: row.text(column(0))?,
        command_queue: row.text_or_none(column(1))?,
        card: row.fixed(column(2))?,
        context: row.text(column(3))?,
        figures: figures
            .map(|figure| {
                let is_lowest_first = is_lowest_first(&figure);
                (figure.0, figure.1, is_lowest_first)
            })
            .collect(),
        quarantined_by: row.integer_or_none(column(5))?,
        document: StoredDocument {
            packed: row.bytes(column(6))?,
            digest: row.fixed(column(7))?,
        },
    })
}

impl Cursor {
    /// Before every record that arrived at this time or later.
    #[must_use]
    pub fn before(received_ms: i64) -> Self {
        Self {
            received_ms: received_ms.saturating_sub(1),
            id: Uuid::max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_time_is_before_its_cursor() {
        let cursor = Cursor::before(5);
        assert!((cursor.received_ms, cursor.id) < (5, Uuid::nil()));
        assert!((cursor.received_ms, cursor.id) >= (4, Uuid::max()));
    }
}
