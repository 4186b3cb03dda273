//! Answers of the API that a client reads, and names that both sides use.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::check::Check;

/// Header with the SHA-256 of the edit token, 64 hexadecimal digits.
pub const TOKEN_HASH_HEADER: &str = "cardmark-token-hash";
/// Header with the submitter's tag, 32 hexadecimal digits.
pub const TAG_HEADER: &str = "cardmark-tag";
/// Media type of errors (RFC 9457).
pub const PROBLEM_TYPE: &str = "application/problem+json";
/// Days for which an issued seed is valid.
pub const SEED_DAYS: i64 = 7;
/// State of a run that everybody sees, and that counts.
pub const STATE_SHARED: &str = "shared";
/// State of a run with a failed check, or that a moderator holds: everybody sees it, no summary counts it.
pub const STATE_QUARANTINED: &str = "quarantined";
/// State of a run that its owner took back.
pub const STATE_WITHDRAWN: &str = "withdrawn";

/// Answer to a submission, and to a question for its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Accepted {
    /// Id of the run.
    pub id: Uuid,
    /// `shared`, `quarantined` or `withdrawn`.
    pub state: String,
    /// Level of checking: `published`, `imported`, `card_not_identified`, `measured`, `measured_with_fresh_seed` or `simulated`.
    pub level: String,
    /// Day on which it arrived, such as `2026-11-25`.
    pub received_on: String,
    /// Number of the owner's statement; 0 without any.
    pub revision: u64,
    /// Path of its page on the site.
    pub path: String,
    /// Results of the checks.
    pub checks: Vec<Check>,
    /// Number of the act of a moderator that decides the state; absent if the checks do. Its page is `/audit/NUMBER`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<i64>,
}

/// A seed for one run, which proves that the run is later than the seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IssuedSeed {
    /// The seed: 16 hexadecimal digits, for `cardmark run --fresh`.
    pub seed: String,
    /// Last day on which a run with it can arrive, such as `2026-12-02`.
    pub valid_until: String,
}

/// An error (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Kind of the problem, a path on the site, such as `/problems/not-a-record`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// Status of the answer.
    pub status: u16,
    /// Description of this occurrence, and advice.
    pub detail: String,
    /// Places in the document, if it is about some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProblemAt>,
}

/// A problem at a place of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemAt {
    /// Place, as a JSON pointer (RFC 6901); empty for the whole document.
    pub pointer: String,
    /// The problem there.
    pub detail: String,
}
