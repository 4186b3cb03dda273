//! The slowest of many windows.

use cardmark_core::{IntervalKind, Manner, Metric, Quantity, StopReason, Trial, Window, Windows};

use crate::derivation::metrics::bare_metric;

/// Minimum number of slowest windows for an interval.
pub(crate) const LEAST_SLOWEST: usize = 16;
/// Half-width of the interval, in scales of the tail of the durations. If the tail is exponential, the
/// slowest of an equal number of new windows differs from the slowest seen by a logistic variable of this
/// scale: 95 % of the differences are below 3.66 scales. 4.0 compensates for estimating the scale from 16
/// windows.
pub(crate) const SCALES: f64 = 4.0;

/// Returns the rate of the slowest window of all whole trials, of the size that `size` names. Its interval
/// predicts the slowest of an equal number of new windows.
pub(crate) fn worst_window(
    id: String,
    whole: &[&Trial],
    stopped_by: StopReason,
    size: impl Fn(&Manner) -> u64,
) -> Option<Metric> {
    let window_bytes = size(&whole.first()?.workload.manner);
    let of_size = |trial: &&Trial| {
        let mut found = trial.windows.iter();
        found
            .find(|windows| windows.window_bytes == window_bytes)
            .cloned()
    };
    let all: Vec<Windows> = whole.iter().filter_map(of_size).collect();
    let mut slowest: Vec<Window> = all
        .into_iter()
        .flat_map(|windows| windows.slowest)
        .collect();
    slowest.sort_by_key(|window| std::cmp::Reverse(window.span_ns));
    let spans: Vec<f64> = slowest.iter().map(|window| window.span_ns as f64).collect();
    let rate = |span_ns: f64| window_bytes as f64 * 1e9 / span_ns.max(1.0);
    let value = rate(*spans.first()?);
    let ends = tail_ends(&spans).map(|(short, long)| (rate(long), rate(short)));
    let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
    Some(Metric {
        low,
        high,
        interval_kind: ends.map_or(IntervalKind::None, |_| IntervalKind::WithinTrial),
        rate_bytes_per_s: Some(value),
        rate_low_bytes_per_s: low,
        rate_high_bytes_per_s: high,
        ..bare_metric(id, Quantity::ByteRate, value, whole, stopped_by)
    })
}

/// Returns the shortest and longest expected duration of the slowest of an equal number of new windows, from
/// the longest durations in falling order. The scale of the tail is their mean excess over the shortest of
/// them (Weissman 1978). The result is not below that one, because all 16 being missed has a probability of
/// one in 65,536.
fn tail_ends(spans: &[f64]) -> Option<(f64, f64)> {
    let tail = spans.get(..LEAST_SLOWEST)?;
    let (longest, least) = (*tail.first()?, *tail.last()?);
    let excess: f64 = tail.iter().map(|span| span - least).sum();
    let scale = excess / (tail.len() - 1) as f64;
    Some((
        (longest - SCALES * scale).max(least),
        longest + SCALES * scale,
    ))
}
