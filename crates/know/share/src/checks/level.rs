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
    /// Measured by this program.
    Measured,
    /// Measured by this program at places that a seed draws which the site had issued shortly before; no check failed.
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
    match origin {
        "simulated" => Level::Simulated,
        "published" => Level::Published,
        "measured" if is_fresh => Level::MeasuredWithFreshSeed,
        "measured" => Level::Measured,
        _ => Level::Imported,
    }
}
