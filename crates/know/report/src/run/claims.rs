//! What a run shows of the promises on the label, apart from classes that it tests.

use cardmark_core::{Record, Verdict, VerdictOutcome};
use cardmark_judge::{Promise, role_of, smaller_than_claimed, untested_claims, with_claims};

use crate::text::names::listed;
use crate::text::style::clean;
use crate::text::{amount, figure};

/// Returns the size if the device reports less than its label promises: `Smaller than its label: the device reports 32 GB, sold
/// as 64 GB`.
pub(crate) fn smaller(record: &Record) -> Option<String> {
    let found = smaller_than_claimed(record)?;
    let [reported, claimed] = [found.reported_bytes, found.claimed_bytes].map(amount);
    Some(format!(
        "Smaller than its label: the device reports {reported}, sold as {claimed}"
    ))
}

/// Returns a sentence for each promise that the run contradicts, the gravest first, without full stops.
pub(crate) fn missed(record: &Record) -> Vec<String> {
    let rates = rates(record, VerdictOutcome::Fail).into_iter();
    let rates = rates.filter_map(|(promise, verdict)| {
        let id = verdict.metrics.first()?;
        let rate = figure(record.metric(id)?.rate_bytes_per_s? / 1e6);
        Some(format!(
            "Fails {promise}: {rate} MB/s in {}",
            role_of(id)?.name
        ))
    });
    smaller(record).into_iter().chain(rates).collect()
}

/// Returns a sentence for each promise that the run cannot judge, with the reason or the suite that can.
pub(crate) fn open(record: &Record) -> Vec<String> {
    let rates = rates(record, VerdictOutcome::NotTestable).into_iter();
    let rates = rates.map(|(promise, verdict)| {
        let reason = verdict.reasons.last().map(|reason| clean(reason));
        let reason = reason.unwrap_or_default();
        let reason = reason.trim_start_matches("not testable here: ");
        format!("{promise} cannot be tested here: {reason}")
    });
    let mut by_suite: Vec<(String, Vec<String>)> = Vec::new();
    for (promise, suite) in untested_claims(record) {
        let promise = spaced(&promise.to_string());
        match by_suite.iter_mut().find(|(known, _)| *known == suite) {
            Some((_, promises)) => promises.push(promise),
            None => by_suite.push((suite, vec![promise])),
        }
    }
    let others = by_suite.into_iter().map(|(suite, promises)| {
        let claims = match promises.len() {
            1 => "claim",
            _ => "claims",
        };
        let promises = listed(&promises, "and");
        format!("For a verdict on the {claims} {promises}, use `--suite {suite}`")
    });
    rates.chain(others).collect()
}

/// The verdicts on promised rates with this outcome.
fn rates(record: &Record, outcome: VerdictOutcome) -> Vec<(String, Verdict)> {
    let derived = with_claims(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let of = verdicts.filter(|verdict| verdict.outcome == outcome);
    let rates = of.filter(|one| matches!(Promise::parse(&one.rule), Some(Promise::Rate(_))));
    rates.map(|one| (spaced(&one.rule), one.clone())).collect()
}

/// `130 MB/s`, `A1`.
fn spaced(promise: &str) -> String {
    let digits = promise.len()
        - promise
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let (number, unit) = promise.split_at(digits);
    clean(format!("{number} {unit}").trim())
}
