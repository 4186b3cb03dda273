//! Exact range of a share (Clopper and Pearson 1934), by bisection.

/// Error probability on each side of a range of 95 %.
const SIDE: f64 = 0.025;

/// Returns the 95 % range for the probability of a hit, after `hits` of `trials`.
#[must_use]
pub fn clopper_pearson(hits: u32, trials: u32) -> (f64, f64) {
    let low = match hits {
        0 => 0.0,
        _ => 1.0 - solve(|miss| at_most(trials - hits, trials, miss)),
    };
    let high = if hits == trials {
        1.0
    } else {
        solve(|share| at_most(hits, trials, share))
    };
    (low, high)
}

/// Probability of at most `hits` hits.
fn at_most(hits: u32, trials: u32, share: f64) -> f64 {
    let mut choices = 0.0;
    let mut sum = 0.0;
    for count in 0..=hits {
        if count > 0 {
            choices += libm::log(f64::from(trials - count + 1)) - libm::log(f64::from(count));
        }
        let others = f64::from(trials - count) * libm::log1p(-share);
        sum += libm::exp(choices + f64::from(count) * libm::log(share) + others);
    }
    sum
}

/// Returns the share at which a falling probability crosses [`SIDE`].
fn solve(probability: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if probability(middle) > SIDE {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::clopper_pearson;

    #[test]
    fn ranges_are_those_of_published_tables() {
        // The rule for no hit: 1 − 0.025^(1/n); 5 of 10 and 81 of 263 from tables (Agresti, Newcombe 1998).
        let rows = [
            (0, 10, 0.0, 0.3085),
            (10, 10, 0.6915, 1.0),
            (5, 10, 0.1871, 0.8129),
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0578, 0.1617),
            (1, 29, 0.0009, 0.1776),
        ];
        for (hits, trials, low, high) in rows {
            let found = clopper_pearson(hits, trials);
            assert!(
                (found.0 - low).abs() < 1e-4 && (found.1 - high).abs() < 1e-4,
                "{hits} of {trials}: {found:?}"
            );
        }
    }
}
