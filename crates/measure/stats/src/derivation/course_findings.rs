//! Findings about the course of a series of writes.

use cardmark_core::{Finding, FindingKind, Severity, Trial};

use crate::course::course_of;
use crate::course::lasting::Course;
use crate::course::stretches::rate_at_end;
use crate::course::written_part::written_part;

/// Returns the findings of the first of these trials.
pub(crate) fn course_findings(whole: &[&Trial]) -> Vec<Finding> {
    let Some((trial, course)) = whole
        .first()
        .and_then(|trial| Some((*trial, course_of(trial)?)))
    else {
        return Vec::new();
    };
    let id = &trial.workload.id;
    [
        written_part(trial, &course),
        not_settled(trial, &course),
        no_cliff(trial, &course),
        period(trial, &course),
    ]
    .into_iter()
    .flatten()
    .map(|finding| finding.on(id))
    .collect()
}

fn written(trial: &Trial) -> String {
    format!(
        "{:.1} GB in {:.0} s",
        trial.bytes() as f64 / 1e9,
        trial.span_ns as f64 / 1e9
    )
}

fn not_settled(trial: &Trial, course: &Course) -> Option<Finding> {
    if course.settled_from.is_some() {
        return None;
    }
    let written = written(trial);
    let mut detail = match course.falling_ratio {
        Some(ratio) => format!(
            "the rate was still falling after {written}: the second half was {:.0} % slower than the first",
            100.0 * ratio
        ),
        None if trial.workload.stop.least_written.is_some() && !course.is_enough => {
            format!("too little was written for a settled rate: {written}")
        }
        None => format!("the rate had not settled after {written}"),
    };
    if let (Some(_), Some(rate)) = (trial.workload.stop.least_written, rate_at_end(trial)) {
        detail += &format!("; at the end it was {:.1} MB/s", rate / 1e6);
    }
    let finding = Finding::new(FindingKind::NotSettled, Severity::Warning, detail);
    Some(
        finding.advise(
            "look at the rate over time: it may rise and fall as long as the card is written",
        ),
    )
}

fn no_cliff(trial: &Trial, course: &Course) -> Option<Finding> {
    if course.cliff.is_some() {
        return None;
    }
    let detail = match trial.workload.stop.least_written {
        None => format!(
            "no lasting fall of the rate in {}: there is no write cache with a limit, or it is \
             larger",
            written(trial)
        ),
        Some(_) => format!("no cliff within {}", written(trial)),
    };
    Some(Finding::new(FindingKind::NoCliff, Severity::Note, detail))
}

fn period(trial: &Trial, course: &Course) -> Option<Finding> {
    let span_s = course.period_slices? * trial.slice_span_ns as f64 / 1e9;
    let mean = match course.settled_from {
        Some(_) => ": the steady rate is the mean over whole periods",
        None => "",
    };
    let detail = format!("the rate rises and falls every {span_s:.0} s{mean}");
    Some(Finding::new(FindingKind::Period, Severity::Note, detail))
}
