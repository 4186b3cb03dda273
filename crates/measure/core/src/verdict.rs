//! Verdicts on a record.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule of the verdict on the capacity.
pub const CAPACITY_RULE: &str = "capacity";

/// Results derived from a record beyond its metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Derived {
    /// Version of the judge.
    pub judge_version: u32,
    /// Its verdicts.
    pub verdicts: Vec<Verdict>,
    /// Deviations of the run from the standard that defines the classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

words! {
    /// Outcome of a verdict.
    pub enum VerdictOutcome {
        /// The requirement is met.
        Pass,
        /// For classes: the figures are high enough, but a short test or one in a file may show more than the
        /// standard's procedure would.
        LikelyPass,
        /// The requirement is not met.
        Fail,
        /// A required figure is missing, or the host does not meet a requirement.
        NotTestable,
        /// A number, neither good nor bad.
        Score,
        /// For registers: they are like those of most genuine cards.
        Usual,
        /// For registers: they are unlike those of most genuine cards; this proves nothing by itself.
        Unusual,
        /// The figure is too close to the requirement to decide.
        Borderline,
    }
}

/// One verdict, with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Verdict {
    /// Source of the rule, such as `agnostics`.
    pub rule: String,
    /// Outcome.
    pub outcome: VerdictOutcome,
    /// The number, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Reasons: for each figure a sentence without full stop.
    pub reasons: Vec<String>,
    /// Metrics that it is based on.
    pub metrics: Vec<String>,
}
