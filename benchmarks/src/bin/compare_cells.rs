//! False alarms and power of `compare` for all numbers of runs: eight rates whose logarithms differ
//! between runs by a stated spread, independently or with 80 % of the variance common to all.
//!
//! Usage: `compare_cells [COMPARISONS = 4000] [SEED]`

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, normal, number};
use cardmark_core::{Quantity, Rng};
use cardmark_stats::{
    Conclusion, Observation, Pair, StallPair, StallRun, compare, compare_with_stalls,
};

/// Maximum share of comparisons that may find a difference if there is none.
const MOST_FALSE_RATIO: f64 = 0.065;
/// Minimum share that must find a difference in the two cases of the goal.
const LEAST_FOUND_RATIO: f64 = 0.90;
/// Number of rates in a comparison.
const METRICS: usize = 8;
/// Numbers of runs on the two sides.
const CELLS: [(usize, usize); 16] = [
    (2, 2),
    (2, 3),
    (2, 4),
    (2, 5),
    (2, 10),
    (3, 3),
    (3, 4),
    (3, 5),
    (3, 10),
    (4, 4),
    (5, 5),
    (5, 10),
    (6, 6),
    (8, 8),
    (10, 2),
    (10, 10),
];
const SPREADS: [f64; 3] = [0.025, 0.05, 0.10];

/// Model of the differences between runs.
#[derive(Clone, Copy)]
struct Process {
    /// Standard deviation of the logarithm between runs, for each rate.
    spread: [f64; METRICS],
    /// Share of the variance that is common to all rates of a run.
    common_share: f64,
    /// Share of the runs that are slower by a factor of 0.35 to 0.8.
    slow_share: f64,
}

impl Process {
    fn even(spread: f64, common_share: f64) -> Self {
        Self {
            spread: [spread; METRICS],
            common_share,
            slow_share: 0.0,
        }
    }

    /// Draws the logarithms of one run.
    fn run(&self, rng: &mut Rng) -> [f64; METRICS] {
        let common = normal(rng) * self.common_share.sqrt();
        let own_share = (1.0 - self.common_share).sqrt();
        let slow = if rng.unit() < self.slow_share {
            (0.35 + 0.45 * rng.unit()).ln()
        } else {
            0.0
        };
        self.spread
            .map(|spread| slow + spread * (common + own_share * normal(rng)))
    }

    /// Draws a comparison whose other side is `ratio` times as fast.
    fn pairs(&self, rng: &mut Rng, (base, other): (usize, usize), ratio: f64) -> Vec<Pair> {
        let base: Vec<_> = (0..base).map(|_| self.run(rng)).collect();
        let other: Vec<_> = (0..other).map(|_| self.run(rng)).collect();
        let side = |runs: &[[f64; METRICS]], metric: usize, ratio: f64| {
            let run = |run: &[f64; METRICS]| Observation {
                value: 100.0 * ratio * run[metric].exp(),
                half_width_ratio: Some(0.01),
                error_ratio: Some(0.004),
            };
            vec![runs.iter().map(run).collect()]
        };
        (0..METRICS)
            .map(|metric| Pair {
                metric: format!("m{metric}"),
                quantity: Quantity::ByteRate,
                class: "",
                known: None,
                repeats: None,
                is_tested: true,
                base: side(&base, metric, 1.0),
                other: side(&other, metric, ratio),
                is_matched: false,
            })
            .collect()
    }
}

/// Returns the share of comparisons with any difference, and the share with a higher value and no lower one.
fn shares(
    count: u32,
    seed: u64,
    process: &Process,
    runs: (usize, usize),
    ratio: f64,
) -> (f64, f64) {
    let mut rng = Rng::for_part(seed, "cells", (runs.0 * 100 + runs.1) as u64);
    let (mut any, mut found) = (0_u32, 0_u32);
    for _ in 0..count {
        let differences = compare(&process.pairs(&mut rng, runs, ratio));
        let has = |outcome| differences.iter().any(|d| d.outcome == outcome);
        let (higher, lower) = (has(Conclusion::Higher), has(Conclusion::Lower));
        any += u32::from(higher || lower);
        found += u32::from(higher && !lower);
    }
    let share = |of: u32| f64::from(of) / f64::from(count);
    (share(any), share(found))
}

/// Twelve processes: three spreads, independent and common, without and with slow runs; then spreads that
/// differ between metrics.
fn false_alarms(count: u32, seed: u64) -> bool {
    let mut is_met = true;
    for slow_share in [0.0, 0.01, 0.03] {
        println!(
            "\nfalse alarms, {:.0} % of runs slower by 0.35-0.8:\n",
            100.0 * slow_share
        );
        print!("| runs |");
        for kind in ["independent", "80 % common"] {
            for spread in SPREADS {
                print!(" {:.1} % {kind} |", 100.0 * spread);
            }
        }
        println!(" uneven |\n|---|---:|---:|---:|---:|---:|---:|---:|");
        for cell in CELLS {
            print!("| {} v {} |", cell.0, cell.1);
            for common_share in [0.0, 0.8] {
                for spread in SPREADS {
                    let process = Process {
                        slow_share,
                        ..Process::even(spread, common_share)
                    };
                    let (any, _) = shares(count, seed, &process, cell, 1.0);
                    is_met &= slow_share > 0.0 || any <= MOST_FALSE_RATIO;
                    print!(" {:.1} % |", 100.0 * any);
                }
            }
            let uneven = Process {
                spread: [0.003, 0.003, 0.02, 0.02, 0.02, 0.05, 0.05, 0.10],
                common_share: 0.0,
                slow_share,
            };
            let (any, _) = shares(count, seed, &uneven, cell, 1.0);
            println!(" {:.1} % |", 100.0 * any);
        }
    }
    println!(
        "\nat most 6.5 % in each cell of even spreads without slow runs: {}",
        state(is_met)
    );
    is_met
}

fn state(is_met: bool) -> &'static str {
    if is_met { "ok" } else { "MISSED" }
}

fn power(count: u32, seed: u64) -> bool {
    println!("\nfaster in a metric or more, slower in none:\n");
    print!("| runs | difference |");
    for kind in ["independent", "80 % common"] {
        for spread in SPREADS {
            print!(" {:.1} % {kind} |", 100.0 * spread);
        }
    }
    println!("\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for runs in [2, 3, 5, 8] {
        for percent in [5, 10, 15, 20, 30] {
            print!("| {runs} v {runs} | {percent} % |");
            for common_share in [0.0, 0.8] {
                for spread in SPREADS {
                    let process = Process::even(spread, common_share);
                    let ratio = 1.0 + f64::from(percent) / 100.0;
                    let (_, found) = shares(count, seed, &process, (runs, runs), ratio);
                    print!(" {:.1} % |", 100.0 * found);
                }
            }
            println!();
        }
    }
    let (_, three) = shares(count, seed, &Process::even(0.05, 0.0), (3, 3), 1.15);
    let (_, five) = shares(count, seed, &Process::even(0.05, 0.8), (5, 5), 1.20);
    let is_met = three.min(five) >= LEAST_FOUND_RATIO;
    println!("\n3 v 3, 15 %, 5 % independent: {:.1} %", 100.0 * three);
    println!(
        "5 v 5, 20 %, 5 % common: {:.1} %: {}",
        100.0 * five,
        state(is_met)
    );
    is_met
}

/// Draws a count from a Poisson process (Knuth 1969), for small means.
fn poisson(rng: &mut Rng, mean: f64) -> u64 {
    let (least, mut product, mut count) = ((-mean).exp(), rng.unit(), 0);
    while product > least {
        product *= rng.unit();
        count += 1;
    }
    count
}

/// Stalls of one workload, alone in the correction: the case with the most false alarms.
fn stalls(count: u32, seed: u64) -> bool {
    println!(
        "\nstalls called more or fewer, mean per run 0.5, 3 and 15; then three times the rate:\n"
    );
    println!(
        "| runs | sd of ln rate | 0.5 | 3 | 15 | found, 3 v 9 |\n|---|---:|---:|---:|---:|---:|"
    );
    let mut is_met = true;
    let mut rng = Rng::for_part(seed, "stalls", 0);
    for runs in [2, 3, 5, 10] {
        for deviation in [0.0, 0.3, 0.7] {
            print!("| {runs} v {runs} | {deviation} |");
            for (mean, ratio) in [(0.5, 1.0), (3.0, 1.0), (15.0, 1.0), (3.0, 3.0)] {
                let mut found = 0_u32;
                for _ in 0..count {
                    let mut side = |mean: f64| {
                        let mut run = || StallRun {
                            seen_count: {
                                let factor = (deviation * normal(&mut rng)).exp();
                                poisson(&mut rng, mean * factor)
                            },
                            observed_ns: 20_000_000_000,
                        };
                        (0..runs).map(|_| run()).collect()
                    };
                    let pair = StallPair {
                        metric: "w".to_owned(),
                        base: side(mean),
                        other: side(mean * ratio),
                    };
                    let (_, stalls) = compare_with_stalls(&[], &[pair]);
                    found += u32::from(stalls[0].outcome != Conclusion::Undecided);
                }
                let share = f64::from(found) / f64::from(count);
                is_met &= ratio > 1.0 || share <= MOST_FALSE_RATIO;
                print!(" {:.1} % |", 100.0 * share);
            }
            println!();
        }
    }
    println!("\nat most 6.5 % without a difference: {}", state(is_met));
    is_met
}

fn tables() -> Result<bool, String> {
    let (count, seed) = (number(0, 4000_u32)?, number(1, 1)?);
    let held = false_alarms(count, seed);
    let found = power(count, seed);
    let stalls = stalls(count, seed);
    Ok(held && found && stalls)
}

fn main() -> ExitCode {
    ended(tables())
}
