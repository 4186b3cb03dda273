//! Findings about a whole run that follow from its trials and from what was read back.

use cardmark_core::{
    Finding, FindingKind, Flush, Metric, Object, Order, Record, Severity, Suite, Trial, Workload,
};

use crate::derive::Derived;
use crate::interval::rate_point;

/// Share of the time for a workload from which on changing to it and away from it is told.
pub const TRANSITION_RATIO: f64 = 0.05;
/// Synced writes that reach this share of the rate of others are as fast.
pub const SYNC_EQUAL_RATIO: f64 = 0.9;
/// Unsynced writes a second below which the time of a flush, some tenths of a millisecond or more, is lost in that of
/// the writes.
pub const LEAST_SYNC_RATE: f64 = 200.0;
/// The slowest of the reference reads may be below the fastest by this share.
pub const REFERENCE_RATIO: f64 = 0.25;
/// Reads anywhere on the device that are slower by this share are told.
pub const SMALL_MAP_RATIO: f64 = 0.2;

/// Kinds of findings made here.
pub(crate) const KINDS: [FindingKind; 5] = [
    FindingKind::TransitionCost,
    FindingKind::SyncNotSlower,
    FindingKind::ReferenceMoved,
    FindingKind::SmallMap,
    FindingKind::DataLost,
];

/// What is to be told of a run whose figures are these.
pub(crate) fn noticed(record: &Record, suite: &Suite, derived: &[Derived<'_>]) -> Vec<Finding> {
    let transitions = derived.iter().filter_map(transition_cost);
    let whole_run = [
        sync_not_slower(derived),
        reference_moved(&record.trials, suite),
        small_map(derived),
        data_lost(record),
    ];
    transitions.chain(whole_run.into_iter().flatten()).collect()
}

fn transition_cost(derived: &Derived<'_>) -> Option<Finding> {
    let transition = derived.rate()?.parts.as_ref()?.transition?;
    (transition.time_ratio > TRANSITION_RATIO).then(|| {
        let detail = format!(
            "{:.0} % of the time for it went by before and after the timed spans, the longest wait was {:.0} ms",
            100.0 * transition.time_ratio,
            transition.longest_ns as f64 / 1e6
        );
        let finding = Finding::new(FindingKind::TransitionCost, Severity::Note, detail);
        finding.on(&derived.workload.id)
    })
}

/// The body of the rate of the workload of this kind: single random writes in the same span, or elsewhere.
fn body_of<'a>(
    derived: &'a [Derived<'_>],
    is_wanted: impl Fn(&Workload) -> bool,
) -> Option<(&'a str, u64, f64)> {
    let one = derived.iter().find(|one| {
        one.workload.queue_depth == 1
            && one.workload.order == Order::Random
            && one.workload.procedure.is_none()
            && !one.workload.rounds.once
            && is_wanted(one.workload)
    })?;
    let body = one.rate()?.parts.as_ref()?.body.value;
    Some((&one.workload.id, one.workload.span_bytes, body))
}

fn sync_not_slower(derived: &[Derived<'_>]) -> Option<Finding> {
    let writes = |flush| {
        move |workload: &Workload| workload.read_share_percent == 0 && workload.flush == flush
    };
    let (id, span_bytes, synced) = body_of(derived, writes(Flush::EachOperation))?;
    let (_, other_bytes, plain) = body_of(derived, writes(Flush::AfterTrial))?;
    let is_visible = plain > LEAST_SYNC_RATE;
    (span_bytes == other_bytes && is_visible && synced > SYNC_EQUAL_RATIO * plain).then(|| {
        let detail = format!(
            "synced writes are as fast as unsynced ones ({synced:.0} and {plain:.0} a second): the device may \
             confirm before storing"
        );
        Finding::new(FindingKind::SyncNotSlower, Severity::Warning, detail)
            .advise("do not trust it with data that must survive a loss of power, unless it has a battery or capacitors")
            .on(id)
    })
}

fn reference_moved(trials: &[Trial], suite: &Suite) -> Option<Finding> {
    let workload = suite.workloads.iter().find(|w| w.rounds.every_ns > 0)?;
    let of_reference = trials
        .iter()
        .filter(|trial| trial.workload.id == workload.id);
    let rates: Vec<f64> = of_reference
        .filter_map(|trial| Some(rate_point(&[trial])?.1))
        .collect();
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    (rates.len() > 1 && slowest < (1.0 - REFERENCE_RATIO) * fastest).then(|| {
        let detail = format!(
            "the same reads, done {} times, reached between {slowest:.0} and {fastest:.0} a second: the device, the \
             board or something else on it changed meanwhile",
            rates.len()
        );
        Finding::new(FindingKind::ReferenceMoved, Severity::Warning, detail)
            .advise("look for other programs, heat and weak power, then measure again")
    })
}

fn small_map(derived: &[Derived<'_>]) -> Option<Finding> {
    let reads = |object| {
        move |workload: &Workload| {
            workload.read_share_percent == 100 && workload.manner.object == object
        }
    };
    let (id, _, anywhere) = body_of(derived, reads(Object::Disk))?;
    let (_, _, near) = body_of(derived, reads(Object::Target))?;
    (anywhere < (1.0 - SMALL_MAP_RATIO) * near).then(|| {
        let detail = format!(
            "random reads anywhere on the device reach {anywhere:.0} a second, within the file {near:.0}: the card \
             knows by heart where only a part of its data lies"
        );
        Finding::new(FindingKind::SmallMap, Severity::Note, detail).on(id)
    })
}

fn data_lost(record: &Record) -> Option<Finding> {
    let read_back = record.read_back?;
    (read_back.lost_bytes > 0).then(|| {
        let detail = format!(
            "of {} bytes read back, {} do not hold what was written to them, the first at byte {}",
            read_back.read_bytes,
            read_back.lost_bytes,
            read_back.first_lost_bytes.unwrap_or(0)
        );
        Finding::new(FindingKind::DataLost, Severity::Error, detail)
            .advise("do not use this device; `cardmark verify` finds how much of it keeps data")
    })
}

impl Derived<'_> {
    /// The metric of the workload's rate.
    pub(crate) fn rate(&self) -> Option<&Metric> {
        self.metrics
            .iter()
            .find(|metric| metric.id == self.workload.id)
    }
}
