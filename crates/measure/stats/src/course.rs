//! The course of a long series of writes: its lasting fall and its settled part.
//!
//! Everything is calculated from the slices of one trial, which all have equal length. The functions do not
//! allocate, because the measuring loop calls them too.

pub(crate) mod cliff;
pub(crate) mod clusters;
pub(crate) mod during;
pub(crate) mod lasting;
pub(crate) mod periods;
pub(crate) mod rate_interval;
pub(crate) mod reached;
pub(crate) mod refill;
pub(crate) mod settle;
pub(crate) mod slices;
pub(crate) mod steady;
pub(crate) mod stops;
pub(crate) mod stretches;
pub(crate) mod within_trials;
pub(crate) mod written_part;

use cardmark_core::{Slice, StopRule, Trial};

use crate::course::cliff::first_cliff;
use crate::course::lasting::{Course, lasting_course};
use crate::course::slices::full_slices;
use crate::course::steady::{WINDOW_ROUNDS, is_steady, round_from_end, settle_round_ns};

/// Rounds before the window belong to it while they differ from its mean by at most this share.
pub(crate) const ROUND_RATIO: f64 = 0.10;
/// Minimum number of slices before a cliff.
pub(crate) const LEAST_BEFORE: usize = 5;
/// True if a series of writes has reached its end by rule: its rate has settled.
pub fn is_settled(slices: &[Slice], slice_span_ns: u64, stop: &StopRule) -> bool {
    course_under(slices, slice_span_ns, stop).is_some_and(|course| course.settled_from.is_some())
}

/// True if the rate over the slices, each of `slice_span_ns`, has been settled for `settled_span_ns`, and a
/// fall before it is over.
pub fn has_settled(slices: &[Slice], slice_span_ns: u64, settled_span_ns: u64) -> bool {
    course(slices, slice_span_ns, settled_span_ns)
        .settled_from
        .is_some()
}

/// Returns the course of a trial whose workload continues until its rate has settled; `None` for others.
pub(crate) fn course_of(trial: &Trial) -> Option<Course> {
    course_under(
        full_slices(trial),
        trial.slice_span_ns,
        &trial.workload.stop,
    )
}

fn course_under(slices: &[Slice], slice_span_ns: u64, stop: &StopRule) -> Option<Course> {
    let settled_span_ns = stop.settled_span_ns?;
    Some(match &stop.least_written {
        None => course(slices, slice_span_ns, settled_span_ns),
        Some(least) => lasting_course(slices, slice_span_ns, stop, least),
    })
}

fn course(slices: &[Slice], slice_span_ns: u64, settled_span_ns: u64) -> Course {
    let round = settle_round_ns(settled_span_ns)
        .checked_div(slice_span_ns)
        .and_then(|round| usize::try_from(round).ok())
        .unwrap_or(0);
    if round == 0 {
        return Course::default();
    }
    let cliff = first_cliff(slices, round, LEAST_BEFORE, |_, _| true);
    let begin = cliff.map_or(0, |cliff| cliff.to);
    Course {
        cliff,
        settled_from: settled_from(&slices[begin..], round).map(|from| begin + from),
        ..Course::default()
    }
}

/// Returns the first settled slice: a steady window at the end, extended by similar rounds before it.
fn settled_from(slices: &[Slice], round: usize) -> Option<usize> {
    if !is_steady(slices, round, WINDOW_ROUNDS) {
        return None;
    }
    let average = (0..WINDOW_ROUNDS)
        .map(|index| round_from_end(slices, round, index))
        .sum::<f64>()
        / WINDOW_ROUNDS as f64;
    let is_like = |index: &usize| {
        (round_from_end(slices, round, *index) - average).abs() <= ROUND_RATIO * average
    };
    let rounds = slices.len() / round;
    let more = (WINDOW_ROUNDS..rounds).take_while(is_like).count();
    Some(slices.len() - (WINDOW_ROUNDS + more) * round)
}
