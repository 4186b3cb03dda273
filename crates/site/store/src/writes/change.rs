//! Changing and deleting a stored record.

use cardmark_share::{Area, CheckName, level};
use sqlx::AnyConnection;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, row, run, values};
use crate::decisions::Subject;
use crate::decisions::types::Switch;
use crate::tables::batch::Batch;
use crate::tables::counting;
use crate::tables::limits::charge;
use crate::tables::record::{self, Kept, Rows, Stored, Written};
use crate::types::{Amended, Amendment, ChangeKind, Rederived, Removed, SiteStoreError, Withdrawn};
use crate::writes::put::{Newcomer, is_of_record, range};

/// Replaces the owner's statement.
pub(crate) async fn amend(
    batch: &mut Batch<'_>,
    id: Uuid,
    token_hash: [u8; 32],
    amendment: Amendment,
) -> Result<Amended> {
    let Some(stored) = record::stored(batch.connection, id).await? else {
        let tombstone = record::tombstone(batch.connection, id).await?;
        return Ok(tombstone.map_or(Amended::Unknown, |_| Amended::Gone));
    };
    if stored.token_hash != Some(token_hash) {
        return Ok(Amended::Forbidden);
    }
    if batch.decisions().switched_on(Switch::ReadOnly).is_some() {
        return Ok(Amended::ReadOnly);
    }
    if amendment.revision <= stored.head.revision {
        let is_same = amendment.revision == stored.head.revision
            && digest_of(batch.connection, id).await? == Some(amendment.digest);
        return Ok(match is_same {
            true => Amended::Now(stored.head),
            false => Amended::Older(stored.head.revision),
        });
    }
    if let Some(limit) = charge(batch.connection, &amendment.limits, amendment.at_ms).await? {
        return Ok(Amended::Limited(limit));
    }
    let mut body = Rows::default();
    body.add_body(id, amendment.packed, &amendment.digest);
    body.insert(batch.connection).await?;
    let derived = Rederived {
        extract: amendment.extract,
        checks: amendment.checks,
        card: stored.card,
    };
    let newcomer = Newcomer {
        tag: stored.head.tag,
        bucket: amendment.newcomers.as_ref(),
        at_ms: amendment.at_ms,
    };
    revise(batch, &stored, derived, amendment.revision, Some(newcomer)).await?;
    batch.changed(id, ChangeKind::Amended, amendment.at_ms);
    let stored = record::stored(batch.connection, id).await?;
    let stored = stored.ok_or(SiteStoreError::Damaged("an amended record is not there"))?;
    Ok(Amended::Now(stored.head))
}

/// SHA-256 of the unpacked document.
async fn digest_of(connection: &mut AnyConnection, id: Uuid) -> Result<Option<[u8; 32]>> {
    let text = "select digest from bodies where id = $1";
    let found = row(connection, text, values![id]).await?;
    found.map(|row| row.fixed(0)).transpose()
}

/// Replaces what was derived from the document of this digest; returns whether it differs. An amendment may have come meanwhile.
pub(crate) async fn rederive(
    batch: &mut Batch<'_>,
    id: Uuid,
    digest: [u8; 32],
    derived: Rederived,
) -> Result<bool> {
    if digest_of(batch.connection, id).await? != Some(digest) {
        return Ok(false);
    }
    match record::stored(batch.connection, id).await? {
        Some(stored) => {
            let revision = stored.head.revision;
            revise(batch, &stored, derived, revision, None).await
        }
        None => Ok(false),
    }
}

/// Writes a record's rows again, and moves what it adds to summaries. Checks beside other records stay as they were when it
/// arrived, but for the range of another product. `newcomer` is its submitter if a new statement may let it begin to count.
async fn revise(
    batch: &mut Batch<'_>,
    stored: &Stored,
    derived: Rederived,
    revision: u64,
    newcomer: Option<Newcomer<'_>>,
) -> Result<bool> {
    let extract = &derived.extract;
    let own = record::own(extract);
    let is_moved = own.as_ref().map(|own| &own.key) != stored.own().map(|own| &own.key);
    let subject = Subject {
        own: own.as_ref(),
        model: extract.model.as_deref(),
        is_simulated: extract.area == Area::Simulated,
        ..stored.subject()
    };
    let decisions = batch.decisions();
    let mut checks = derived.checks;
    checks.retain(|check| is_of_record(check.name));
    let around = stored
        .head
        .checks
        .iter()
        .filter(|check| !is_of_record(check.name));
    checks.extend(
        around
            .filter(|check| !is_moved || check.name != CheckName::ProductRange)
            .cloned(),
    );
    if is_moved {
        let product = decisions.product(&subject);
        checks.push(range(batch, extract, product.as_ref()).await?);
    }
    if let Some(newcomer) = newcomer {
        let of_submitter = newcomer.check(batch, extract, &checks).await?;
        checks.extend(of_submitter);
    }
    checks.sort_by_key(|check| check.name);
    let written = Written {
        extract,
        checks: &checks,
        standing: decisions.standing(&subject, &checks),
        level: level(&extract.origin, &checks),
        card: derived.card,
        tag: stored.head.tag,
        token_hash: stored.token_hash,
        record_digest: stored.record_digest,
        revision,
        received_ms: stored.head.received_ms,
    };
    replace(batch, stored, &written).await
}

async fn replace(batch: &mut Batch<'_>, stored: &Stored, written: &Written<'_>) -> Result<bool> {
    let before = snapshot(batch.connection, stored.head.id).await?;
    record::unwrite(batch.connection, stored).await?;
    record::write(batch.connection, written).await?;
    let after = snapshot(batch.connection, stored.head.id).await?;
    let placed = written.placed();
    let is_elsewhere = placed != stored.placed || before.figures != after.figures;
    if is_elsewhere {
        // As if it were deleted and came again: rows of both places are counted from what is there now.
        counting::remove(batch, &stored.placed).await?;
        counting::add(batch, &placed).await?;
    }
    Ok(is_elsewhere || before.head != after.head)
}

/// State of a record's rows, to detect a change.
#[derive(PartialEq)]
struct Snapshot {
    head: String,
    figures: Vec<Kept>,
}

async fn snapshot(connection: &mut AnyConnection, id: Uuid) -> Result<Snapshot> {
    let stored = record::stored(connection, id).await?;
    let stored = stored.ok_or(SiteStoreError::Damaged("a changed record is not there"))?;
    Ok(Snapshot {
        head: format!("{:?}", (stored.head, stored.card, stored.facets)),
        figures: stored.figures,
    })
}

/// Deletes a record if the token is its owner's, but for its id and the time.
pub(crate) async fn withdraw(
    batch: &mut Batch<'_>,
    id: Uuid,
    token_hash: [u8; 32],
    at_ms: i64,
) -> Result<Withdrawn> {
    let Some(stored) = record::stored(batch.connection, id).await? else {
        let tombstone = record::tombstone(batch.connection, id).await?;
        return Ok(tombstone.map_or(Withdrawn::Unknown, |_| Withdrawn::Now));
    };
    if stored.token_hash != Some(token_hash) {
        return Ok(Withdrawn::Forbidden);
    }
    delete(batch, &stored, at_ms).await?;
    Ok(Withdrawn::Now)
}

/// Deletes a record for the operator, as its owner would.
pub(crate) async fn remove(batch: &mut Batch<'_>, id: Uuid, at_ms: i64) -> Result<Removed> {
    let Some(stored) = record::stored(batch.connection, id).await? else {
        let tombstone = record::tombstone(batch.connection, id).await?;
        return Ok(tombstone.map_or(Removed::Unknown, |_| Removed::Before));
    };
    delete(batch, &stored, at_ms).await?;
    Ok(Removed::Now)
}

/// Deletes all of a record but its id and the time.
async fn delete(batch: &mut Batch<'_>, stored: &Stored, at_ms: i64) -> Result<()> {
    let id = stored.head.id;
    record::unwrite(batch.connection, stored).await?;
    for table in ["records", "bodies", "changes", "answers"] {
        let text = format!("delete from {table} where id = $1");
        run(batch.connection, text, values![id]).await?;
    }
    let text = "insert into tombstones (id, at_ms) values ($1, $2)";
    run(batch.connection, text, values![id, at_ms]).await?;
    counting::remove(batch, &stored.placed).await?;
    batch.count_withdrawn();
    batch.changed(id, ChangeKind::Withdrawn, at_ms);
    Ok(())
}
