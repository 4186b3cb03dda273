//! Figures, findings and verdicts, derived again.

use cardmark_core::{METHOD, Metric, OriginKind, Record};
use cardmark_judge::{JUDGE_VERSION, can_derive_again};

use super::stated::stated_suite;
use crate::check::{Check, CheckName, CheckOutcome};

/// Names that a reason lists.
const MOST_NAMES: usize = 5;
/// Version of the program whose findings this site derives.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Compares a record with the one derived from it; `differing` names the differences.
///
/// Figures follow from method and suite, whatever the version of the program is. Findings and verdicts may differ between
/// versions: then the record is marked.
pub(super) fn recomputed(record: &Record, derived: &Record, differing: &[String]) -> Check {
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
    if let Some(suite) = of_other_content(record) {
        let reason = format!("{suite} has other workloads than the suite of the record");
        return Check::of(name, CheckOutcome::Failed, reason);
    }
    if record.suite.is_none() && !record.metrics.is_empty() {
        let reason = "the record has figures, which only suites have, and no suite";
        return Check::of(name, CheckOutcome::Failed, reason);
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
    if is_of_this_version(record) || !has_same_figures(record, derived) {
        let reason = format!(
            "other results follow from the trials: {}",
            listed(differing)
        );
        return Check::of(name, CheckOutcome::Failed, reason);
    }
    let reason = format!(
        "another version of the program decided otherwise: {}",
        listed(differing)
    );
    Check::of(name, CheckOutcome::Marked, reason)
}

/// A known suite whose content, which never changes, is not that of the record. Its figures would count beside those of the
/// suite, although nothing derives them.
fn of_other_content(record: &Record) -> Option<String> {
    let (suite, is_same) = stated_suite(record)?;
    (!is_same).then(|| format!("{} {}", suite.name, suite.version))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(String::as_str);
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMES {
        text += &format!(" and {} more", names.len() - MOST_NAMES);
    }
    text
}

fn is_of_this_version(record: &Record) -> bool {
    let tool = record.tool.as_ref().map(|tool| tool.version.as_str());
    let judge = record.derived.as_ref().map(|derived| derived.judge_version);
    tool == Some(VERSION) && judge.is_none_or(|version| version == JUDGE_VERSION)
}

fn has_same_figures(record: &Record, derived: &Record) -> bool {
    let figure = |metric: &Metric| Metric {
        // Findings.
        warnings: Vec::new(),
        ..metric.clone()
    };
    let figures = |record: &Record| record.metrics.iter().map(figure).collect::<Vec<_>>();
    figures(record) == figures(derived)
}
