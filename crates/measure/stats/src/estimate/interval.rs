//! Intervals, and rates as ratios of totals.

use cardmark_core::{IntervalKind, SECOND_NS, Trial};

use crate::estimate::countable::is_countable;

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The point.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Creates the interval around `value`; the lower end of a rate is never below 0.
    pub fn around(value: f64, half_width: f64) -> Self {
        Self {
            value,
            low: (value - half_width).max(0.0),
            high: value + half_width,
        }
    }

    /// Half of the width relative to the value; infinite around 0.
    pub fn half_width_ratio(&self) -> f64 {
        if self.value > 0.0 {
            0.5 * (self.high - self.low) / self.value
        } else {
            f64::INFINITY
        }
    }
}

/// The rate of a workload over its whole trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateEstimate {
    /// Bytes per second.
    pub bytes_per_s: Interval,
    /// Operations per second.
    pub operations_per_s: Interval,
    /// Source of the interval.
    pub kind: IntervalKind,
}

/// An amount of work and its duration in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portion {
    pub(crate) amount: f64,
    pub(crate) span_s: f64,
}

impl Portion {
    pub(crate) fn new(amount: u64, span_ns: u64) -> Self {
        Self {
            amount: amount as f64,
            span_s: span_ns as f64 / SECOND_NS as f64,
        }
    }
}

/// Total amount by total span; not a mean of rates, which would give short portions too much weight.
pub(crate) fn ratio(portions: &[Portion]) -> f64 {
    let amount: f64 = portions.iter().map(|portion| portion.amount).sum();
    amount / total_span(portions)
}

pub(crate) fn total_span(portions: &[Portion]) -> f64 {
    portions.iter().map(|portion| portion.span_s).sum()
}

pub(crate) fn bytes_of(trial: &Trial) -> Portion {
    Portion::new(trial.bytes(), trial.span_ns)
}

pub(crate) fn operations_of(trial: &Trial) -> Portion {
    Portion::new(trial.operations_count(), trial.span_ns)
}

pub(crate) fn whole<'a>(trials: &[&'a Trial]) -> Vec<&'a Trial> {
    trials
        .iter()
        .copied()
        .filter(|trial| is_countable(trial))
        .collect()
}

/// Returns bytes and operations per second over the trials that count, without interval. `None` without trials.
pub fn rate_point(trials: &[&Trial]) -> Option<(f64, f64)> {
    let trials = whole(trials);
    if trials.is_empty() {
        return None;
    }
    let bytes: Vec<_> = trials.iter().map(|trial| bytes_of(trial)).collect();
    let operations: Vec<_> = trials.iter().map(|trial| operations_of(trial)).collect();
    Some((ratio(&bytes), ratio(&operations)))
}
