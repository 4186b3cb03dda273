//! What a plan is expected to cost, told before it is begun.

use cardmark_core::{MIB, Order, Passes, SECOND_NS, Workload};

use crate::Plan;

/// What a plan is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Bytes that will be written: where the rate decides when a trial ends, at most; where a trial
    /// writes for a time, as many as storage would at [`SUPPOSED_OPERATIONS_PER_S`].
    pub bytes: u64,
    /// Whether that is known exactly.
    pub is_exact: bool,
    /// How long it will take on a middling card, nanoseconds.
    pub span_ns: u64,
}

/// Random writes a second that are supposed of storage about which nothing is known: what the
/// fastest application class promises.
pub const SUPPOSED_OPERATIONS_PER_S: u64 = 2_000;

impl Plan {
    /// What all passes through a list cost, or one round.
    #[must_use]
    pub fn wear(&self) -> Wear {
        let writing = || self.workloads.iter().filter(|workload| workload.writes());
        let passes_count = match self.suite.passes {
            Some(Passes::Count(count) | Passes::UntilGood(count)) => u64::from(count),
            None => 1,
        };
        Wear {
            is_exact: writing().all(|workload| workload.exact_bytes().is_some()),
            bytes: passes_count * writing().map(bytes).sum::<u64>(),
            span_ns: passes_count * self.workloads.iter().map(expected_ns).sum::<u64>(),
        }
    }
}

fn bytes(workload: &Workload) -> u64 {
    let timed_bytes = || {
        let span_s = (workload.stop.least_span_ns + workload.ramp_ns).div_ceil(SECOND_NS);
        span_s * SUPPOSED_OPERATIONS_PER_S * workload.block_bytes
    };
    let most_bytes = workload.exact_bytes().or(workload.stop.most_bytes);
    most_bytes.unwrap_or_else(timed_bytes)
}

/// Bytes that a cache is supposed to take again behind a rest.
const GIB: u64 = 1024 * MIB;

/// What a trial is expected to take before any was run, nanoseconds. For exact work the speed of
/// a middling card is supposed: 20 MB/s one after the other, at random 0.4 ms to read and 1.5 ms
/// to write a block besides.
pub(crate) fn expected_ns(workload: &Workload) -> u64 {
    if let Some(least) = workload.stop.least_written {
        return least.span_ns.max(least.bytes * 50);
    }
    if workload.stop.refill.is_some() {
        return workload.manner.rest_ns + workload.stop.most_bytes.unwrap_or(0).min(GIB) * 50;
    }
    let Some(bytes) = workload.exact_bytes() else {
        let settled_span_ns = workload.stop.settled_span_ns.unwrap_or(0);
        return (workload.ramp_ns + workload.stop.least_span_ns).max(settled_span_ns);
    };
    let blocks = match workload.order {
        Order::Sequential | Order::Spread => 0,
        Order::Random | Order::Permuted => bytes / workload.block_bytes,
    };
    let each_ns = if workload.reads() { 400_000 } else { 1_500_000 };
    let work_ns = bytes * 50 + blocks * each_ns;
    let timed_ns = match workload.stop.longest_span_ns {
        None => work_ns,
        Some(longest) => work_ns.min(longest),
    };
    workload.manner.rest_ns + timed_ns
}
