//! Results of checks, and the site's knowledge that some of them need.

use cardmark_core::name_of;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
    /// The first trial is not that of a simulated card.
    Simulation,
    /// Dates are possible.
    Dates,
    /// Board, memory, kernel, page size and reader agree.
    Board,
    /// The record shows what the kernel always shows of such a device.
    Identified,
    /// The figures are those of one real, known device.
    Circumstances,
    /// The device can be the product that its owner names.
    ProductFits,
    /// No other run has the same measurements.
    Repeats,
    /// The figures are among those of other cards of the product.
    ProductRange,
    /// The run used a seed that the site had issued.
    FreshSeed,
    /// The submitter is among the few new ones of a network that count each day.
    NewSubmitters,
}

impl CheckName {
    /// All checks, in order.
    pub const ALL: [Self; 14] = [
        Self::Recomputed,
        Self::Accounting,
        Self::Seed,
        Self::Physics,
        Self::Simulation,
        Self::Dates,
        Self::Board,
        Self::Identified,
        Self::Circumstances,
        Self::ProductFits,
        Self::Repeats,
        Self::ProductRange,
        Self::FreshSeed,
        Self::NewSubmitters,
    ];

    /// The term that the catalogue explains it by.
    pub fn term(self) -> String {
        format!("check_{}", name_of(&self))
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
    /// Shared, and in no figure of a product. Of [`CheckName::ProductFits`]: not under the product that its owner names.
    NotCounted,
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
    /// Finding, or reason for the lack of a result; empty if it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Knowledge of the site about other records and about seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// State of the record's evidence digest.
    pub evidence: EvidenceState,
    /// State of the record's seed; `None` if the record holds none.
    pub seed: Option<SeedState>,
}

/// An evidence digest among those of runs that arrived before, and were not withdrawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceState {
    /// The record has none.
    #[default]
    None,
    /// No other run has it.
    New,
    /// This run has it.
    Known(Uuid),
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
    /// The result of a check that found these contradictions.
    pub(crate) fn failed_or_passed(name: CheckName, broken: &[String]) -> Self {
        match broken {
            [] => Self::passed(name),
            [one] => Self::of(name, CheckOutcome::Failed, one),
            [first, more @ ..] => {
                let reason = format!("{first}; {} more", more.len());
                Self::of(name, CheckOutcome::Failed, reason)
            }
        }
    }

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
