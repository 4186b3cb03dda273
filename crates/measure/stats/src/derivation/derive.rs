//! From trials to metrics: the one place where figures come from.

use cardmark_core::{
    Figure, IntervalKind, KIB, LatencyFigure, Metric, Passes, Quantity, StopReason, Suite, Trial,
    Workload,
};

use crate::course::rate_interval::is_precise;
use crate::derivation::figures::figure_metrics;
use crate::derivation::metrics::{bare_metric, rate_metric};
use crate::derivation::parts::rate_parts;
use crate::estimate::countable::is_countable;
use crate::estimate::outlying::round_rates;
use crate::estimate::percentile::{merged_histogram, percentile_interval};
use crate::estimate::{LEVEL, SHOWN_LEVEL};

/// Minimum block size of workloads whose quantity is bytes per second; smaller ones use operations per
/// second.
pub(crate) const BYTE_RATE_BLOCK_BYTES: u64 = 64 * KIB;

/// Returns the metrics of a run. For each workload of the suite with whole trials, in order: the figures that
/// the suite names, or else its rate; with `latency_metrics` also its median, 99th percentile and largest
/// latency.
pub fn derive(trials: &[Trial], suite: &Suite) -> Vec<Metric> {
    by_workload(trials, suite)
        .into_iter()
        .flat_map(|derived| derived.metrics)
        .collect()
}

/// True if every figure of a measured workload reaches the minimum that the old tool requires.
pub fn is_good(trials: &[Trial], suite: &Suite) -> bool {
    let metrics = derive(trials, suite);
    let was_run = |figure: &Figure| trials.iter().any(|t| t.workload.id == figure.workload);
    let reaches = |figure: &Figure, least: f64| {
        let metric = metrics.iter().find(|metric| metric.id == figure.id);
        let printed = metric.and_then(|metric| metric.printed.as_ref());
        printed.is_some_and(|printed| printed.value >= least)
    };
    suite
        .figures
        .iter()
        .filter(|figure| was_run(figure))
        .all(|figure| figure.least.is_none_or(|least| reaches(figure, least)))
}

/// Trials of one workload with their metrics.
pub(crate) struct Derived<'a> {
    pub(crate) workload: &'a Workload,
    /// The whole trials.
    pub(crate) trials: Vec<&'a Trial>,
    /// The rate first.
    pub(crate) metrics: Vec<Metric>,
}

/// Returns the result of [`derive`] by workload; omits workloads without a whole trial.
pub(crate) fn by_workload<'a>(trials: &'a [Trial], suite: &'a Suite) -> Vec<Derived<'a>> {
    let measured = suite.workloads.iter().filter(|w| w.rounds.every_ns == 0);
    let derived = measured.filter_map(|workload| {
        let whole = counted(trials, workload, suite);
        let stopped_by = stop_reason(&whole, trials, workload, suite);
        let quantity = quantity_of(workload);
        let parts = suite.passes.is_none().then(|| {
            let alike = alike(trials, workload, suite);
            rate_parts(workload, &whole, &alike, quantity, level(suite))
        });
        let parts = parts.flatten();
        let rate = rate_metric(workload.id.clone(), quantity, &whole, stopped_by)?;
        let has_rounds = suite.passes.is_none() && rate.clusters_count.is_none();
        let round_rates = has_rounds.then(|| round_rates(&whole, quantity)).flatten();
        let rate = Metric {
            parts,
            round_rates,
            ..rate
        };
        let mut metrics = figure_metrics(workload, &whole, stopped_by, suite);
        if suite.figures.is_empty() {
            metrics.push(rate);
        }
        if workload.latency_metrics {
            metrics.extend(
                latency_metrics(workload, &whole, stopped_by)
                    .into_iter()
                    .flatten(),
            );
        }
        Some(Derived {
            workload,
            trials: whole,
            metrics,
        })
    });
    derived.collect()
}

/// Returns the trials that count for figures.
fn counted<'a>(trials: &'a [Trial], workload: &Workload, suite: &Suite) -> Vec<&'a Trial> {
    let mut whole: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.workload.id == workload.id && is_countable(trial))
        .collect();
    if matches!(suite.passes, Some(Passes::UntilGood(_))) {
        let last = trials.iter().map(|trial| trial.round_index).max();
        whole.retain(|trial| Some(trial.round_index) == last);
    }
    whole
}

/// Returns the level of a body's range: that of all intervals if looks may end the rounds, otherwise 95 %.
fn level(suite: &Suite) -> f64 {
    if suite.goal_percent > 0.0 {
        LEVEL
    } else {
        SHOWN_LEVEL
    }
}

/// Returns the whole trials of another workload that runs once, with the same operations in the same span.
/// For finding stalls they are equivalent to the workload's own.
fn alike<'a>(trials: &'a [Trial], workload: &Workload, suite: &Suite) -> Vec<&'a Trial> {
    let same = |other: &&Workload| {
        let pattern = |w: &Workload| {
            let place = (w.order, w.block_bytes, w.span_bytes, w.manner);
            (place, w.read_share_percent, w.queue_depth, w.flush)
        };
        other.rounds.once && other.id != workload.id && pattern(other) == pattern(workload)
    };
    let others = suite.workloads.iter().filter(same);
    others
        .flat_map(|other| counted(trials, other, suite))
        .collect()
}

/// Returns the reason why no further rounds were added.
fn stop_reason(
    whole: &[&Trial],
    trials: &[Trial],
    workload: &Workload,
    suite: &Suite,
) -> StopReason {
    let of_workload = |trial: &Trial| trial.workload.id == workload.id;
    let passes = suite.passes.map(|passes| match passes {
        Passes::Count(count) => count,
        Passes::UntilGood(_) => 1,
    });
    let most = passes.or(suite.looks.last().copied());
    let is_interrupted = |trial: &Trial| trial.stopped_by == StopReason::Interrupted;
    if whole.iter().any(|trial| is_interrupted(trial)) {
        StopReason::Interrupted
    } else if passes.is_none() && is_precise(whole, suite.goal_percent / 100.0) {
        StopReason::Goal
    } else if most.is_some_and(|most| whole.len() >= most as usize) {
        StopReason::Rounds
    } else if trials
        .iter()
        .any(|t| of_workload(t) && t.stopped_by == StopReason::Error)
    {
        StopReason::Error
    } else if trials.iter().any(is_interrupted) {
        // An interrupt of any workload ended the run, and with it the rounds of all.
        StopReason::Interrupted
    } else {
        StopReason::Budget
    }
}

/// Returns the quantity of a workload's rate.
fn quantity_of(workload: &Workload) -> Quantity {
    if workload.block_bytes >= BYTE_RATE_BLOCK_BYTES {
        Quantity::ByteRate
    } else {
        Quantity::OperationRate
    }
}

/// Returns median, 99th percentile and largest latency. `None` if a trial's histogram is malformed, because
/// the other trials would not match those of the rate.
fn latency_metrics(
    workload: &Workload,
    whole: &[&Trial],
    stopped_by: StopReason,
) -> Option<Vec<Metric>> {
    let largest = merged_histogram(whole)?.max_ns()? as f64;
    let metric = |figure: LatencyFigure, value| {
        bare_metric(
            figure.of(&workload.id),
            Quantity::Span,
            value,
            whole,
            stopped_by,
        )
    };
    let mut metrics = Vec::new();
    for (figure, q) in [(LatencyFigure::P50, 0.5), (LatencyFigure::P99, 0.99)] {
        let estimate = percentile_interval(whole, q)?;
        metrics.push(Metric {
            low: estimate.ends_ns.map(|ends| ends.0),
            high: estimate.ends_ns.map(|ends| ends.1),
            interval_kind: match estimate.ends_ns {
                Some(_) => IntervalKind::BetweenRounds,
                None => IntervalKind::None,
            },
            ..metric(figure, estimate.value_ns)
        });
    }
    metrics.push(metric(LatencyFigure::Max, largest));
    Some(metrics)
}
