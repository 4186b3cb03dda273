//! Listings of records without their documents.

use std::collections::BTreeMap;

use cardmark_core::{OriginKind, Quantity, TargetKind};
use rusqlite::Connection;
use serde::Serialize;

use crate::damage::{self, Variant, collect, finite, refuse};
use crate::failure::Failure;
use crate::heads::labels_of;
use crate::rows::integer;

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Id of the run.
    pub id: String,
    /// Start time, RFC 3339, if known.
    pub started_at: Option<String>,
    /// Name of the suite, if any.
    pub suite: Option<String>,
    /// Version of the suite.
    pub suite_version: Option<u32>,
    /// Kind of target, if known.
    pub target_kind: Option<TargetKind>,
    /// Origin of the record.
    pub origin: OriginKind,
    /// Current labels.
    pub labels: BTreeMap<String, String>,
    /// Rates in the order of the record: id, value and quantity.
    pub headline: Vec<(String, f64, Quantity)>,
}

/// Returns the records stored last, newest first.
pub(crate) fn summaries(connection: &Connection, limit: u32) -> Result<Vec<Summary>, Failure> {
    refuse(connection, damage::LABELS)?;
    let mut summaries = collect(
        connection,
        "SELECT id, started_at, suite, suite_version, target_kind, origin_kind, metrics_count \
         FROM records ORDER BY sequence DESC LIMIT ?1",
        [limit],
        "its row is not readable",
        |row| {
            let target_kind: Option<Variant<_>> = row.get(4)?;
            let summary = Summary {
                id: row.get(0)?,
                started_at: row.get(1)?,
                suite: row.get(2)?,
                suite_version: row.get(3)?,
                target_kind: target_kind.map(|kind| kind.0),
                origin: row.get::<_, Variant<_>>(5)?.0,
                labels: BTreeMap::new(),
                headline: Vec::new(),
            };
            let metrics_count: i64 = row.get(6)?;
            Ok((summary, metrics_count))
        },
    )?;
    for (summary, metrics_count) in &mut summaries {
        summary.headline = headline(connection, &summary.id, *metrics_count)?;
        summary.labels = labels_of(connection, &summary.id)?;
    }
    Ok(summaries.into_iter().map(|(summary, _)| summary).collect())
}

/// Returns the rates of a record that has `metrics_count` metrics.
fn headline(
    connection: &Connection,
    run: &str,
    metrics_count: i64,
) -> Result<Vec<(String, f64, Quantity)>, Failure> {
    let mut metrics: Vec<(String, f64, Quantity)> = collect(
        connection,
        "SELECT record_id, id, value, quantity FROM metrics WHERE record_id = ?1 ORDER BY position",
        [run],
        "a figure is not readable",
        |row| {
            let quantity: Variant<Quantity> = row.get(3)?;
            Ok((row.get(1)?, finite(row, 2)?, quantity.0))
        },
    )?;
    if integer(metrics.len()) != metrics_count {
        return Err(Failure::Damaged {
            run: run.to_owned(),
            what: "a figure is missing or added",
        });
    }
    metrics.retain(|(_, _, quantity)| quantity.is_rate());
    Ok(metrics)
}
