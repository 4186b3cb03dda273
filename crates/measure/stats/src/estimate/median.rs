//! Median of a few values, with an interval that assumes nothing about their distribution.

use crate::estimate::interval::Interval;

/// Minimum coverage of the interval.
const COVERAGE: f64 = 0.95;
/// Largest number of values whose smallest probability, 2⁻ⁿ, is a normal floating-point number.
const MOST_EXACT: u64 = 1_000;

/// Returns the median with its interval of at least 95 %: the narrowest pair of values, at equal ranks from
/// the lower and the upper end, that contains the median with this probability (the number of values below it
/// is binomial with p = ½). `None` with fewer than six values, where no pair is wide enough.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = median_ranks(sorted.len() as u64)?;
    Some(Interval {
        value: median(&sorted)?,
        low: sorted[usize::try_from(low).ok()?],
        high: sorted[usize::try_from(high).ok()?],
    })
}

/// Returns the ranks, from 0, of the two values that bound the interval of [`median_interval`] among `count` values; `None`
/// with fewer than six.
pub fn median_ranks(count: u64) -> Option<(u64, u64)> {
    let outside = match count {
        0..=MOST_EXACT => exactly_outside(count)?,
        _ => about_outside(count),
    };
    Some((outside, count - 1 - outside))
}

/// The median lies outside the pair of ranks (k+1, n−k) with twice the probability that at most k of n values are below
/// it.
fn exactly_outside(count: u64) -> Option<u64> {
    let mut tail = 0.0;
    let mut one = libm::pow(0.5, count as f64);
    let mut outside = None;
    for k in 0..count / 2 {
        tail += one;
        if 2.0 * tail > 1.0 - COVERAGE {
            break;
        }
        outside = Some(k);
        one *= (count - k) as f64 / (k + 1) as f64;
    }
    outside
}

/// Two standard deviations of the binomial distribution, √n / 2 each, below its mean; in the normal approximation 1.96 of them
/// leave 2.5 %.
fn about_outside(count: u64) -> u64 {
    (count / 2).saturating_sub(count.isqrt() + 1)
}

/// Returns the middle of values in rising order.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len().is_multiple_of(2) {
        Some(0.5 * (sorted[middle - 1] + upper))
    } else {
        Some(upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::Rng;

    fn ends(count: u32) -> Option<(f64, f64)> {
        let values: Vec<f64> = (1..=count).rev().map(f64::from).collect();
        median_interval(&values).map(|interval| (interval.low, interval.high))
    }

    /// Ranks as in the usual tables of the sign test.
    #[test]
    fn ranks_are_those_of_the_tables() {
        assert_eq!(ends(5), None);
        assert_eq!(ends(6), Some((1.0, 6.0)));
        assert_eq!(ends(8), Some((1.0, 8.0)));
        assert_eq!(ends(9), Some((2.0, 8.0)));
        assert_eq!(ends(12), Some((3.0, 10.0)));
        assert_eq!(ends(20), Some((6.0, 15.0)));
        assert_eq!(ends(30), Some((10.0, 21.0)));
    }

    #[test]
    fn many_values_have_ranks_too() {
        for count in [600, 800, MOST_EXACT] {
            let exact = exactly_outside(count).unwrap();
            let about = about_outside(count);
            assert!(
                about <= exact && exact - about <= 2,
                "{count}: {exact} {about}"
            );
        }
        let (low, high) = median_ranks(1_000_000).unwrap();
        assert!(low == 498_999, "{low}");
        assert_eq!(low + high, 999_999);
    }

    #[test]
    fn the_median_lies_inside_as_often_as_said() {
        let mut rng = Rng::new(5);
        for (count, expected) in [(6u32, 0.969), (13, 0.978), (30, 0.957)] {
            let runs = 20_000;
            let hits = (0..runs)
                .filter(|_| {
                    let values: Vec<f64> = (0..count).map(|_| rng.unit()).collect();
                    median_interval(&values).is_some_and(|i| i.low <= 0.5 && 0.5 <= i.high)
                })
                .count();
            let share = hits as f64 / f64::from(runs);
            assert!((share - expected).abs() < 0.006, "{count}: {share}");
        }
    }
}
