//! Stops of a run: waits that a person notices, placed on the run's course.
//!
//! The parts of a rate count stalls per workload ("What a rate consists of"). A sentence about the storage needs them
//! over the whole run, also those that fell into deep queues and into ramps.

use std::collections::BTreeMap;

use cardmark_core::Trial;

use crate::course::clusters::STALL_NS;
use crate::estimate::percentile::merged_histogram;

/// Length from which a single stop is worth a sentence, nanoseconds: the longest busy time of a write that the SD
/// standard allows cards of up to 32 GB.
pub const NOTABLE_STOP_NS: u64 = 250_000_000;
/// Number of shorter stops from which they are worth a sentence.
pub const NOTABLE_STOPS_COUNT: u64 = 3;
/// Pause between two stops below which a person notices one, nanoseconds.
pub(crate) const JOINED_NS: u64 = 1_000_000_000;
/// Minimum ratio of the stop rates of reads and writes for a statement about one of them.
pub(crate) const ONE_SIDED_RATIO: f64 = 4.0;

/// Operations that stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// Reads, but not writes, or far more rarely.
    Reads,
    /// Writes, but not reads, or far more rarely.
    Writes,
    /// Both, or not known.
    All,
}

/// Stops of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stops {
    /// Operations that stop.
    pub on: Stopping,
    /// Number of stops in `observed_ns`; stops less than a second apart count as one.
    pub count: u64,
    /// The longest operation that is a stop, nanoseconds.
    pub longest_ns: u64,
    /// Time in which operations of this kind ran, nanoseconds.
    pub observed_ns: u64,
    /// From the first stop to the last, nanoseconds.
    pub within_ns: u64,
    /// From the first trial to the end of the last one, nanoseconds.
    pub run_ns: u64,
}

/// One stop.
#[derive(Clone, Copy)]
pub(crate) struct Stop {
    /// End, nanoseconds since the run's start.
    pub(crate) end_ns: u64,
    /// Excess over the ordinary latency, nanoseconds.
    pub(crate) length_ns: u64,
    /// Duration of its longest operation, nanoseconds.
    latency_ns: u64,
    kind: Kind,
}

impl Stop {
    pub(crate) fn begin_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.length_ns)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Mixed,
}

impl Kind {
    fn of(trial: &Trial) -> Self {
        match (trial.workload.reads(), trial.workload.writes()) {
            (true, true) => Self::Mixed,
            (true, false) => Self::Read,
            _ => Self::Write,
        }
    }
}

/// Returns the stops in these trials if they are worth a sentence: one of [`NOTABLE_STOP_NS`] or
/// [`NOTABLE_STOPS_COUNT`] of them.
///
/// A stop is an operation that took at least twice the median latency of its workload, and at least 100 ms more. The
/// slices of a trial hold the slowest operation of each tenth of a second, so that none is missed at queue depth 1;
/// in a deep queue all waiting operations belong to one stop. Before and after the timed span, in ramp and drain, only
/// stops of [`NOTABLE_STOP_NS`] count.
pub fn stops(trials: &[&Trial]) -> Option<Stops> {
    let ordinary_ns = ordinary(trials);
    let mut all = Vec::new();
    for trial in trials {
        let ordinary_ns = ordinary_ns.get(trial.workload.id.as_str());
        all.extend(ordinary_ns.into_iter().flat_map(|&ns| of_trial(trial, ns)));
    }
    all.sort_by_key(|stop| stop.end_ns);
    let all = joined(&all);
    let is_long = all.iter().any(|stop| stop.length_ns >= NOTABLE_STOP_NS);
    let longest_ns = all.iter().map(|stop| stop.latency_ns).max()?;
    let is_notable = is_long || all.len() as u64 >= NOTABLE_STOPS_COUNT;
    is_notable.then(|| summary(trials, &all, longest_ns))
}

/// Median latency of each workload, nanoseconds.
fn ordinary<'a>(trials: &[&'a Trial]) -> BTreeMap<&'a str, f64> {
    let mut groups = BTreeMap::<&str, Vec<&Trial>>::new();
    for trial in trials {
        groups.entry(&trial.workload.id).or_default().push(trial);
    }
    let median = |group: &Vec<&Trial>| merged_histogram(group)?.quantile(0.5);
    let medians = groups.iter();
    medians
        .filter_map(|(id, group)| Some((*id, median(group)?)))
        .collect()
}

/// Returns the stops in the timed span of a trial, by its own median latency.
pub(crate) fn stops_in(trial: &Trial) -> Vec<Stop> {
    let median = merged_histogram(&[trial]).and_then(|histogram| histogram.quantile(0.5));
    median.map_or_else(Vec::new, |ns| in_span(trial, ns).collect())
}

/// Returns the longest stop in the ramp of a trial, by the median latency of its span.
pub(crate) fn ramp_stop(trial: &Trial) -> Option<Stop> {
    let median = merged_histogram(&[trial])?.quantile(0.5)?;
    let untimed = trial.untimed?;
    stop_of(
        Kind::of(trial),
        median,
        trial.started_ns,
        untimed.ramp_longest_ns,
    )
}

/// Returns the stop of an operation with this latency, if it is one.
fn stop_of(kind: Kind, ordinary_ns: f64, end_ns: u64, latency_ns: u64) -> Option<Stop> {
    let least_ns = ordinary_ns + ordinary_ns.max(STALL_NS as f64);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a latency"
    )]
    let length_ns = latency_ns.saturating_sub(ordinary_ns as u64);
    (latency_ns as f64 >= least_ns).then_some(Stop {
        end_ns,
        length_ns,
        latency_ns,
        kind,
    })
}

fn in_span(trial: &Trial, ordinary_ns: f64) -> impl Iterator<Item = Stop> + '_ {
    let kind = Kind::of(trial);
    let ended_ns = trial.started_ns.saturating_add(trial.span_ns);
    (1_u64..)
        .zip(&trial.slices)
        .filter_map(move |(number, slice)| {
            let after_ns = number.saturating_mul(trial.slice_span_ns);
            let end_ns = trial.started_ns.saturating_add(after_ns).min(ended_ns);
            stop_of(kind, ordinary_ns, end_ns, slice.2)
        })
}

/// Returns the stops in ramp, timed span and drain.
fn of_trial(trial: &Trial, ordinary_ns: f64) -> Vec<Stop> {
    let untimed = trial.untimed.unwrap_or_default();
    let ended_ns = trial.started_ns.saturating_add(trial.span_ns);
    let drained_ns = ended_ns.saturating_add(untimed.drain_span_ns);
    let beside = [
        (trial.started_ns, untimed.ramp_longest_ns),
        (drained_ns, untimed.drain_longest_ns),
    ];
    let beside = beside.into_iter().filter_map(|(end_ns, latency_ns)| {
        stop_of(Kind::of(trial), ordinary_ns, end_ns, latency_ns)
            .filter(|stop| stop.length_ns >= NOTABLE_STOP_NS)
    });
    in_span(trial, ordinary_ns).chain(beside).collect()
}

/// Joins stops with less than [`JOINED_NS`] between them; each keeps the length of its longest part.
fn joined(stops: &[Stop]) -> Vec<Stop> {
    let mut all: Vec<Stop> = Vec::new();
    for stop in stops {
        match all.last_mut() {
            Some(last) if stop.begin_ns() < last.end_ns.saturating_add(JOINED_NS) => {
                last.end_ns = stop.end_ns;
                last.length_ns = last.length_ns.max(stop.length_ns);
                last.latency_ns = last.latency_ns.max(stop.latency_ns);
                if last.kind != stop.kind {
                    last.kind = Kind::Mixed;
                }
            }
            _ => all.push(*stop),
        }
    }
    all
}

fn summary(trials: &[&Trial], all: &[Stop], longest_ns: u64) -> Stops {
    let observed_ns = |kind: Kind| -> u64 {
        let of_kind = trials.iter().filter(|trial| Kind::of(trial) == kind);
        of_kind
            .map(|trial| busy_ns(trial))
            .fold(0, u64::saturating_add)
    };
    let count = |kind: Kind| all.iter().filter(|stop| stop.kind == kind).count() as u64;
    let per_ns = |kind: Kind| count(kind) as f64 / observed_ns(kind).max(1) as f64;
    let (reads, writes) = (per_ns(Kind::Read), per_ns(Kind::Write));
    let on = if writes > 0.0 && writes >= ONE_SIDED_RATIO * reads {
        Stopping::Writes
    } else if reads > 0.0 && reads >= ONE_SIDED_RATIO * writes {
        Stopping::Reads
    } else {
        Stopping::All
    };
    // Mixed workloads mostly write.
    let kinds: &[Kind] = match on {
        Stopping::Reads => &[Kind::Read],
        Stopping::Writes => &[Kind::Write, Kind::Mixed],
        Stopping::All => &[Kind::Read, Kind::Write, Kind::Mixed],
    };
    let ends = all.iter().map(|stop| stop.end_ns);
    let first = trials.iter().map(|trial| trial.started_ns).min();
    let last = trials
        .iter()
        .map(|trial| trial.started_ns.saturating_add(trial.span_ns));
    Stops {
        on,
        count: kinds.iter().map(|&kind| count(kind)).sum::<u64>().max(1),
        longest_ns,
        observed_ns: kinds
            .iter()
            .map(|&kind| observed_ns(kind))
            .fold(0, u64::saturating_add),
        within_ns: ends.clone().max().unwrap_or(0) - ends.min().unwrap_or(0),
        run_ns: last.max().unwrap_or(0).saturating_sub(first.unwrap_or(0)),
    }
}

/// Time of a trial in which its operations ran, nanoseconds.
fn busy_ns(trial: &Trial) -> u64 {
    let untimed = trial.untimed.unwrap_or_default();
    let beside_ns = untimed.ramp_span_ns.saturating_add(untimed.drain_span_ns);
    trial.span_ns.saturating_add(beside_ns)
}
