//! Trials that are copies of each other.

use std::collections::HashMap;

use cardmark_core::{OriginKind, Record, Trial};

use super::discrepancy::{Discrepancy, DiscrepancyKind};

/// Probability that an honest record has two equal histograms, at most, if latencies are independent.
const LEVEL: f64 = 1e-12;

/// Returns trials whose histogram is that of an earlier one. Simulated cards may repeat themselves; devices do not.
pub(super) fn copies(record: &Record) -> Vec<Discrepancy> {
    if record.origin.kind != OriginKind::Measured {
        return Vec::new();
    }
    let mut seen: HashMap<u64, Vec<&Trial>> = HashMap::new();
    let mut found = Vec::new();
    let pairs = (record.trials.len() as f64).powi(2) / 2.0;
    for trial in &record.trials {
        let alike = seen.entry(trial.latency.sum_ns).or_default();
        let same = alike.iter().find(|other| other.latency == trial.latency);
        if let Some(other) = same
            && pairs.ln() + log_chance(trial) < LEVEL.ln()
        {
            let what = format!(
                "its latencies are those of {} in round {}",
                other.workload.id,
                u64::from(other.round_index) + 1
            );
            found.push(Discrepancy::of(DiscrepancyKind::Copy, trial, what));
        }
        alike.push(trial);
    }
    found
}

/// Logarithm of the probability of these counts under the distribution that makes them most probable: no distribution
/// of independent latencies repeats them more often.
fn log_chance(trial: &Trial) -> f64 {
    let counts = || trial.latency.buckets.iter().map(|&(_, count)| count as f64);
    let all: f64 = counts().sum();
    let each = counts().filter(|&count| count > 0.0);
    let parts = each.map(|count| count * libm::log(count / all) - libm::lgamma(count + 1.0));
    libm::lgamma(all + 1.0) + parts.sum::<f64>()
}
