//! Findings about a whole run that follow from its trials and its read-back.

use cardmark_core::{
    Finding, FindingKind, Flush, Metric, Object, Order, Record, Severity, Suite, Trial, Workload,
};

use crate::derivation::derive::Derived;
use crate::derivation::growing::growing_stalls;
use crate::estimate::interval::rate_point;
use crate::estimate::outlying;

/// Minimum share of a workload's time spent outside its timed spans for a finding.
pub const TRANSITION_RATIO: f64 = 0.05;
/// Minimum rate of synced writes, relative to unsynced ones, for a finding.
pub const SYNC_EQUAL_RATIO: f64 = 0.9;
/// Minimum rate of unsynced writes per second for a finding about synced ones. Below it, the time of a flush,
/// some tenths of a millisecond or more, is small compared with the time of a write.
pub const LEAST_SYNC_RATE: f64 = 200.0;
/// Minimum difference between the slowest and the fastest reference read, relative to the fastest, for a
/// finding.
pub const REFERENCE_RATIO: f64 = 0.25;
/// Minimum difference between reads anywhere on the device and within the file for a finding.
pub const SMALL_MAP_RATIO: f64 = 0.2;

/// Kinds of findings created here.
pub(crate) const KINDS: [FindingKind; 6] = [
    FindingKind::TransitionCost,
    FindingKind::OutlyingRound,
    FindingKind::SyncNotSlower,
    FindingKind::ReferenceMoved,
    FindingKind::SmallMap,
    FindingKind::DataLost,
];

/// Returns the findings of a run with these figures.
pub(crate) fn noticed(record: &Record, suite: &Suite, derived: &[Derived<'_>]) -> Vec<Finding> {
    let transitions = derived.iter().filter_map(transition_cost);
    let outliers = derived.iter().filter_map(outlying_round);
    let whole_run = [
        sync_not_slower(derived),
        reference_moved(&record.trials, suite),
        small_map(derived),
        growing_stalls(derived),
        data_lost(record),
    ];
    transitions
        .chain(outliers)
        .chain(whole_run.into_iter().flatten())
        .collect()
}

fn transition_cost(derived: &Derived<'_>) -> Option<Finding> {
    let transition = derived.rate()?.parts.as_ref()?.transition?;
    (transition.time_ratio > TRANSITION_RATIO).then(|| {
        let detail = format!(
            "{:.0} % of its time was outside the timed spans; the longest wait was {:.0} ms",
            100.0 * transition.time_ratio,
            transition.longest_ns as f64 / 1e6
        );
        let finding = Finding::new(FindingKind::TransitionCost, Severity::Note, detail);
        finding.on(&derived.workload.id)
    })
}

/// Returns a finding on the rounds of a workload that are outliers.
fn outlying_round(derived: &Derived<'_>) -> Option<Finding> {
    let rate = derived.rate()?;
    let rounds = rate
        .round_rates
        .as_ref()
        .filter(|rounds| !rounds.outlying_trials.is_empty())?;
    let outlying = derived
        .trials
        .iter()
        .filter(|trial| rounds.outlying_trials.contains(&trial.id));
    let mut said: Vec<String> = outlying
        .map(|trial| {
            let times = outlying::rate(trial, rate.quantity) / rounds.median;
            let number = trial.round_index.saturating_add(1);
            format!("round {number} had {times:.2} × the median")
        })
        .collect();
    let others = said.len().saturating_sub(3);
    said.truncate(3);
    if others > 0 {
        said.push(format!("{others} more"));
    }
    let detail = said.join(", ");
    let finding = Finding::new(FindingKind::OutlyingRound, Severity::Note, detail);
    Some(finding.on(&derived.workload.id))
}

/// Returns the body of the rate of a matching workload: single random operations.
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
            "synced writes are as fast as unsynced ones ({synced:.0} and {plain:.0} per second): the device may \
             confirm writes before it has stored them"
        );
        Finding::new(FindingKind::SyncNotSlower, Severity::Warning, detail)
            .advise("do not use it for data that must survive a power loss, unless it has a battery or capacitors")
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
            "{} repeats of the same reads reached {slowest:.0} to {fastest:.0} per second: the device, the \
             board or other load changed during the run",
            rates.len()
        );
        Finding::new(FindingKind::ReferenceMoved, Severity::Warning, detail)
            .advise("check for other programs, heat and weak power, then measure again")
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
            "random reads anywhere on the device reach {anywhere:.0} per second, within the file {near:.0}: the card \
             keeps only part of its address map in fast memory"
        );
        Finding::new(FindingKind::SmallMap, Severity::Note, detail).on(id)
    })
}

fn data_lost(record: &Record) -> Option<Finding> {
    let read_back = record.read_back?;
    (read_back.lost_bytes > 0).then(|| {
        let detail = format!(
            "{} bytes were read back, {} of them differ from the data written; the first is at byte {}",
            read_back.read_bytes,
            read_back.lost_bytes,
            read_back.first_lost_bytes.unwrap_or(0)
        );
        Finding::new(FindingKind::DataLost, Severity::Error, detail)
            .advise("do not use this device; `cardmark verify` measures how much of its capacity keeps data")
    })
}

impl Derived<'_> {
    /// Returns the metric of the workload's rate.
    pub(crate) fn rate(&self) -> Option<&Metric> {
        self.metrics
            .iter()
            .find(|metric| metric.id == self.workload.id)
    }
}
