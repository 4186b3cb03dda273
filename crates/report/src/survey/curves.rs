//! Common parts of the charts of a report: headings, and curves of several subjects.

use std::collections::BTreeSet;

use cardmark_core::{OriginKind, Record, Trial};

use super::subjects::{Subject, boards, suite_of};
use crate::chart::{Curve, Heading};
use crate::names::origin_word;

/// Most curves in one chart: more cannot be distinguished.
const MOST_CURVES: usize = 6;

/// Whose figures a chart shows, and under which circumstances they came about: it is passed on without
/// the page around it.
pub(super) fn heading(title: String, about: String, subjects: &[Subject<'_>]) -> Heading {
    let records = || subjects.iter().flat_map(|subject| &subject.records);
    let board = match boards(subjects).as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    let suites: BTreeSet<String> = records().filter_map(|record| suite_of(record)).collect();
    let origins: BTreeSet<&str> = records()
        .map(|record| origin_word(&record.origin.kind))
        .collect();
    let mut parts: Vec<String> = board.into_iter().chain(suites).collect();
    // That figures were measured is what everybody expects.
    if origins != BTreeSet::from([origin_word(&OriginKind::Measured)]) {
        parts.extend(origins.into_iter().map(str::to_owned));
    }
    Heading {
        title,
        subtitle: parts.join(" · "),
        about,
    }
}

pub(super) fn trials<'a>(record: &'a Record, workload: &str) -> Vec<&'a Trial> {
    let trials = record.trials.iter();
    trials
        .filter(|trial| trial.workload.id == workload && trial.is_whole())
        .collect()
}

/// The curves of the first subjects that have one, and what is to be added to the title; none where
/// no subject has a curve.
pub(super) fn curves_of<'a>(
    subjects: &[Subject<'a>],
    curve: impl Fn(&Subject<'a>) -> Option<Curve>,
) -> Option<(Vec<Curve>, String)> {
    let are_many = boards(subjects).len() > 1;
    let named = |subject| {
        let curve = curve(subject)?;
        let name = match are_many {
            true => format!("{}, {}", curve.name, subject.board),
            false => curve.name,
        };
        Some(Curve { name, ..curve })
    };
    let mut curves: Vec<Curve> = subjects.iter().filter_map(named).collect();
    let count = curves.len();
    curves.truncate(MOST_CURVES);
    let remark = if count > MOST_CURVES {
        format!(": the first {MOST_CURVES} of {count}")
    } else {
        String::new()
    };
    (count > 0).then_some((curves, remark))
}

/// A subject's curve, if there are points enough for one.
pub(super) fn curve_of(subject: &Subject<'_>, points: Vec<(f64, f64)>) -> Option<Curve> {
    (points.len() > 1).then(|| Curve {
        name: subject.name.clone(),
        points,
    })
}

pub(super) fn seconds(span_ns: u64) -> f64 {
    span_ns as f64 / 1e9
}
