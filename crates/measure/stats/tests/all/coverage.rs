//! Coverage of intervals, by seeded simulation. The bands allow three standard errors of chance or more, and
//! seeds are fixed; a level of 0.90, or a variance that ignores the differences between trials, is far
//! outside.

use std::ops::RangeInclusive;

use cardmark_core::{IntervalKind, Rng, Trial};
use cardmark_stats::{Histogram, is_precise, percentile_interval, rate_interval};

use crate::support::{correlated, normal, share_of, trial, trial_of_slices, trials_at};

fn held(name: &str, count: u32, band: RangeInclusive<f64>, holds: impl FnMut(&mut Rng) -> bool) {
    let share = share_of(name, count, holds);
    assert!(band.contains(&share), "{name}: {share} outside {band:?}");
}

fn rate_holds(trials: &[Trial], truth: f64) -> bool {
    let estimate = rate_interval(&trials.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(estimate.kind, IntervalKind::BetweenRounds);
    let interval = estimate.operations_per_s;
    interval.low <= truth && truth <= interval.high
}

#[test]
fn the_interval_of_a_rate_holds_the_truth_at_each_number_of_trials() {
    for count in [3, 6, 12, 24] {
        held(
            &format!("rate of {count} trials"),
            4_000,
            0.945..=0.975,
            |rng| {
                let rates: Vec<_> = (0..count)
                    .map(|_| 1e6 * (1.0 + 0.05 * normal(rng)))
                    .collect();
                rate_holds(&trials_at(&rates), 1e6)
            },
        );
    }
}

/// The trial's duration is random and its amount follows: durations are the weights of trials.
#[test]
fn unequal_trials_do_not_break_the_interval() {
    held("rate of unequal trials", 4_000, 0.935..=0.975, |rng| {
        let mut trials = trials_at(&[1.0; 12]);
        for trial in &mut trials {
            let seconds = 0.5 + rng.unit();
            trial.span_ns = (seconds * 1e9) as u64;
            let operations = 1e6 * seconds * (1.0 + 0.05 * normal(rng));
            trial.streams[0].operations_count = operations as u64;
            trial.streams[0].bytes = 4096 * trial.streams[0].operations_count;
        }
        rate_holds(&trials, 1e6)
    });
}

/// ADR 0001: three looks at 96 % leave about 95 % for the final interval. In 50,000 runs each: 96.1 %, 94.3
/// %, 95.5 %; the worst, 94.1 %, is at a CV of 5 %.
#[test]
fn looking_at_6_12_and_24_trials_keeps_the_level() {
    for percent in [1.0, 4.0, 8.0] {
        held(
            &format!("three looks, CV {percent} %"),
            5_000,
            0.935..=0.97,
            |rng| {
                let rate = |rng: &mut Rng| 1e6 * (1.0 + 0.01 * percent * normal(rng));
                let rates: Vec<_> = (0..24).map(|_| rate(rng)).collect();
                let trials = trials_at(&rates);
                let last = [6, 12, 24]
                    .into_iter()
                    .find(|&look| is_precise(&trials[..look].iter().collect::<Vec<_>>(), 0.03));
                rate_holds(&trials[..last.unwrap_or(24)], 1e6)
            },
        );
    }
}

/// Returns trials of lognormal latencies around 1 ms whose logarithm is `0.5·z` with `z` from `draw`, all
/// shifted per trial by a normal effect of this size.
fn latency_trials(
    rng: &mut Rng,
    (trials, operations): (u32, usize),
    effect: f64,
    correlation: f64,
) -> Vec<Trial> {
    let one = |id| {
        let shift = effect * normal(rng);
        let mut histogram = Histogram::new();
        for z in correlated(rng, correlation, operations) {
            histogram.record((1e6 * (shift + 0.5 * z).exp()) as u64);
        }
        trial(id, operations as u64, histogram.to_sparse())
    };
    (0..trials).map(one).collect()
}

/// Tests the interval against the true percentile of a lognormal distribution with both variances.
fn percentile_holds(trials: &[Trial], q: f64, effect: f64) -> bool {
    let z = if q > 0.9 { 2.326_347_874 } else { 0.0 };
    let truth = 1e6 * (z * (0.25 + effect * effect).sqrt()).exp();
    let estimate = percentile_interval(&trials.iter().collect::<Vec<_>>(), q).unwrap();
    let (low, high) = estimate.ends_ns.unwrap();
    low <= truth && truth <= high
}

#[test]
fn percentiles_hold_the_truth() {
    let cases = [
        ("independent", 0.0, 0.0),
        ("trials differ by 2 %", 0.02, 0.0),
        ("trials differ by 5 %", 0.05, 0.0),
        ("correlated neighbours", 0.0, 0.6),
    ];
    for (name, effect, correlation) in cases {
        for (q, shape) in [
            (0.5, (6, 150)),
            (0.99, (6, 300)),
            (0.5, (12, 150)),
            (0.99, (12, 300)),
        ] {
            held(
                &format!("p{} of {shape:?}, {name}", 100.0 * q),
                1_000,
                0.93..=0.98,
                |rng| {
                    let trials = latency_trials(rng, shape, effect, correlation);
                    percentile_holds(&trials, q, effect)
                },
            );
        }
    }
}

#[test]
fn the_interval_within_one_trial_holds_the_rate_of_its_process() {
    for correlation in [0.0, 0.3, 0.6, 0.8] {
        held(
            &format!("within, {correlation}"),
            2_000,
            0.92..=0.99,
            |rng| {
                let operations: Vec<_> = correlated(rng, correlation, 200)
                    .into_iter()
                    .map(|z| 10_000.0 * (1.0 + 0.1 * z))
                    .collect();
                let trial = trial_of_slices(&operations);
                let estimate = rate_interval(&[&trial]).unwrap();
                assert_eq!(estimate.kind, IntervalKind::WithinTrial);
                let interval = estimate.operations_per_s;
                interval.low <= 100_000.0 && 100_000.0 <= interval.high
            },
        );
    }
}
