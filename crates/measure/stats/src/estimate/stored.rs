//! Arithmetic on the stored form of a histogram, without a dense copy: that takes 36 KiB, and a run has hundreds of
//! trials.

use cardmark_core::LatencyHistogram;

use crate::estimate::buckets::{BUCKETS, STEP_BITS, bucket_of, bucket_range};

/// Latencies of a trial in their stored form, which is well-formed.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    sparse: &'a LatencyHistogram,
    count: u64,
}

impl<'a> Stored<'a> {
    /// Checks the stored form. `None` if it is malformed: other step bits, an index that is out of range or not rising,
    /// a count of zero, or a smallest or largest value outside the outer buckets.
    pub(crate) fn of(sparse: &'a LatencyHistogram) -> Option<Self> {
        if sparse.step_bits != STEP_BITS {
            return None;
        }
        let (Some(&(first, _)), Some(&(last, _))) = (sparse.buckets.first(), sparse.buckets.last())
        else {
            let nothing = sparse.min_ns == 0 && sparse.max_ns == 0 && sparse.sum_ns == 0;
            return nothing.then_some(Self { sparse, count: 0 });
        };
        let rising = sparse.buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let ends_fit = bucket_of(sparse.min_ns) == first as usize
            && bucket_of(sparse.max_ns) == last as usize
            && sparse.min_ns <= sparse.max_ns;
        if !rising || !ends_fit {
            return None;
        }
        let mut count: u64 = 0;
        for &(_, in_bucket) in &sparse.buckets {
            if in_bucket == 0 {
                return None;
            }
            count = count.checked_add(in_bucket)?;
        }
        Some(Self { sparse, count })
    }

    /// Returns the number of latencies.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    /// True if it contains no counts.
    pub(crate) fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Iterates over the buckets with latencies: index and count.
    pub(crate) fn filled(self) -> impl Iterator<Item = (usize, u64)> {
        let buckets = self.sparse.buckets.iter();
        buckets.map(|&(index, count)| (index as usize, count))
    }

    /// Smallest and largest latency, nanoseconds; both 0 if it is empty.
    pub(crate) fn ends_ns(self) -> (u64, u64) {
        (self.sparse.min_ns, self.sparse.max_ns)
    }

    /// Returns the sum of all latencies.
    pub(crate) fn sum_ns(self) -> u64 {
        self.sparse.sum_ns
    }

    /// Returns the least and the largest sum that these latencies can have, from the edges of their buckets and the
    /// two exact ends.
    pub(crate) fn sum_bounds(self) -> (u128, u128) {
        let (min_ns, max_ns) = self.ends_ns();
        let (mut least, mut most) = (0, 0);
        let (mut first, mut last) = (None, 0);
        for (index, count) in self.filled() {
            let (start, width) = bucket_range(index);
            // The last bucket has no upper end.
            let end = if index == BUCKETS - 1 {
                u64::MAX
            } else {
                start + (width - 1)
            };
            let (low, high) = (start.max(min_ns), end.min(max_ns));
            least += u128::from(low) * u128::from(count);
            most += u128::from(high) * u128::from(count);
            first = first.or(Some(high));
            last = low;
        }
        if self.count > 1 {
            most -= u128::from(first.unwrap_or(0).saturating_sub(min_ns));
            least += u128::from(max_ns - last);
        }
        (least, most)
    }

    /// As [`crate::estimate::histogram::Histogram::above`].
    pub(crate) fn above(self, limit_ns: f64) -> impl Iterator<Item = (f64, u64)> {
        above(self.filled(), limit_ns)
    }

    /// As [`crate::estimate::histogram::Histogram::count_above`].
    pub(crate) fn count_above(self, limit_ns: f64) -> u64 {
        count_above(self.filled(), limit_ns)
    }

    /// As [`crate::estimate::histogram::Histogram::quantile`].
    pub(crate) fn quantile(self, q: f64) -> Option<f64> {
        quantile(self.filled(), self.count, self.ends_ns(), q)
    }

    /// As [`crate::estimate::histogram::Histogram::count_at_or_below`].
    pub(crate) fn count_at_or_below(self, value: f64) -> f64 {
        count_at_or_below(self.filled(), value)
    }
}

/// See [`crate::estimate::histogram::Histogram::above`].
pub(crate) fn above(
    filled: impl Iterator<Item = (usize, u64)>,
    limit_ns: f64,
) -> impl Iterator<Item = (f64, u64)> {
    filled
        .map(|(index, count)| (bucket_range(index), count))
        .filter(move |&((start, _), _)| start as f64 > limit_ns)
        .map(|((start, width), count)| (start as f64 + 0.5 * width as f64, count))
}

/// See [`crate::estimate::histogram::Histogram::count_above`].
pub(crate) fn count_above(filled: impl Iterator<Item = (usize, u64)>, limit_ns: f64) -> u64 {
    filled
        .filter(|&(index, _)| bucket_range(index).0 as f64 > limit_ns)
        .map(|(_, count)| count)
        .fold(0, u64::saturating_add)
}

/// See [`crate::estimate::histogram::Histogram::quantile`]; `all_count` is the sum of the counts.
pub(crate) fn quantile(
    filled: impl Iterator<Item = (usize, u64)>,
    all_count: u64,
    (min_ns, max_ns): (u64, u64),
    q: f64,
) -> Option<f64> {
    if all_count == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let (min, max) = (min_ns as f64, max_ns as f64);
    let rank = q * all_count as f64;
    let mut before = 0;
    for (index, count) in filled {
        if (before + count) as f64 >= rank {
            let (start, width) = bucket_range(index);
            let share = ((rank - before as f64) / count as f64).max(0.0);
            // A bucket of width 1 has one value; wider ones range from first to last.
            let value = start as f64 + (width - 1) as f64 * share;
            // The last bucket has no upper end: it contains all larger values.
            return Some(if index == BUCKETS - 1 {
                max
            } else {
                value.clamp(min, max)
            });
        }
        before += count;
    }
    Some(max)
}

/// See [`crate::estimate::histogram::Histogram::count_at_or_below`].
pub(crate) fn count_at_or_below(filled: impl Iterator<Item = (usize, u64)>, value: f64) -> f64 {
    let mut below = 0.0;
    for (index, count) in filled {
        let (start, width) = bucket_range(index);
        let (start, last) = (start as f64, (start + width - 1) as f64);
        if value >= last {
            below += count as f64;
        } else {
            let share = ((value - start) / (last - start)).max(0.0);
            return below + if width > 1 { share * count as f64 } else { 0.0 };
        }
    }
    below
}
