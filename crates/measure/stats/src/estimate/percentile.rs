//! Percentiles of latency with their intervals.

use std::f64::consts::FRAC_PI_2;

use cardmark_core::Trial;

use crate::estimate::distribution::student_t;
use crate::estimate::histogram::Histogram;
use crate::estimate::stored::Stored;
use crate::estimate::{LEAST_TRIALS, LEVEL};

/// Minimum number of operations beyond a percentile for an interval around it: 1,500 operations for p99.
pub const LEAST_BEYOND: f64 = 15.0;

/// A percentile of latency, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileEstimate {
    /// Value from all operations of all whole trials.
    pub value_ns: f64,
    /// Lower and upper end; absent with too few trials or operations.
    pub ends_ns: Option<(f64, f64)>,
}

/// Returns the latencies of all whole trials together. `None` without trials, or with a malformed histogram.
pub fn merged_histogram(trials: &[&Trial]) -> Option<Histogram> {
    Some(merge(&histograms(trials)?))
}

fn histograms<'a>(trials: &[&'a Trial]) -> Option<Vec<Stored<'a>>> {
    let whole = trials.iter().filter(|trial| trial.is_whole());
    let all: Option<Vec<_>> = whole.map(|trial| Stored::of(&trial.latency)).collect();
    all.filter(|all| all.iter().any(|histogram| !histogram.is_empty()))
}

fn merge(histograms: &[Stored<'_>]) -> Histogram {
    let mut merged = Histogram::new();
    for &histogram in histograms {
        merged.add(histogram);
    }
    merged
}

/// Returns the percentile `q` (0–1) over the whole trials, with its interval at [`LEVEL`] by Woodruff's
/// method (*Confidence Intervals for Medians and Other Position Measures*, Journal of the American
/// Statistical Association 47, 1952). The share of operations at or below the point has a variance between
/// trials (operations of one trial are similar, so they do not count as independent). The ends of the share's
/// interval, looked up in the merged latencies, are those of the percentile.
///
/// The share's interval uses the angular scale, arcsine of the square root (Kott and Liu, *One-Sided Coverage
/// Intervals for a Proportion*, International Statistical Review 77, 2009). On this scale it is nearly
/// symmetric, even for p99, and cannot leave 0–1.
pub fn percentile_interval(trials: &[&Trial], q: f64) -> Option<PercentileEstimate> {
    let histograms = histograms(trials)?;
    let merged = merge(&histograms);
    let value_ns = merged.quantile(q)?;
    let beyond = q.min(1.0 - q) * merged.count() as f64;
    // In floating point, the product for p99 and 1,500 operations is not exactly 15.
    let enough = histograms.len() >= LEAST_TRIALS && beyond > LEAST_BEYOND - 1e-6;
    let ends_ns = enough
        .then(|| ends(&histograms, &merged, q, value_ns))
        .flatten();
    Some(PercentileEstimate { value_ns, ends_ns })
}

fn ends(
    histograms: &[Stored<'_>],
    merged: &Histogram,
    q: f64,
    value_ns: f64,
) -> Option<(f64, f64)> {
    let trials = histograms.len() as f64;
    let total = merged.count() as f64;
    // As with rates, the share is a ratio of two totals over trials.
    let share = merged.count_at_or_below(value_ns) / total;
    let squares: f64 = histograms
        .iter()
        .map(|one| one.count_at_or_below(value_ns) - share * one.count() as f64)
        .map(|difference| difference * difference)
        .sum();
    let error = (squares * trials / (trials - 1.0)).sqrt() / total;
    let degrees = u32::try_from(histograms.len() - 1).unwrap_or(u32::MAX);
    // d/dp asin √p = 1 / (2·√(p·(1 − p))).
    let half_width = student_t(LEVEL, degrees) * error / (2.0 * (q * (1.0 - q)).sqrt());
    let angle = libm::asin(q.sqrt());
    let share_at = |angle: f64| {
        let sine = libm::sin(angle.clamp(0.0, FRAC_PI_2));
        sine * sine
    };
    let low = merged.quantile(share_at(angle - half_width))?;
    let high = merged.quantile(share_at(angle + half_width).min(1.0))?;
    Some((low.min(value_ns), high.max(value_ns)))
}
