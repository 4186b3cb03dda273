//! Checks of a submission. Each has a name, is explained in the catalogue, and gives its reason.
//!
//! A site cannot know whether a figure is honest. It can know whether figures contradict their own trials, the seed, the
//! bus, or another submission. A passed check is no proof.

mod level;
mod physics;
mod plausible;
mod range;
mod recomputed;

use cardmark_core::{METHOD, Record};
use cardmark_stats::{Discrepancy, DiscrepancyKind, discrepancies};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use level::{Level, level};
pub use range::product_range;

/// Name of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckName {
    /// Figures, findings and verdicts follow from the trials.
    Recomputed,
    /// Counts, sizes and times of the trials fit together, and the workloads are the suite's.
    Accounting,
    /// Operations lie where the seed draws them.
    Seed,
    /// The bus can carry the rates; sizes and registers agree.
    Physics,
    /// Dates are possible.
    Dates,
    /// No other run has the same measurements.
    Repeats,
    /// The figures are among those of other cards of the product.
    ProductRange,
    /// The run used a seed that the site had issued.
    FreshSeed,
}

impl CheckName {
    /// All checks, in order.
    pub const ALL: [Self; 8] = [
        Self::Recomputed,
        Self::Accounting,
        Self::Seed,
        Self::Physics,
        Self::Dates,
        Self::Repeats,
        Self::ProductRange,
        Self::FreshSeed,
    ];

    /// The term that the catalogue explains it by.
    #[must_use]
    pub fn term(self) -> &'static str {
        match self {
            Self::Recomputed => "check_recomputed",
            Self::Accounting => "check_accounting",
            Self::Seed => "check_seed",
            Self::Physics => "check_physics",
            Self::Dates => "check_dates",
            Self::Repeats => "check_repeats",
            Self::ProductRange => "check_product_range",
            Self::FreshSeed => "check_fresh_seed",
        }
    }
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// Nothing speaks against the record.
    Passed,
    /// Unusual; the record counts.
    Marked,
    /// A contradiction; the record counts nowhere.
    Failed,
    /// The record does not hold what the check needs.
    CannotTell,
}

/// A check of one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Check {
    /// Its name.
    pub name: CheckName,
    /// Its result.
    pub outcome: CheckOutcome,
    /// What it found, or why it has no result; empty if it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What a site knows beside the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// A run that arrived before with the same evidence digest, and was not withdrawn.
    pub same_evidence: Option<Uuid>,
    /// State of the record's seed; `None` if the record holds none.
    pub seed: Option<SeedState>,
}

/// A seed in the list of those that the site issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeedState {
    /// The site did not issue it.
    #[default]
    Foreign,
    /// Issued, unused, and not too old.
    Fresh,
    /// Issued too long ago.
    Expired,
    /// Another run has used it.
    Used,
}

impl Check {
    pub(crate) fn passed(name: CheckName) -> Self {
        Self::of(name, CheckOutcome::Passed, "")
    }

    pub(crate) fn of(name: CheckName, outcome: CheckOutcome, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            name,
            outcome,
            reason,
        }
    }
}

/// Checks of a record by itself, in the order of [`CheckName`]. `received_on` is the day of arrival, such as `2026-11-25`.
#[must_use]
pub fn checks(record: &Record, received_on: &str) -> Vec<Check> {
    let found = discrepancies(record);
    vec![
        recomputed::recomputed(record),
        accounting(record, &found),
        seed(record, &found),
        physics::physics(record),
        plausible::dates(record, received_on),
    ]
}

/// Checks beside other records. They cost nothing: a site makes them in the transaction that stores the record.
#[must_use]
pub fn checks_around(around: Surroundings) -> [Check; 2] {
    [repeats(around.same_evidence), fresh_seed(around.seed)]
}

/// Returns whether a check failed.
#[must_use]
pub fn is_quarantined(checks: &[Check]) -> bool {
    checks
        .iter()
        .any(|check| check.outcome == CheckOutcome::Failed)
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

fn accounting(record: &Record, found: &[Discrepancy]) -> Check {
    let name = CheckName::Accounting;
    if let Some(reason) = unknown_method(record) {
        return Check::of(name, CheckOutcome::CannotTell, reason);
    }
    let mut broken: Vec<String> = found
        .iter()
        .filter(|one| one.kind != DiscrepancyKind::Seed)
        .map(ToString::to_string)
        .collect();
    broken.extend(plausible::other_workload(record));
    failed_or_passed(name, &broken)
}

fn seed(record: &Record, found: &[Discrepancy]) -> Check {
    let name = CheckName::Seed;
    if let Some(reason) = unknown_method(record) {
        return Check::of(name, CheckOutcome::CannotTell, reason);
    }
    if record.seed.is_none() {
        return Check::of(name, CheckOutcome::CannotTell, "the record holds no seed");
    }
    let of_seed = found.iter().filter(|one| one.kind == DiscrepancyKind::Seed);
    failed_or_passed(name, &of_seed.map(ToString::to_string).collect::<Vec<_>>())
}

fn failed_or_passed(name: CheckName, broken: &[String]) -> Check {
    match broken {
        [] => Check::passed(name),
        [one] => Check::of(name, CheckOutcome::Failed, one),
        [first, more @ ..] => {
            let reason = format!("{first}; {} more", more.len());
            Check::of(name, CheckOutcome::Failed, reason)
        }
    }
}

fn repeats(same_evidence: Option<Uuid>) -> Check {
    match same_evidence {
        None => Check::passed(CheckName::Repeats),
        Some(other) => Check::of(
            CheckName::Repeats,
            CheckOutcome::Failed,
            format!("the same measurements are in run {other}"),
        ),
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
