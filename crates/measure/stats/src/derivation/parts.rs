//! Parts of a rate: body, stalls, long-run rate, durable rate, transition.

use cardmark_core::{
    Estimate, Flush, Quantity, RateParts, SECOND_NS, StallCount, Stalls, Transition, Trial,
    Workload,
};

use crate::course::clusters::{Cluster, STALL_NS, clusters};
use crate::course::rate_interval::between;
use crate::estimate::LEAST_TRIALS;
use crate::estimate::histogram::Histogram;
use crate::estimate::interval::{Portion, ratio, total_span};
use crate::estimate::percentile::merged_histogram;
use crate::estimate::poisson::{poisson_bounds, weighted_bounds};

/// Maximum length of a stall that is allowed for if none, or too few, were seen, nanoseconds. Real cards
/// stalled for up to half a second in writes; a standard allows 250 to 750 ms. Longer stalls are allowed for
/// at the length that was seen.
pub const LONGEST_STALL_NS: u64 = 2_000_000_000;

/// Returns the parts of the rate of these whole trials of a workload. `None` without trials. Stalls are also
/// counted in `alike`, whole trials of another workload with the same operations. `level` is that of the
/// body's range.
pub(crate) fn rate_parts(
    workload: &Workload,
    whole: &[&Trial],
    alike: &[&Trial],
    quantity: Quantity,
    level: f64,
) -> Option<RateParts> {
    let histogram = merged_histogram(whole)?;
    let is_alone = workload.in_flight_count() == 1;
    let ordinary_ns = histogram.quantile(0.5).filter(|_| is_alone);
    let clusters = clusters(whole, ordinary_ns);
    let amount = match quantity {
        Quantity::ByteRate => |cluster: &Cluster| cluster.bytes,
        _ => |cluster: &Cluster| cluster.operations,
    };
    let body = body(&clusters, amount, level)?;
    let stalls = ordinary_ns.and_then(|ns| stalls(whole, alike, ns));
    let total = clusters.iter().map(amount).fold(0, u64::saturating_add);
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
    clusters
        .iter()
        .map(|cluster| cluster.span_ns)
        .fold(0, u64::saturating_add)
}

fn stalled_ns(clusters: &[Cluster]) -> f64 {
    clusters.iter().map(|cluster| cluster.stalled_ns).sum()
}

/// Returns the rate between stalls, with a range from the differences between clusters if there are enough.
fn body(clusters: &[Cluster], amount: fn(&Cluster) -> u64, level: f64) -> Option<Estimate> {
    let portion = |cluster: &Cluster| Portion {
        amount: amount(cluster) as f64,
        span_s: seconds(cluster.span_ns as f64 - cluster.stalled_ns),
    };
    let portions: Vec<Portion> = clusters.iter().map(portion).collect();
    if total_span(&portions) <= 0.0 {
        return None;
    }
    let interval = (clusters.len() >= LEAST_TRIALS).then(|| between(&portions, level));
    Some(Estimate {
        value: ratio(&portions),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    })
}

fn stalls(whole: &[&Trial], alike: &[&Trial], ordinary_ns: f64) -> Option<Stalls> {
    let all: Vec<&Trial> = whole.iter().chain(alike).copied().collect();
    let histogram = merged_histogram(&all)?;
    let clusters = clusters(&all, Some(ordinary_ns));
    let observed_ns = span_ns(&clusters);
    let count = |limit_ns: u64| {
        let seen_count = histogram.count_above(ordinary_ns + limit_ns as f64);
        stall_count(seen_count, seconds(observed_ns as f64))
    };
    let limit_ns = ordinary_ns + STALL_NS as f64;
    let longest_ns = histogram.max_ns().filter(|&ns| ns as f64 > limit_ns);
    let body_s = seconds(observed_ns as f64 - stalled_ns(&clusters));
    Some(Stalls {
        observed_ns,
        over_100ms: count(STALL_NS),
        over_500ms: seen(count(SECOND_NS / 2)),
        over_1s: seen(count(SECOND_NS)),
        longest_ns,
        time_ratio: time_ratio(&histogram, ordinary_ns, body_s),
    })
}

fn seen(count: StallCount) -> Option<StallCount> {
    Some(count).filter(|count| count.seen_count > 0)
}

fn stall_count(seen_count: u64, observed_s: f64) -> StallCount {
    let (low, high) = poisson_bounds(seen_count);
    let per_minute = |count: f64| 60.0 * count / observed_s;
    StallCount {
        seen_count,
        per_minute: Estimate {
            value: per_minute(seen_count as f64),
            low: Some(per_minute(low)),
            high: Some(per_minute(high)),
        },
    }
}

/// Returns the share of time in stalls, given `body_s` seconds without stalls.
///
/// The bounds need the length of the longest stall that may still come. After `n` stalls, the next one is
/// longer than all of them with a probability of 1/(n + 1); the bounds allow for that share of
/// [`LONGEST_STALL_NS`], or for the longest stall seen if it is longer.
fn time_ratio(histogram: &Histogram, ordinary_ns: f64, body_s: f64) -> Estimate {
    let limit_ns = ordinary_ns + STALL_NS as f64;
    let (mut seen, mut sum, mut squares, mut longest) = (0, 0.0, 0.0, 0.0_f64);
    for (ns, count) in histogram.above(limit_ns) {
        let span_s = seconds(ns - ordinary_ns);
        seen = u64::saturating_add(seen, count);
        sum += span_s * count as f64;
        squares += span_s * span_s * count as f64;
        longest = longest.max(span_s);
    }
    let unseen = seconds(LONGEST_STALL_NS as f64) / (seen as f64 + 1.0);
    let (low, high) = weighted_bounds(sum, squares, longest.max(unseen));
    let share = |load_s: f64| load_s / (body_s + load_s).max(f64::MIN_POSITIVE);
    Estimate {
        value: share(sum),
        low: Some(share(low)),
        high: Some(share(high)),
    }
}

/// Returns the long-run rate: the body's rate times the share of time without stalls.
fn long_run(value: f64, body: Estimate, stalls: &Stalls) -> Option<Estimate> {
    Some(Estimate {
        value,
        low: Some(body.low? * (1.0 - stalls.time_ratio.high?)),
        high: Some(body.high? * (1.0 - stalls.time_ratio.low?)),
    })
}

/// Returns the rate including the flushes after the trials.
fn durable(workload: &Workload, whole: &[&Trial], total: f64) -> Option<f64> {
    if !workload.writes() || workload.flush != Flush::AfterTrial {
        return None;
    }
    let with_flush = |trial: &&Trial| Some(trial.span_ns.saturating_add(trial.flush_span_ns?));
    let spans: Option<Vec<u64>> = whole.iter().map(with_flush).collect();
    let span_ns = spans?.into_iter().fold(0, u64::saturating_add);
    (span_ns > 0).then(|| total / seconds(span_ns as f64))
}

/// Returns the time of ramps, drains and flushes beyond the time of their operations.
fn transition(whole: &[&Trial], clusters: &[Cluster]) -> Option<Transition> {
    let operations = clusters
        .iter()
        .map(|cluster| cluster.operations)
        .fold(0, u64::saturating_add);
    let each_ns = (span_ns(clusters) as f64 - stalled_ns(clusters)) / operations.max(1) as f64;
    let (mut more_ns, mut all_ns, mut longest_ns) = (0.0, 0.0, 0);
    for trial in whole {
        let untimed = trial.untimed?;
        let flush_ns = trial.flush_span_ns.unwrap_or(0);
        let beside_ns = untimed.ramp_span_ns.saturating_add(untimed.drain_span_ns);
        let expected_ns = trial.untimed_bytes as f64 / trial.workload.block_bytes as f64 * each_ns;
        more_ns += (beside_ns as f64 - expected_ns).max(0.0) + flush_ns as f64;
        all_ns += trial
            .span_ns
            .saturating_add(beside_ns)
            .saturating_add(flush_ns) as f64;
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
