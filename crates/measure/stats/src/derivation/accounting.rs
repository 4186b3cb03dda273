//! Contradictions within a record: figures of its trials that the measuring loop cannot produce together.
//!
//! All rules are exact. A limit follows from the loop, from the edges of the buckets, or from the clock; none is a
//! tolerance. See `docs/METHODOLOGY.md`, "Contradictions".

mod copies;
mod counts;
mod discrepancy;
mod drawn;
mod order;
mod times;
mod windows;

use cardmark_core::{METHOD, Record, Trial};

pub use discrepancy::{Discrepancy, DiscrepancyKind};

/// Rules about one trial. Each returns a sentence if the trial breaks it.
const OF_TRIALS: [fn(&Trial) -> Option<String>; 15] = [
    counts::histogram,
    counts::latency_sum,
    counts::slices,
    counts::slowest,
    counts::streams,
    counts::block_sizes,
    counts::written,
    counts::untimed,
    counts::counters,
    times::latencies,
    times::slices,
    times::waits,
    times::rates,
    times::end,
    windows::windows,
];

/// Result of the rules for a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// The contradictions, in the order of the trials.
    pub discrepancies: Vec<Discrepancy>,
    /// Number of trials whose slowest operations were compared with the random places that the seed draws.
    pub drawn_trials_count: u64,
}

/// Returns the contradictions within a record, in the order of its trials. Records of other methods follow other
/// rules; of them only what their method cannot hold is returned.
pub fn discrepancies(record: &Record) -> Vec<Discrepancy> {
    accounts(record).discrepancies
}

/// Returns the contradictions of [`discrepancies`], and how much was compared with the seed.
pub fn accounts(record: &Record) -> Accounts {
    match record.method {
        Some(METHOD) => {}
        Some(older) if older < METHOD => {
            return Accounts {
                discrepancies: too_new(record).into_iter().collect(),
                drawn_trials_count: 0,
            };
        }
        _ => return Accounts::default(),
    }
    let known = record.trials.iter().filter(|trial| drawn::is_known(trial));
    let broken = known.flat_map(|trial| {
        let sentences = OF_TRIALS.iter().filter_map(|rule| rule(trial));
        sentences.map(|what| Discrepancy::of(DiscrepancyKind::Accounting, trial, what))
    });
    let mut found: Vec<_> = broken.collect();
    found.extend(order::order(record));
    let (of_seed, drawn_trials_count) = drawn::drawn(record);
    found.extend(of_seed);
    found.extend(copies::copies(record));
    Accounts {
        discrepancies: found,
        drawn_trials_count,
    }
}

/// A record of an older method with work that its method did not record.
fn too_new(record: &Record) -> Option<Discrepancy> {
    let trial = record.trials.iter().find(|trial| trial.untimed.is_some())?;
    let what = "ramp and drain are recorded, which the method of the record does not do";
    let kind = DiscrepancyKind::Accounting;
    Some(Discrepancy::of(kind, trial, what.to_owned()))
}
