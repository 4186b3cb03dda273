//! Verdict by the minimum numbers that an old tool accepts.

use cardmark_core::{Figure, Metric, Record, Suite, Verdict, VerdictOutcome};

/// Pass if every figure reaches its mark; not testable if one is missing.
pub(crate) fn verdict(record: &Record, suite: &Suite) -> Option<Verdict> {
    let marked: Vec<(&Figure, f64)> = suite
        .figures
        .iter()
        .filter_map(|figure| figure.least.map(|least| (figure, least)))
        .collect();
    if marked.is_empty() {
        return None;
    }
    let judged: Vec<(VerdictOutcome, String)> = marked
        .iter()
        .map(|(figure, least)| one(record, figure, *least))
        .collect();
    let worst = [VerdictOutcome::NotTestable, VerdictOutcome::Fail];
    let outcome = worst
        .into_iter()
        .find(|wanted| judged.iter().any(|(outcome, _)| outcome == wanted));
    Some(Verdict {
        rule: suite.name.clone(),
        outcome: outcome.unwrap_or(VerdictOutcome::Pass),
        score: None,
        reasons: judged.into_iter().map(|(_, reason)| reason).collect(),
        metrics: marked.iter().map(|(figure, _)| figure.id.clone()).collect(),
    })
}

fn one(record: &Record, figure: &Figure, least: f64) -> (VerdictOutcome, String) {
    let metric = record.metric(&figure.id);
    let Some(printed) = metric.and_then(|metric| metric.printed.as_ref()) else {
        let reason = format!("{} was not measured", figure.id);
        return (VerdictOutcome::NotTestable, reason);
    };
    if let Some(warning) = metric.and_then(Metric::voided_by) {
        let reason = format!("{} cannot be trusted: {warning}", figure.id);
        return (VerdictOutcome::NotTestable, reason);
    }
    let (outcome, word) = if printed.value >= least {
        (VerdictOutcome::Pass, "at least")
    } else {
        (VerdictOutcome::Fail, "below")
    };
    let reason = format!("{}: {}, {word} {least}", figure.id, printed.text);
    (outcome, reason)
}
