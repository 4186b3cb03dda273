//! The slowest stretches of a series of writes, and its end.

use cardmark_core::{SECOND_NS, Slice};

use crate::lasting::count_of;
use crate::slices::{mean_bytes, sum_bytes};

/// Span for the rate at the end, nanoseconds.
pub(crate) const END_NS: u64 = 60 * SECOND_NS;

/// Returns the rate of the slowest stretch of this span, bytes per second, with any start; `None` if the
/// series is shorter. The span is rounded to whole slices.
pub(crate) fn slowest_rate(slices: &[Slice], slice_span_ns: u64, span_ns: u64) -> Option<f64> {
    let count = count_of(span_ns, slice_span_ns).filter(|&count| count <= slices.len())?;
    let mut sum = sum_bytes(&slices[..count]);
    let mut least = sum;
    for (gone, come) in slices.iter().zip(&slices[count..]) {
        sum += come.0 as f64 - gone.0 as f64;
        least = least.min(sum);
    }
    Some(least / count as f64 * per_second(slice_span_ns))
}

/// Returns the rate over the last [`END_NS`], bytes per second, or over the whole of a shorter series; `None`
/// without a full slice.
pub(crate) fn rate_at_end(slices: &[Slice], slice_span_ns: u64) -> Option<f64> {
    let count = count_of(END_NS, slice_span_ns)?.min(slices.len());
    let last = &slices[slices.len() - count..];
    (count > 0).then(|| mean_bytes(last) * per_second(slice_span_ns))
}

fn per_second(slice_span_ns: u64) -> f64 {
    SECOND_NS as f64 / slice_span_ns.max(1) as f64
}
