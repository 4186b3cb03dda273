//! Comparison of the stall rates of two sides.
//!
//! Two counts in two observed times: given their sum, the count of one side is binomial if both have the same
//! rate (Przyborowski and Wilenski 1940). Stalls of a card come in bursts, and more in one run than in
//! another, so this test alone finds differences too easily. A second test must agree, whose variance is that
//! between the runs (quasi-Poisson, deviance against Student's t).

use serde::Serialize;

use crate::estimate::distribution::two_sided;
use crate::estimate::outcome::{Conclusion, is_found};

/// Stalls of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallRun {
    /// Stalls of 100 ms and longer.
    pub seen_count: u64,
    /// Observed time, nanoseconds.
    pub observed_ns: u64,
}

/// Stalls of one workload on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallPair {
    /// The workload's metric.
    pub metric: String,
    /// Runs of the reference side.
    pub base: Vec<StallRun>,
    /// Runs of the side that is compared with the base.
    pub other: Vec<StallRun>,
}

/// Stall rates of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StallDifference {
    /// The workload's metric.
    pub metric: String,
    /// Stalls per minute of the base.
    pub base_per_minute: f64,
    /// Stalls per minute of the other side.
    pub other_per_minute: f64,
    /// Probability of such a difference, or a larger one, if there is none; absent if a side has one run.
    pub p_value: Option<f64>,
    /// `p_value` corrected together with the metrics (Holm).
    pub adjusted_p_value: Option<f64>,
    /// `Higher`: more stalls than the base; `Lower`: fewer. Never `Same`.
    pub outcome: Conclusion,
}

impl StallDifference {
    /// Sets the outcome from the corrected probability.
    pub(crate) fn conclude(&mut self) {
        let is_found = self.adjusted_p_value.is_some_and(is_found);
        let is_higher = self.other_per_minute > self.base_per_minute;
        self.outcome = Conclusion::of(is_found, is_higher, false);
    }
}

/// Returns count and observed time of a side.
fn total(runs: &[StallRun]) -> (f64, f64) {
    let count: u64 = runs.iter().map(|run| run.seen_count).sum();
    let time: u64 = runs.iter().map(|run| run.observed_ns).sum();
    (count as f64, time as f64)
}

/// Tests one workload, without correction.
pub(crate) fn contrast_of_stalls(pair: &StallPair) -> StallDifference {
    const MINUTE_NS: f64 = 60e9;
    let [base, other] = [&pair.base, &pair.other].map(|runs| total(runs));
    let per_minute = |(count, time): (f64, f64)| {
        if time > 0.0 {
            MINUTE_NS * count / time
        } else {
            0.0
        }
    };
    let p_by_chance = || match base.0 + other.0 {
        all if all > MOST_EXACT => 0.0,
        _ => conditional(base, other),
    };
    let is_decidable = pair.base.len().min(pair.other.len()) >= 2 && base.1 > 0.0 && other.1 > 0.0;
    let p_value = is_decidable.then(|| p_by_chance().max(between_runs(pair, base, other)));
    StallDifference {
        metric: pair.metric.clone(),
        base_per_minute: per_minute(base),
        other_per_minute: per_minute(other),
        p_value,
        adjusted_p_value: None,
        outcome: Conclusion::Undecided,
    }
}

/// Maximum number of stalls for the exact probability, which is a sum over all counts; above it only the
/// variance between runs is used.
const MOST_EXACT: f64 = 1e6;

/// Two-sided exact binomial probability: twice the smaller tail, at most 1.
fn conditional(base: (f64, f64), other: (f64, f64)) -> f64 {
    let all = base.0 + other.0;
    let share = other.1 / (base.1 + other.1);
    let log_term = |k: f64| {
        libm::lgamma(all + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(all - k + 1.0)
            + k * libm::log(share)
            + (all - k) * libm::log(1.0 - share)
    };
    let sum =
        |from: u64, to: u64| -> f64 { (from..=to).map(|k| libm::exp(log_term(k as f64))).sum() };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts"
    )]
    let (seen, all) = (other.0 as u64, all as u64);
    (2.0 * sum(0, seen).min(sum(seen, all))).min(1.0)
}

/// Two-sided probability with the variance between runs, if that is larger than by chance.
fn between_runs(pair: &StallPair, base: (f64, f64), other: (f64, f64)) -> f64 {
    let all = base.0 + other.0;
    if all <= 0.0 {
        return 1.0;
    }
    let of_side = |count: f64, expected: f64| {
        if count > 0.0 {
            count * libm::log(count / expected)
        } else {
            0.0
        }
    };
    let share = other.1 / (base.1 + other.1);
    let deviance = 2.0 * (of_side(base.0, all * (1.0 - share)) + of_side(other.0, all * share));
    let degrees = pair.base.len() + pair.other.len() - 2;
    let scale = (dispersion(pair, base, other) / degrees as f64).max(1.0);
    let degrees = u32::try_from(degrees).unwrap_or(u32::MAX);
    two_sided(libm::sqrt(deviance.max(0.0) / scale), degrees)
}

/// Pearson's chi-square of the runs around their side's rate.
fn dispersion(pair: &StallPair, base: (f64, f64), other: (f64, f64)) -> f64 {
    let of_side = |runs: &[StallRun], (count, time): (f64, f64)| -> f64 {
        let term = |run: &StallRun| {
            let expected = count * run.observed_ns as f64 / time;
            let off = run.seen_count as f64 - expected;
            if expected > 0.0 {
                off * off / expected
            } else {
                0.0
            }
        };
        runs.iter().map(term).sum()
    };
    of_side(&pair.base, base) + of_side(&pair.other, other)
}
