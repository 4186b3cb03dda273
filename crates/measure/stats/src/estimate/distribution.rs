//! Student's t in closed form, so that it is the same on every platform.

use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// Number of degrees from which the expansion around the normal quantile is exact to 1e-9 for the levels used
/// here; the finite sums would only be slower.
pub(crate) const EXPANSION_FROM: u32 = 200;

/// Returns `t` with P(|T| ≤ t) = `level` for Student's t with `degrees` degrees of freedom. Infinite for 0
/// degrees; a level outside 0–1 is clamped.
pub fn student_t(level: f64, degrees: u32) -> f64 {
    if degrees == 0 || level >= 1.0 {
        return f64::INFINITY;
    }
    if degrees >= EXPANSION_FROM {
        return expansion(level, f64::from(degrees));
    }
    let angle = bisect(FRAC_PI_2, |angle| {
        probability_within(angle, degrees) < level
    });
    libm::sqrt(f64::from(degrees)) * libm::tan(angle)
}

/// Returns P(|T| ≥ |t|) for Student's t with `degrees` degrees of freedom, at least one.
pub(crate) fn two_sided(t: f64, degrees: u32) -> f64 {
    let angle = libm::atan(t.abs() / libm::sqrt(f64::from(degrees)));
    (1.0 - probability_within(angle, degrees)).max(0.0)
}

/// Returns P(|T| ≤ t) with `angle` = atan(t/√ν): the finite sums of Abramowitz and Stegun (1964), 26.7.3 and
/// 26.7.4.
fn probability_within(angle: f64, degrees: u32) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = degrees % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    // `step` is the power of the cosine in the term.
    let mut step = degrees % 2;
    while step + 2 <= degrees {
        sum += term;
        let power = f64::from(step);
        term *= cosine * cosine * (power + 1.0) / (power + 2.0);
        step += 2;
    }
    if odd {
        (angle + sine * sum) / FRAC_PI_2
    } else {
        sine * sum
    }
}

/// Abramowitz and Stegun (1964), 26.7.5: Cornish and Fisher's expansion in 1/ν.
fn expansion(level: f64, degrees: f64) -> f64 {
    let z = normal(level);
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / degrees) / degrees) / degrees
}

/// Returns `z` with P(|Z| ≤ z) = `level` for the standard normal distribution.
pub(crate) fn normal(level: f64) -> f64 {
    SQRT_2 * bisect(6.0, |x| libm::erf(x) < level)
}

/// Returns the point between 0 and `high` where the monotonic condition becomes false. Sixty halvings leave
/// less than the rounding error; Newton's method would need extra care to be as exact.
fn bisect(high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, high);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_exact_forms() {
        // One degree: tan(π·level/2). Two: level·√(2/(1 − level²)).
        for level in [0.5, 0.9, 0.95, 0.96, 0.99, 0.999] {
            let one = libm::tan(FRAC_PI_2 * level);
            let two = level * libm::sqrt(2.0 / (1.0 - level * level));
            assert!((student_t(level, 1) - one).abs() < 1e-6 * one);
            assert!((student_t(level, 2) - two).abs() < 1e-6 * two);
        }
    }

    #[test]
    fn probabilities_are_those_of_the_quantiles() {
        for degrees in [1, 2, 5, 12, 100] {
            for level in [0.5, 0.95, 0.99] {
                let t = student_t(level, degrees);
                assert!((two_sided(t, degrees) - (1.0 - level)).abs() < 1e-9);
                assert!((two_sided(-t, degrees) - (1.0 - level)).abs() < 1e-9);
            }
            assert!((two_sided(0.0, degrees) - 1.0).abs() < 1e-12);
            assert!(two_sided(f64::INFINITY, degrees) < 1e-12);
        }
    }

    #[test]
    fn finite_sums_and_expansion_meet() {
        for level in [0.5, 0.95, 0.96, 0.999] {
            for degrees in [EXPANSION_FROM - 1, EXPANSION_FROM - 2] {
                let by_expansion = expansion(level, f64::from(degrees));
                assert!((student_t(level, degrees) - by_expansion).abs() < 1e-7);
            }
        }
    }
}
