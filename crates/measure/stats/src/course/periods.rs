//! Periodic rates, found by their autocorrelation.

use cardmark_core::{SECOND_NS, Slice};

use crate::course::slices::sum_bytes;

/// Minimum standard deviation of the rate over bins of a second, relative to its mean.
const LEAST_DEVIATION: f64 = 0.10;
/// Minimum autocorrelation at a distance of one period, and of two.
const LEAST_FIRST: f64 = 0.5;
const LEAST_SECOND: f64 = 0.4;
/// Minimum number of periods.
const LEAST_PERIODS: usize = 3;
/// Maximum number of bins, equal to the maximum number of slices of a trial.
const MOST_BINS: usize = 4096;

/// Returns the period of the rate in slices; `None` if no period occurs three times.
///
/// The slices are merged into bins of a second. The period is the lag of the first peak of the
/// autocorrelation after its first zero, refined by the peaks at its multiples. The function does not
/// allocate.
pub(crate) fn period_slices(slices: &[Slice], slice_span_ns: u64) -> Option<f64> {
    let width = usize::try_from(SECOND_NS.checked_div(slice_span_ns)?)
        .ok()?
        .max(1);
    let mut bins = [0.0; MOST_BINS];
    let count = (slices.len() / width).min(MOST_BINS);
    // Bins are aligned with the end; the first slices may be left over.
    let first = slices.len() - count * width;
    for (bin, part) in bins.iter_mut().zip(slices[first..].chunks_exact(width)) {
        *bin = sum_bytes(part);
    }
    let bins = &mut bins[..count];
    let mean = bins.iter().sum::<f64>() / count.max(1) as f64;
    for bin in bins.iter_mut() {
        *bin -= mean;
    }
    let variance = bins.iter().map(|bin| bin * bin).sum::<f64>() / count.max(1) as f64;
    if mean <= 0.0 || variance.sqrt() < LEAST_DEVIATION * mean {
        return None;
    }
    let correlation = |lag: usize| correlation(bins, variance, lag);
    let most = count / LEAST_PERIODS;
    let zero = (1..=most).find(|&lag| correlation(lag) <= 0.0)?;
    let period = first_peak(zero, most, correlation)?;
    let near_second = peak_near(2 * period, period, count, correlation);
    if correlation(near_second) < LEAST_SECOND {
        return None;
    }
    Some(refined(period, count, correlation) * width as f64)
}

/// Returns the autocorrelation at a lag, normalized by the number of pairs of this lag.
fn correlation(bins: &[f64], variance: f64, lag: usize) -> f64 {
    let pairs = bins.len().saturating_sub(lag);
    let sum: f64 = bins
        .iter()
        .zip(&bins[lag.min(bins.len())..])
        .map(|(a, b)| a * b)
        .sum();
    sum / pairs.max(1) as f64 / variance
}

/// Returns the highest lag of the first stretch with enough correlation.
fn first_peak(zero: usize, most: usize, correlation: impl Fn(usize) -> f64) -> Option<usize> {
    let begin = (zero..=most).find(|&lag| correlation(lag) >= LEAST_FIRST)?;
    let (mut best, mut highest) = (begin, correlation(begin));
    for lag in begin + 1..=most {
        let here = correlation(lag);
        if here < 0.0 {
            break;
        }
        if here > highest {
            (best, highest) = (lag, here);
        }
    }
    Some(best)
}

/// Returns the most correlated lag within a quarter of a period of this one.
fn peak_near(lag: usize, period: usize, count: usize, correlation: impl Fn(usize) -> f64) -> usize {
    let reach = (period / 4).max(1);
    let near = lag.saturating_sub(reach)..=(lag + reach).min(count.saturating_sub(1));
    near.max_by(|&a, &b| correlation(a).total_cmp(&correlation(b)))
        .unwrap_or(lag)
}

/// Returns the period refined by the last multiple that half of the bins contain.
fn refined(period: usize, count: usize, correlation: impl Fn(usize) -> f64) -> f64 {
    let (mut lag, mut multiple) = (period, 1);
    loop {
        let exact = lag as f64 / multiple as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a lag within the bins"
        )]
        let next = (exact * (multiple + 1) as f64).round() as usize;
        if next > count / 2 {
            return exact;
        }
        let reach = period.min(8);
        (lag, multiple) = (peak_near(next, reach, count, &correlation), multiple + 1);
    }
}
