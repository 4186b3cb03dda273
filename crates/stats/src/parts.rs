//! What a rate consists of: body, stalls, long run, durable rate, transition.

use cardmark_core::{
    Estimate, Flush, Quantity, RateParts, SECOND_NS, Slice, StallCount, Stalls, Transition, Trial,
    Workload,
};

use crate::clusters::{Cluster, STALL_NS, clusters};
use crate::interval::{Interval, Portion};
use crate::rate::between;
use crate::slices::full_slices;
use crate::{
    Histogram, LEAST_CLUSTER_NS, LEAST_TRIALS, merged_histogram, poisson_bounds, weighted_bounds,
    within,
};

/// Stalls up to this length are allowed for where none, or too few, were seen, nanoseconds. Real cards were seen to
/// stall for up to half a second in writes; a standard allows 250 to 750 ms. Longer ones that were seen are allowed for
/// as they were seen.
pub const LONGEST_STALL_NS: u64 = 2_000_000_000;

/// The parts of the rate of these whole trials of a workload. `None` without any.
pub(crate) fn rate_parts(
    workload: &Workload,
    whole: &[&Trial],
    quantity: Quantity,
) -> Option<RateParts> {
    let histogram = merged_histogram(whole)?;
    let is_alone = workload.in_flight_count() == 1;
    let ordinary_ns = histogram.quantile(0.5).filter(|_| is_alone);
    let clusters = clusters(whole, ordinary_ns);
    let amount = match quantity {
        Quantity::ByteRate => |cluster: &Cluster| cluster.bytes,
        _ => |cluster: &Cluster| cluster.operations,
    };
    let body = body(whole, &clusters, amount, ordinary_ns)?;
    let stalls = ordinary_ns.map(|ns| stalls(&histogram, &clusters, ns));
    let total: u64 = clusters.iter().map(amount).sum();
    let value = total as f64 / seconds(span_ns(&clusters) as f64);
    Some(RateParts {
        body,
        long_run: stalls.as_ref().and_then(|one| long_run(value, body, one)),
        stalls,
        durable_per_s: durable(workload, whole, total as f64),
        transition: transition(whole, &clusters),
    })
}

fn seconds(ns: f64) -> f64 {
    ns / SECOND_NS as f64
}

fn span_ns(clusters: &[Cluster]) -> u64 {
    clusters.iter().map(|cluster| cluster.span_ns).sum()
}

fn stalled_ns(clusters: &[Cluster]) -> f64 {
    clusters.iter().map(|cluster| cluster.stalled_ns).sum()
}

/// The rate between stalls: from the differences between clusters, else from the slices of a long trial.
fn body(
    whole: &[&Trial],
    clusters: &[Cluster],
    amount: fn(&Cluster) -> u64,
    ordinary_ns: Option<f64>,
) -> Option<Estimate> {
    let portion = |cluster: &Cluster| Portion {
        amount: amount(cluster) as f64,
        span_s: seconds(cluster.span_ns as f64 - cluster.stalled_ns),
    };
    let portions: Vec<Portion> = clusters.iter().map(portion).collect();
    let total: f64 = portions.iter().map(|portion| portion.amount).sum();
    let time_s: f64 = portions.iter().map(|portion| portion.span_s).sum();
    if time_s <= 0.0 {
        return None;
    }
    let value = total / time_s;
    let interval = if clusters.len() >= LEAST_TRIALS {
        Some(between(&portions))
    } else {
        width_between_stalls(whole, ordinary_ns).map(|width| Interval::around(value, value * width))
    };
    Some(Estimate {
        value,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    })
}

/// Half-width, relative, from the slices of one long trial in which nothing stalled.
fn width_between_stalls(whole: &[&Trial], ordinary_ns: Option<f64>) -> Option<f64> {
    let [trial] = whole else {
        return None;
    };
    let limit_ns = ordinary_ns.map_or(f64::INFINITY, |ns| ns + STALL_NS as f64);
    let slices = full_slices(trial);
    let mut is_stalled = vec![false; slices.len()];
    for (index, slice) in slices.iter().enumerate() {
        if slice.2 as f64 > limit_ns {
            let reach = usize::try_from(slice.2 / trial.slice_span_ns.max(1)).unwrap_or(index) + 1;
            is_stalled[index.saturating_sub(reach)..=index].fill(true);
        }
    }
    let quiet: Vec<Slice> = slices
        .iter()
        .zip(is_stalled)
        .filter(|(_, is_stalled)| !is_stalled)
        .map(|(slice, _)| *slice)
        .collect();
    within::width_of_batches(&quiet, trial.slice_span_ns, LEAST_CLUSTER_NS)
}

fn stalls(histogram: &Histogram, clusters: &[Cluster], ordinary_ns: f64) -> Stalls {
    let observed_ns = span_ns(clusters);
    let body_s = seconds(observed_ns as f64 - stalled_ns(clusters)).max(f64::MIN_POSITIVE);
    let count = |limit_ns: u64| {
        let seen_count = histogram.count_above(ordinary_ns + limit_ns as f64);
        let (low, high) = poisson_bounds(seen_count);
        let per_minute = |count: f64| 60.0 * count / seconds(observed_ns as f64);
        StallCount {
            seen_count,
            per_minute: Estimate {
                value: per_minute(seen_count as f64),
                low: Some(per_minute(low)),
                high: Some(per_minute(high)),
            },
        }
    };
    let limit_ns = ordinary_ns + STALL_NS as f64;
    let (mut sum, mut squares, mut longest) = (0.0, 0.0, 0.0_f64);
    for (ns, count) in histogram.above(limit_ns) {
        let span_s = seconds(ns - ordinary_ns);
        sum += span_s * count as f64;
        squares += span_s * span_s * count as f64;
        longest = longest.max(span_s);
    }
    let most = longest.max(seconds(LONGEST_STALL_NS as f64));
    let (low, high) = weighted_bounds(sum, squares, most);
    let share = |load_s: f64| load_s / (body_s + load_s);
    Stalls {
        observed_ns,
        over_100ms: count(STALL_NS),
        over_500ms: count(SECOND_NS / 2),
        over_1s: count(SECOND_NS),
        longest_ns: histogram.max_ns().filter(|&ns| ns as f64 > limit_ns),
        time_ratio: Estimate {
            value: share(sum),
            low: Some(share(low)),
            high: Some(share(high)),
        },
    }
}

/// The rate over a long time: that of the body in the share of time that is free of stalls.
fn long_run(value: f64, body: Estimate, stalls: &Stalls) -> Option<Estimate> {
    Some(Estimate {
        value,
        low: Some(body.low? * (1.0 - stalls.time_ratio.high?)),
        high: Some(body.high? * (1.0 - stalls.time_ratio.low?)),
    })
}

/// The rate with the flushes after the trials counted in.
fn durable(workload: &Workload, whole: &[&Trial], total: f64) -> Option<f64> {
    if !workload.writes() || workload.flush != Flush::AfterTrial {
        return None;
    }
    let with_flush = |trial: &&Trial| Some(trial.span_ns + trial.flush_span_ns?);
    let spans: Option<Vec<u64>> = whole.iter().map(with_flush).collect();
    let span_ns: u64 = spans?.iter().sum();
    (span_ns > 0).then(|| total / seconds(span_ns as f64))
}

/// What ramps, drains and flushes took beyond what their operations take.
fn transition(whole: &[&Trial], clusters: &[Cluster]) -> Option<Transition> {
    let operations: u64 = clusters.iter().map(|cluster| cluster.operations).sum();
    let each_ns = (span_ns(clusters) as f64 - stalled_ns(clusters)) / operations.max(1) as f64;
    let (mut more_ns, mut all_ns, mut longest_ns) = (0.0, 0.0, 0);
    for trial in whole {
        let untimed = trial.untimed?;
        let flush_ns = trial.flush_span_ns.unwrap_or(0);
        let beside_ns = untimed.ramp_span_ns + untimed.drain_span_ns;
        let expected_ns = trial.untimed_bytes as f64 / trial.workload.block_bytes as f64 * each_ns;
        more_ns += (beside_ns as f64 - expected_ns).max(0.0) + flush_ns as f64;
        all_ns += (trial.span_ns + beside_ns + flush_ns) as f64;
        longest_ns = longest_ns
            .max(flush_ns)
            .max(untimed.ramp_longest_ns)
            .max(untimed.drain_longest_ns);
    }
    (all_ns > 0.0).then(|| Transition {
        time_ratio: more_ns / all_ns,
        longest_ns,
    })
}
