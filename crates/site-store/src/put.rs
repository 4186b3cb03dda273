//! Storing a submission.

use std::collections::BTreeMap;

use cardmark_share::{
    Area, Check, CheckName, Extract, SeedState, Summary, Surroundings, checks_around, context_key,
    is_quarantined, level, product_range,
};
use sqlx::AnyConnection;
use uuid::Uuid;

use crate::batch::Batch;
use crate::record::{self, Written};
use crate::sql::{Columns as _, Result, row, values};
use crate::types::{ChangeKind, Incoming, Put, SiteStoreError, State};
use crate::{limits, products, seeds};

/// Stores a submission.
pub(crate) async fn put(batch: &mut Batch<'_>, incoming: Incoming) -> Result<Put> {
    let (id, now_ms) = (incoming.extract.id, incoming.received_ms);
    let there = record::stored(batch.connection, id).await?;
    let is_there = there.is_some();
    if let Some(there) = there.filter(|there| there.record_digest == incoming.record_digest) {
        return Ok(Put::Same(there.head));
    }
    if let Some(limit) = limits::charge(batch.connection, &incoming.limits, now_ms).await? {
        return Ok(Put::Limited(limit));
    }
    if is_there {
        return Ok(Put::Conflict);
    }
    if record::tombstone(batch.connection, id).await?.is_some() {
        return Ok(Put::Gone);
    }
    let around = surroundings(batch.connection, &incoming.extract, now_ms).await?;
    let mut checks = incoming.checks.clone();
    checks.extend(checks_around(incoming.extract.area, around));
    checks.push(range(batch, &incoming.extract).await?);
    checks.sort_by_key(|check| check.name);
    store(batch, &incoming, &checks, around.seed).await?;
    batch.changed(id, ChangeKind::Arrived, now_ms);
    let stored = record::stored(batch.connection, id).await?;
    let stored = stored.ok_or(SiteStoreError::Damaged("a new record is not there"))?;
    Ok(Put::New(stored.head))
}

/// Facts about a new record beside others.
async fn surroundings(
    connection: &mut AnyConnection,
    extract: &Extract,
    now_ms: i64,
) -> Result<Surroundings> {
    let same_evidence = match &extract.evidence {
        Some(evidence) => with_evidence(connection, evidence).await?,
        None => None,
    };
    let seed = match &extract.seed {
        Some(seed) => Some(seeds::state(connection, seed, now_ms).await?),
        None => None,
    };
    Ok(Surroundings {
        same_evidence,
        seed,
    })
}

async fn with_evidence(connection: &mut AnyConnection, evidence: &str) -> Result<Option<Uuid>> {
    let text = "select id from records where evidence = $1 order by received_ms, id limit 1";
    let row = row(connection, text, values![evidence]).await?;
    row.map(|row| row.uuid(0)).transpose()
}

/// Compares figures with those of other cards of the product.
pub(crate) async fn range(batch: &mut Batch<'_>, extract: &Extract) -> Result<Check> {
    let product = extract
        .product_key()
        .filter(|_| extract.area == Area::Shared);
    let summaries: BTreeMap<String, Summary> = match product {
        Some(product) => {
            let context = context_key(&extract.context);
            batch
                .summaries
                .read(batch.connection, &product, context)
                .await?
        }
        None => BTreeMap::new(),
    };
    let figures = extract.figures.iter().filter_map(|figure| {
        let summary = summaries.get(&figure.metric)?;
        Some((figure.metric.as_str(), figure.value, summary))
    });
    Ok(product_range(figures))
}

async fn store(
    batch: &mut Batch<'_>,
    incoming: &Incoming,
    checks: &[Check],
    seed: Option<SeedState>,
) -> Result<()> {
    let (extract, written) = (&incoming.extract, written(incoming, checks));
    let connection = &mut *batch.connection;
    record::write(connection, &written).await?;
    let (packed, digest) = (&incoming.packed, &incoming.digest);
    record::write_body(connection, extract.id, packed, digest, incoming.received_ms).await?;
    if let (Some(SeedState::Fresh), Some(seed)) = (seed, &extract.seed) {
        seeds::take(connection, extract.id, seed).await?;
    }
    products::add(batch, &written.placed()).await
}

/// Rows of a new record.
pub(crate) fn written<'a>(incoming: &'a Incoming, checks: &'a [Check]) -> Written<'a> {
    let extract = &incoming.extract;
    Written {
        extract,
        checks,
        state: state_of(checks),
        level: level(&extract.origin, checks),
        card: incoming.card,
        tag: incoming.tag,
        token_hash: incoming.token_hash,
        record_digest: incoming.record_digest,
        revision: incoming.revision,
        received_ms: incoming.received_ms,
    }
}

pub(crate) fn state_of(checks: &[Check]) -> State {
    if is_quarantined(checks) {
        State::Quarantined
    } else {
        State::Shared
    }
}

/// Returns whether a check follows from the record by itself.
pub(crate) fn is_of_record(name: CheckName) -> bool {
    !matches!(
        name,
        CheckName::Repeats | CheckName::ProductRange | CheckName::FreshSeed
    )
}
