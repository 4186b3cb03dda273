//! Figures of all submitters of a product under the same circumstances: weights of logarithmic buckets, which can be added and
//! removed one by one.

use std::collections::BTreeMap;

use cardmark_stats::{Interval, median_ranks};

use crate::voice::Voice;

/// Buckets for each doubling: neighbouring values differ by at most 0.55 %.
const PER_OCTAVE: f64 = 128.0;
/// Fewest submitters of a product that is ranked: the median of three is between the other two, whatever one of them sends.
pub const LEAST_SUBMITTERS: u64 = 3;
/// Older submitters from which new ones are limited.
pub const LEAST_OLDER: u64 = 6;
/// Part of the weight of older submitters that new ones have together at most: whatever these send, the median stays in the middle
/// half of the older ones.
const NEW_PART: u64 = 2;
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

/// Figures of older submitters, by bucket, with their weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Older {
    /// Sum of the weights, by bucket.
    pub weights: BTreeMap<i32, u64>,
    /// Number of submitters.
    pub count: u64,
    /// Sum of the squares of their weights.
    pub squares: u64,
}

/// Figures of submitters. New ones have the weight 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Numbers of new submitters, by bucket.
    newer: BTreeMap<i32, u64>,
    older: Older,
}

/// Submitters with the weights that count: those of older and new ones times different factors.
struct Weighted<'a> {
    summary: &'a Summary,
    of_older: u64,
    of_newer: u64,
    total: u64,
}

impl Summary {
    /// A summary of these new and older submitters.
    pub fn of(newer: impl IntoIterator<Item = (i32, u64)>, older: Older) -> Self {
        let newer = newer.into_iter().filter(|(_, count)| *count > 0);
        Self {
            newer: newer.collect(),
            older,
        }
    }

    /// The number of submitters.
    pub fn count(&self) -> u64 {
        self.newer_count() + self.older.count
    }

    fn newer_count(&self) -> u64 {
        self.newer.values().sum()
    }

    /// Buckets and their numbers of new submitters, in rising order.
    pub fn newer(&self) -> impl Iterator<Item = (i32, u64)> {
        self.newer.iter().map(|(bucket, count)| (*bucket, *count))
    }

    /// Older submitters.
    pub fn older(&self) -> &Older {
        &self.older
    }

    /// The summary of its older submitters alone.
    #[must_use]
    pub fn without_new(&self) -> Self {
        Self::of([], self.older.clone())
    }

    /// Counts a submitter with this figure.
    pub fn add(&mut self, value: f64, voice: Voice) {
        let (bucket, weight) = (bucket_of_value(value), voice.weight);
        if !voice.is_older {
            *self.newer.entry(bucket).or_default() += 1;
            return;
        }
        *self.older.weights.entry(bucket).or_default() += weight;
        self.older.count += 1;
        self.older.squares += weight * weight;
    }

    /// Counts a submitter with this figure and voice no longer.
    pub fn remove(&mut self, value: f64, voice: Voice) {
        let (bucket, weight) = (bucket_of_value(value), voice.weight);
        if !voice.is_older {
            take(&mut self.newer, bucket, 1);
            return;
        }
        take(&mut self.older.weights, bucket, weight);
        self.older.count = self.older.count.saturating_sub(1);
        self.older.squares = self.older.squares.saturating_sub(weight * weight);
    }

    fn weighted(&self) -> Weighted<'_> {
        let older: u64 = self.older.weights.values().sum();
        let newer = self.newer_count();
        let is_limited = self.older.count >= LEAST_OLDER && newer * NEW_PART > older;
        // Together, new ones have the weight `older / NEW_PART`.
        let (of_older, of_newer) = match is_limited {
            true => (newer * NEW_PART, older),
            false => (1, 1),
        };
        Weighted {
            summary: self,
            of_older,
            of_newer,
            total: older * of_older + newer * of_newer,
        }
    }

    /// The value below which this share of the figures lies; `None` without any.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let weighted = self.weighted();
        let last = weighted.total.checked_sub(1)?;
        weighted.at(share * last as f64).map(value_of_bucket)
    }

    /// The median of the submitters, with its interval of about 95 % if they count as six equal ones: it follows from ranks and assumes
    /// nothing about the distribution. Among submitters of one weight it is at least 95 %.
    pub fn median(&self) -> Option<(f64, Option<Interval>)> {
        let weighted = self.weighted();
        let last = weighted.total.checked_sub(1)?;
        let at = |position: u64| weighted.at(position as f64);
        let (low, high) = (at(last / 2)?, at(last.div_ceil(2))?);
        // The geometric mean, whose product of two figures could overflow.
        let value = middle(f64::midpoint(low.into(), high.into()));
        let equal = weighted.equal_count();
        let interval = median_ranks(equal).and_then(|(low, high)| {
            let each = weighted.total as f64 / equal as f64;
            let end = ((high + 1) as f64 * each).ceil() - 1.0;
            Some(Interval {
                value,
                low: value_of_bucket(weighted.at((low as f64 * each).floor())?),
                high: value_of_bucket(weighted.at(end.min(last as f64))?),
            })
        });
        Some((value, interval))
    }
}

fn take(weights: &mut BTreeMap<i32, u64>, bucket: i32, weight: u64) {
    if let Some(there) = weights.get_mut(&bucket) {
        *there = there.saturating_sub(weight);
        if *there == 0 {
            weights.remove(&bucket);
        }
    }
}

impl Weighted<'_> {
    /// The bucket at this position among all weights in rising order, from 0.
    fn at(&self, position: f64) -> Option<i32> {
        let mut newer = self.summary.newer.iter().peekable();
        let mut older = self.summary.older.weights.iter().peekable();
        let (mut before, mut found) = (0, None);
        while before as f64 <= position {
            let from_older = match (newer.peek(), older.peek()) {
                (None, None) => break,
                (new, old) => new.is_none_or(|(new, _)| old.is_some_and(|(old, _)| old <= new)),
            };
            let (next, factor) = match from_older {
                true => (older.next(), self.of_older),
                false => (newer.next(), self.of_newer),
            };
            let (bucket, weight) = next?;
            before += weight * factor;
            found = Some(*bucket);
        }
        found
    }

    /// The number of submitters of equal weight whose median would be as uncertain (L. Kish, *Survey Sampling*, 1965, 8.2).
    fn equal_count(&self) -> u64 {
        let squares = u128::from(self.summary.older.squares) * u128::from(self.of_older).pow(2)
            + u128::from(self.summary.newer_count()) * u128::from(self.of_newer).pow(2);
        let count = u128::from(self.total).pow(2) / squares.max(1);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voice::{Activity, MOST_WEIGHT};
    use cardmark_stats::median_interval;
    use proptest::prelude::*;

    fn summary(values: &[f64], voice: Voice) -> Summary {
        let mut summary = Summary::default();
        values.iter().for_each(|value| summary.add(*value, voice));
        summary
    }

    fn a_voice() -> impl Strategy<Value = Voice> {
        let numbers = (0..100_u64, 1..5_u64, 1..5_u64);
        numbers.prop_map(|(age_days, days_count, products_count)| {
            Voice::of(&Activity {
                age_days,
                days_count,
                products_count,
            })
        })
    }

    proptest! {
        #[test]
        fn a_value_is_in_the_middle_of_its_bucket_to_a_third_of_a_percent(value in 1e-6_f64..1e12) {
            let ratio = value_of_bucket(bucket_of_value(value)) / value;
            prop_assert!((ratio - 1.0).abs() < 0.003, "{ratio}");
        }

        #[test]
        fn the_median_of_equal_submitters_is_that_of_the_values(
            values in prop::collection::vec(1e3_f64..1e9, 6..60),
            voice in a_voice(),
        ) {
            let exact = median_interval(&values).unwrap();
            let (median, interval) = summary(&values, voice).median().unwrap();
            let interval = interval.unwrap();
            for (one, other) in [(interval.low, exact.low), (interval.high, exact.high)] {
                prop_assert!((one / other - 1.0).abs() < 0.006);
            }
            prop_assert!(interval.low <= median && median <= interval.high);
        }

        /// New submitters, however many and whatever they send, move the median no further than the quartiles of the older ones.
        #[test]
        fn new_submitters_leave_the_median_in_the_middle_half(
            older in prop::collection::vec((1e3_f64..1e6, a_voice()), 6..40),
            newer in prop::collection::vec(1.0_f64..1e9, 0..400),
        ) {
            let mut before = Summary::default();
            for (value, voice) in &older {
                let voice = Voice { is_older: true, weight: voice.weight };
                before.add(*value, voice);
            }
            let mut after = before.clone();
            newer.iter().for_each(|value| after.add(*value, Voice::NEW));
            let (median, _) = after.median().unwrap();
            let weight_of = |is_meant: &dyn Fn(f64) -> bool| -> u64 {
                let weights = before.older().weights.iter();
                weights.filter(|(bucket, _)| is_meant(value_of_bucket(**bucket))).map(|(_, weight)| weight).sum()
            };
            let all = weight_of(&|_| true);
            let below = weight_of(&|value| value < median * (1.0 - 1e-9));
            let above = weight_of(&|value| value > median * (1.0 + 1e-9));
            prop_assert!(4 * below <= 3 * all && 4 * above <= 3 * all, "{below} and {above} of {all}");
            prop_assert_eq!(after.without_new(), before);
        }

        #[test]
        fn whoever_was_added_can_be_removed(
            all in prop::collection::vec((1e3_f64..1e6, a_voice(), any::<bool>()), 1..60),
        ) {
            let (mut summary, mut kept) = (Summary::default(), Summary::default());
            for (value, voice, is_kept) in &all {
                summary.add(*value, *voice);
                if *is_kept {
                    kept.add(*value, *voice);
                }
            }
            for (value, voice, _) in all.iter().filter(|(.., is_kept)| !is_kept) {
                summary.remove(*value, *voice);
            }
            prop_assert_eq!(summary, kept);
        }

        /// A submitter more on one side moves the median to that side, or leaves it.
        #[test]
        fn the_median_follows_a_submitter_more(
            newer in prop::collection::vec(1e3_f64..1e6, 1..35),
            // From six older ones on, new ones are limited.
            older in prop::collection::vec((1e3_f64..1e6, 2..=MOST_WEIGHT), 0..usize::try_from(LEAST_OLDER).unwrap() - 1),
            voice in a_voice(),
        ) {
            let mut summary = Summary::default();
            newer.iter().for_each(|value| summary.add(*value, Voice::NEW));
            older.iter().for_each(|(value, weight)| {
                let voice = Voice { is_older: true, weight: *weight };
                summary.add(*value, voice);
            });
            let (before, _) = summary.median().unwrap();
            summary.add(1e9, voice);
            let (after, _) = summary.median().unwrap();
            prop_assert!(after >= before);
        }
    }

    #[test]
    fn an_older_submitter_counts_as_several_new_ones() {
        let older = Voice {
            is_older: true,
            weight: 3,
        };
        let mut found = summary(&[100.0], older);
        for count in 1..=4 {
            found.add(1e6, Voice::NEW);
            let (median, _) = found.median().unwrap();
            assert_eq!(median > 1e5, count == 4, "{count}: {median}");
        }
    }

    /// Submitters of all weights, half of them above 1: the interval holds 1 in at least 95 % of many products.
    #[test]
    fn the_interval_of_unequal_submitters_holds_the_median() {
        let mut rng = cardmark_core::Rng::new(43);
        for count in [8_u32, 12, 25, 60] {
            let (products, mut held) = (2_000, 0);
            for _ in 0..products {
                let mut found = Summary::default();
                for index in 0..count {
                    let voice = Voice {
                        is_older: true,
                        weight: 1 + u64::from(index % 4),
                    };
                    found.add(libm::exp2(2.0 * rng.unit() - 1.0), voice);
                }
                let (_, interval) = found.median().unwrap();
                let is_held = |interval: Interval| interval.low <= 1.005 && interval.high >= 0.995;
                held += u32::from(interval.is_none_or(is_held));
            }
            assert!(
                f64::from(held) >= 0.95 * f64::from(products),
                "{count}: {held}"
            );
        }
    }

    #[test]
    fn the_largest_and_smallest_figures_have_finite_medians() {
        for value in [f64::MAX, 1e200, 1e-200, f64::MIN_POSITIVE, 5e-324] {
            let (median, interval) = summary(&[value; 8], Voice::NEW).median().unwrap();
            let interval = interval.unwrap();
            for found in [median, interval.low, interval.high] {
                assert!(found.is_finite() && found > 0.0, "{value}: {found}");
            }
        }
    }

    #[test]
    fn few_submitters_have_a_median_and_no_interval() {
        assert_eq!(Summary::default().median(), None);
        assert!(matches!(
            summary(&[100.0], Voice::NEW).median(),
            Some((_, None))
        ));
    }
}
