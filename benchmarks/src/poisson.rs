//! Exact bounds for the mean of a Poisson count, by bisection.

/// Error probability on each side of a range of 95 %.
const SIDE: f64 = 0.025;

/// Returns the 95 % range for the mean of a Poisson distribution from which `count` was drawn (Garwood 1936).
#[must_use]
pub fn garwood(count: u64) -> (f64, f64) {
    let most = 2.0 * count as f64 + 30.0;
    let low = match count.checked_sub(1) {
        Some(below) => bisect(most, |mean| 1.0 - share_up_to(below, mean) < SIDE),
        None => 0.0,
    };
    (low, bisect(most, |mean| share_up_to(count, mean) > SIDE))
}

/// Probability of at most `count` with this mean.
fn share_up_to(count: u64, mean: f64) -> f64 {
    let mut logarithm = -mean;
    let mut sum = libm::exp(logarithm);
    for number in 1..=count {
        logarithm += libm::log(mean) - libm::log(number as f64);
        sum += libm::exp(logarithm);
    }
    sum
}

/// Returns the point between 0 and `most` up to which the condition holds.
fn bisect(most: f64, is_so: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if is_so(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::garwood;

    #[test]
    fn bounds_are_those_of_published_tables() {
        // Quantiles of χ², halved.
        for (count, low, high) in [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)] {
            let found = garwood(count);
            assert!(
                (found.0 - low).abs() < 2e-3 && (found.1 - high).abs() < 5e-3,
                "{found:?}"
            );
        }
    }
}
