//! Verdicts: what a judge says about a record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is derived from a record beyond its metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Derived {
    /// Version of the judge.
    pub judge_version: u32,
    /// Its verdicts.
    pub verdicts: Vec<Verdict>,
}

/// How a verdict came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictOutcome {
    /// What was asked is fulfilled.
    Pass,
    /// It is not.
    Fail,
    /// A figure that it needs is missing.
    NotTestable,
    /// It is a number, neither good nor bad.
    Score,
    /// Of registers: they are like those of most genuine cards.
    Usual,
    /// Of registers: they are not; which proves nothing by itself.
    Unusual,
}

/// One verdict, with its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Whose rule it is, such as `agnostics`.
    pub rule: String,
    /// How it came out.
    pub outcome: VerdictOutcome,
    /// The number, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Why, in a sentence without full stop for each figure.
    pub reasons: Vec<String>,
    /// The metrics it rests on.
    pub metrics: Vec<String>,
}
