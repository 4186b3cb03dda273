//! Rates with their intervals, and the rule that says when a rate is known well enough.

use cardmark_core::{IntervalKind, Trial};

use crate::interval::{
    Interval, Portion, RateEstimate, bytes_of, operations_of, ratio, total_span, whole,
};
use crate::{LEAST_TRIALS, LEVEL, student_t, within};

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
