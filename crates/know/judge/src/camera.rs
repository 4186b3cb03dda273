//! The rate of sequential writes that a camera can rely on.

use cardmark_catalog::use_of;
use cardmark_core::{Metric, Quantity, Record};

use crate::suitability::metric_of;

/// Name of the use.
pub(crate) const CAMERA: &str = "camera";

/// Rate of sequential writes that a camera can rely on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraRate {
    /// Lower end of the rate's range, bytes per second.
    pub bytes_per_s: f64,
    /// Part of the writing that the rate describes.
    pub basis: CameraBasis,
    /// Bytes of the long series of writes, if the rate is from one and the record has its trials.
    pub written_bytes: Option<u64>,
}

/// Part of the writing that a rate for cameras describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameraBasis {
    /// The slowest minute of a long series.
    SlowestMinute,
    /// The end of a long series.
    SteadyEnd,
    /// Short trials, which may show a cache.
    Short,
}

/// The lower end of the rate of sequential writes among the usable metrics of a record.
pub(crate) fn camera(record: &Record, metrics: &[Metric]) -> Option<CameraRate> {
    let need = use_of(CAMERA)?.needs.first()?;
    let metric = need.metrics.iter().find_map(|id| metric_of(metrics, id))?;
    let long_run = metric.parts.as_ref().and_then(|parts| parts.long_run?.low);
    let low = long_run.or(metric.low).unwrap_or(metric.value);
    let basis = match metric.id.as_str() {
        "slowest_60s_write" => CameraBasis::SlowestMinute,
        "settled_write" => CameraBasis::SteadyEnd,
        _ => CameraBasis::Short,
    };
    let mut trials = record.trials.iter();
    let long = trials.find(|trial| trial.workload.stop.settled_span_ns.is_some());
    Some(CameraRate {
        bytes_per_s: low.min(metric.value),
        basis,
        written_bytes: long
            .filter(|_| basis != CameraBasis::Short)
            .map(cardmark_core::Trial::bytes),
    })
    .filter(|_| metric.quantity == Quantity::ByteRate)
}
