//! Times of a trial. At queue depth 1 the loop submits an operation at the time at which the one before was completed,
//! so that latencies follow each other without a gap; above, each place of the queue does so.

use cardmark_core::{Flush, StopReason, Trial};

/// Span of a slice at first, nanoseconds; it doubles when there are [`MOST_SLICES`].
const FIRST_SLICE_NS: u64 = 100_000_000;
/// Number of slices at which neighbours are merged.
const MOST_SLICES: u64 = 4096;

/// Number of operations in flight at once.
fn depth(trial: &Trial) -> u128 {
    u128::from(trial.workload.in_flight_count().max(1))
}

fn is_single(trial: &Trial) -> bool {
    trial.workload.manner.streams_count <= 1
}

fn is_ended(trial: &Trial) -> bool {
    trial.stopped_by == StopReason::Goal
}

/// Duration of the flush at the end of the span, nanoseconds.
fn flush_in_span_ns(trial: &Trial) -> u64 {
    match trial.workload.flush {
        Flush::InSpan => trial.flush_span_ns.unwrap_or(0),
        _ => 0,
    }
}

/// Time from the start of the span to its last completed operation, if the trial ended as intended, nanoseconds.
fn last_ns(trial: &Trial) -> Option<u64> {
    trial.span_ns.checked_sub(flush_in_span_ns(trial))
}

/// The sum of the latencies fills the span at queue depth 1, and lies between exact limits above.
pub(super) fn latencies(trial: &Trial) -> Option<String> {
    let total = u128::from(trial.latency.sum_ns);
    if trial.latency.sum_ns == u64::MAX {
        return None;
    }
    let Some(last_ns) = last_ns(trial) else {
        return Some("the flush took longer than the span that holds it".to_owned());
    };
    let (depth, last_ns) = (depth(trial), u128::from(last_ns));
    let most = depth * last_ns + (depth - 1) * before_span_ns(trial)?;
    if total > most {
        return Some(format!(
            "latencies add up to {total} ns, but {depth} in flight have only {most} ns"
        ));
    }
    let least = least_latencies_ns(trial, depth, last_ns)?;
    (total < least)
        .then(|| format!("latencies add up to {total} ns, but {depth} in flight need {least} ns"))
}

/// Longest time before the span that an operation in flight at its start can have, nanoseconds. `None` if it is not
/// recorded.
fn before_span_ns(trial: &Trial) -> Option<u128> {
    if !is_single(trial) || trial.workload.queue_depth <= 1 {
        return Some(0);
    }
    let ramp_ns = trial.untimed?.ramp_span_ns;
    Some(u128::from(ramp_ns.min(trial.latency.max_ns)))
}

/// Least sum of the latencies of a trial that kept its queue full to the end; `None` if it need not have.
fn least_latencies_ns(trial: &Trial, depth: u128, last_ns: u128) -> Option<u128> {
    if !is_single(trial) || !is_ended(trial) {
        return None;
    }
    if depth == 1 {
        return Some(last_ns);
    }
    // The queue empties before the end of exact work, and before a flush.
    if trial.workload.stop.most_bytes.is_some() || trial.workload.flush == Flush::InSpan {
        return None;
    }
    let left_ns = u128::from(trial.untimed?.drain_longest_ns).min(last_ns);
    Some((depth * last_ns).saturating_sub((depth - 1) * left_ns))
}

/// Slices cover the span up to the last operation.
pub(super) fn slices(trial: &Trial) -> Option<String> {
    if trial.slices.is_empty() {
        return None;
    }
    let count = trial.slices.len() as u64;
    let covers = |ns: u64| ns.checked_div(trial.slice_span_ns).map(|full| full + 1);
    let most = covers(trial.span_ns);
    let is_exact = is_ended(trial) && is_single(trial);
    let is_right = match is_exact {
        true => last_ns(trial).and_then(covers) == Some(count),
        false => most.is_some_and(|most| count <= most),
    };
    let merged = trial.slice_span_ns / FIRST_SLICE_NS;
    let is_span = trial.slice_span_ns.is_multiple_of(FIRST_SLICE_NS)
        && merged.is_power_of_two()
        && (merged == 1 || count >= MOST_SLICES / 2)
        // All but the last one are full: 4,096 full ones would have been merged.
        && count <= MOST_SLICES;
    (!is_right || !is_span).then(|| {
        format!(
            "{count} slices of {} ns in a span of {} ns",
            trial.slice_span_ns, trial.span_ns
        )
    })
}

/// An operation has not begun before the trial, and at queue depth 1 nothing is completed while it waits.
pub(super) fn waits(trial: &Trial) -> Option<String> {
    if !is_single(trial) {
        return None;
    }
    let is_alone = trial.workload.queue_depth <= 1;
    let ramp_ns = match (is_alone, trial.untimed) {
        (true, _) => 0,
        (false, Some(untimed)) => untimed.ramp_span_ns,
        (false, None) => return None,
    };
    let span_ns = trial.slice_span_ns;
    // Latest and earliest end of the operations in earlier slices.
    let (mut free_ns, mut earliest_ns) = (0, 0_u64);
    for (index, slice) in (0_u64..).zip(&trial.slices) {
        if slice.1 == 0 {
            continue;
        }
        let within_ns = (index + 1).saturating_mul(span_ns).saturating_sub(1);
        let ends_ns = within_ns.min(trial.span_ns);
        if slice.2 > ends_ns.saturating_add(ramp_ns) {
            let latency_ns = slice.2;
            return Some(format!(
                "an operation of {latency_ns} ns ended {ends_ns} ns after the start"
            ));
        }
        // It began when the operation before ended: at the end of that one's slice at the latest.
        let idle_ns = index.saturating_mul(span_ns).saturating_sub(free_ns);
        if is_alone && slice.2 < idle_ns {
            return Some("the loop waited while no operation was under way".to_owned());
        }
        // All operations before had ended when the slowest one of this slice began.
        let others_ns = (slice.1 - 1).saturating_mul(trial.latency.min_ns);
        earliest_ns = earliest_ns
            .saturating_add(slice.2)
            .saturating_add(others_ns);
        earliest_ns = earliest_ns.max(index.saturating_mul(span_ns));
        if is_alone && earliest_ns > ends_ns {
            return Some(format!(
                "operations that ended {ends_ns} ns after the start took {earliest_ns} ns"
            ));
        }
        free_ns = ends_ns;
    }
    None
}

/// No slice holds more operations than the fastest one allows.
pub(super) fn rates(trial: &Trial) -> Option<String> {
    let depth = depth(trial);
    let min_ns = u128::from(trial.latency.min_ns);
    let room_ns = depth * u128::from(trial.slice_span_ns);
    let slice = trial.slices.iter().find(|slice| {
        let whole = u128::from(slice.1).saturating_sub(depth);
        whole.saturating_mul(min_ns) > room_ns
    })?;
    Some(format!(
        "{} operations of at least {min_ns} ns in a slice of {} ns",
        slice.1, trial.slice_span_ns
    ))
}

/// The trial ended by the rule of its workload.
pub(super) fn end(trial: &Trial) -> Option<String> {
    let stop = trial.workload.stop;
    let by_rate = stop.settled_span_ns.is_some() || stop.refill.is_some();
    if !is_ended(trial) || !is_single(trial) || by_rate {
        return None;
    }
    let count = trial.operations_count();
    let block_bytes = trial.workload.block_bytes;
    let is_capped = stop.cap_bytes.is_some_and(|cap| count >= cap / block_bytes);
    let is_over = match stop.most_bytes {
        None => stop.has_least(trial.span_ns, count),
        Some(most) => {
            let lead = u64::from(trial.workload.manner.lead_read);
            let untimed = (trial.untimed_bytes / block_bytes).saturating_sub(lead);
            let is_late = stop
                .longest_span_ns
                .is_some_and(|longest| trial.span_ns >= longest);
            let all = count.saturating_add(untimed);
            all == most.div_ceil(block_bytes) || is_late && all <= most.div_ceil(block_bytes)
        }
    };
    (!is_over && !is_capped).then(|| {
        format!(
            "{count} operations in {} ns are not an end by its rule",
            trial.span_ns
        )
    })
}
