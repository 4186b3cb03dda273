//! Median and outliers of the rates of rounds.

use cardmark_core::{Quantity, RoundRates, Trial};

use crate::estimate::median::median;

/// Minimum number of rounds.
const LEAST_ROUNDS: usize = 5;
/// Modified z-score above which a round is an outlier.
const Z_SCORE: f64 = 3.5;
/// Standard deviation of a normal distribution, in median absolute deviations.
const DEVIATIONS: f64 = 1.4826;
/// The same, in mean absolute deviations; if the median one is zero.
const MEAN_DEVIATIONS: f64 = 1.253_314;
/// Minimum distance of an outlier from the median, relative to it: closer rounds change no decision.
const OUTLIER_RATIO: f64 = 0.15;

/// Returns median and outliers of the rates of these trials, each a round; `None` of fewer than five.
pub(crate) fn round_rates(whole: &[&Trial], quantity: Quantity) -> Option<RoundRates> {
    if whole.len() < LEAST_ROUNDS {
        return None;
    }
    let rates: Vec<f64> = whole.iter().map(|trial| rate(trial, quantity)).collect();
    let middle = middle(rates.clone())?;
    let is_outlier = outliers(&rates, middle);
    let outlying = whole.iter().zip(is_outlier);
    Some(RoundRates {
        median: middle,
        outlying_trials: outlying
            .filter(|(_, is_outlier)| *is_outlier)
            .map(|(trial, _)| trial.id)
            .collect(),
    })
}

/// Rate of a trial.
pub(crate) fn rate(trial: &Trial, quantity: Quantity) -> f64 {
    let amount = match quantity {
        Quantity::ByteRate => trial.bytes(),
        _ => trial.operations_count(),
    };
    1e9 * amount as f64 / trial.span_ns.max(1) as f64
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    median(&values)
}

/// Returns which rates are outliers.
fn outliers(rates: &[f64], middle: f64) -> Vec<bool> {
    let distances: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
    let by_median = self::middle(distances.clone()).unwrap_or(0.0) * DEVIATIONS;
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let deviation = if by_median > 0.0 {
        by_median
    } else {
        mean * MEAN_DEVIATIONS
    };
    let is_outlier =
        |distance: &f64| *distance > Z_SCORE * deviation && *distance > OUTLIER_RATIO * middle;
    distances.iter().map(is_outlier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::Rng;

    fn found(rates: &[f64]) -> Vec<bool> {
        outliers(rates, middle(rates.to_vec()).unwrap())
    }

    /// Three runs of a card on a Raspberry Pi 5, sequential reads in KiB/s, from published results.
    #[test]
    fn a_round_at_less_than_half_is_an_outlier_and_its_neighbours_are_not() {
        let published = [90_927.0, 91_148.0, 40_367.0, 91_020.0, 90_980.0];
        assert_eq!(found(&published), [false, false, true, false, false]);
        let equal = [100.0, 100.0, 40.0, 100.0, 100.0, 100.0];
        assert_eq!(found(&equal), [false, false, true, false, false, false]);
    }

    #[test]
    fn small_differences_are_no_outliers_however_exact_the_others_are() {
        assert_eq!(found(&[100.0, 100.0, 100.0, 114.0, 100.0]), [false; 5]);
        assert_eq!(found(&[100.0; 6]), [false; 6]);
    }

    /// Of normal rounds that differ by 5 %, fewer than one workload in a hundred has an outlier (0.7 %).
    #[test]
    fn ordinary_noise_has_hardly_any() {
        let mut rng = Rng::new(7);
        let mut normal = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let mut runs_count = 0;
        for _ in 0..2000 {
            let rates: Vec<f64> = (0..6).map(|_| 100.0 + 5.0 * normal()).collect();
            runs_count += usize::from(found(&rates).contains(&true));
        }
        assert!(runs_count < 20, "{runs_count}");
    }
}
