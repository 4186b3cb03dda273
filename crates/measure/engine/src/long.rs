//! Long series of writes: sizes for a target, and workloads that follow a cliff.

use cardmark_core::{
    Finding, FindingKind, LeastWritten, Severity, Suite, TargetKind, Trial, Workload,
};
use cardmark_stats::refill_limits;

use crate::request::{PlanError, Request, TargetRoom};

/// Returns the suite with its long series fitted to the target: file size by the available space, minimum
/// amount by the capacity, and the requested limit.
pub(crate) fn adapted(
    mut suite: Suite,
    request: &Request,
    place: TargetRoom,
) -> Result<Suite, PlanError> {
    let settles = |workload: &Workload| workload.stop.settled_span_ns.is_some();
    let chooses_end = request.most_bytes.is_some() || request.until_settled;
    if chooses_end && !suite.workloads.iter().any(settles) {
        return Err(PlanError::NoLongWrite { suite: suite.name });
    }
    let has_least = |workload: &Workload| workload.stop.least_written.is_some();
    if suite.workloads.iter().any(has_least) {
        suite.file_bytes = file_bytes(&suite, place);
    }
    let capacity_bytes = match place.kind {
        TargetKind::Directory => place.disk_bytes.unwrap_or(0),
        _ => place.usable_bytes,
    };
    for workload in suite.workloads.iter_mut().filter(|w| settles(w)) {
        let stop = &mut workload.stop;
        stop.least_written = stop.least_written.map(|l| l.for_capacity(capacity_bytes));
        if request.most_bytes.is_some() {
            (stop.most_bytes, stop.longest_span_ns) = (request.most_bytes, None);
        }
        if request.until_settled {
            write_whole(workload, capacity_bytes);
        }
    }
    Ok(suite)
}

/// Lets a series write the whole blocks that the storage holds, or until its limit of time. If the capacity
/// is not known, the suite's limit of bytes stays.
fn write_whole(workload: &mut Workload, capacity_bytes: u64) {
    let block_bytes = workload.block_bytes.max(1);
    let stop = &mut workload.stop;
    let whole_bytes = capacity_bytes - capacity_bytes % block_bytes;
    if whole_bytes > 0 {
        stop.most_bytes = Some(whole_bytes);
    }
    let most_bytes = stop.most_bytes.unwrap_or(u64::MAX);
    let longest_ns = stop.longest_span_ns.unwrap_or(u64::MAX);
    stop.least_written = Some(LeastWritten::whole(capacity_bytes, most_bytes, longest_ns));
}

/// Size of the file that is written repeatedly: whole blocks, limited by the available space.
fn file_bytes(suite: &Suite, place: TargetRoom) -> u64 {
    let blocks = suite.workloads.iter().map(|workload| workload.block_bytes);
    let block_bytes = blocks.max().unwrap_or(1).max(1);
    let bytes = suite.file_bytes.min(place.usable_bytes);
    (bytes - bytes % block_bytes).max(block_bytes)
}

/// Returns the workload as it is run now: after a rest, limited to the size of the cache that was found and
/// to the rest of the bytes that the whole procedure may write.
///
/// # Errors
/// A note if there was no cliff before, or if no bytes are left.
pub(crate) fn behind_rest(
    mut workload: Workload,
    trials: &[Trial],
) -> Result<Workload, Box<Finding>> {
    if workload.stop.refill.is_none() {
        return Ok(workload);
    }
    let settles = |trial: &&Trial| trial.workload.stop.settled_span_ns.is_some();
    let before = trials.iter().rev().find(settles).filter(|t| t.is_whole());
    let limits = before.and_then(|before| Some((before, refill_limits(before)?)));
    let Some((before, (refill, cache_bytes))) = limits else {
        let detail = "no cliff was found before, so there is no cache to fill again";
        return Err(left_out(&workload, detail).into());
    };
    let spent_bytes = trials
        .iter()
        .map(|trial| trial.written_bytes)
        .fold(0, u64::saturating_add);
    let limit_bytes = before.workload.stop.most_bytes.unwrap_or(u64::MAX);
    let block_bytes = workload.block_bytes.max(1);
    let stop = &mut workload.stop;
    let most = stop.most_bytes.unwrap_or(u64::MAX).min(cache_bytes);
    let most = most.min(limit_bytes.saturating_sub(spent_bytes));
    let most = most - most % block_bytes;
    if most == 0 {
        let detail = "the limit of bytes to write was reached before";
        return Err(left_out(&workload, detail).into());
    }
    stop.most_bytes = Some(most);
    stop.refill = Some(refill);
    Ok(workload)
}

fn left_out(workload: &Workload, detail: &str) -> Finding {
    Finding::new(FindingKind::NotApplicable, Severity::Note, detail).on(&workload.id)
}
