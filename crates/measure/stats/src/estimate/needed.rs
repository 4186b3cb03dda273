//! Number of runs that a comparison needs.

use crate::estimate::distribution::{normal, student_t};
use crate::estimate::outcome::COMPARISON_LEVEL;

/// Share of comparisons that find the difference with the returned number of runs.
const POWER: f64 = 0.80;
/// Maximum number of runs that is realistic.
const MOST_RUNS: u32 = 1_000;

/// Number of runs per side with which a comparison of `tests_count` metrics finds a difference of logarithms
/// in four of five cases: the smallest n ≥ 2 with n ≥ 2 (t(1 − 0.05 / tests, 2n − 2) + z(0.8))² (deviation /
/// difference)². `deviation` is the standard deviation of the logarithm between runs. `None` above 1,000.
pub fn runs_needed(deviation: f64, difference: f64, tests_count: usize) -> Option<u32> {
    let level = 1.0 - (1.0 - COMPARISON_LEVEL) / tests_count.max(1) as f64;
    // One-sided: 80 % lie below the quantile with the two-sided level of 60 %.
    let beyond = normal(2.0 * POWER - 1.0);
    let quotient = deviation / difference;
    let of = |quantile: f64| {
        let sum = (quantile + beyond) * quotient;
        2.0 * sum * sum
    };
    // The normal quantile is the lower limit of Student's t.
    let least = of(normal(level)).clamp(2.0, f64::from(MOST_RUNS) + 1.0);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 2 and 1,001"
    )]
    let least = least as u32;
    (least..=MOST_RUNS).find(|&runs| f64::from(runs) >= of(student_t(level, 2 * runs - 2)))
}
