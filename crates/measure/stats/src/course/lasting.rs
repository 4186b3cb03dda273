//! The course of a long series of writes with a minimum amount (suite `sustained`, version 2): cliffs, whole
//! periods, declines, and a settled rate only after enough was written.

use cardmark_core::{LeastWritten, SECOND_NS, Slice, StopRule};

use crate::course::cliff::{Cliff, best_cliff, first_cliff};
use crate::course::periods::period_slices;
use crate::course::slices::{mean_bytes, sum_bytes};
use crate::course::steady::{is_steady, settle_round_ns};
use crate::course::within_trials;

/// Maximum half-width of the interval of a settled rate, relative to it.
const MOST_WIDTH_RATIO: f64 = 0.05;
/// Share of the series after the last cliff that must be steady, counted from the end.
const TAIL_RATIO: f64 = 0.5;
/// Span for averaging the rate when testing if it crosses the middle of a cliff.
const CROSSING_NS: u64 = 2 * SECOND_NS;
/// Maximum share of such spans after a cliff that are faster than its middle.
const RETURNING_RATIO: f64 = 0.05;
/// Maximum share of such spans before a cliff that are slower than its middle.
const EARLY_RATIO: f64 = 0.20;
/// Minimum number of slices before a cliff: in a long series they last up to 1.6 s, so that a short cache has
/// few.
const LEAST_BEFORE: usize = 2;
/// Number of rounds in a steady tail, and the minimum if each consists of whole periods.
const ROUNDS: usize = 5;
const LEAST_ROUNDS: usize = 3;

/// A rate is still falling if the second half after the last cliff is slower than the first by at least this
/// share, ...
const FALLING_RATIO: f64 = 0.10;
/// ... and the last quarter is slower than the third by at least this share: half of what a straight line
/// shows there. Otherwise the fall is over.
const LATE_FALLING_RATIO: f64 = 0.025;

/// Results for a series of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Course {
    /// The first lasting fall of the rate.
    pub(crate) cliff: Option<Cliff>,
    /// The first slice of the settled part, which lasts until the end.
    pub(crate) settled_from: Option<usize>,
    /// Length of one period in slices, if the rate after the last fall is periodic.
    pub(crate) period_slices: Option<f64>,
    /// Fall from the first to the second half after the last cliff, relative to the first, if enough was written
    /// and the rate is still falling.
    pub(crate) falling_ratio: Option<f64>,
    /// True if enough was written for a steady rate to count as settled.
    pub(crate) is_enough: bool,
}

/// Returns the course of these slices under a rule with a minimum amount.
pub(crate) fn lasting_course(
    slices: &[Slice],
    slice_span_ns: u64,
    stop: &StopRule,
    least: &LeastWritten,
) -> Course {
    let settled_span_ns = stop.settled_span_ns.unwrap_or(0);
    let (Some(round), Some(window)) = (
        count_of(settle_round_ns(settled_span_ns), slice_span_ns),
        count_of(settled_span_ns, slice_span_ns),
    ) else {
        return Course::default();
    };
    let lasts = |slices: &[Slice], cliff: &Cliff| {
        lasts(slices, cliff, count_of(CROSSING_NS, slice_span_ns))
    };
    let cliff = first_cliff(slices, round, LEAST_BEFORE, lasts);
    let mut begin = cliff.map_or(0, |cliff| cliff.to);
    while let Some(next) = best_cliff(&slices[begin..], round, LEAST_BEFORE)
        && lasts(&slices[begin..], &next)
    {
        begin += next.to;
    }
    let tail = &slices[begin..];
    let period = period_slices(tail, slice_span_ns);
    let is_enough = is_enough(slices, slice_span_ns, stop, least, cliff.is_some());
    // A few stalls make a short series fall.
    let falling_ratio = match period {
        None if is_enough => falling_ratio(tail),
        _ => None,
    };
    let settled = (is_enough && falling_ratio.is_none())
        .then(|| settled(tail, slice_span_ns, window, period))
        .flatten();
    Course {
        cliff,
        settled_from: settled.map(|from| begin + from),
        period_slices: period,
        falling_ratio,
        is_enough,
    }
}

/// Returns the fall from the first half to the second, relative to the first, if the rate is still falling.
fn falling_ratio(tail: &[Slice]) -> Option<f64> {
    if tail.len() < 4 {
        return None;
    }
    let fall = |before: &[Slice], after: &[Slice]| 1.0 - mean_bytes(after) / mean_bytes(before);
    let (first, second) = tail.split_at(tail.len() / 2);
    let (third, fourth) = second.split_at(second.len() / 2);
    let ratio = fall(first, second);
    (ratio >= FALLING_RATIO && fall(third, fourth) >= LATE_FALLING_RATIO).then_some(ratio)
}

/// Number of slices in a span, at least one; `None` where slices or the span have no length.
pub(crate) fn count_of(span_ns: u64, slice_span_ns: u64) -> Option<usize> {
    let half = slice_span_ns / 2;
    let count = span_ns.saturating_add(half).checked_div(slice_span_ns)?;
    (span_ns > 0).then(|| usize::try_from(count.max(1)).unwrap_or(usize::MAX))
}

/// True if the amount or the duration is large enough for a steady rate to count as settled. The current
/// slice is not included yet, so one slice may be missing.
fn is_enough(
    slices: &[Slice],
    slice_span_ns: u64,
    stop: &StopRule,
    least: &LeastWritten,
    has_cliff: bool,
) -> bool {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of bytes"
    )]
    let bytes = (sum_bytes(slices) + mean_bytes(slices)) as u64;
    let at_ns = (slices.len() as u64 + 1).saturating_mul(slice_span_ns);
    let is_behind = !has_cliff || bytes >= least.behind_cliff_bytes();
    // Series are tested for at most the maximum duration of a workload, an hour.
    let is_longest = stop.longest_span_ns.is_some_and(|most| at_ns >= most);
    least.is_reached(at_ns, bytes) && (is_behind || is_longest)
}

/// True if the rate stays on its side of the middle of a fall; a periodic rate crosses it repeatedly.
fn lasts(slices: &[Slice], cliff: &Cliff, crossing: Option<usize>) -> bool {
    // A short cache may end in the first slices: then the first slice counts as before.
    let (before, after) = (&slices[..cliff.from.max(1)], &slices[cliff.to..]);
    let middle = 0.5 * (mean_bytes(before) + mean_bytes(after));
    let span = crossing.unwrap_or(1);
    let share = |part: &[Slice], crosses: &dyn Fn(f64) -> bool| {
        let windows = part.windows(span.min(part.len()).max(1));
        let count = windows.len().max(1) as f64;
        windows.filter(|w| crosses(mean_bytes(w))).count() as f64 / count
    };
    share(after, &|mean| mean > middle) <= RETURNING_RATIO
        && share(before, &|mean| mean < middle) <= EARLY_RATIO
}

/// Returns the first slice of the settled part, which lasts until the end.
fn settled(
    tail: &[Slice],
    slice_span_ns: u64,
    window: usize,
    period: Option<f64>,
) -> Option<usize> {
    if tail.len() < window {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a number of slices"
    )]
    let least = ((tail.len() as f64 * TAIL_RATIO) as usize).max(window);
    let Some(period) = period else {
        let round = least / ROUNDS;
        let from = tail.len() - round * ROUNDS;
        let width = within_trials::width_of_slices(&tail[from..], slice_span_ns)?;
        let is_settled = width <= MOST_WIDTH_RATIO && is_steady(tail, round, ROUNDS);
        return is_settled.then_some(from);
    };
    let (round, rounds) = whole_periods(tail.len(), least, period)?;
    is_steady(tail, round, rounds).then(|| tail.len() - round * rounds)
}

/// Returns the length of a round of whole periods in slices, and the number of such rounds that together have
/// at least `least` slices.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "parts of a number of slices"
)]
fn whole_periods(count: usize, least: usize, period: f64) -> Option<(usize, usize)> {
    let there = (count as f64 / period + 1e-9) as usize;
    let wanted = (least as f64 / period).ceil() as usize;
    let periods = wanted.clamp(LEAST_ROUNDS, there.max(LEAST_ROUNDS));
    let rounds = periods.min(ROUNDS);
    let each = periods / rounds;
    let round = (each as f64 * period).round() as usize;
    (there >= LEAST_ROUNDS && round * rounds <= count).then_some((round, rounds))
}
