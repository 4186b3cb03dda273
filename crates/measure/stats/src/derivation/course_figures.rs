//! Figures of a series of writes that continues until its rate has settled.

use cardmark_core::{
    CourseFigure, IntervalKind, Metric, Quantity, SECOND_NS, Slice, StopReason, Trial,
};

use crate::course::course_of;
use crate::course::lasting::Course;
use crate::course::refill::refilled_bytes;
use crate::course::slices::{full_slices, mean_bytes, sum_bytes};
use crate::course::stretches::{rate_at_end, slowest_rate};
use crate::course::within_trials;
use crate::derivation::metrics::{bare_metric, byte_rate};
use crate::estimate::interval::Interval;
use crate::estimate::stored::Stored;

const GIB: f64 = (1_u64 << 30) as f64;

/// Returns a figure of the first of these trials; a later one finds the cache as the first one left it.
/// `None` if the trial does not contain the figure.
pub(crate) fn course_metric(
    id: &str,
    of: CourseFigure,
    whole: &[&Trial],
    stopped_by: StopReason,
) -> Option<Metric> {
    let trial = *whole.first()?;
    let bare = |quantity, value| bare_metric(id.to_owned(), quantity, value, &[trial], stopped_by);
    if let CourseFigure::Refill = of {
        let refill = trial.workload.stop.refill?;
        return Some(bare(Quantity::Size, refilled_bytes(trial, refill)));
    }
    let course = course_of(trial)?;
    let slowest = |span_ns| slowest_rate(trial, span_ns);
    let of_rate = |rate| {
        let bare = bare(Quantity::ByteRate, rate);
        byte_rate(bare, None, IntervalKind::None, trial.workload.block_bytes)
    };
    let pauses = |longer_than_ns| -> Option<Metric> {
        let count = pauses_count(trial, &course, longer_than_ns)?;
        let per_gib = count as f64 * GIB / trial.bytes() as f64;
        Some(bare(Quantity::Count, per_gib))
    };
    match of {
        CourseFigure::Burst => {
            let cliff = course.cliff.filter(|cliff| cliff.from > 0)?;
            Some(rate(bare, trial, &full_slices(trial)[..cliff.from]))
        }
        CourseFigure::Settled => {
            let from = course.settled_from?;
            let settled = rate(bare, trial, &full_slices(trial)[from..]);
            // Batches of a periodic rate do not vary by chance: their differences do not show the error of
            // the mean.
            Some(match course.period_slices {
                None => settled,
                Some(_) => of_rate(settled.value),
            })
        }
        CourseFigure::CacheBytes => {
            let cliff = course.cliff?;
            let until = |slice: usize| sum_bytes(&full_slices(trial)[..slice]);
            Some(Metric {
                low: Some(until(cliff.from)),
                high: Some(until(cliff.to)),
                interval_kind: IntervalKind::WithinTrial,
                ..bare(Quantity::Size, cliff.bytes)
            })
        }
        CourseFigure::LongestPause => {
            let longest_ns = trial.latency.max_ns as f64 - ordinary_ns(trial, &course)?;
            Some(bare(Quantity::Span, longest_ns.max(0.0)))
        }
        CourseFigure::Pauses100Ms => pauses(SECOND_NS / 10),
        CourseFigure::Pauses500Ms => pauses(SECOND_NS / 2),
        CourseFigure::Pauses1S => pauses(SECOND_NS),
        CourseFigure::RateAtEnd => {
            let rate = rate_at_end(trial)?;
            course.settled_from.is_none().then(|| of_rate(rate))
        }
        CourseFigure::Slowest10S => slowest(10 * SECOND_NS).map(of_rate),
        CourseFigure::Slowest60S => slowest(60 * SECOND_NS).map(of_rate),
        CourseFigure::Period => {
            let span_ns = course.period_slices? * trial.slice_span_ns as f64;
            Some(bare(Quantity::Span, span_ns))
        }
        CourseFigure::Refill => None,
    }
}

/// Returns the rate of some slices of a trial, with an interval if they are long enough.
fn rate(bare: impl Fn(Quantity, f64) -> Metric, trial: &Trial, slices: &[Slice]) -> Metric {
    let rate = mean_bytes(slices) * SECOND_NS as f64 / trial.slice_span_ns.max(1) as f64;
    let width = within_trials::width_of_slices(slices, trial.slice_span_ns);
    let interval = width.map(|width| Interval::around(rate, rate * width));
    let ends = interval.map(|interval| (interval.low, interval.high));
    let bare = bare(Quantity::ByteRate, rate);
    byte_rate(
        bare,
        ends,
        IntervalKind::WithinTrial,
        trial.workload.block_bytes,
    )
}

/// Duration of an operation without a pause, nanoseconds: from the settled rate, or the median if the rate
/// has not settled.
fn ordinary_ns(trial: &Trial, course: &Course) -> Option<f64> {
    let settled = course.settled_from.map(|from| {
        let slice_bytes = mean_bytes(&full_slices(trial)[from..]);
        trial.workload.block_bytes as f64 * trial.slice_span_ns as f64 / slice_bytes
    });
    settled.or_else(|| Stored::of(&trial.latency)?.quantile(0.5))
}

/// Number of operations that took longer than an ordinary one by more than this.
fn pauses_count(trial: &Trial, course: &Course, longer_than_ns: u64) -> Option<u64> {
    let limit_ns = ordinary_ns(trial, course)? + longer_than_ns as f64;
    Some(Stored::of(&trial.latency)?.count_above(limit_ns))
}
