//! Storing a submission.

use std::collections::BTreeMap;

use cardmark_share::{
    Area, Check, CheckName, EvidenceState, Extract, SeedState, Summary, Surroundings, TAG_BYTES,
    checks_around, context_key, counts, fits_product, is_quarantined, level, new_submitters,
    product_range,
};
use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, row, values};
use crate::decisions::types::Switch;
use crate::decisions::{Decisions, Named, Standing, Subject};
use crate::tables::batch::Batch;
use crate::tables::counting;
use crate::tables::limits;
use crate::tables::record::{self, MEASURED, Written};
use crate::tables::seeds;
use crate::tables::submitters;
use crate::types::{Bucket, ChangeKind, Head, Incoming, Loaded, Put};

/// Stores a submission.
pub(crate) async fn put(batch: &mut Batch<'_>, mut incoming: Incoming) -> Result<Put> {
    let (id, now_ms) = (incoming.extract.id, incoming.received_ms);
    let decisions = batch.decisions();
    if decisions.switched_on(Switch::ReadOnly).is_some() {
        return Ok(Put::ReadOnly);
    }
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
    let own = record::own(&incoming.extract);
    let quarantined_by = decisions.switched_on(Switch::QuarantineNew);
    let subject = subject(&incoming, own.as_ref(), quarantined_by);
    let product = decisions.product(&subject);
    checks.push(range(batch, &incoming.extract, product.as_ref()).await?);
    let newcomer = Newcomer {
        tag: incoming.tag,
        bucket: incoming.newcomers.as_ref(),
        at_ms: now_ms,
    };
    let of_submitter = newcomer.check(batch, &incoming.extract, &checks).await?;
    checks.extend(of_submitter);
    checks.sort_by_key(|check| check.name);
    let standing = decisions.standing(&subject, &checks);
    let packed = std::mem::take(&mut incoming.packed);
    let head = store(batch, &incoming, packed, &checks, standing, around.seed).await?;
    batch.changed(id, ChangeKind::Arrived, now_ms);
    Ok(Put::New(head))
}

/// The submitter of a record that may begin to count.
pub(crate) struct Newcomer<'a> {
    pub(crate) tag: Option<[u8; TAG_BYTES]>,
    /// Limit of its network.
    pub(crate) bucket: Option<&'a Bucket>,
    pub(crate) at_ms: i64,
}

impl Newcomer<'_> {
    /// The check of the submitter of a record with these other checks; `None` if no summary counts it anyway, if it has been checked
    /// before, or without a limit. Of each network, a few new submitters begin to count each day; a later run of another one can be among
    /// those of a later day.
    pub(crate) async fn check(
        &self,
        batch: &mut Batch<'_>,
        extract: &Extract,
        checks: &[Check],
    ) -> Result<Option<Check>> {
        let is_to_count = extract.origin == MEASURED
            && extract.product_name.is_some()
            && !is_quarantined(checks)
            && counts(checks)
            && fits_product(checks);
        let is_checked = checks
            .iter()
            .any(|check| check.name == CheckName::NewSubmitters);
        let (Some(tag), Some(bucket), true, false) =
            (&self.tag, self.bucket, is_to_count, is_checked)
        else {
            return Ok(None);
        };
        if submitters::is_known(batch.connection, tag).await? {
            return Ok(Some(new_submitters(false)));
        }
        let buckets = std::slice::from_ref(bucket);
        let limit = limits::charge(batch.connection, buckets, self.at_ms).await?;
        Ok(Some(new_submitters(limit.is_some())))
    }
}

/// Facts about a new record beside others.
async fn surroundings(
    connection: &mut AnyConnection,
    extract: &Extract,
    now_ms: i64,
) -> Result<Surroundings> {
    let evidence = match &extract.evidence {
        Some(evidence) => with_evidence(connection, evidence).await?,
        None => EvidenceState::None,
    };
    let seed = match &extract.seed {
        Some(seed) => Some(seeds::state(connection, seed, now_ms).await?),
        None => None,
    };
    Ok(Surroundings { evidence, seed })
}

async fn with_evidence(connection: &mut AnyConnection, evidence: &str) -> Result<EvidenceState> {
    let text = "select id from records where evidence = $1 order by received_ms, id limit 1";
    let row = row(connection, text, values![evidence]).await?;
    Ok(match row {
        Some(row) => EvidenceState::Known(row.uuid(0)?),
        None => EvidenceState::New,
    })
}

/// Compares figures with those of other cards of the product.
pub(crate) async fn range(
    batch: &mut Batch<'_>,
    extract: &Extract,
    product: Option<&Named>,
) -> Result<Check> {
    let product = product.filter(|_| extract.area == Area::Shared);
    let summaries: BTreeMap<String, Summary> = match product {
        Some(product) => {
            let context = context_key(&extract.context);
            batch
                .summaries
                .read(batch.connection, &product.key, context)
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
    packed: Vec<u8>,
    checks: &[Check],
    standing: Standing,
    seed: Option<SeedState>,
) -> Result<Head> {
    let extract = &incoming.extract;
    let written = written(incoming, checks, standing);
    let (rows, connection) = batch.new_rows();
    rows.add(&written)?;
    rows.add_body(extract.id, packed, &incoming.digest);
    rows.insert_records(connection).await?;
    if let (Some(SeedState::Fresh), Some(seed)) = (seed, &extract.seed) {
        seeds::take(connection, extract.id, seed).await?;
    }
    counting::add(batch, &written.placed()).await?;
    Ok(written.head())
}

/// Facts about a new record that decisions depend on.
fn subject<'a>(
    incoming: &'a Incoming,
    own: Option<&'a Named>,
    quarantined_by: Option<i64>,
) -> Subject<'a> {
    let extract = &incoming.extract;
    Subject {
        id: extract.id,
        tag: incoming.tag,
        quarantined_by,
        own,
        model: extract.model.as_deref(),
        is_simulated: extract.area == Area::Simulated,
    }
}

/// Standing of a record that is loaded with its checks.
pub(crate) fn standing(decisions: &Decisions, loaded: &Loaded) -> Standing {
    let incoming = &loaded.incoming;
    let own = record::own(&incoming.extract);
    let subject = subject(incoming, own.as_ref(), loaded.quarantined_by);
    decisions.standing(&subject, &incoming.checks)
}

/// Rows of a new record.
pub(crate) fn written<'a>(
    incoming: &'a Incoming,
    checks: &'a [Check],
    standing: Standing,
) -> Written<'a> {
    let extract = &incoming.extract;
    Written {
        extract,
        checks,
        standing,
        level: level(&extract.origin, checks),
        card: incoming.card,
        tag: incoming.tag,
        token_hash: incoming.token_hash,
        record_digest: incoming.record_digest,
        revision: incoming.revision,
        received_ms: incoming.received_ms,
    }
}

/// Returns whether a check follows from the record by itself.
pub fn is_of_record(name: CheckName) -> bool {
    !matches!(
        name,
        CheckName::Repeats
            | CheckName::ProductRange
            | CheckName::FreshSeed
            | CheckName::NewSubmitters
    )
}
