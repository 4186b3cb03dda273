//! Metrics from rates.

use cardmark_core::{IntervalKind, Metric, Quantity, StopReason, Trial};

use crate::course::clusters::clusters;
use crate::course::rate_interval::rate_interval;
use crate::estimate::interval::rate_point;

/// Returns the rate over all these trials as `quantity`.
pub(crate) fn rate_metric(
    id: String,
    quantity: Quantity,
    whole: &[&Trial],
    stopped_by: StopReason,
) -> Option<Metric> {
    let (bytes_per_s, operations_per_s) = rate_point(whole)?;
    let estimate = rate_interval(whole);
    let bytes = estimate.map(|estimate| estimate.bytes_per_s);
    let operations = estimate.map(|estimate| estimate.operations_per_s);
    let (value, shown) = if quantity == Quantity::ByteRate {
        (bytes_per_s, bytes)
    } else {
        (operations_per_s, operations)
    };
    Some(Metric {
        low: shown.map(|interval| interval.low),
        high: shown.map(|interval| interval.high),
        interval_kind: estimate.map_or(IntervalKind::None, |estimate| estimate.kind),
        clusters_count: merged_count(whole),
        rate_bytes_per_s: Some(bytes_per_s),
        rate_low_bytes_per_s: bytes.map(|interval| interval.low),
        rate_high_bytes_per_s: bytes.map(|interval| interval.high),
        operations_per_s: Some(operations_per_s),
        operations_low_per_s: operations.map(|interval| interval.low),
        operations_high_per_s: operations.map(|interval| interval.high),
        ..bare_metric(id, quantity, value, whole, stopped_by)
    })
}

/// Number of clusters if short trials were merged.
fn merged_count(whole: &[&Trial]) -> Option<u32> {
    let count = clusters(whole, None).len();
    (count < whole.len()).then(|| u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns a metric without interval and rates.
pub(crate) fn bare_metric(
    id: String,
    quantity: Quantity,
    value: f64,
    whole: &[&Trial],
    stopped_by: StopReason,
) -> Metric {
    Metric {
        trials: whole.iter().map(|trial| trial.id).collect(),
        clusters_count: None,
        stopped_by,
        ..Metric::new(id, quantity, value)
    }
}

/// Returns a metric of bytes per second with the ends of its interval and, for blocks of `block_bytes`, the
/// rate of operations.
pub(crate) fn byte_rate(
    bare: Metric,
    ends: Option<(f64, f64)>,
    kind: IntervalKind,
    block_bytes: u64,
) -> Metric {
    let (low, high) = ends.unzip();
    let per_block = |rate: f64| rate / block_bytes.max(1) as f64;
    Metric {
        low,
        high,
        interval_kind: ends.map_or(IntervalKind::None, |_| kind),
        rate_bytes_per_s: Some(bare.value),
        rate_low_bytes_per_s: low,
        rate_high_bytes_per_s: high,
        operations_per_s: Some(per_block(bare.value)),
        operations_low_per_s: low.map(per_block),
        operations_high_per_s: high.map(per_block),
        ..bare
    }
}
