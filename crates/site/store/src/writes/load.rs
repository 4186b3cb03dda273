//! Loading many records at once, such as those of another site.

use cardmark_share::{CheckName, CheckOutcome};
use uuid::Uuid;

use crate::database::sql::{Result, insert, values};
use crate::tables::batch::Batch;
use crate::tables::record::Rows;
use crate::tables::seeds;
use crate::types::{ChangeKind, Incoming, Loaded};
use crate::writes::put::{standing, written};

pub(crate) async fn load(batch: &mut Batch<'_>, records: &[Loaded]) -> Result<()> {
    let decisions = batch.decisions();
    let mut rows = Rows::default();
    for loaded in records {
        let incoming = &loaded.incoming;
        let id = incoming.extract.id;
        rows.add(&written(
            incoming,
            &incoming.checks,
            standing(&decisions, loaded),
        ))?;
        rows.add_body(id, incoming.packed.clone(), &incoming.digest);
        batch.changed(id, ChangeKind::Arrived, incoming.received_ms);
    }
    rows.insert(batch.connection).await?;
    for loaded in records {
        take_seed(batch, &loaded.incoming).await?;
    }
    Ok(())
}

/// Keeps a seed that was fresh for this record from being fresh for another one.
async fn take_seed(batch: &mut Batch<'_>, incoming: &Incoming) -> Result<()> {
    let mut checks = incoming.checks.iter();
    let was_fresh = checks
        .any(|check| check.name == CheckName::FreshSeed && check.outcome == CheckOutcome::Passed);
    if let Some(seed) = incoming.extract.seed.as_ref().filter(|_| was_fresh) {
        seeds::issue(batch.connection, seed, incoming.received_ms).await?;
        seeds::take(batch.connection, incoming.extract.id, seed).await?;
    }
    Ok(())
}

pub(crate) async fn load_tombstones(
    batch: &mut Batch<'_>,
    tombstones: Vec<(Uuid, i64)>,
) -> Result<()> {
    let mut rows = Vec::with_capacity(tombstones.len());
    for (id, at_ms) in tombstones {
        rows.push(values![id, at_ms]);
        batch.count_withdrawn();
        batch.changed(id, ChangeKind::Withdrawn, at_ms);
    }
    insert(batch.connection, "tombstones (id, at_ms)", "", rows).await
}
