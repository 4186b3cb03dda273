//! Figures of all submitters of a product under the same circumstances: counts of logarithmic buckets, which can be added and
//! removed one by one and merged.

use std::collections::BTreeMap;

use cardmark_stats::{Interval, median_ranks};

/// Buckets for each doubling: neighbouring values differ by at most 0.55 %.
const PER_OCTAVE: f64 = 128.0;
/// Fewest submitters of a product that is ranked: the median of three is between the other two, whatever one of them sends.
pub const LEAST_SUBMITTERS: u64 = 3;
/// Most cards of one submitter that count for a product in one context: the median of them is the submitter's figure.
pub const MOST_CARDS_OF_A_SUBMITTER: u64 = 5;

/// The bucket of a positive figure.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a positive f64 has fewer than 1,100 octaves on either side of 1"
)]
pub fn bucket_of_value(value: f64) -> i32 {
    (libm::log2(value) * PER_OCTAVE).floor() as i32
}

/// The middle of a bucket.
pub fn value_of_bucket(bucket: i32) -> f64 {
    middle(f64::from(bucket))
}

/// The value half a bucket above this place: finite, and not 0, for any bucket of a figure.
fn middle(place: f64) -> f64 {
    libm::exp2((place + 0.5) / PER_OCTAVE).clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// Numbers of submitters by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    counts: BTreeMap<i32, u64>,
}

impl Summary {
    /// The number of submitters.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts a submitter with this figure.
    pub fn add(&mut self, value: f64) {
        *self.counts.entry(bucket_of_value(value)).or_default() += 1;
    }

    /// Counts a submitter with this figure no longer.
    pub fn remove(&mut self, value: f64) {
        let bucket = bucket_of_value(value);
        if let Some(count) = self.counts.get_mut(&bucket) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&bucket);
            }
        }
    }

    /// Buckets and their numbers of submitters, in rising order.
    pub fn counts(&self) -> impl Iterator<Item = (i32, u64)> {
        self.counts.iter().map(|(bucket, count)| (*bucket, *count))
    }

    /// The value below which this share of the figures lies; `None` without any.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count() as f64;
        let mut before = 0;
        // The last bucket holds the highest rank.
        let mut all = self.counts.iter();
        let found = all.find(|(_, count_here)| {
            before += **count_here;
            before as f64 > share * (count - 1.0)
        });
        found.map(|(bucket, _)| value_of_bucket(*bucket))
    }

    /// The median of the submitters, with its interval of at least 95 % if there are six: it follows from ranks and assumes nothing
    /// about the distribution.
    pub fn median(&self) -> Option<(f64, Option<Interval>)> {
        let count = self.count();
        let last = count.checked_sub(1)?;
        let (low, high) = (self.at_rank(last / 2)?, self.at_rank(last.div_ceil(2))?);
        // The geometric mean, whose product of two figures could overflow.
        let value = middle(f64::midpoint(low.into(), high.into()));
        let interval = median_ranks(count).and_then(|(low, high)| {
            Some(Interval {
                value,
                low: value_of_bucket(self.at_rank(low)?),
                high: value_of_bucket(self.at_rank(high)?),
            })
        });
        Some((value, interval))
    }

    /// The bucket of the submitter with this rank, from 0.
    fn at_rank(&self, rank: u64) -> Option<i32> {
        let mut before = 0;
        let found = self.counts.iter().find(|(_, count)| {
            before += **count;
            before > rank
        });
        found.map(|(bucket, _)| *bucket)
    }
}

impl FromIterator<(i32, u64)> for Summary {
    fn from_iter<I: IntoIterator<Item = (i32, u64)>>(counts: I) -> Self {
        let mut summary = Self::default();
        for (bucket, count) in counts {
            *summary.counts.entry(bucket).or_default() += count;
        }
        summary.counts.retain(|_, count| *count > 0);
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_stats::median_interval;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_in_the_middle_of_its_bucket_to_a_third_of_a_percent(value in 1e-6_f64..1e12) {
            let ratio = value_of_bucket(bucket_of_value(value)) / value;
            prop_assert!((ratio - 1.0).abs() < 0.003, "{ratio}");
        }

        #[test]
        fn the_median_is_that_of_the_values(values in prop::collection::vec(1e3_f64..1e9, 6..60)) {
            let mut summary = Summary::default();
            values.iter().for_each(|value| summary.add(*value));
            let exact = median_interval(&values).unwrap();
            let (_, interval) = summary.median().unwrap();
            let interval = interval.unwrap();
            for (one, other) in [(interval.low, exact.low), (interval.high, exact.high)] {
                prop_assert!((one / other - 1.0).abs() < 0.006);
            }
        }
    }

    #[test]
    fn the_largest_and_smallest_figures_have_finite_medians() {
        for value in [f64::MAX, 1e200, 1e-200, f64::MIN_POSITIVE, 5e-324] {
            let mut summary = Summary::default();
            for _ in 0..8 {
                summary.add(value);
            }
            let (median, interval) = summary.median().unwrap();
            let interval = interval.unwrap();
            for found in [median, interval.low, interval.high] {
                assert!(found.is_finite() && found > 0.0, "{value}: {found}");
            }
        }
    }

    #[test]
    fn few_submitters_have_a_median_and_no_interval() {
        let mut summary = Summary::default();
        assert_eq!(summary.median(), None);
        summary.add(100.0);
        assert!(matches!(summary.median(), Some((_, None))));
    }
}
