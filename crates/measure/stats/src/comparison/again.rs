//! Prediction interval for the next run of a card.

use cardmark_core::Metric;
use serde::Serialize;

use crate::comparison::sides::KnownSpread;
use crate::estimate::distribution::student_t;
use crate::estimate::outcome::COMPARISON_LEVEL;

/// Minimum number of runs for using a card's own spread.
pub const LEAST_OWN_RUNS: usize = 3;

/// Source of a prediction interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgainBasis {
    /// Spread between this number of comparable runs of the card.
    OwnRuns(usize),
    /// Repeats of other cards in metrics of the same class, as published.
    Published,
}

/// Prediction interval of the next run's figure. From the card's own runs it holds in 95 of 100 cases if runs
/// vary only by chance. From published repeats it has the width that other cards had, which may not fit this
/// card.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Again {
    /// Lower end, in the figure's unit.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Source of the interval.
    pub basis: AgainBasis,
}

/// Prediction interval for the next run after these comparable runs of one card, on the logarithmic scale.
///
/// With three runs or more it is the usual prediction interval of a normal sample: mean ± t(95 %, n − 1) · s
/// · √(1 + 1/n). With fewer, the published spread replaces `s`, and its degrees of freedom replace n − 1.
/// With one run this adds a factor of √2, because the known run and the next one both differ from the card's
/// mean. `None` without positive figures, or with fewer than three runs and no published spread.
pub fn again(values: &[f64], known: Option<KnownSpread>) -> Option<Again> {
    let is_usable = values.iter().all(|value| *value > 0.0 && value.is_finite());
    if values.is_empty() || !is_usable {
        return None;
    }
    let count = values.len() as f64;
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let mean = logarithms.iter().sum::<f64>() / count;
    let (deviation, degrees, basis) = if values.len() >= LEAST_OWN_RUNS {
        let squares: f64 = logarithms.iter().map(|l| (l - mean) * (l - mean)).sum();
        let deviation = libm::sqrt(squares / (count - 1.0));
        let degrees = u32::try_from(values.len() - 1).unwrap_or(u32::MAX);
        (deviation, degrees, AgainBasis::OwnRuns(values.len()))
    } else {
        let known = known?;
        (known.pooled, known.degrees, AgainBasis::Published)
    };
    let half = student_t(COMPARISON_LEVEL, degrees) * deviation * libm::sqrt(1.0 + 1.0 / count);
    Some(Again {
        low: libm::exp(mean - half),
        high: libm::exp(mean + half),
        basis,
    })
}

/// Widens a range from published repeats for a run that stalled: the next run may have no stalls, and then the rate of the
/// body, or more of them. The long-run range of the run bounds the mean over a long time; the next run differs from that
/// mean as far as this one, hence the factor √2 on its logarithm.
pub fn again_with_stalls(range: Again, metric: &Metric) -> Again {
    let parts = metric.parts.as_ref();
    let seen = parts.and_then(|parts| parts.stalls.as_ref());
    let has_stalled = seen.is_some_and(|stalls| stalls.over_100ms.seen_count > 0);
    let Some(parts) = parts.filter(|_| has_stalled && range.basis == AgainBasis::Published) else {
        return range;
    };
    let least = parts.long_run.and_then(|long_run| long_run.low);
    let ratio = least.map_or(1.0, |low| (low / metric.value).clamp(0.0, 1.0));
    Again {
        low: range.low * libm::pow(ratio, std::f64::consts::SQRT_2),
        high: range.high * (parts.body.value / metric.value).max(1.0),
        ..range
    }
}
