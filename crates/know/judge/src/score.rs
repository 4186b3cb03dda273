//! Score of an old tool.

use cardmark_core::{Figure, Record, Score, Suite, Verdict, VerdictOutcome};

/// The weighted sum of the printed numbers over the divisor, rounded down; not testable if one is missing.
pub(crate) fn verdict(record: &Record, suite: &Suite) -> Option<Verdict> {
    let Score { divisor } = suite.score?;
    let weighted: Vec<(&Figure, f64)> = suite
        .figures
        .iter()
        .filter_map(|figure| figure.weight.map(|weight| (figure, weight)))
        .collect();
    let part = |(figure, weight): &(&Figure, f64)| {
        let metric = record.metric(&figure.id)?;
        Some(metric.printed.as_ref()?.value * weight)
    };
    let missing = weighted.iter().find(|term| part(term).is_none());
    let metrics = weighted
        .iter()
        .map(|(figure, _)| figure.id.clone())
        .collect();
    let (outcome, score, reason) = match missing {
        Some((figure, _)) => {
            let reason = format!("{} was not measured", figure.id);
            (VerdictOutcome::NotTestable, None, reason)
        }
        None => {
            let sum: f64 = weighted.iter().filter_map(part).sum();
            let reason =
                "weighted sum of the printed numbers, regardless of their units".to_owned();
            (VerdictOutcome::Score, Some((sum / divisor).floor()), reason)
        }
    };
    Some(Verdict {
        rule: suite.name.clone(),
        outcome,
        score,
        reasons: vec![reason],
        metrics,
    })
}
