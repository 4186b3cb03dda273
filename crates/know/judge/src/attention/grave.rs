//! Reasons that stay until a later test of the same card shows the opposite.

use std::collections::BTreeMap;

use cardmark_core::{
    CAPACITY_RULE, DeviceInfo, FindingKind, Health, Integrity, IntegrityTest, Record, Severity,
    StorageKind, VerdictOutcome,
};

use super::cards::{CardRuns, is_identified};
use super::reasons::{Ground, Reason};
use crate::faults::counted_verdicts;
use crate::unknown::storage_kind;

/// Part of a card that a test must cover to clear it.
const COVERED_RATIO: f64 = 0.9;
/// Metric of synced writes.
const SYNCED: &str = "sync_write_4k";
/// Used share of the rated life from which a device is worn out, percent.
const LIFE_PERCENT: u32 = 100;
/// Remaining share of spare blocks below which it is, percent.
const LEAST_SPARE_PERCENT: u32 = 10;

/// Returns the grave reasons of a card, each with the last run that shows it, or the last test of its storage. Runs that may be
/// of several cards clear nothing.
pub(super) fn grounds<'a>(card: &CardRuns<'a>) -> Vec<Ground<'a>> {
    let mut grounds: Vec<Ground<'a>> = Vec::new();
    for &run in &card.runs {
        grounds.retain(|ground| {
            let is_same = is_identified(ground.run) && is_identified(run);
            !(is_same && is_cleared(ground, run))
        });
        for reason in shown(run) {
            let is_alike = |known: &Ground<'_>| known.reason.rank() == reason.rank();
            let is_better = |known: &Ground<'_>| {
                is_alike(known) && has_details(&known.reason) && !has_details(&reason)
            };
            if !grounds.iter().any(is_better) {
                grounds.retain(|known| !is_alike(known));
                grounds.push(Ground { reason, run });
            }
        }
    }
    grounds.extend(wear(card));
    grounds.extend(claims(card));
    grounds
}

/// Returns whether a reason is as exact as a test of the storage makes it.
fn has_details(reason: &Reason) -> bool {
    !matches!(
        reason,
        Reason::Fake {
            real_bytes: None,
            ..
        } | Reason::LostData { found: None }
    )
}

/// Returns whether a later run of the card shows the opposite of a reason. What the card confirms early, and loses at a power
/// cut, a test of its capacity does not show.
fn is_cleared(ground: &Ground<'_>, later: &Record) -> bool {
    match ground.reason {
        Reason::MayLoseOnPowerCut => confirms_early(later) == Some(false),
        Reason::LostData {
            found: Some(StorageKind::LosesAcknowledged),
        } => storage_kind(later) == Some(StorageKind::Durable),
        _ => clean_test(later).is_some_and(|clean| clears(clean, ground.run)),
    }
}

/// The test, if it wrote all of a known device and found all of it again.
fn clean_test(run: &Record) -> Option<&Integrity> {
    let found = run.integrity.as_ref()?;
    let is_of_all = matches!(found.test, IntegrityTest::Verify | IntegrityTest::Endure);
    let is_whole = found.from_bytes.is_none();
    let is_clean = storage_kind(run) == Some(StorageKind::Confirmed);
    (is_of_all && is_whole && is_clean).then_some(found)
}

/// Returns whether a clean test covers what an earlier run was about: the partition that is left of a fake proves nothing.
fn clears(clean: &Integrity, earlier: &Record) -> bool {
    let tested = earlier.integrity.as_ref().map(|found| found.size_bytes);
    let device = earlier.devices.first().and_then(|device| device.size_bytes);
    let wanted = tested.max(device).unwrap_or_default();
    clean.size_bytes as f64 >= COVERED_RATIO * wanted as f64
}

/// Returns whether a device may confirm writes before it has stored them; `None` if the run does not show it.
fn confirms_early(run: &Record) -> Option<bool> {
    let mut findings = run.findings.iter();
    if findings.any(|finding| finding.kind == FindingKind::SyncNotSlower) {
        return Some(true);
    }
    let synced = run
        .metric(SYNCED)
        .filter(|metric| metric.voided_by().is_none());
    let is_durable = storage_kind(run) == Some(StorageKind::Durable);
    (synced.is_some() || is_durable).then_some(false)
}

/// The reasons that one run shows.
fn shown(run: &Record) -> Vec<Reason> {
    let tested = run.integrity.as_ref().and_then(by_test);
    let read_back = run.read_back.filter(|read| read.lost_bytes > 0);
    let has = |kind: FindingKind| run.findings.iter().any(|finding| finding.kind == kind);
    let lost = read_back.is_some() || has(FindingKind::DataLost);
    let noticed = match &tested {
        Some(_) => None,
        None if has(FindingKind::FalseCapacity) => Some(Reason::Fake {
            real_bytes: None,
            size_bytes: None,
        }),
        None => lost.then_some(Reason::LostData { found: None }),
    };
    let failed = run.findings.iter().find(|finding| {
        finding.severity == Severity::Error
            && matches!(
                finding.kind,
                FindingKind::IoError | FindingKind::Vanished | FindingKind::NoAnswer
            )
    });
    let failed = failed.map(|finding| Reason::Failing {
        finding: finding.kind,
    });
    let early = (confirms_early(run) == Some(true)).then_some(Reason::MayLoseOnPowerCut);
    let reasons = tested.into_iter().chain(noticed).chain(failed);
    reasons.chain(early).collect()
}

fn by_test(found: &Integrity) -> Option<Reason> {
    Some(match found.kind {
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
            if found.from_bytes.is_none() =>
        {
            Reason::Fake {
                real_bytes: Some(found.real_bytes),
                size_bytes: Some(found.size_bytes),
            }
        }
        StorageKind::Limbo
        | StorageKind::Wraparound
        | StorageKind::Chain
        | StorageKind::Damaged
        | StorageKind::Dead
        | StorageKind::LosesAcknowledged => Reason::LostData {
            found: Some(found.kind),
        },
        StorageKind::ReadOnly => Reason::ReadOnly,
        StorageKind::IgnoresWrites => Reason::WornOut,
        StorageKind::Confirmed
        | StorageKind::Readable
        | StorageKind::Durable
        | StorageKind::UnknownDevice
        | StorageKind::Unfinished
        | StorageKind::Other(_) => return None,
    })
}

/// Wear that the device reported in the last run that has it.
fn wear<'a>(card: &CardRuns<'a>) -> Option<Ground<'a>> {
    let health = |run: &'a Record| {
        run.devices
            .iter()
            .find_map(|device: &DeviceInfo| device.health.as_ref())
    };
    let (run, health) = card
        .runs
        .iter()
        .rev()
        .find_map(|run| Some((*run, health(run)?)))?;
    let is_noticed = run
        .findings
        .iter()
        .any(|finding| finding.kind == FindingKind::Worn);
    is_noticed.then(|| Ground {
        reason: wear_of(health),
        run,
    })
}

fn wear_of(health: &Health) -> Reason {
    let is_over = health.used_percent.is_none_or(|used| used >= LIFE_PERCENT)
        || health
            .spare_percent
            .is_some_and(|spare| spare < LEAST_SPARE_PERCENT)
        || health.media_errors_count.is_some_and(|count| count > 0)
        || !health.warnings.is_empty();
    match health.used_percent {
        Some(used_percent) if !is_over => Reason::Wearing { used_percent },
        _ => Reason::WornOut,
    }
}

/// Promises that the last run to decide on them did not meet.
fn claims<'a>(card: &CardRuns<'a>) -> Vec<Ground<'a>> {
    let mut last = BTreeMap::<String, Option<&'a Record>>::new();
    for &run in card.runs.iter().rev() {
        for (rule, outcome) in counted_verdicts(run) {
            // A test that finds less than the card reports has a reason of its own.
            let is_shown = rule == CAPACITY_RULE && !shown(run).is_empty();
            let is_open = matches!(outcome, VerdictOutcome::NotTestable | VerdictOutcome::Score);
            let is_decided = !is_shown && !is_open;
            let is_missed = outcome == VerdictOutcome::Fail;
            if is_decided {
                last.entry(rule).or_insert(is_missed.then_some(run));
            }
        }
    }
    let missed = last
        .into_iter()
        .filter_map(|(rule, run)| Some((rule, run?)));
    let ground = |(rule, run)| Ground {
        reason: Reason::FailsClaim { rule },
        run,
    };
    missed.map(ground).collect()
}
