//! Truth of one long series of sequential writes, from a model's data alone.

use cardmark_core::Order;
use cardmark_engine::OpKind;

use crate::Model;
use crate::state::service_of;

/// Result of an endless series of sequential writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CourseTruth {
    /// Bytes per second before the cache is full; absent if there is none.
    pub burst_bytes_per_s: Option<f64>,
    /// Bytes written until it is full; absent if there is none.
    pub cache_bytes: Option<f64>,
    /// Bytes per second afterwards.
    pub settled_bytes_per_s: f64,
}

/// The truth of a series of writes of that size, one at a time, on a card that is faster by
/// `factor`. `None` where heat, a fault or a process changes
/// the rate.
pub(crate) fn course_truth(model: &Model, block_bytes: u64, factor: f64) -> Option<CourseTruth> {
    let is_uneven =
        model.fault().is_some() || !model.processes().is_empty() || model.ftl().is_some();
    if model.data().heat.is_some() || is_uneven {
        return None;
    }
    let service = service_of(model, OpKind::Write, Order::Sequential);
    let span_ns = service.mean_ns(block_bytes, 1) / factor;
    let block = block_bytes as f64;
    let rate = |span_ns: f64| block / span_ns * 1e9;
    let Some(cache) = model.cache() else {
        return Some(CourseTruth {
            burst_bytes_per_s: None,
            cache_bytes: None,
            settled_bytes_per_s: rate(span_ns),
        });
    };
    // Nothing drains while one write follows the other.
    Some(CourseTruth {
        burst_bytes_per_s: Some(rate(span_ns)),
        cache_bytes: Some((cache.bytes / block_bytes * block_bytes) as f64),
        settled_bytes_per_s: rate(span_ns * cache.slowdown),
    })
}
