//! Builders of trials and random series with known truth.

use cardmark_core::{
    Flush, LatencyHistogram, MIB, Manner, Order, Origin, OriginKind, Payload, Record, Rng,
    SECOND_NS, Slice, StopReason, StopRule, StreamTotals, Suite, TargetNeed, Trial, Workload,
    simulated_run_id,
};
use cardmark_stats::Histogram;

pub(crate) fn workload(id: &str, block_bytes: u64) -> Workload {
    Workload {
        id: id.to_owned(),
        read_share_percent: 0,
        order: Order::Random,
        block_bytes,
        queue_depth: 1,
        span_bytes: 64 * MIB,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: SECOND_NS,
            least_operations_count: 1,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        latency_metrics: true,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    }
}

pub(crate) fn suite(workloads: Vec<Workload>) -> Suite {
    Suite {
        name: "test".to_owned(),
        version: 1,
        digest: None,
        summary: String::new(),
        file_bytes: 64 * MIB,
        layout: String::new(),
        layout_trials_count: 1,
        looks: vec![6, 12, 24],
        goal_percent: 3.0,
        budget_ns: 60 * SECOND_NS,
        workloads,
        needs: TargetNeed::Any,
        passes: None,
        longest_ns: 0,
        read_back_bytes: 0,
        figures: Vec::new(),
        score: None,
        tiers: Vec::new(),
        deviations: Vec::new(),
    }
}

pub(crate) fn record(trials: Vec<Trial>) -> Record {
    let origin = Origin::of(OriginKind::Simulated);
    let id = simulated_run_id(&["stats"]);
    Record {
        trials,
        ..Record::new(id, origin)
    }
}

/// Returns a whole trial of one second with `operations_count` operations of 4 KiB and these latencies.
pub(crate) fn trial(id: u32, operations_count: u64, latency: LatencyHistogram) -> Trial {
    let workload = workload("rand_write_4k", 4096);
    let bytes = operations_count * workload.block_bytes;
    let span_ns = SECOND_NS;
    Trial {
        id,
        workload: workload.into(),
        round_index: id,
        layout: false,
        started_ns: u64::from(id) * 2 * SECOND_NS,
        span_ns,
        streams: vec![StreamTotals {
            bytes,
            operations_count,
            span_ns,
            ..Default::default()
        }],
        latency,
        slice_span_ns: SECOND_NS / 10,
        slices: Vec::new(),
        device_counters: None,
        untimed_bytes: 0,
        untimed: None,
        written_bytes: bytes,
        flush_span_ns: None,
        windows: Vec::new(),
        errors: Vec::new(),
        stopped_by: StopReason::Goal,
    }
}

/// Returns whole trials at these rates, operations per second.
pub(crate) fn trials_at(rates: &[f64]) -> Vec<Trial> {
    let latency = latencies([1_000_000]);
    let of = |(id, &rate): (usize, &f64)| trial(id as u32, rate.max(1.0) as u64, latency.clone());
    rates.iter().enumerate().map(of).collect()
}

/// Returns one whole trial whose slices of 100 ms contain these numbers of operations of 4 KiB.
pub(crate) fn trial_of_slices(operations: &[f64]) -> Trial {
    let slices: Vec<Slice> = operations
        .iter()
        .map(|&count| count.max(0.0) as u64)
        .map(|count| Slice(count * 4096, count, 0, None))
        .collect();
    let total = slices.iter().map(|slice| slice.1).sum();
    let mut trial = trial(0, total, latencies([1_000_000]));
    trial.span_ns = slices.len() as u64 * trial.slice_span_ns;
    trial.slices = slices;
    trial
}

pub(crate) fn latencies(all: impl IntoIterator<Item = u64>) -> LatencyHistogram {
    let mut histogram = Histogram::new();
    for ns in all {
        histogram.record(ns);
    }
    histogram.to_sparse()
}

/// Returns a standard normal number: Box and Muller's transform.
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Returns a stationary series with mean 0, deviation 1 and this correlation between neighbours.
pub(crate) fn correlated(rng: &mut Rng, correlation: f64, count: usize) -> Vec<f64> {
    let fresh = (1.0 - correlation * correlation).sqrt();
    let mut value = normal(rng);
    let mut next = || {
        let this = value;
        value = correlation * value + fresh * normal(rng);
        this
    };
    (0..count).map(|_| next()).collect()
}

/// Returns the share of `count` repetitions, each with its own stream, in which `holds`.
pub(crate) fn share_of(name: &str, count: u32, mut holds: impl FnMut(&mut Rng) -> bool) -> f64 {
    let hits = (0..count)
        .filter(|&index| holds(&mut Rng::for_part(20_261_121, name, u64::from(index))))
        .count();
    let share = hits as f64 / f64::from(count);
    println!("{name}: {:.2} % of {count}", 100.0 * share);
    share
}
