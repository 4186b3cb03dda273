//! Interval from the slices of one or two trials, if there are too few trials to compare.

use cardmark_core::{IntervalKind, Slice, Trial};

use crate::course::slices::{batches, full_slices, sum_bytes};
use crate::estimate::LEVEL;
use crate::estimate::distribution::student_t;
use crate::estimate::interval::{Interval, Portion, RateEstimate, rate_point, ratio, total_span};

/// Number of batches, up to one less than twice this number: enough for the degrees of freedom, and each long
/// enough to level out slices with few operations.
pub(crate) const BATCHES: usize = 20;

/// Minimum number of operations: with fewer than five per batch, their distribution over batches is mostly
/// chance.
pub(crate) const LEAST_OPERATIONS: u64 = 5 * BATCHES as u64;

/// Returns the rate with an interval from batch means. It shows how steady the trial was, not how the next
/// trial will be; do not use it for comparisons.
pub(crate) fn rate_interval(trials: &[&Trial]) -> Option<RateEstimate> {
    let (bytes, operations) = rate_point(trials)?;
    let operations_count: u64 = trials.iter().map(|trial| trial.operations_count()).sum();
    if operations_count < LEAST_OPERATIONS {
        return None;
    }
    let bytes_width = half_width_ratio(&batches_of(trials, |slice| slice.0), 0.0)?;
    let operations_width = half_width_ratio(&batches_of(trials, |slice| slice.1), 0.0)?;
    Some(RateEstimate {
        bytes_per_s: Interval::around(bytes, bytes * bytes_width),
        operations_per_s: Interval::around(operations, operations * operations_width),
        kind: IntervalKind::WithinTrial,
    })
}

/// Minimum duration of a batch of slices of a long series, nanoseconds: it levels out activities of some
/// tenths of a second.
pub(crate) const LEAST_BATCH_NS: u64 = 1_000_000_000;

/// Half-width of the interval of the rate over slices of this span, relative to the rate; `None` if they are
/// too few or too short.
pub(crate) fn width_of_slices(slices: &[Slice], slice_span_ns: u64) -> Option<f64> {
    let operations_count: u64 = slices.iter().map(|slice| slice.1).sum();
    if operations_count < LEAST_OPERATIONS || slice_span_ns == 0 {
        return None;
    }
    let least = usize::try_from(LEAST_BATCH_NS.div_ceil(slice_span_ns)).ok()?;
    let size = (slices.len() / BATCHES).max(least);
    let batches: Vec<Portion> = batches(slices, size, slice_span_ns, |slice| slice.0).collect();
    half_width_ratio(&batches, sum_bytes(slices) / operations_count as f64)
}

/// Returns the batches of all trials in order.
fn batches_of(trials: &[&Trial], amount: impl Fn(&Slice) -> u64 + Copy) -> Vec<Portion> {
    let total: usize = trials.iter().map(|trial| full_slices(trial).len()).sum();
    let size = (total / BATCHES).max(1);
    let each = |trial: &&'_ Trial| {
        batches(full_slices(trial), size, trial.slice_span_ns, amount).collect::<Vec<_>>()
    };
    trials.iter().flat_map(each).collect()
}

/// Half-width of the interval of the ratio, relative to it.
///
/// Neighbouring batches are similar if a card does its housekeeping in bursts, so the variance of the mean is
/// (γ₀ + 2·Σγₖ)/m with the autocovariances γ of the batches' residuals, summed while the sums of neighbouring
/// pairs stay positive (Geyer, *Practical Markov Chain Monte Carlo*, Statistical Science 7, 1992, §3.3) and
/// never less than for independent batches. The degrees of freedom shrink by the same factor.
///
/// A batch ends at a uniformly distributed point within an operation of the size `cut`: this adds cut²/6 to
/// the variance of a batch and subtracts cut²/12 from the covariance of neighbours, but does not change their
/// sum. It is subtracted again, up to half of the variance. 0: operations are far smaller.
fn half_width_ratio(batches: &[Portion], cut: f64) -> Option<f64> {
    if batches.len() < BATCHES {
        return None;
    }
    let rate = ratio(batches);
    let residuals: Vec<f64> = batches.iter().map(|b| b.amount - rate * b.span_s).collect();
    let count = residuals.len() as f64;
    let products = |lag: usize| -> f64 {
        residuals
            .iter()
            .zip(residuals.iter().skip(lag))
            .map(|(a, b)| a * b)
            .sum::<f64>()
            / count
    };
    let from_cuts = (cut * cut / 6.0).min(0.5 * products(0));
    let covariance = |lag: usize| match lag {
        0 => products(0) - from_cuts,
        1 => products(1) + 0.5 * from_cuts,
        _ => products(lag),
    };
    let alone = covariance(0);
    if alone <= 0.0 {
        return (rate > 0.0).then_some(0.0);
    }
    let mut sum = -alone;
    for pair in 0..residuals.len() / 4 {
        let both = covariance(2 * pair) + covariance(2 * pair + 1);
        if both <= 0.0 {
            break;
        }
        sum += 2.0 * both;
    }
    let inflation = (sum / alone).max(1.0);
    let independent = count / inflation;
    let error = count * (alone / (independent - 1.0).max(1.0)).sqrt();
    Some(student_t(LEVEL, degrees(independent)) * error / (total_span(batches) * rate))
}

/// Degrees of freedom of `independent` batches, at least one.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and twice BATCHES"
)]
fn degrees(independent: f64) -> u32 {
    (independent - 1.0).clamp(1.0, 1_000.0) as u32
}
