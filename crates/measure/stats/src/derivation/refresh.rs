//! Updates everything that a record derives from its trials.

use cardmark_core::{
    Finding, FindingKind, IntervalKind, Metric, OriginKind, Record, Severity, StopReason, Suite,
};

use crate::course::reached::{self, reached};
use crate::course::settle::trend;
use crate::derivation::accounting::{Discrepancy, discrepancies};
use crate::derivation::course_findings::course_findings;
use crate::derivation::derive::{Derived, by_workload};
use crate::derivation::noticed::{self, noticed};

/// Rebuilds the metrics from the trials, and the findings that follow from the trials alone (not settled,
/// wide interval); adds to each metric the names of the findings that limit trust in it; sorts findings. A
/// workload that was not requested and only laid out the file has neither metrics nor such findings. A second
/// call changes nothing. A record without trials is not changed: its figures were imported or published.
pub fn refresh(record: &mut Record, suite: &Suite) {
    let contradictions = discrepancies(record);
    refresh_with(record, suite, &contradictions);
}

/// [`refresh`] with the contradictions of the record ([`discrepancies`]), whose search takes most of the time.
pub fn refresh_with(record: &mut Record, suite: &Suite, contradictions: &[Discrepancy]) {
    if record.trials.is_empty() {
        return empty(record);
    }
    let only = record.suite.as_ref().map_or(&[][..], |suite| &suite.only);
    let asked = |one: &Derived<'_>| only.is_empty() || only.contains(&one.workload.id);
    let mut derived = by_workload(&record.trials, suite);
    derived.retain(asked);
    let mut findings = std::mem::take(&mut record.findings);
    findings.retain(|finding| finding.noticed_by.is_some() || !is_derived(finding.kind));
    for one in &derived {
        findings.extend(not_settled(one));
        findings.extend(wide_interval(one, suite));
        findings.extend(course_findings(&one.trials));
    }
    findings.extend(noticed(record, suite, &derived));
    let workloads = suite.workloads.iter();
    let asked = workloads.filter(|workload| only.is_empty() || only.contains(&workload.id));
    findings.extend(reached(record, asked));
    findings.extend(contradicting_trials(contradictions));
    sort(&mut findings);
    let mut metrics = Vec::new();
    for one in derived {
        let warnings = warnings_on(&one.workload.id, &findings);
        let warned = |metric: Metric| Metric {
            warnings: warnings.clone(),
            ..metric.rounded()
        };
        metrics.extend(one.metrics.into_iter().map(warned));
    }
    record.metrics = metrics;
    record.findings = findings;
}

/// Removes figures without trials, except those of other tools and of publications.
fn empty(record: &mut Record) {
    let is_of_others = matches!(
        record.origin.kind,
        OriginKind::Imported | OriginKind::Published
    );
    if !is_of_others && !record.metrics.is_empty() {
        record.metrics.clear();
        record.derived = None;
        let detail = "the record holds figures, but no trials that they could follow from";
        let finding = Finding::new(FindingKind::DoubtfulFigure, Severity::Error, detail);
        record.findings.push(finding);
        sort(&mut record.findings);
    }
}

fn is_derived(kind: FindingKind) -> bool {
    noticed::KINDS.contains(&kind)
        || reached::KINDS.contains(&kind)
        || matches!(
            kind,
            FindingKind::NotSettled
                | FindingKind::WideInterval
                | FindingKind::NoCliff
                | FindingKind::Period
                | FindingKind::WrittenPart
                | FindingKind::ContradictingTrials
        )
}

/// One finding about the whole record if its trials contradict each other.
fn contradicting_trials(all: &[Discrepancy]) -> Option<Finding> {
    let mut detail = format!("the record contradicts itself: {}", all.first()?);
    match all.len() - 1 {
        0 => {}
        more => detail += &format!("; {more} more"),
    }
    let kind = FindingKind::ContradictingTrials;
    Some(Finding::new(kind, Severity::Error, detail))
}

fn not_settled(derived: &Derived<'_>) -> Option<Finding> {
    let trend = trend(&derived.trials).filter(|trend| trend.significant)?;
    let (verb, cause) = if trend.ratio_per_run < 0.0 {
        ("fell", "a cache filled, or the card was doing housekeeping")
    } else {
        (
            "rose",
            "the storage was still busy with earlier work, or waking up",
        )
    };
    let percent = 100.0 * trend.ratio_per_run.abs();
    let detail = format!(
        "the rate {verb} by {percent:.0} % of its mean over {} trials",
        derived.trials.len()
    );
    let advice = format!("{cause}: let it rest for some minutes, then measure again");
    let finding = Finding::new(FindingKind::NotSettled, Severity::Warning, detail).advise(advice);
    Some(finding.on(&derived.workload.id))
}

/// A note, not a warning: the interval itself shows how far the figure can be trusted.
fn wide_interval(derived: &Derived<'_>, suite: &Suite) -> Option<Finding> {
    let rate = derived.metrics.first()?;
    // A list has no goal, because the old tools have none.
    let has_goal = suite.passes.is_none() && !derived.workload.rounds.once;
    if rate.stopped_by == StopReason::Goal || !has_goal {
        return None;
    }
    // The same words for every workload, so that they are displayed as one line.
    let detail = match rate.interval_kind {
        IntervalKind::BetweenRounds if suite.goal_percent == 0.0 => return None,
        IntervalKind::BetweenRounds => {
            format!("results varied by more than ±{} %", suite.goal_percent)
        }
        _ => "too few or too short trials for an interval between rounds".to_owned(),
    };
    let finding = Finding::new(FindingKind::WideInterval, Severity::Note, detail);
    Some(finding.on(&derived.workload.id))
}

/// Returns the names of the findings that limit trust in the metrics of a workload.
fn warnings_on(workload: &str, findings: &[Finding]) -> Vec<String> {
    let touches = |finding: &&Finding| {
        finding.severity >= Severity::Warning
            && !finding.kind.is_of_identity()
            && (finding.workloads.is_empty() || finding.workloads.iter().any(|id| id == workload))
    };
    let mut names: Vec<_> = findings
        .iter()
        .filter(touches)
        .map(|f| f.kind.name())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Sorts by severity, worst first, then independently of the order of arrival.
fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then(a.kind.cmp(&b.kind))
            .then_with(|| a.workloads.cmp(&b.workloads))
            .then_with(|| a.detail.cmp(&b.detail))
    });
}
