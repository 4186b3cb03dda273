//! Trials that figures may rely on.

use cardmark_core::{StopReason, Trial};

/// True if figures may rely on a trial: it is whole, or a long series of writes that was stopped from outside. What that
/// wrote until then is the beginning of a whole one.
pub(crate) fn is_countable(trial: &Trial) -> bool {
    let is_series = trial.workload.stop.settled_span_ns.is_some();
    let is_stopped = trial.stopped_by == StopReason::Interrupted && trial.operations_count() > 0;
    trial.is_whole() || (is_series && is_stopped)
}
