//! Rates with their intervals, and the rule that says when a rate is known well enough.

use cardmark_core::{IntervalKind, SECOND_NS, Trial};

use crate::{LEAST_TRIALS, LEVEL, student_t, within};

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
    /// The interval around `value`; the lower end of a rate is never below 0.
    #[must_use]
    pub fn around(value: f64, half_width: f64) -> Self {
        Self {
            value,
            low: (value - half_width).max(0.0),
            high: value + half_width,
        }
    }

    /// Half of the width, relative to the point; infinite around 0.
    #[must_use]
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
    /// Where the interval comes from.
    pub kind: IntervalKind,
}

/// An amount of work and the span it took, seconds.
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

/// Total amount by total span: never a mean of rates, which would favour short portions.
pub(crate) fn ratio(portions: &[Portion]) -> f64 {
    let amount: f64 = portions.iter().map(|portion| portion.amount).sum();
    amount / total_span(portions)
}

pub(crate) fn total_span(portions: &[Portion]) -> f64 {
    portions.iter().map(|portion| portion.span_s).sum()
}

fn bytes_of(trial: &Trial) -> Portion {
    Portion::new(trial.bytes(), trial.span_ns)
}

fn operations_of(trial: &Trial) -> Portion {
    Portion::new(trial.operations_count(), trial.span_ns)
}

fn whole<'a>(trials: &[&'a Trial]) -> Vec<&'a Trial> {
    trials
        .iter()
        .copied()
        .filter(|trial| trial.is_whole())
        .collect()
}

/// Bytes and operations per second over the whole trials, without interval. `None` without any.
#[must_use]
pub fn rate_point(trials: &[&Trial]) -> Option<(f64, f64)> {
    let trials = whole(trials);
    if trials.is_empty() {
        return None;
    }
    let bytes: Vec<_> = trials.iter().map(|trial| bytes_of(trial)).collect();
    let operations: Vec<_> = trials.iter().map(|trial| operations_of(trial)).collect();
    Some((ratio(&bytes), ratio(&operations)))
}

/// The rate over the whole trials with its interval at [`LEVEL`]: from the differences between
/// trials with three or more of them, else from the slices of the one or two there are. `None`
/// when neither is possible.
#[must_use]
pub fn rate_interval(trials: &[&Trial]) -> Option<RateEstimate> {
    let trials = whole(trials);
    if trials.len() < LEAST_TRIALS {
        return within::rate_interval(&trials);
    }
    let bytes: Vec<_> = trials.iter().map(|trial| bytes_of(trial)).collect();
    let operations: Vec<_> = trials.iter().map(|trial| operations_of(trial)).collect();
    Some(RateEstimate {
        bytes_per_s: between(&bytes),
        operations_per_s: between(&operations),
        kind: IntervalKind::BetweenRounds,
    })
}

/// The ratio estimator and the linearised variance between its parts (Cochran, *Sampling
/// Techniques*, 3rd edition 1977, §6.4; parts are clusters): with `d = amount − R·span`,
/// var(R) = n/(n−1) · Σd² / (Σspan)².
fn between(portions: &[Portion]) -> Interval {
    let rate = ratio(portions);
    let count = portions.len() as f64;
    let squares: f64 = portions
        .iter()
        .map(|portion| portion.amount - rate * portion.span_s)
        .map(|difference| difference * difference)
        .sum();
    let error = (squares * count / (count - 1.0)).sqrt() / total_span(portions);
    let degrees = u32::try_from(portions.len() - 1).unwrap_or(u32::MAX);
    Interval::around(rate, student_t(LEVEL, degrees) * error)
}

/// Whether the rate is known as well as the goal asks: three or more whole trials and a half-width
/// of at most `goal_ratio` of the point.
#[must_use]
pub fn is_precise(trials: &[&Trial], goal_ratio: f64) -> bool {
    rate_interval(trials).is_some_and(|estimate| {
        estimate.kind == IntervalKind::BetweenRounds
            && estimate.bytes_per_s.half_width_ratio() <= goal_ratio
    })
}
