//! What a rate is made of, in parts long enough to be compared with each other.

use cardmark_core::Trial;

use crate::Histogram;

/// Trials that are shorter are put together until they are this long, nanoseconds: below it, chance and the
/// time slices of a host decide what a trial shows.
pub const LEAST_CLUSTER_NS: u64 = 500_000_000;

/// From this on an operation that takes longer than the median one is a stall, nanoseconds.
pub const STALL_NS: u64 = 100_000_000;

/// Consecutive trials of a workload, taken as one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) bytes: u64,
    pub(crate) operations: u64,
    pub(crate) span_ns: u64,
    /// Time that stalls took, nanoseconds.
    pub(crate) stalled_ns: f64,
}

/// The trials in the order of time, put together until each cluster is as long as a trial was to be, but not
/// beyond [`LEAST_CLUSTER_NS`]; what is left over belongs to the last. `ordinary_ns`: what an operation takes that does not stall; without it there are no stalls.
pub(crate) fn clusters(trials: &[&Trial], ordinary_ns: Option<f64>) -> Vec<Cluster> {
    let mut ordered: Vec<&Trial> = trials.to_vec();
    ordered.sort_by_key(|trial| trial.started_ns);
    let asked_ns = ordered
        .iter()
        .map(|trial| trial.workload.stop.least_span_ns);
    let least_ns = asked_ns.max().unwrap_or(0).min(LEAST_CLUSTER_NS);
    let mut all: Vec<Cluster> = Vec::new();
    for trial in ordered {
        let last = match all.last_mut() {
            Some(last) if last.span_ns < least_ns => last,
            _ => {
                all.push(Cluster::default());
                let index = all.len() - 1;
                &mut all[index]
            }
        };
        last.bytes = last.bytes.saturating_add(trial.bytes());
        last.operations = last.operations.saturating_add(trial.operations_count());
        last.span_ns = last.span_ns.saturating_add(trial.span_ns);
        last.stalled_ns += ordinary_ns.map_or(0.0, |ns| stalled_ns(trial, ns));
    }
    if all.len() > 1
        && let Some(last) = all.pop_if(|last| last.span_ns < least_ns)
        && let Some(before) = all.last_mut()
    {
        before.bytes = before.bytes.saturating_add(last.bytes);
        before.operations = before.operations.saturating_add(last.operations);
        before.span_ns = before.span_ns.saturating_add(last.span_ns);
        before.stalled_ns += last.stalled_ns;
    }
    all
}

/// Time that stalls took in a trial, nanoseconds: of each its latency less that of an ordinary operation.
fn stalled_ns(trial: &Trial, ordinary_ns: f64) -> f64 {
    let histogram = Histogram::from_sparse(&trial.latency);
    let excess = |(ns, count): (f64, u64)| (ns - ordinary_ns) * count as f64;
    let limit_ns = ordinary_ns + STALL_NS as f64;
    let total: f64 = histogram
        .iter()
        .flat_map(|histogram| histogram.above(limit_ns))
        .map(excess)
        .sum();
    total.min(trial.span_ns as f64)
}
