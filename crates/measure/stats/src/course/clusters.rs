//! Clusters: groups of trials that are long enough to be compared with each other.

use cardmark_core::Trial;

use crate::estimate::stored::Stored;

/// Shorter trials are merged until they are this long, nanoseconds. Below it, chance and the time slices of a
/// host determine the result of a trial.
pub const LEAST_CLUSTER_NS: u64 = 500_000_000;

/// Minimum excess over the median latency for an operation to be a stall, nanoseconds.
pub const STALL_NS: u64 = 100_000_000;

/// Consecutive trials of a workload, merged into one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) bytes: u64,
    pub(crate) operations: u64,
    pub(crate) span_ns: u64,
    /// Time in stalls, nanoseconds.
    pub(crate) stalled_ns: f64,
}

/// Merges the trials in order of time until each cluster has the planned length of a trial, but at most
/// [`LEAST_CLUSTER_NS`]; the rest belongs to the last cluster. `ordinary_ns`: latency of an operation without
/// a stall; without it there are no stalls.
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

/// Time in stalls of a trial, nanoseconds: the latency of each stall minus that of an ordinary operation.
fn stalled_ns(trial: &Trial, ordinary_ns: f64) -> f64 {
    let latencies = Stored::of(&trial.latency);
    let excess = |(ns, count): (f64, u64)| (ns - ordinary_ns) * count as f64;
    let limit_ns = ordinary_ns + STALL_NS as f64;
    let total: f64 = latencies
        .iter()
        .flat_map(|latencies| latencies.above(limit_ns))
        .map(excess)
        .sum();
    total.min(trial.span_ns as f64)
}
