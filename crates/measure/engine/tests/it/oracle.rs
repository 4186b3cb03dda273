//! The expected content of a trial, calculated independently from the back end's log.

use cardmark_core::{Trial, Workload};
use cardmark_engine::OpKind;
use cardmark_stats::Histogram;

use crate::support::{ORIGIN_NS, TrialLog};

/// Checks that apply to every trial, complete or not.
pub(crate) fn assert_sums(trial: &Trial) {
    let [totals] = trial.streams[..] else {
        panic!("one stream")
    };
    assert_eq!(
        trial.slices.iter().map(|slice| slice.0).sum::<u64>(),
        totals.bytes
    );
    assert_eq!(
        trial.slices.iter().map(|slice| slice.1).sum::<u64>(),
        totals.operations_count
    );
    let latency = Histogram::from_sparse(&trial.latency).unwrap();
    assert_eq!(latency.count(), totals.operations_count);
    let slowest = trial.slices.iter().map(|slice| slice.2).max();
    assert_eq!(slowest.unwrap_or(0), trial.latency.max_ns);
    assert_eq!(
        totals.bytes,
        totals.operations_count * trial.workload.block_bytes
    );
    assert_eq!(totals.span_ns, trial.span_ns);
    assert!(totals.read_operations_count <= totals.operations_count);
    assert!(trial.slices.len() as u64 <= trial.span_ns / trial.slice_span_ns + 1);
}

/// Checks that apply to a complete trial.
pub(crate) fn assert_agrees(trial: &Trial, log: &TrialLog) {
    assert_sums(trial);
    let begun_ns = log.submitted[0].1;
    let times: Vec<u64> = log.reaped.iter().map(|&(_, at_ns)| at_ns).collect();
    let ramp = ramp_count(&trial.workload, begun_ns, &times);
    let started_ns = if ramp == 0 { begun_ns } else { times[ramp - 1] };
    let timed = timed_count(&trial.workload, started_ns, &times[ramp..]);
    let last = ramp + timed;
    assert_eq!(trial.started_ns, started_ns - ORIGIN_NS);
    assert_eq!(trial.span_ns, times[last - 1] - started_ns);
    assert_eq!(trial.operations_count(), timed as u64);

    let mut latency = Histogram::new();
    let mut reads_count = 0;
    for &(index, at_ns) in &log.reaped[ramp..last] {
        let (op, submitted_ns) = log.submitted[index];
        latency.record(at_ns - submitted_ns);
        reads_count += u64::from(op.kind == OpKind::Read);
    }
    assert_eq!(trial.latency, latency.to_sparse());
    assert_eq!(trial.streams[0].read_operations_count, reads_count);

    let block_bytes = trial.workload.block_bytes;
    let untimed_count = log.reaped.len() - timed;
    assert_eq!(
        log.reaped.len(),
        log.submitted.len(),
        "the run waited for all operations"
    );
    assert_eq!(trial.untimed_bytes, untimed_count as u64 * block_bytes);
    let longest_ns = |range: std::ops::Range<usize>| {
        let latency = |&(index, at_ns): &(usize, u64)| at_ns - log.submitted[index].1;
        log.reaped[range].iter().map(latency).max().unwrap_or(0)
    };
    let untimed = cardmark_core::Untimed {
        ramp_span_ns: started_ns - begun_ns,
        ramp_operations_count: ramp as u64,
        ramp_longest_ns: longest_ns(0..ramp),
        drain_span_ns: times[times.len() - 1] - times[last - 1],
        drain_longest_ns: longest_ns(last..log.reaped.len()),
    };
    assert_eq!(trial.untimed, Some(untimed));
    let writes_count = log
        .submitted
        .iter()
        .filter(|(op, _)| op.kind != OpKind::Read)
        .count();
    assert_eq!(trial.written_bytes, writes_count as u64 * block_bytes);
}

/// Returns the number of completions up to the end of the ramp: its span is over and the queue has turned
/// over once.
fn ramp_count(workload: &Workload, begun_ns: u64, times: &[u64]) -> usize {
    if workload.ramp_ns == 0 {
        return 0;
    }
    let most_count = workload
        .stop
        .cap_bytes
        .map_or(u64::MAX, |cap| (cap / 8).div_ceil(workload.block_bytes));
    let over = times.iter().enumerate().position(|(index, at_ns)| {
        let count = index as u64 + 1;
        let is_long = at_ns - begun_ns >= workload.ramp_ns || count >= most_count;
        is_long && count >= u64::from(workload.queue_depth)
    });
    over.map_or(times.len(), |index| index + 1)
}

/// Returns the number of completions from then to the end of the trial.
fn timed_count(workload: &Workload, started_ns: u64, times: &[u64]) -> usize {
    let stop = workload.stop;
    if stop.most_bytes.is_some() {
        let longest_ns = stop.longest_span_ns.unwrap_or(u64::MAX);
        let over = times
            .iter()
            .position(|at_ns| at_ns - started_ns >= longest_ns);
        return over.map_or(times.len(), |index| index + 1);
    }
    let cap_count = stop
        .cap_bytes
        .map_or(u64::MAX, |bytes| bytes / workload.block_bytes);
    let enough = |(index, at_ns): (usize, &u64)| {
        let count = index as u64 + 1;
        count >= cap_count
            || at_ns - started_ns >= stop.least_span_ns
                && count >= stop.least_operations_count
                && count.is_multiple_of(u64::from(workload.queue_depth))
    };
    times
        .iter()
        .enumerate()
        .position(enough)
        .expect("the trial came to its end")
        + 1
}
