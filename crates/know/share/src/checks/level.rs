//! Levels of checking.

use serde::{Deserialize, Serialize};

use crate::check::{Check, CheckName, CheckOutcome};

/// Level of checking of a record. No level is a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Measured on a simulated card: shown apart from all others.
    Simulated,
    /// Figures from a publication.
    Published,
    /// Figures from another tool's output.
    Imported,
    /// In the form of a run of this program, without what the kernel always shows of a device in such a reader: it may be any.
    CardNotIdentified,
    /// In the form of a run of this program. A site cannot know that it is one.
    Measured,
    /// The same, at places that a seed draws which the site had issued shortly before; no check failed. The file is later than the
    /// seed.
    MeasuredWithFreshSeed,
}

/// Returns the level of a record of this origin (a word of the record's `origin.kind`) with these checks. One of an unknown
/// origin is treated as imported.
pub fn level(origin: &str, checks: &[Check]) -> Level {
    let has_passed = |name| {
        let is_passed = |check: &Check| check.name == name && check.outcome == CheckOutcome::Passed;
        checks.iter().any(is_passed)
    };
    // Without places that the seed draws, any seed would do.
    let is_fresh = has_passed(CheckName::FreshSeed)
        && has_passed(CheckName::Seed)
        && !super::is_quarantined(checks);
    let is_unidentified = |check: &Check| {
        check.name == CheckName::Identified && check.outcome == CheckOutcome::NotCounted
    };
    match origin {
        "simulated" => Level::Simulated,
        "published" => Level::Published,
        "measured" if checks.iter().any(is_unidentified) => Level::CardNotIdentified,
        "measured" if is_fresh => Level::MeasuredWithFreshSeed,
        "measured" => Level::Measured,
        _ => Level::Imported,
    }
}
