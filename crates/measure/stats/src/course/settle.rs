//! Tests if one figure describes a series of trials, or the rate rose, fell or jumped during it.

use cardmark_core::Trial;

use crate::estimate::distribution::student_t;
use crate::estimate::interval::rate_point;

/// Minimum number of whole trials for a test: with fewer, chance looks like a trend too often.
pub const LEAST_SETTLE_TRIALS: usize = 6;

/// Minimum change over a run for a finding.
pub const SETTLE_CHANGE_RATIO: f64 = 0.05;

/// Shape of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrendShape {
    /// Steady.
    Slope,
    /// Sudden, between the trial before this index, in order of time, and the trial at it.
    Step(usize),
}

/// The change of a rate over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Change from the first to the last trial, relative to the mean: −0.5 for a rate that fell by
    /// half of its mean.
    pub ratio_per_run: f64,
    /// Shape that describes the series better.
    pub shape: TrendShape,
    /// True if the change is significant and large enough to matter.
    pub significant: bool,
}

/// Level of the two-sided test; the tested shapes (a slope and each possible step) share the rest by
/// Bonferroni's rule. In simulation the false alarm rate is at most 0.4 %.
pub(crate) const TEST_LEVEL: f64 = 0.995;
/// Assumed correlation between neighbouring trials. A card that is busy with housekeeping stays so for several
/// trials, so even a series without a trend wanders. The statistic is lowered as for a first-order autoregressive
/// series with this correlation, whose means and slopes have a variance larger by (1 + ρ)/(1 − ρ). It is not
/// estimated, because 6–24 residuals of a fit are too few.
pub(crate) const ALLOWED_CORRELATION: f64 = 0.5;
/// Factor by which the correlation increases a variance.
pub(crate) const fn inflation() -> f64 {
    (1.0 + ALLOWED_CORRELATION) / (1.0 - ALLOWED_CORRELATION)
}
/// Minimum number of trials on each side of a step.
pub(crate) const LEAST_SIDE: usize = 3;

/// Returns the change of the rate over the whole trials, in order of their start. `None` with fewer than
/// [`LEAST_SETTLE_TRIALS`], or if all started at the same time.
pub fn trend(trials: &[&Trial]) -> Option<Trend> {
    let mut points: Vec<(u64, f64)> = trials
        .iter()
        .filter_map(|trial| Some((trial.started_ns, rate_point(&[trial])?.0)))
        .collect();
    if points.len() < LEAST_SETTLE_TRIALS {
        return None;
    }
    points.sort_by_key(|point| point.0);
    let rates: Vec<f64> = points.iter().map(|point| point.1).collect();
    let starts: Vec<f64> = points.iter().map(|point| point.0 as f64).collect();
    let mut best = fit(&starts, &rates, TrendShape::Slope)?;
    for first in LEAST_SIDE..=rates.len() - LEAST_SIDE {
        let step: Vec<f64> = (0..rates.len())
            .map(|i| f64::from(u8::from(i >= first)))
            .collect();
        if let Some(fitted) = fit(&step, &rates, TrendShape::Step(first))
            && fitted.statistic > best.statistic
        {
            best = fitted;
        }
    }
    let tests = rates.len() - 2 * LEAST_SIDE + 2;
    let level = 1.0 - (1.0 - TEST_LEVEL) / tests as f64;
    let degrees = u32::try_from(rates.len() - 2).unwrap_or(u32::MAX);
    Some(Trend {
        ratio_per_run: best.change,
        shape: best.shape,
        significant: best.statistic > student_t(level, degrees)
            && best.change.abs() > SETTLE_CHANGE_RATIO,
    })
}

struct Fit {
    shape: TrendShape,
    /// Change from the first to the last trial, relative to the mean rate.
    change: f64,
    /// |t| of the slope, lowered for correlation.
    statistic: f64,
}

/// Least squares of the rates on `x`: time for a slope, 0 and 1 for a step.
fn fit(x: &[f64], rates: &[f64], shape: TrendShape) -> Option<Fit> {
    let count = x.len() as f64;
    let mean_x = x.iter().sum::<f64>() / count;
    let mean = rates.iter().sum::<f64>() / count;
    let spread: f64 = x.iter().map(|x| (x - mean_x) * (x - mean_x)).sum();
    if spread <= 0.0 || mean <= 0.0 {
        return None;
    }
    let joint: f64 = x
        .iter()
        .zip(rates)
        .map(|(x, rate)| (x - mean_x) * (rate - mean))
        .sum();
    let slope = joint / spread;
    let residuals: f64 = x
        .iter()
        .zip(rates)
        .map(|(x, rate)| rate - mean - slope * (x - mean_x))
        .map(|residual| residual * residual)
        .sum();
    let error = (inflation() * residuals / (count - 2.0) / spread).sqrt();
    let change = slope * (x[x.len() - 1] - x[0]) / mean;
    Some(Fit {
        shape,
        change,
        statistic: slope.abs() / error.max(f64::MIN_POSITIVE),
    })
}
