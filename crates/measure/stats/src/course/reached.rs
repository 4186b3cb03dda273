//! Findings about the trials of a record: whether operations reached the device, what a cache answered, and what
//! happened on the board meanwhile.

use cardmark_core::{
    Access, DeviceCounters, Finding, FindingKind, Flush, Record, Severity, Trial, Workload,
};

use crate::course::during::during;
use crate::estimate::countable::is_countable;

/// Below this ratio of bytes counted to bytes asked for, operations did not reach the device.
pub(crate) const REACHED_LOW_RATIO: f64 = 0.98;
/// Above it, something else used the device (or the filesystem wrote of its own).
pub(crate) const REACHED_HIGH_RATIO: f64 = 1.10;
/// Ratio of flush time after trials to their time above which it is reported.
pub(crate) const FLUSH_RATIO: f64 = 0.10;
/// Factor by which generating the payload must be faster than writing it.
pub(crate) const PAYLOAD_FACTOR: f64 = 10.0;

/// Kinds of findings created here, and in [`during`].
pub(crate) const KINDS: [FindingKind; 9] = [
    FindingKind::NotReached,
    FindingKind::SharedDevice,
    FindingKind::Unverified,
    FindingKind::CachedWrites,
    FindingKind::SlowPayload,
    FindingKind::Throttled,
    FindingKind::StolenTime,
    FindingKind::BusErrors,
    FindingKind::KernelMessages,
];

/// Returns the findings about these workloads, and one about the whole record.
pub(crate) fn reached<'a>(
    record: &Record,
    workloads: impl Iterator<Item = &'a Workload>,
) -> Vec<Finding> {
    let each = workloads.flat_map(|workload| notice(record, workload));
    each.chain(unverified(record)).collect()
}

/// Returns the findings about one workload of a record.
fn notice(record: &Record, workload: &Workload) -> Vec<Finding> {
    let trials: Vec<&Trial> = record
        .trials
        .iter()
        .filter(|trial| trial.workload.id == workload.id && is_countable(trial))
        .collect();
    if trials.is_empty() {
        return Vec::new();
    }
    let own = [
        reach(&trials, workload),
        cached(&trials),
        slow_payload(record, &trials, workload),
    ];
    own.into_iter()
        .flatten()
        .chain(during(record, &trials))
        .map(|finding| finding.on(workload.id.clone()))
        .collect()
}

/// Verifies that operations reached the device: bytes counted by the block layer over bytes requested.
fn reach(trials: &[&Trial], workload: &Workload) -> Option<Finding> {
    let counted: u64 = trials
        .iter()
        .filter_map(|trial| trial.device_counters)
        .map(both)
        .sum();
    let known = trials.iter().all(|trial| trial.device_counters.is_some());
    if !known {
        return None;
    }
    // The kernel reads ahead through the page cache; a database writes pages for rows, and a journal.
    let may_be_more = workload.manner.access == Access::Cached || workload.procedure.is_some();
    let asked: Option<u64> = trials.iter().map(|trial| asked_bytes(trial)).sum();
    let ratio = counted as f64 / asked? as f64;
    let percent = 100.0 * ratio;
    if ratio < REACHED_LOW_RATIO {
        let detail = format!("the device moved {percent:.0} % of the bytes asked for");
        return Some(Finding::new(
            FindingKind::NotReached,
            Severity::Warning,
            detail,
        ));
    }
    if ratio > REACHED_HIGH_RATIO && !may_be_more {
        // A filesystem may write its journal with every synced write: this is part of the price.
        let own = workload.flush == Flush::EachOperation;
        let severity = if own {
            Severity::Note
        } else {
            Severity::Warning
        };
        let detail = format!(
            "the device moved {percent:.0} % of the bytes asked for: something else, or the \
             filesystem itself, used it too"
        );
        return Some(Finding::new(FindingKind::SharedDevice, severity, detail));
    }
    None
}

/// Bytes that should reach the device, if known; through the page cache, each byte counts once.
fn asked_bytes(trial: &Trial) -> Option<u64> {
    let bytes = trial.bytes() + trial.untimed_bytes;
    match trial.workload.manner.access {
        Access::Direct => Some(bytes),
        Access::Cached => Some(bytes.min(trial.workload.span_bytes)),
        Access::Other(_) => None,
    }
}

fn both(counters: DeviceCounters) -> u64 {
    counters.read_bytes + counters.write_bytes
}

/// Returns one note for the whole record if counters are missing.
fn unverified(record: &Record) -> Option<Finding> {
    let unknown = |trial: &Trial| is_countable(trial) && trial.device_counters.is_none();
    record.trials.iter().any(unknown).then(|| {
        let detail = "no counters of the block layer: whether every operation reached the device \
                      is not known";
        Finding::new(FindingKind::Unverified, Severity::Note, detail)
    })
}

fn cached(trials: &[&Trial]) -> Option<Finding> {
    // A flush inside the span is part of the figure.
    if trials
        .iter()
        .any(|trial| trial.workload.flush == Flush::InSpan)
    {
        return None;
    }
    let flushed: u64 = trials.iter().filter_map(|trial| trial.flush_span_ns).sum();
    let span: u64 = trials.iter().map(|trial| trial.span_ns).sum();
    let ratio = flushed as f64 / span as f64;
    (ratio > FLUSH_RATIO).then(|| {
        let detail = format!(
            "making the data durable afterwards took another {:.0} % of the time: part of the \
             rate is a cache's",
            100.0 * ratio
        );
        Finding::new(FindingKind::CachedWrites, Severity::Warning, detail)
    })
}

fn slow_payload(record: &Record, trials: &[&Trial], workload: &Workload) -> Option<Finding> {
    let made = record.target.as_ref()?.payload_rate_bytes_per_s?;
    let bytes: u64 = trials.iter().map(|trial| trial.bytes()).sum();
    let span: u64 = trials.iter().map(|trial| trial.span_ns).sum();
    let written = bytes as f64 * 1e9 / span as f64;
    (workload.writes() && made < PAYLOAD_FACTOR * written).then(|| {
        let detail = format!(
            "making the payload is only {:.1} times as fast as writing it",
            made / written
        );
        Finding::new(FindingKind::SlowPayload, Severity::Warning, detail)
    })
}
