//! Exact bounds for random events: their number in the long run, and their total weight.

/// Probability on each side of a two-sided range at 95 %.
pub(crate) const SIDE: f64 = 0.025;

/// Returns the lower and upper 95 % bound of the mean of a Poisson process with `seen_count` events (Garwood,
/// *Fiducial limits for the Poisson distribution*, Biometrika 28, 1936). Exact: they contain the mean in 95 %
/// of cases or more, even with 0 events.
pub fn poisson_bounds(seen_count: u64) -> (f64, f64) {
    let seen = seen_count as f64;
    let low = if seen_count == 0 {
        0.0
    } else {
        gamma_quantile(seen, SIDE)
    };
    (low, gamma_quantile(seen + 1.0, 1.0 - SIDE))
}

/// Returns the lower and upper 95 % bound of the mean total weight of random events, each with its own weight
/// of at most `most`, from the sum of the observed weights and of their squares (Fay and Feuer, *Confidence
/// intervals for directly standardized rates: a method based on the gamma distribution*, Statistics in
/// Medicine 16, 1997). With equal weights, or without events, they equal those of [`poisson_bounds`].
pub fn weighted_bounds(sum: f64, squares: f64, most: f64) -> (f64, f64) {
    let scaled = |sum: f64, squares: f64, q: f64| {
        let scale = squares / sum;
        scale * gamma_quantile(sum / scale, q)
    };
    let low = if sum > 0.0 {
        scaled(sum, squares, SIDE)
    } else {
        0.0
    };
    (low, scaled(sum + most, squares + most * most, 1.0 - SIDE))
}

/// Returns the value below which a gamma variable of this shape and scale 1 lies with probability `q`.
fn gamma_quantile(shape: f64, q: f64) -> f64 {
    let mut low = 0.0;
    let mut high = shape + 10.0 * shape.sqrt() + 10.0;
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if gamma_below(shape, middle) < q {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Returns the probability that a gamma variable of this shape and scale 1 is below `x`: the regularised
/// lower incomplete gamma function, by its series up to `shape` + 1 and by Legendre's continued fraction
/// beyond (Abramowitz and Stegun 1964, 6.5.29 and 6.5.31).
fn gamma_below(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        front * series(shape, x)
    } else {
        1.0 - front * fraction(shape, x)
    }
}

pub(crate) const MOST_TERMS: u32 = 100_000;
pub(crate) const PRECISION: f64 = 1e-15;

fn series(shape: f64, x: f64) -> f64 {
    let mut term = 1.0 / shape;
    let mut sum = term;
    for step in 1..MOST_TERMS {
        term *= x / (shape + f64::from(step));
        sum += term;
        if term < PRECISION * sum {
            break;
        }
    }
    sum
}

/// Lentz's method.
fn fraction(shape: f64, x: f64) -> f64 {
    let tiny = f64::MIN_POSITIVE / PRECISION;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut product = d;
    for step in 1..MOST_TERMS {
        let step = f64::from(step);
        let a = -step * (step - shape);
        b += 2.0;
        let keep = |value: f64| if value.abs() < tiny { tiny } else { value };
        d = 1.0 / keep(a * d + b);
        c = keep(b + a / c);
        let factor = c * d;
        product *= factor;
        if (factor - 1.0).abs() < PRECISION {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of the exact bounds, as in Pearson and Hartley, *Biometrika Tables for Statisticians* 1 (1966), table 40.
    #[test]
    fn bounds_are_those_of_the_published_table() {
        for (seen, low, high) in [
            (0, 0.0, 3.69),
            (1, 0.0253, 5.57),
            (2, 0.242, 7.22),
            (5, 1.62, 11.67),
            (10, 4.80, 18.39),
            (30, 20.24, 42.83),
        ] {
            let (found_low, found_high) = poisson_bounds(seen);
            assert!((found_low - low).abs() < 0.005, "{seen}: {found_low}");
            assert!((found_high - high).abs() < 0.005, "{seen}: {found_high}");
        }
    }

    #[test]
    fn bounds_leave_the_chance_that_sums_of_the_distribution_give() {
        for seen in [1_u32, 3, 17, 120] {
            let (low, high) = poisson_bounds(u64::from(seen));
            let at_most = |mean: f64, count: u32| -> f64 {
                let log_term =
                    |k: u32| f64::from(k) * mean.ln() - mean - libm::lgamma(f64::from(k) + 1.0);
                (0..=count).map(|k| log_term(k).exp()).sum()
            };
            assert!((at_most(high, seen) - 0.025).abs() < 1e-9);
            assert!((1.0 - at_most(low, seen - 1) - 0.025).abs() < 1e-9);
        }
    }

    #[test]
    fn equal_weights_are_counts() {
        for seen in [0_u32, 1, 4, 40] {
            let weight = 0.5;
            let count = f64::from(seen);
            let (low, high) = weighted_bounds(count * weight, count * weight * weight, weight);
            let (few, many) = poisson_bounds(u64::from(seen));
            assert!((low - few * weight).abs() < 1e-9 && (high - many * weight).abs() < 1e-9);
        }
    }
}
