//! Figures named by a suite: those of the old tools.

use cardmark_core::{
    Figure, FigureOf, IntervalKind, Metric, Printed, Quantity, StopReason, Suite, Trial, Workload,
};

use crate::derivation::course_figures::course_metric;
use crate::derivation::metrics::{bare_metric, byte_rate, rate_metric};
use crate::derivation::print::{Amount, print};
use crate::derivation::windows::worst_window;
use crate::estimate::distribution::student_t;
use crate::estimate::interval::Interval;
use crate::estimate::{LEAST_TRIALS, LEVEL};

/// Returns the figures of a workload in the suite's order. Empty if the suite names none, or there are no
/// trials.
pub(crate) fn figure_metrics(
    workload: &Workload,
    whole: &[&Trial],
    stopped_by: StopReason,
    suite: &Suite,
) -> Vec<Metric> {
    let figures = suite.figures_of(&workload.id);
    figures
        .filter_map(|figure| figure_metric(figure, whole, stopped_by))
        .collect()
}

fn figure_metric(figure: &Figure, whole: &[&Trial], stopped_by: StopReason) -> Option<Metric> {
    let id = figure.id.clone();
    let metric = match figure.of {
        FigureOf::Rate => rate_metric(id, Quantity::ByteRate, whole, stopped_by),
        FigureOf::Operations => rate_metric(id, Quantity::OperationRate, whole, stopped_by),
        FigureOf::Parts => parts_metric(id, whole, stopped_by),
        FigureOf::WorstWindow => worst_window(id, whole, stopped_by, |manner| manner.window_bytes),
        FigureOf::WorstVideoWindow => {
            worst_window(id, whole, stopped_by, |manner| manner.video_window_bytes)
        }
        FigureOf::Slowest => slowest_metric(id, whole, stopped_by),
        FigureOf::Course(of) => course_metric(&figure.id, of, whole, stopped_by),
        of => streams_metric(id, of, whole, stopped_by),
    }?;
    Some(Metric {
        printed: printed(figure, &metric, whole),
        ..metric
    })
}

/// Returns the value as the old tool prints it. For one stream it uses the totals, like the tool; for
/// several, the rate.
fn printed(figure: &Figure, metric: &Metric, whole: &[&Trial]) -> Option<Printed> {
    let style = figure.printed?;
    if !matches!(
        figure.of,
        FigureOf::Rate | FigureOf::Operations | FigureOf::Parts
    ) {
        return print(style, Amount::of_rate(metric.value));
    }
    let total = |of: fn(&Trial) -> u64| whole.iter().map(|trial| of(trial)).sum();
    let amount = Amount {
        bytes: total(Trial::bytes),
        span_ns: total(|trial| trial.span_ns),
        operations_count: total(Trial::operations_count),
    };
    print(style, amount)
}

/// Returns the rate of operations, where each part counts as one operation.
fn parts_metric(id: String, whole: &[&Trial], stopped_by: StopReason) -> Option<Metric> {
    let parts = whole.first()?.workload.parts_count() as f64;
    let rate = rate_metric(id, Quantity::OperationRate, whole, stopped_by)?;
    let times = |value: Option<f64>| value.map(|value| value * parts);
    Some(Metric {
        value: rate.value * parts,
        low: times(rate.low),
        high: times(rate.high),
        operations_per_s: times(rate.operations_per_s),
        operations_low_per_s: times(rate.operations_low_per_s),
        operations_high_per_s: times(rate.operations_high_per_s),
        ..rate
    })
}

/// Returns the rate of the slowest trial. An extreme value has no interval of its own.
fn slowest_metric(id: String, whole: &[&Trial], stopped_by: StopReason) -> Option<Metric> {
    let rate = |trial: &Trial| trial.bytes() as f64 / trial.span_ns.max(1) as f64;
    let slowest = whole.iter().min_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    rate_metric(id, Quantity::ByteRate, &[slowest], stopped_by).map(|metric| Metric {
        low: None,
        high: None,
        interval_kind: IntervalKind::None,
        rate_low_bytes_per_s: None,
        rate_high_bytes_per_s: None,
        operations_low_per_s: None,
        operations_high_per_s: None,
        ..metric
    })
}

/// Returns a figure of several streams: the mean over the trials, with Student's t from three trials on.
fn streams_metric(
    id: String,
    of: FigureOf,
    whole: &[&Trial],
    stopped_by: StopReason,
) -> Option<Metric> {
    let values: Vec<f64> = whole.iter().map(|trial| streams_rate(trial, of)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if !mean.is_finite() {
        return None;
    }
    let ends = mean_interval(&values, mean).map(|interval| (interval.low, interval.high));
    let block_bytes = whole.first()?.workload.block_bytes;
    let bare = bare_metric(id, Quantity::ByteRate, mean, whole, stopped_by);
    Some(byte_rate(
        bare,
        ends,
        IntervalKind::BetweenRounds,
        block_bytes,
    ))
}

fn mean_interval(values: &[f64], mean: f64) -> Option<Interval> {
    if values.len() < LEAST_TRIALS {
        return None;
    }
    let count = u32::try_from(values.len()).ok()?;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let degrees = count - 1;
    let error = (squares / f64::from(degrees) / f64::from(count)).sqrt();
    Some(Interval::around(mean, student_t(LEVEL, degrees) * error))
}

/// Returns the bytes per second of one trial.
fn streams_rate(trial: &Trial, of: FigureOf) -> f64 {
    let per_second = |bytes: u64, span_ns: u64| bytes as f64 * 1e9 / span_ns.max(1) as f64;
    let rates = trial
        .streams
        .iter()
        .map(|stream| per_second(stream.bytes, stream.span_ns));
    match of {
        FigureOf::Children => rates.sum(),
        FigureOf::Min => rates.fold(f64::INFINITY, f64::min),
        FigureOf::Max => rates.fold(0.0, f64::max),
        FigureOf::Avg => rates.sum::<f64>() / trial.streams.len() as f64,
        FigureOf::Parent
        | FigureOf::Rate
        | FigureOf::Operations
        | FigureOf::Parts
        | FigureOf::WorstWindow
        | FigureOf::WorstVideoWindow
        | FigureOf::Slowest
        | FigureOf::Course(_) => per_second(trial.bytes(), trial.span_ns),
    }
}
