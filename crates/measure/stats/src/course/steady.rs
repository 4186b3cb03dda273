//! Steady rates: rounds that differ little, and a straight line through them with a small slope.

use cardmark_core::Slice;

use crate::course::slices::mean_bytes;

/// Number of rounds in a measurement window (SNIA, *Solid State Storage Performance Test Specification*,
/// "steady state").
pub(crate) const WINDOW_ROUNDS: usize = 5;
/// In a settled window the highest and the lowest round differ by at most this share of their
/// mean (SNIA).
pub(crate) const WINDOW_RANGE_RATIO: f64 = 0.20;
/// A straight line through a settled window changes by at most this share of its mean (SNIA).
pub(crate) const WINDOW_SLOPE_RATIO: f64 = 0.10;
/// Returns the interval between tests of a series of writes, nanoseconds.
pub fn settle_round_ns(settled_span_ns: u64) -> u64 {
    settled_span_ns / WINDOW_ROUNDS as u64
}

/// Returns the mean of a round, counted backwards from the end.
pub(crate) fn round_from_end(slices: &[Slice], round: usize, index: usize) -> f64 {
    let end = slices.len() - index * round;
    mean_bytes(&slices[end - round..end])
}

/// True if this number of rounds at the end differ little, and a straight line through them has a small
/// slope.
pub(crate) fn is_steady(slices: &[Slice], round: usize, rounds: usize) -> bool {
    if round == 0 || slices.len() / round < rounds {
        return false;
    }
    let window = || (0..rounds).map(|index| round_from_end(slices, round, index));
    let average = window().sum::<f64>() / rounds as f64;
    let highest = window().fold(0.0, f64::max);
    let lowest = window().fold(f64::INFINITY, f64::min);
    average > 0.0
        && highest - lowest <= WINDOW_RANGE_RATIO * average
        && excursion(window(), rounds).abs() <= WINDOW_SLOPE_RATIO * average
}

/// Change of the straight line through a window's rounds over the window.
fn excursion(rates: impl Iterator<Item = f64>, rounds: usize) -> f64 {
    let middle = (rounds - 1) as f64 / 2.0;
    let (mut joint, mut squares) = (0.0, 0.0);
    for (index, rate) in rates.enumerate() {
        let x = index as f64 - middle;
        joint += x * rate;
        squares += x * x;
    }
    2.0 * middle * joint / squares
}
