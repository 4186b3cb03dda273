//! The range in which a figure lies if the card is measured again.

use serde::Serialize;

use crate::{COMPARISON_LEVEL, KnownSpread, student_t};

/// Fewest runs of a card whose own spread is used.
pub const LEAST_OWN_RUNS: usize = 3;

/// What a range for the next run rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgainBasis {
    /// The spread between this many comparable runs of the card.
    OwnRuns(usize),
    /// Repeats of other cards in metrics of the same class, as published.
    Published,
}

/// The range of the next run's figure. From the card's own runs it holds in 95 of 100 cases if runs vary by chance
/// only; from published repeats it is as wide as other cards were, which this card need not be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Again {
    /// Lower end, in the figure's unit.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What it rests on.
    pub basis: AgainBasis,
}

/// The range for the next run after these comparable runs of one card, on the logarithmic scale.
///
/// Of three runs or more it is the usual prediction interval of a normal sample:
/// mean ± t(95 %, n − 1) · s · √(1 + 1/n). Of fewer, the published spread takes the place of `s` and its
/// degrees of freedom that of n − 1; with one run that is a factor of √2: both the run seen and the
/// next one differ from the card's mean. None without positive figures, or of fewer than three runs
/// without a published spread.
#[must_use]
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
