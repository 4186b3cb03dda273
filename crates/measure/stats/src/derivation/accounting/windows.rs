//! Windows of a trial: stretches of equal size, one after the other.

use cardmark_core::{StopReason, Trial, Windows};

/// Number of slowest windows that a record keeps.
const SLOWEST_KEPT: u64 = 16;

/// The number of windows of each size is that which its bytes fill, and they fit into the span.
pub(super) fn windows(trial: &Trial) -> Option<String> {
    let sizes = trial.workload.manner.windows_bytes();
    if !sizes.eq(trial.windows.iter().map(|windows| windows.window_bytes)) {
        return Some("its windows are not those of its workload".to_owned());
    }
    let wrong = trial
        .windows
        .iter()
        .find_map(|windows| contradiction(trial, windows))?;
    Some(format!("windows of {} bytes: {wrong}", windows_size(trial)))
}

fn windows_size(trial: &Trial) -> u64 {
    let wrong = trial
        .windows
        .iter()
        .find(|windows| contradiction(trial, windows).is_some());
    wrong.map_or(0, |windows| windows.window_bytes)
}

fn contradiction(trial: &Trial, windows: &Windows) -> Option<&'static str> {
    let block_bytes = trial.workload.block_bytes;
    let step = windows.window_bytes.div_ceil(block_bytes).max(1);
    let count = trial.operations_count() / step;
    if windows.windows_count != count {
        return Some("their number does not follow from the operations");
    }
    if windows.slowest.len() as u64 != count.min(SLOWEST_KEPT) {
        return Some("some of the slowest are missing");
    }
    let falling = |pair: &[cardmark_core::Window]| pair[0].span_ns >= pair[1].span_ns;
    if !windows.slowest.windows(2).all(falling) {
        return Some("they are not sorted by time");
    }
    let all_ns: u128 = windows
        .slowest
        .iter()
        .map(|window| u128::from(window.span_ns))
        .sum();
    if all_ns > u128::from(trial.span_ns) {
        return Some("the slowest take longer than the trial");
    }
    let last_ns = windows.slowest.last().map_or(0, |window| window.span_ns);
    let others = count.saturating_sub(SLOWEST_KEPT);
    let most_ns = all_ns + u128::from(others) * u128::from(last_ns);
    let is_covered = trial.operations_count().is_multiple_of(step);
    let flush_ns = match trial.workload.flush {
        cardmark_core::Flush::InSpan => trial.flush_span_ns.unwrap_or(0),
        _ => 0,
    };
    let needed_ns = u128::from(trial.span_ns.saturating_sub(flush_ns));
    if trial.stopped_by == StopReason::Goal && is_covered && count > 0 && most_ns < needed_ns {
        return Some("all together take less than the trial");
    }
    let mut starts: Vec<u64> = windows.slowest.iter().map(|one| one.start_bytes).collect();
    starts.sort_unstable();
    let begin_bytes = trial.workload.manner.start_bytes;
    let is_place = |start: &u64| {
        let bytes = start.checked_sub(begin_bytes);
        let size_bytes = step.saturating_mul(block_bytes);
        bytes.is_some_and(|bytes| bytes.is_multiple_of(size_bytes) && bytes / size_bytes < count)
    };
    let is_distinct = starts.windows(2).all(|pair| pair[0] < pair[1]);
    (!is_distinct || !starts.iter().all(is_place)).then_some("they are not stretches of the trial")
}
