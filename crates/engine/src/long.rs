//! Long series of writes: what a plan makes of them on a target, and what follows a cliff.

use cardmark_core::{Finding, FindingKind, Severity, Suite, TargetKind, Trial, Workload};
use cardmark_stats::refill_limits;

use crate::plan::{Place, PlanError, Request};

/// The suite with its long series fitted to the target: its file as large as the room allows, its
/// least amount for the capacity, and the limit that was asked for.
pub(crate) fn adapted(
    mut suite: Suite,
    request: &Request,
    place: Place,
) -> Result<Suite, PlanError> {
    let settles = |workload: &Workload| workload.stop.settled_span_ns.is_some();
    if request.most_bytes.is_some() && !suite.workloads.iter().any(settles) {
        return Err(PlanError::NoByteLimit { suite: suite.name });
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
    }
    Ok(suite)
}

/// Size of the file that is written again and again: whole blocks, and no more than there is room.
fn file_bytes(suite: &Suite, place: Place) -> u64 {
    let blocks = suite.workloads.iter().map(|workload| workload.block_bytes);
    let block_bytes = blocks.max().unwrap_or(1).max(1);
    let bytes = suite.file_bytes.min(place.usable_bytes);
    (bytes - bytes % block_bytes).max(block_bytes)
}

/// The workload as it is run now: behind a rest, its limits are those of the cliff found before.
/// `None` where there was no cliff.
pub(crate) fn behind_rest(mut workload: Workload, trials: &[Trial]) -> Option<Workload> {
    if workload.stop.refill.is_none() {
        return Some(workload);
    }
    let settles = |trial: &&Trial| trial.workload.stop.settled_span_ns.is_some();
    let before = trials.iter().rev().find(settles).filter(|t| t.is_whole())?;
    let (refill, cache_bytes) = refill_limits(before)?;
    let block_bytes = workload.block_bytes.max(1);
    let stop = &mut workload.stop;
    let most = stop.most_bytes.unwrap_or(u64::MAX).min(cache_bytes);
    stop.most_bytes = Some((most - most % block_bytes).max(block_bytes));
    stop.refill = Some(refill);
    Some(workload)
}

/// What is noted of a workload behind a rest where nothing could be used up.
pub(crate) fn no_cliff_before(workload: &str) -> Finding {
    let detail = "no cliff was found before, so there is no cache to fill again";
    Finding::new(FindingKind::NotApplicable, Severity::Note, detail).on(workload)
}
