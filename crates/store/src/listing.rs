//! Listings of records without their documents.

use std::collections::BTreeMap;

use cardmark_core::{OriginKind, Quantity, TargetKind};
use serde::Serialize;
use sqlx::query_as;
use sqlx::sqlite::SqliteConnection;

use crate::damage::{check_recent, damaged};
use crate::rows::variant;

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Id of the run.
    pub id: String,
    /// When it began, RFC 3339, where known.
    pub started_at: Option<String>,
    /// Name of the suite, if known.
    pub suite: Option<String>,
    /// Version of the suite.
    pub suite_version: Option<u32>,
    /// Kind of target, if known.
    pub target_kind: Option<TargetKind>,
    /// Kind of source of the record.
    pub origin: OriginKind,
    /// Current labels.
    pub labels: BTreeMap<String, String>,
    /// The rates: id, value and quantity, in the order of the record.
    pub headline: Vec<(String, f64, Quantity)>,
}

type SummaryRow = (
    String,
    Option<String>,
    Option<String>,
    Option<u32>,
    Option<String>,
    String,
);

/// The records stored last, newest first. To be called within a transaction.
pub(crate) async fn summaries(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<Summary>, sqlx::Error> {
    check_recent(connection, limit).await?;
    let mut summaries = bare_summaries(connection, limit).await?;
    add_headlines(connection, limit, &mut summaries).await?;
    add_labels(connection, limit, &mut summaries).await?;
    Ok(summaries)
}

async fn bare_summaries(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<Summary>, sqlx::Error> {
    let rows: Vec<SummaryRow> = query_as(
        "SELECT id, started_at, suite, suite_version, target_kind, origin_kind FROM records \
         ORDER BY sequence DESC LIMIT ?",
    )
    .bind(limit)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(summary).collect()
}

fn summary(row: SummaryRow) -> Result<Summary, sqlx::Error> {
    let (id, started_at, suite, suite_version, target_kind, origin) = row;
    let kind = |kind: String| {
        variant(kind).ok_or_else(|| damaged(&id, "the kind of its target is unknown"))
    };
    let target_kind = target_kind.map(kind).transpose()?;
    let origin = variant(origin).ok_or_else(|| damaged(&id, "its origin is unknown"))?;
    Ok(Summary {
        id,
        started_at,
        suite,
        suite_version,
        target_kind,
        origin,
        labels: BTreeMap::new(),
        headline: Vec::new(),
    })
}

async fn add_headlines(
    connection: &mut SqliteConnection,
    limit: u32,
    summaries: &mut [Summary],
) -> Result<(), sqlx::Error> {
    let rows: Vec<(String, String, f64, String)> = query_as(
        "SELECT record_id, id, value, quantity FROM metrics WHERE record_id IN \
         (SELECT id FROM records ORDER BY sequence DESC LIMIT ?) ORDER BY record_id, position",
    )
    .bind(limit)
    .fetch_all(connection)
    .await?;
    let mut places = places(summaries);
    for (record_id, id, value, quantity) in rows {
        let unknown = || damaged(&record_id, "the quantity of a figure is unknown");
        let quantity: Quantity = variant(quantity).ok_or_else(unknown)?;
        if quantity.is_rate()
            && let Some(summary) = places.get_mut(&record_id)
        {
            summary.headline.push((id, value, quantity));
        }
    }
    Ok(())
}

async fn add_labels(
    connection: &mut SqliteConnection,
    limit: u32,
    summaries: &mut [Summary],
) -> Result<(), sqlx::Error> {
    let rows: Vec<(String, String, String)> = query_as(
        "SELECT record_id, key, value FROM labels WHERE record_id IN \
         (SELECT id FROM records ORDER BY sequence DESC LIMIT ?)",
    )
    .bind(limit)
    .fetch_all(connection)
    .await?;
    let mut places = places(summaries);
    for (record_id, key, value) in rows {
        if let Some(summary) = places.get_mut(&record_id) {
            summary.labels.insert(key, value);
        }
    }
    Ok(())
}

fn places(summaries: &mut [Summary]) -> BTreeMap<String, &mut Summary> {
    summaries
        .iter_mut()
        .map(|summary| (summary.id.clone(), summary))
        .collect()
}
