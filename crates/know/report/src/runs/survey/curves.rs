//! Common parts of the charts of a report: headings, and curves of several subjects.

use cardmark_core::{Record, Trial};

use super::sources::footer;
use super::subjects::{Subject, boards};
use crate::chart::{Curve, Heading};

/// Most curves in one chart: more cannot be distinguished.
const MOST_CURVES: usize = 6;

/// Subjects of a chart, and the line on where their figures come from.
pub(super) struct Source<'a, 's> {
    subjects: &'s [Subject<'a>],
    footer: String,
}

impl<'a, 's> Source<'a, 's> {
    pub(super) fn of(subjects: &'s [Subject<'a>]) -> Self {
        Self {
            subjects,
            footer: String::new(),
        }
    }

    /// Of the runs with this metric.
    pub(super) fn by(self, metric: &str) -> Self {
        let footer = footer(self.subjects, |record| record.metric(metric).is_some());
        Self { footer, ..self }
    }

    /// Of the runs with trials of this workload.
    pub(super) fn by_trials(self, workload: &str) -> Self {
        let footer = footer(self.subjects, |record| !trials(record, workload).is_empty());
        Self { footer, ..self }
    }

    /// Of the runs that an anatomy examined.
    pub(super) fn by_anatomy(self) -> Self {
        let footer = footer(self.subjects, |record| record.anatomy.is_some());
        Self { footer, ..self }
    }
}

/// Texts of a chart with that name: below the title the board, if it is one, at the bottom source and conditions.
pub(super) fn heading(source: Source<'_, '_>, name: &str, title: String, about: String) -> Heading {
    let subtitle = match boards(source.subjects).as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    };
    Heading {
        name: name.to_owned(),
        title,
        subtitle,
        footer: source.footer,
        about,
    }
}

pub(super) fn trials<'a>(record: &'a Record, workload: &str) -> Vec<&'a Trial> {
    let trials = record.trials.iter();
    trials
        .filter(|trial| trial.workload.id == workload && trial.is_whole())
        .collect()
}

/// Curves of subjects, and what is to be added to the title.
pub(super) struct Drawn {
    pub(super) curves: Vec<Curve>,
    pub(super) remark: String,
}

/// The curves that are highest by a measure, which `which` names; none where no subject has a curve.
pub(super) fn curves_of<'a>(
    subjects: &[Subject<'a>],
    curve: impl Fn(&Subject<'a>) -> Option<Curve>,
    measure: impl Fn(&Curve) -> f64,
    which: &str,
) -> Option<Drawn> {
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
    // Stable: of equals the first.
    curves.sort_by(|a, b| measure(b).total_cmp(&measure(a)));
    curves.truncate(MOST_CURVES);
    let remark = if count > MOST_CURVES {
        format!(": {which} {MOST_CURVES} of {count}")
    } else {
        String::new()
    };
    (count > 0).then_some(Drawn { curves, remark })
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
