//! Amount of data that a cache absorbs after a rest.

use cardmark_core::{Refill, SECOND_NS, Slice, Trial};

use crate::course::course_of;
use crate::course::lasting::count_of;
use crate::course::slices::{full_slices, mean_bytes, sum_bytes};

/// Span over which the rate must be low to count as fallen back, nanoseconds.
const BACK_NS: u64 = 2 * SECOND_NS;

/// Returns the limits of the writes after a rest, from a series of writes with a cliff. They end when the
/// rate is below the middle of the rates before and after the cliff, or at the number of bytes that were
/// fast. `None` without a cliff.
pub fn refill_limits(trial: &Trial) -> Option<(Refill, u64)> {
    let cliff = course_of(trial)?.cliff.filter(|cliff| cliff.from > 0)?;
    let slices = full_slices(trial);
    let (before, after) = (&slices[..cliff.from], slices.get(cliff.to..)?);
    let middle = 0.5 * (mean_bytes(before) + mean_bytes(after));
    let per_second = middle * SECOND_NS as f64 / trial.slice_span_ns.max(1) as f64;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates and sizes are positive and far below 2^64"
    )]
    let (middle_bytes_per_s, most_bytes) = (per_second as u64, cliff.bytes as u64);
    Some((Refill { middle_bytes_per_s }, most_bytes))
}

/// True if the rate has fallen back over the last two seconds.
pub fn has_fallen_back(slices: &[Slice], slice_span_ns: u64, refill: Refill) -> bool {
    count_of(BACK_NS, slice_span_ns)
        .and_then(|count| slices.len().checked_sub(count))
        .is_some_and(|first| is_slow(&slices[first..], slice_span_ns, refill))
}

/// Number of bytes until the rate fell back; all of them if it did not.
pub(crate) fn refilled_bytes(trial: &Trial, refill: Refill) -> f64 {
    let slices = full_slices(trial);
    let count = count_of(BACK_NS, trial.slice_span_ns).unwrap_or(1);
    let back = slices
        .windows(count)
        .position(|window| is_slow(window, trial.slice_span_ns, refill));
    match back {
        None => trial.bytes() as f64,
        Some(0) => 0.0,
        // The mean crosses the middle when half of the window lies after the fall.
        Some(place) => sum_bytes(&slices[..place + count / 2]),
    }
}

fn is_slow(slices: &[Slice], slice_span_ns: u64, refill: Refill) -> bool {
    let rate = mean_bytes(slices) * SECOND_NS as f64 / slice_span_ns.max(1) as f64;
    rate < refill.middle_bytes_per_s as f64
}
