//! Layout of the buckets of a histogram of latencies.

/// Binary logarithm of the number of steps per octave. The width of a bucket is at most 1/128 of its start,
/// so that any two values in it differ by at most 0.8 %.
pub(crate) const STEP_BITS: u32 = 7;
pub(crate) const STEPS: u64 = 1 << STEP_BITS;
/// Binary logarithm of the start of the last bucket: 2⁴² ns (73 minutes).
pub(crate) const TOP_BITS: u32 = 42;
pub(crate) const BUCKETS: usize = ((TOP_BITS - STEP_BITS + 1) << STEP_BITS) as usize;

/// Returns the index of the bucket that contains this value.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "below BUCKETS, which is 4,608"
)]
pub(crate) fn bucket_of(ns: u64) -> usize {
    if ns < STEPS {
        return ns as usize;
    }
    let octave = 64 - STEP_BITS - ns.leading_zeros();
    // The top bit of the shifted value represents `2^bits`, and adds one octave to the index.
    let index = (u64::from(octave - 1) << STEP_BITS) + (ns >> (octave - 1));
    (index as usize).min(BUCKETS - 1)
}

/// Returns the first value of a bucket and the number of values in it.
pub(crate) fn bucket_range(index: usize) -> (u64, u64) {
    let index = index as u64;
    let octave = index >> STEP_BITS;
    if octave == 0 {
        return (index, 1);
    }
    let width = 1 << (octave - 1);
    ((STEPS + (index & (STEPS - 1))) * width, width)
}
