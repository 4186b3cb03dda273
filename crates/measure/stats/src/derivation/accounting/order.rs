//! The trials of a record one after the other.

use std::collections::HashMap;

use cardmark_core::{Flush, Record, StopReason, Trial};

use super::discrepancy::{Discrepancy, DiscrepancyKind};

/// Returns gaps and repetitions in the numbers, rounds and times of the trials.
pub(super) fn order(record: &Record) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    let mut rounds: HashMap<&str, u32> = HashMap::new();
    let mut ended_ns = 0_i128;
    let mut add = |trial: &Trial, what: String| {
        found.push(Discrepancy::of(DiscrepancyKind::Order, trial, what));
    };
    for (index, trial) in (0_u32..).zip(&record.trials) {
        if trial.id != index {
            add(
                trial,
                format!("trial {} is where {index} belongs", trial.id),
            );
        }
        let before = rounds.insert(&trial.workload.id, trial.round_index);
        if before.is_some_and(|before| trial.round_index <= before) {
            add(trial, "the round does not follow the one before".to_owned());
        }
        let began_ns = began_ns(trial);
        if began_ns < ended_ns {
            let early_ns = ended_ns - began_ns;
            add(
                trial,
                format!("it began {early_ns} ns before the trial before it ended"),
            );
        }
        ended_ns = ended_ns.max(self::ended_ns(trial));
    }
    found.extend(too_little_written(record));
    found
}

/// Latest time at which the trial began, rest included, nanoseconds since the start of the run.
fn began_ns(trial: &Trial) -> i128 {
    let ramp_ns = trial.untimed.map_or(0, |untimed| untimed.ramp_span_ns);
    let rest_ns = match trial.stopped_by {
        StopReason::Goal => trial.workload.manner.rest_ns,
        _ => 0,
    };
    i128::from(trial.started_ns) - i128::from(ramp_ns) - i128::from(rest_ns)
}

/// Earliest time at which the trial ended, flush included, nanoseconds since the start of the run.
fn ended_ns(trial: &Trial) -> i128 {
    let drain_ns = trial.untimed.map_or(0, |untimed| untimed.drain_span_ns);
    let flush_ns = match trial.workload.flush {
        Flush::AfterTrial => trial.flush_span_ns.unwrap_or(0),
        _ => 0,
    };
    let parts = [trial.started_ns, trial.span_ns, drain_ns, flush_ns];
    parts.into_iter().map(i128::from).sum()
}

fn too_little_written(record: &Record) -> Option<Discrepancy> {
    let trials = record.trials.iter();
    let of_trials: u128 = trials.map(|trial| u128::from(trial.written_bytes)).sum();
    (u128::from(record.written_bytes) < of_trials).then(|| {
        let what = format!(
            "the run wrote {} bytes, its trials {of_trials}",
            record.written_bytes
        );
        Discrepancy::of_record(DiscrepancyKind::Accounting, what)
    })
}
