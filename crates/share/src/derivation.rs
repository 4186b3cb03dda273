//! Everything that a site derives from a submission by itself.

use cardmark_judge::derive_again;

use crate::check::Check;
use crate::checks::checks;
use crate::extract::Extract;
use crate::submission::Submission;

/// What follows from a submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// What is kept to find and to summarise the record.
    pub extract: Extract,
    /// Results of the checks that need no other record.
    pub checks: Vec<Check>,
}

/// Derives everything again. Figures are those that follow from the trials, not those in the record.
#[must_use]
pub fn derive(submission: &Submission, received_on: &str) -> Derivation {
    let checks = checks(&submission.record, received_on);
    let mut again = submission.record.clone();
    let _ = derive_again(&mut again);
    Derivation {
        extract: Extract::of(&again),
        checks,
    }
}
