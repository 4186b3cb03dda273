//! Everything that a site derives from a submission by itself.

use crate::check::Check;
use crate::checks::checks_and_derived;
use crate::extract::Extract;
use crate::submission::Submission;

/// Results derived from a submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// Values for searching and summaries.
    pub extract: Extract,
    /// Results of the checks that need no other record.
    pub checks: Vec<Check>,
}

/// Derives everything again. Figures are those that follow from the trials, not those in the record.
pub fn derive(submission: &Submission, received_on: &str) -> Derivation {
    let (checks, derived) = checks_and_derived(&submission.record, received_on);
    Derivation {
        extract: Extract::of(&derived),
        checks,
    }
}
