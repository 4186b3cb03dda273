//! Log-linear histogram of latencies.

use std::fmt;

use cardmark_core::LatencyHistogram;

use crate::estimate::buckets::{BUCKETS, STEP_BITS, bucket_of};
use crate::estimate::stored::{self, Stored};

/// Latencies in the layout of [`LatencyHistogram`], dense, for recording and for arithmetic.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    // Boxed, because 36 KiB are too large for the stack or a moved struct.
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_sparse().fmt(formatter)
    }
}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Self {
        Self {
            buckets: Box::new([0; BUCKETS]),
            count: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
        }
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets[bucket_of(ns)] += 1;
        self.count += 1;
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }

    /// Removes all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        self.count = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
        self.sum_ns = 0;
    }

    /// True if it contains no counts.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of counted latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the smallest latency, exactly.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Returns the largest latency, exactly.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Returns the sum of all latencies.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Returns the stored form.
    #[allow(clippy::cast_possible_truncation, reason = "indices are below BUCKETS")]
    pub fn to_sparse(&self) -> LatencyHistogram {
        LatencyHistogram {
            step_bits: STEP_BITS,
            min_ns: self.min_ns().unwrap_or(0),
            max_ns: self.max_ns,
            sum_ns: self.sum_ns,
            buckets: self
                .filled()
                .map(|(index, count)| (index as u32, count))
                .collect(),
        }
    }

    /// Reads the stored form. `None` if it is malformed: other step bits, an index that is out of range or
    /// not rising, a count of zero, or a smallest or largest value outside the outer buckets.
    pub fn from_sparse(sparse: &LatencyHistogram) -> Option<Self> {
        let mut histogram = Self::new();
        histogram.add(Stored::of(sparse)?);
        Some(histogram)
    }

    /// Adds the counts of a stored histogram.
    pub(crate) fn add(&mut self, stored: Stored<'_>) {
        for (index, count) in stored.filled() {
            let mine = &mut self.buckets[index];
            *mine = mine.saturating_add(count);
        }
        if !stored.is_empty() {
            let (min_ns, max_ns) = stored.ends_ns();
            self.count = self.count.saturating_add(stored.count());
            self.min_ns = self.min_ns.min(min_ns);
            self.max_ns = self.max_ns.max(max_ns);
            self.sum_ns = self.sum_ns.saturating_add(stored.sum_ns());
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine = mine.saturating_add(*theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }

    /// Iterates over the buckets with latencies: index and count.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.buckets.iter().copied().enumerate();
        counts.filter(|&(_, count)| count > 0)
    }

    /// Returns the number of latencies above this limit, to the accuracy of a bucket: 0.8 %.
    pub fn count_above(&self, limit_ns: f64) -> u64 {
        stored::count_above(self.filled(), limit_ns)
    }

    /// Iterates over the latencies above this limit: middle of each bucket and its count.
    pub(crate) fn above(&self, limit_ns: f64) -> impl Iterator<Item = (f64, u64)> {
        stored::above(self.filled(), limit_ns)
    }

    /// Returns the value at or below which the share `q` (0–1) of the latencies lies, interpolated inside its
    /// bucket: within 0.8 % of the value of rank ⌈q·count⌉. `None` if the histogram is empty or `q` is not a
    /// share.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        stored::quantile(self.filled(), self.count, (self.min_ns, self.max_ns), q)
    }

    /// Returns the number of latencies at or below `value`, interpolated as in [`Self::quantile`], which is
    /// its inverse.
    pub(crate) fn count_at_or_below(&self, value: f64) -> f64 {
        stored::count_at_or_below(self.filled(), value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::buckets::{STEPS, bucket_range};

    #[test]
    fn buckets_lie_as_the_record_documents() {
        for index in 0..BUCKETS {
            let (start, width) = bucket_range(index);
            assert_eq!(bucket_of(start), index);
            assert_eq!(bucket_of(start + width - 1), index);
            assert_eq!(bucket_of(start + width), (index + 1).min(BUCKETS - 1));
            assert!(width == 1 || width * STEPS <= start);
            // The formula of `LatencyHistogram`, unchanged.
            let (o, s) = (index >> 7, index & 127);
            let documented = if o == 0 { index } else { (128 + s) << (o - 1) };
            assert_eq!(start, documented as u64);
        }
        assert_eq!(bucket_range(BUCKETS - 1), (255 << 34, 1 << 34));
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn counting_at_or_below_undoes_the_quantile() {
        let mut histogram = Histogram::new();
        for step in 0..1_000u64 {
            histogram.record(100_000 + step * step);
        }
        for share in [0.1, 0.5, 0.9, 0.99] {
            let value = histogram.quantile(share).unwrap();
            assert!((histogram.count_at_or_below(value) - 1_000.0 * share).abs() < 1e-6);
        }
    }
}
