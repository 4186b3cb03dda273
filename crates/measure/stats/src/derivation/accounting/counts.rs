//! Numbers of operations and bytes of a trial, in the several places that hold them.

use std::collections::HashMap;

use cardmark_core::{Start, StopReason, StreamTotals, Trial, Untimed};

use crate::estimate::buckets::bucket_of;
use crate::estimate::stored::Stored;

/// Size of a sector of the block layer, bytes.
const SECTOR_BYTES: u64 = 512;

/// Sum that cannot overflow, whatever a record holds.
fn sum(values: impl Iterator<Item = u64>) -> u128 {
    values.map(u128::from).sum()
}

fn operations(trial: &Trial) -> u128 {
    sum(trial.streams.iter().map(|stream| stream.operations_count))
}

/// The histogram is well-formed and holds every operation.
pub(super) fn histogram(trial: &Trial) -> Option<String> {
    let Some(histogram) = Stored::of(&trial.latency) else {
        return Some("its histogram is malformed".to_owned());
    };
    let (held, all) = (u128::from(histogram.count()), operations(trial));
    (held != all).then(|| format!("{held} latencies of {all} operations"))
}

/// The sum of the latencies lies between what the edges of their buckets allow.
pub(super) fn latency_sum(trial: &Trial) -> Option<String> {
    let histogram = Stored::of(&trial.latency)?;
    let total = trial.latency.sum_ns;
    // The recorder saturates.
    if histogram.is_empty() || total == u64::MAX {
        return None;
    }
    let (least, most) = histogram.sum_bounds();
    let is_outside = !(least..=most).contains(&u128::from(total));
    is_outside
        .then(|| format!("latencies add up to {total} ns, their buckets to {least} to {most} ns"))
}

/// The slices hold every operation and every byte.
pub(super) fn slices(trial: &Trial) -> Option<String> {
    let (held, all) = (
        sum(trial.slices.iter().map(|slice| slice.1)),
        operations(trial),
    );
    if held != all {
        return Some(format!("{held} operations in slices of {all}"));
    }
    let block_bytes = u128::from(trial.workload.block_bytes);
    let is_other =
        |&bytes: &u128, operations: u128| Some(bytes) != operations.checked_mul(block_bytes);
    let wrong = trial
        .slices
        .iter()
        .find(|slice| is_other(&u128::from(slice.0), u128::from(slice.1)))?;
    Some(format!(
        "{} operations of {block_bytes} bytes moved {} bytes in a slice",
        wrong.1, wrong.0
    ))
}

/// The slowest operations of the slices are in the histogram, and the slowest of all is among them.
pub(super) fn slowest(trial: &Trial) -> Option<String> {
    let mut left: HashMap<usize, u64> = HashMap::new();
    for &(index, count) in &trial.latency.buckets {
        left.insert(usize::try_from(index).ok()?, count);
    }
    let mut longest_ns = 0;
    for slice in &trial.slices {
        if slice.1 == 0 && (slice.2 > 0 || slice.3.is_some()) {
            return Some("a slice without operations has a slowest one".to_owned());
        }
        if slice.1 == 0 {
            continue;
        }
        longest_ns = longest_ns.max(slice.2);
        let is_within = (trial.latency.min_ns..=trial.latency.max_ns).contains(&slice.2);
        let count = left
            .get_mut(&bucket_of(slice.2))
            .filter(|count| **count > 0);
        match count {
            Some(count) if is_within => *count -= 1,
            _ => {
                let latency_ns = slice.2;
                return Some(format!(
                    "an operation of {latency_ns} ns is in a slice, but not in the histogram"
                ));
            }
        }
    }
    (longest_ns != trial.latency.max_ns).then(|| {
        format!(
            "the slowest operation took {} ns, in the slices {longest_ns} ns",
            trial.latency.max_ns
        )
    })
}

/// There is one total for each stream, with the share of reads that the workload has; a single stream takes the span.
pub(super) fn streams(trial: &Trial) -> Option<String> {
    let count = trial.workload.manner.streams_count.max(1) as usize;
    if trial.streams.len() != count {
        return Some(format!("{} streams of {count}", trial.streams.len()));
    }
    let is_single = count == 1;
    let is_right = |stream: &StreamTotals| match is_single {
        true => stream.span_ns == trial.span_ns,
        false => stream.span_ns <= trial.span_ns,
    };
    if !trial.streams.iter().all(is_right) {
        return Some("the span of a stream is not that of the trial".to_owned());
    }
    let is_wrong = |stream: &&StreamTotals| match trial.workload.read_share_percent {
        0 => stream.read_operations_count > 0,
        1..=99 => stream.read_operations_count > stream.operations_count,
        _ => stream.read_operations_count != stream.operations_count,
    };
    let wrong = trial.streams.iter().find(is_wrong)?;
    Some(format!(
        "{} of {} operations read",
        wrong.read_operations_count, wrong.operations_count
    ))
}

/// Every operation moved one block.
pub(super) fn block_sizes(trial: &Trial) -> Option<String> {
    let block_bytes = trial.workload.block_bytes;
    let wrong = trial
        .streams
        .iter()
        .find(|stream| stream.operations_count.checked_mul(block_bytes) != Some(stream.bytes))?;
    Some(format!(
        "{} operations of {block_bytes} bytes moved {} bytes",
        wrong.operations_count, wrong.bytes
    ))
}

/// Bytes of operations that were not timed, without the first block if it was read before.
fn untimed_bytes(trial: &Trial) -> u128 {
    let lead_bytes = match trial.workload.manner.lead_read {
        true => trial.workload.block_bytes,
        false => 0,
    };
    u128::from(trial.untimed_bytes.saturating_sub(lead_bytes))
}

/// A whole trial wrote what it timed and what it did not time.
pub(super) fn written(trial: &Trial) -> Option<String> {
    let workload = &trial.workload;
    if trial.stopped_by != StopReason::Goal {
        return None;
    }
    let moved = sum(trial.streams.iter().map(|stream| stream.bytes)) + untimed_bytes(trial);
    let written = u128::from(trial.written_bytes);
    // The files of such a trial are written before it too.
    let is_more = workload.manner.start == Start::Written || workload.procedure.is_some();
    let is_wrong = match workload.read_share_percent {
        0 if is_more => written < moved,
        0 => written != moved,
        1..=99 => written > moved && !is_more,
        _ => written > 0 && !is_more,
    };
    is_wrong.then(|| format!("{written} bytes written, {moved} bytes moved"))
}

/// Ramp and drain hold the operations that were not timed.
pub(super) fn untimed(trial: &Trial) -> Option<String> {
    let (workload, untimed) = (&trial.workload, trial.untimed?);
    if trial.stopped_by != StopReason::Goal {
        return None;
    }
    let block_bytes = u128::from(workload.block_bytes);
    let all_bytes = untimed_bytes(trial);
    let ramp = u128::from(untimed.ramp_operations_count);
    let drained = (all_bytes / block_bytes).checked_sub(ramp);
    let is_fitting = drained.is_some_and(|drained| drained < u128::from(workload.queue_depth));
    if !all_bytes.is_multiple_of(block_bytes) || !is_fitting {
        return Some(format!(
            "{all_bytes} bytes before and after the clock do not fit to {ramp} operations before it"
        ));
    }
    let is_idle = workload.ramp_ns == 0 && (ramp > 0 || untimed.ramp_span_ns > 0);
    if is_idle || untimed.ramp_longest_ns > untimed.ramp_span_ns {
        return Some("operations before the clock do not fit into their time".to_owned());
    }
    ramp_times(trial, untimed)
}

/// At queue depth 1 the operations of the ramp follow each other without a gap, and the ramp ends by its rule.
fn ramp_times(trial: &Trial, untimed: Untimed) -> Option<String> {
    let workload = &trial.workload;
    let is_alone = workload.queue_depth <= 1 && workload.manner.streams_count <= 1;
    if !is_alone || workload.ramp_ns == 0 {
        return None;
    }
    let (count, longest_ns) = (untimed.ramp_operations_count, untimed.ramp_longest_ns);
    let (span_ns, most_ns) = (
        untimed.ramp_span_ns,
        u128::from(count) * u128::from(longest_ns),
    );
    if u128::from(span_ns) > most_ns {
        return Some(format!(
            "{count} operations of at most {longest_ns} ns before the clock took {span_ns} ns"
        ));
    }
    let lead = u64::from(workload.manner.lead_read);
    let bytes = count
        .saturating_add(lead)
        .saturating_mul(workload.block_bytes);
    let is_exact = workload.stop.most_bytes.is_some();
    let is_over =
        is_exact || span_ns >= workload.ramp_ns || bytes >= workload.stop.most_ramp_bytes();
    (!is_over).then(|| {
        format!(
            "the clock started after {span_ns} ns, not after {} ns",
            workload.ramp_ns
        )
    })
}

/// The kernel counts sectors.
pub(super) fn counters(trial: &Trial) -> Option<String> {
    let counters = trial.device_counters?;
    let bytes = [counters.read_bytes, counters.write_bytes];
    let odd = bytes
        .into_iter()
        .find(|bytes| !bytes.is_multiple_of(SECTOR_BYTES))?;
    Some(format!(
        "the kernel counted {odd} bytes, which are no sectors"
    ))
}
