//! Checks of a submission. Each has a name, is explained in the catalogue, and gives its reason.
//!
//! A site cannot know whether a figure is honest. It can know whether figures contradict their own trials, the seed, the
//! bus, or another submission. A passed check is no proof.

mod device;
mod level;
mod physics;
mod plausible;
mod range;
mod recomputed;
mod simulation;
mod stated;

use cardmark_core::{METHOD, Record};
use cardmark_judge::derive_again_with;
use cardmark_stats::{Accounts, DiscrepancyKind, accounts};

use crate::check::{Check, CheckName, CheckOutcome, EvidenceState, SeedState, Surroundings};
use crate::extract::Area;

pub use level::{Level, level};
pub use range::product_range;

/// Checks of a record by itself, in the order of [`CheckName`], and the record as it follows from its trials, with its
/// labels. `received_on` is the day of arrival, such as `2026-11-25`.
pub(crate) fn checks_and_derived(record: &Record, received_on: &str) -> (Vec<Check>, Record) {
    let found = accounts(record);
    // The owner's statement changes verdicts, but not the document.
    let mut derived = record.clone();
    derived.labels.clear();
    let differing = derive_again_with(&mut derived, &found.discrepancies);
    derived.labels.clone_from(&record.labels);
    let checks = vec![
        recomputed::recomputed(record, &derived, &differing),
        accounting(record, &found),
        seed(record, &found),
        physics::physics(record),
        simulation::simulation(record),
        plausible::dates(record, received_on),
        device::board(record),
        device::identified(record),
        device::circumstances(record),
        device::product_fits(record),
    ];
    (checks, derived)
}

/// Checks beside other records. They cost nothing: a site makes them in the transaction that stores the record.
pub fn checks_around(area: Area, around: Surroundings) -> [Check; 2] {
    [repeats(area, around.evidence), fresh_seed(around.seed)]
}

/// Returns whether a check failed.
pub fn is_quarantined(checks: &[Check]) -> bool {
    checks
        .iter()
        .any(|check| check.outcome == CheckOutcome::Failed)
}

/// Returns whether summaries count a measured record with these checks if it is shared: nothing keeps it from being counted but the
/// product that its owner names. One with a failed check is shared only if a moderator released it.
pub fn counts(checks: &[Check]) -> bool {
    let keeps = |check: &Check| {
        check.outcome == CheckOutcome::NotCounted && check.name != CheckName::ProductFits
    };
    !checks.iter().any(keeps)
}

/// Returns whether a record with these checks may stand under the product that its owner names.
pub fn fits_product(checks: &[Check]) -> bool {
    let contradicts = |check: &Check| {
        check.name == CheckName::ProductFits && check.outcome == CheckOutcome::NotCounted
    };
    !checks.iter().any(contradicts)
}

/// `None` if the method of the record can be checked; otherwise the reason.
fn unknown_method(record: &Record) -> Option<&'static str> {
    match (record.trials.is_empty(), record.method) {
        (true, _) => Some("the record has no trials"),
        (_, None) => Some("the record names no method"),
        (_, Some(method)) if method > METHOD => Some("the method is newer than this site"),
        _ => None,
    }
}

const OF_OLDER_METHOD: &str = "the rules of its older method are not known here";

fn accounting(record: &Record, found: &Accounts) -> Check {
    let name = CheckName::Accounting;
    if let Some(reason) = unknown_method(record) {
        return Check::of(name, CheckOutcome::CannotTell, reason);
    }
    let of_trials = found.discrepancies.iter();
    let mut broken: Vec<String> = of_trials
        .filter(|one| one.kind != DiscrepancyKind::Seed)
        .map(ToString::to_string)
        .collect();
    broken.extend(plausible::other_workload(record));
    if broken.is_empty() && record.method < Some(METHOD) {
        return Check::of(name, CheckOutcome::CannotTell, OF_OLDER_METHOD);
    }
    Check::failed_or_passed(name, &broken)
}

fn seed(record: &Record, found: &Accounts) -> Check {
    let name = CheckName::Seed;
    if let Some(reason) = unknown_method(record) {
        return Check::of(name, CheckOutcome::CannotTell, reason);
    }
    if record.seed.is_none() {
        return Check::of(name, CheckOutcome::CannotTell, "the record holds no seed");
    }
    if record.method < Some(METHOD) {
        return Check::of(name, CheckOutcome::CannotTell, OF_OLDER_METHOD);
    }
    let all = found.discrepancies.iter();
    let of_seed = all.filter(|one| one.kind == DiscrepancyKind::Seed);
    let broken: Vec<String> = of_seed.map(ToString::to_string).collect();
    if broken.is_empty() && found.drawn_trials_count == 0 {
        let reason = "no operation at a random place can be compared with the seed";
        return Check::of(name, CheckOutcome::CannotTell, reason);
    }
    Check::failed_or_passed(name, &broken)
}

/// With the same seed, a simulated card gives the same measurements again; each version of the program names the run otherwise.
fn repeats(area: Area, evidence: EvidenceState) -> Check {
    let (name, cannot_tell) = (CheckName::Repeats, CheckOutcome::CannotTell);
    match evidence {
        _ if area == Area::Simulated => {
            Check::of(name, cannot_tell, "a simulated card repeats itself")
        }
        EvidenceState::None => Check::of(name, cannot_tell, "the record has no trials to compare"),
        EvidenceState::New => Check::passed(name),
        EvidenceState::Known(other) => Check::of(
            name,
            CheckOutcome::Failed,
            format!("the same measurements are in run {other}"),
        ),
    }
}

/// The check of the submitter of a record that would count; `is_limited` if enough new submitters of its network began to count
/// within a day.
pub fn new_submitters(is_limited: bool) -> Check {
    let name = CheckName::NewSubmitters;
    match is_limited {
        true => Check::of(
            name,
            CheckOutcome::NotCounted,
            "enough new submitters of this network began to count today; later runs can count",
        ),
        false => Check::passed(name),
    }
}

fn fresh_seed(state: Option<SeedState>) -> Check {
    let (name, cannot_tell) = (CheckName::FreshSeed, CheckOutcome::CannotTell);
    match state {
        None => Check::of(name, cannot_tell, "the record holds no seed"),
        Some(SeedState::Fresh) => Check::passed(name),
        Some(SeedState::Foreign) => Check::of(name, cannot_tell, "the seed is not from this site"),
        Some(SeedState::Expired) => {
            Check::of(name, cannot_tell, "the seed was issued too long ago")
        }
        Some(SeedState::Used) => {
            Check::of(name, CheckOutcome::Marked, "another run has used the seed")
        }
    }
}
