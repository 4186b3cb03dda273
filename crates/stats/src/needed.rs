//! How many runs a comparison needs.

use crate::COMPARISON_LEVEL;
use crate::distribution::{normal, student_t};

/// Share of comparisons that find the difference with that many runs.
const POWER: f64 = 0.80;
/// More runs than this nobody makes.
const MOST_RUNS: u32 = 1_000;

/// Runs a side with which a difference of logarithms is found in four of five comparisons of
/// `tests_count` metrics: the least n of two or more with
/// n ≥ 2 (t(1 − 0.05 / tests, 2n − 2) + z(0.8))² (deviation / difference)². `deviation` is the
/// standard deviation of the logarithm between runs. None above 1,000.
#[must_use]
pub fn runs_needed(deviation: f64, difference: f64, tests_count: usize) -> Option<u32> {
    let level = 1.0 - (1.0 - COMPARISON_LEVEL) / tests_count.max(1) as f64;
    // One-sided: 80 % lie below the quantile whose two-sided level is 60 %.
    let beyond = normal(2.0 * POWER - 1.0);
    let quotient = deviation / difference;
    let of = |quantile: f64| {
        let sum = (quantile + beyond) * quotient;
        2.0 * sum * sum
    };
    // The normal quantile is the least that Student's t has.
    let least = of(normal(level)).clamp(2.0, f64::from(MOST_RUNS) + 1.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 2 and 1,001"
    )]
    let least = least as u32;
    (least..=MOST_RUNS).find(|&runs| f64::from(runs) >= of(student_t(level, 2 * runs - 2)))
}
