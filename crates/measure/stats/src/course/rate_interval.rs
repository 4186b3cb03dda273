//! Rates with their intervals, and the rule for sufficient precision.

use cardmark_core::{IntervalKind, Trial};

use crate::course::clusters::{Cluster, clusters};
use crate::course::within_trials;
use crate::estimate::distribution::student_t;
use crate::estimate::interval::{
    Interval, Portion, RateEstimate, rate_point, ratio, total_span, whole,
};
use crate::estimate::{LEAST_TRIALS, LEVEL};

/// Returns the rate over the whole trials with its interval at [`LEVEL`]. With three or more trials the
/// interval comes from the differences between them, where short trials are merged; with one or two, from
/// their slices. `None` if neither is possible.
pub fn rate_interval(trials: &[&Trial]) -> Option<RateEstimate> {
    let trials = whole(trials);
    let clusters = clusters(&trials, None);
    if clusters.len() < LEAST_TRIALS {
        return within_trials::rate_interval(&trials);
    }
    let portions = |amount: fn(&Cluster) -> u64| -> Vec<Portion> {
        let portion = |cluster: &Cluster| Portion::new(amount(cluster), cluster.span_ns);
        clusters.iter().map(portion).collect()
    };
    Some(RateEstimate {
        bytes_per_s: between(&portions(|cluster| cluster.bytes), LEVEL),
        operations_per_s: between(&portions(|cluster| cluster.operations), LEVEL),
        kind: IntervalKind::BetweenRounds,
    })
}

/// The ratio estimator and the linearised variance between its parts (Cochran, *Sampling
/// Techniques*, 3rd edition 1977, §6.4; parts are clusters): with `d = amount − R·span`,
/// var(R) = n/(n−1) · Σd² / (Σspan)².
pub(crate) fn between(portions: &[Portion], level: f64) -> Interval {
    let rate = ratio(portions);
    let count = portions.len() as f64;
    let squares: f64 = portions
        .iter()
        .map(|portion| portion.amount - rate * portion.span_s)
        .map(|difference| difference * difference)
        .sum();
    let error = (squares * count / (count - 1.0)).sqrt() / total_span(portions);
    let degrees = u32::try_from(portions.len() - 1).unwrap_or(u32::MAX);
    Interval::around(rate, student_t(level, degrees) * error)
}

/// True if the rate is as precise as the goal requires: three or more whole trials and a half-width of at
/// most `goal_ratio` of the rate. Never with a goal of 0.
pub fn is_precise(trials: &[&Trial], goal_ratio: f64) -> bool {
    let estimate = rate_interval(trials).filter(|_| goal_ratio > 0.0);
    estimate.is_some_and(|estimate| {
        estimate.kind == IntervalKind::BetweenRounds
            && estimate.bytes_per_s.half_width_ratio() <= goal_ratio
    })
}

/// Ratio below which [`is_equal`] treats rates as equal.
pub(crate) const EQUAL_RATIO: f64 = 1.05;

/// True if two workloads have the same rate within 5 %; false if one has no whole trials.
pub fn is_equal(one: &[&Trial], other: &[&Trial]) -> bool {
    let rates = rate_point(one).zip(rate_point(other));
    rates.is_some_and(|(one, other)| {
        let ratio = one.0 / other.0;
        (1.0 / EQUAL_RATIO..=EQUAL_RATIO).contains(&ratio)
    })
}
