//! What a record derives from its measurements, derived again.

use std::borrow::Cow;

use cardmark_core::{CLAIMS_LABEL, Derived, METHOD, Record, Suite};
use cardmark_integrity::BLOCK_BYTES;
use cardmark_stats::{Discrepancy, discrepancies, refresh_with};

use crate::{advise, judge, notice, storage_kind, upheld};

/// Derives metrics, findings and verdicts of a record of this method again. Returns the names of those that the record
/// had otherwise. Records of other methods, of unknown suites, and of suites of another content stay.
#[must_use]
pub fn derive_again(record: &mut Record) -> Vec<String> {
    let contradictions = discrepancies(record);
    derive_again_with(record, &contradictions)
}

/// [`derive_again`] with the contradictions of the record, for callers that need them too: their search takes most of the
/// time.
#[must_use]
pub fn derive_again_with(record: &mut Record, contradictions: &[Discrepancy]) -> Vec<String> {
    if !can_derive_again(record) {
        return Vec::new();
    }
    let suite = suite_of(record);
    let before = derivations(record);
    storage_again(record);
    if let Some(suite) = &suite {
        refresh_with(record, suite, contradictions);
    }
    notice(record);
    if let Some(kind) = storage_kind(record)
        && let Some(integrity) = &mut record.integrity
    {
        integrity.kind = kind;
    }
    record.derived = judge(record, suite.as_ref());
    if suite.is_some() {
        advise(record);
    }
    let after = derivations(record);
    let gone = before.iter().filter(|said| !after.contains(said));
    let new = after.iter().filter(|said| !before.contains(said));
    let mut names = Vec::new();
    for (name, _) in gone.chain(new) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns whether [`derive_again`] can derive the record: it is of this method, and its suite is known and has the same
/// content, or it is a test of storage.
pub fn can_derive_again(record: &Record) -> bool {
    let is_test = record.suite.is_none() && record.integrity.is_some();
    record.method == Some(METHOD) && (is_test || suite_of(record).is_some())
}

/// Returns the verdicts that hold for a record with its present labels. A stored record has those without any claim, so that
/// those of one with claims are derived again; that needs no trials.
#[must_use]
pub fn with_claims(record: &Record) -> Option<Cow<'_, Derived>> {
    match record.labels.contains_key(CLAIMS_LABEL) && can_derive_again(record) {
        true => judge(record, suite_of(record).as_ref()).map(Cow::Owned),
        false => upheld(record),
    }
}

fn suite_of(record: &Record) -> Option<Suite> {
    let known = record.suite.as_ref()?;
    let suite = cardmark_catalog::suite(&known.name, Some(known.version)).ok()?;
    let is_same = known.digest.is_none() || known.digest == suite.digest;
    is_same.then_some(suite)
}

/// Derives what an integrity test says of the storage again, from the map of every block. A record without an exact map
/// keeps it.
fn storage_again(record: &mut Record) {
    let verdict = cardmark_integrity::derive_again(record);
    if let (Some(integrity), Some(verdict)) = (&mut record.integrity, verdict) {
        integrity.kind = verdict.kind;
        integrity.real_bytes = verdict.real_blocks * BLOCK_BYTES as u64;
        integrity.wrap_bytes = verdict
            .wrap_blocks
            .map(|blocks| blocks * BLOCK_BYTES as u64);
        integrity.blocks = Some(verdict.counts);
    }
}

/// Returns the record as its document has it: nothing follows from what the user states. Its labels stay in memory.
pub fn unstated(record: &Record) -> Record {
    let mut plain = record.clone();
    if !plain.labels.is_empty() {
        let labels = std::mem::take(&mut plain.labels);
        let _ = derive_again(&mut plain);
        plain.labels = labels;
    }
    plain
}

/// What a record says beyond its measurements: names, and the rest as text.
fn derivations(record: &Record) -> Vec<(String, String)> {
    let metrics = record.metrics.iter();
    let metrics = metrics.map(|metric| (metric.id.clone(), format!("{metric:?}")));
    let findings = record.findings.iter().map(|finding| {
        let about = (&finding.severity, &finding.workloads);
        (finding.kind.name(), format!("{about:?}"))
    });
    let verdicts = record.derived.iter().flat_map(|derived| &derived.verdicts);
    let verdicts = verdicts.map(|verdict| {
        let said = (&verdict.outcome, &verdict.score);
        (verdict.rule.clone(), format!("{said:?}"))
    });
    let storage = record.integrity.iter().map(|found| {
        let said = (found.kind, found.real_bytes, found.wrap_bytes, found.blocks);
        ("storage".to_owned(), format!("{said:?}"))
    });
    metrics
        .chain(findings)
        .chain(verdicts)
        .chain(storage)
        .collect()
}
