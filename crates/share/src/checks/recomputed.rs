//! Figures, findings and verdicts, derived again.

use cardmark_core::{METHOD, OriginKind, Record};
use cardmark_judge::can_derive_again;

use crate::check::{Check, CheckName, CheckOutcome};

/// Names that a reason lists.
const MOST_NAMES: usize = 5;

/// Compares a record with what was derived from it: `differing` names what it holds otherwise.
pub(super) fn recomputed(record: &Record, differing: &[String]) -> Check {
    let name = CheckName::Recomputed;
    let cannot_tell = |reason: &str| Check::of(name, CheckOutcome::CannotTell, reason);
    if !matches!(
        record.origin.kind,
        OriginKind::Measured | OriginKind::Simulated
    ) {
        return cannot_tell("the figures are not from this program");
    }
    if record.method != Some(METHOD) {
        return cannot_tell("the record was made by another method");
    }
    if !can_derive_again(record) {
        return cannot_tell(match record.suite {
            Some(_) => "this site does not know the suite of the record",
            None => "nothing is derived from such a test",
        });
    }
    if differing.is_empty() {
        return Check::passed(name);
    }
    let listed = differing.iter().take(MOST_NAMES).map(String::as_str);
    let mut reason = format!(
        "other results follow from the trials: {}",
        listed.collect::<Vec<_>>().join(", ")
    );
    if differing.len() > MOST_NAMES {
        reason += &format!(" and {} more", differing.len() - MOST_NAMES);
    }
    Check::of(name, CheckOutcome::Failed, reason)
}
