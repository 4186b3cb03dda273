//! False alarms and power of `history`: eight rates of a card in weekly runs, with 2 % common to all and 2 %
//! of their own, with correlated days, a season, and a new kernel.
//!
//! Usage: `trends [HISTORIES = 1000] [SEED]`

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number};
use cardmark_core::{Quantity, Rng};
use cardmark_stats::{Conclusion, HistoryRun, RateHistory, rate_trends};

/// Maximum share of histories with a rate that "fell" or "rose" without a real change.
const MOST_FALSE_RATIO: f64 = 0.065;
/// Minimum share of the falling rates that must be found.
const LEAST_FOUND_RATIO: f64 = 0.80;
const RATES: usize = 8;
const DAYS: [usize; 6] = [8, 12, 18, 24, 36, 52];

/// Model of the differences between days.
#[derive(Clone, Copy)]
struct Process {
    name: &'static str,
    /// Correlation of the common deviation between successive weeks.
    common: f64,
    /// Correlation of each rate's own deviation between successive weeks.
    own: f64,
    /// Half of the seasonal swing.
    season: f64,
    /// Rise in the middle of the period, with another kernel.
    step: f64,
    /// True if records contain the kernel.
    is_kernel_known: bool,
    /// True if the limit applies to it.
    is_goal: bool,
}

const PLAIN: Process = Process {
    name: "independent",
    common: 0.0,
    own: 0.0,
    season: 0.0,
    step: 0.0,
    is_kernel_known: false,
    is_goal: true,
};
const PROCESSES: [Process; 9] = [
    PLAIN,
    Process {
        name: "AR(1) 0.5",
        common: 0.5,
        ..PLAIN
    },
    Process {
        name: "AR(1) 0.8",
        common: 0.8,
        ..PLAIN
    },
    Process {
        name: "AR(1) 0.8, own too",
        common: 0.8,
        own: 0.8,
        ..PLAIN
    },
    Process {
        name: "AR(1) 0.9",
        common: 0.9,
        is_goal: false,
        ..PLAIN
    },
    Process {
        name: "season ±3 %",
        season: 0.03,
        ..PLAIN
    },
    Process {
        name: "kernel +4 %, recorded",
        step: 0.04,
        is_kernel_known: true,
        ..PLAIN
    },
    Process {
        name: "kernel +4 %, not recorded",
        step: 0.04,
        is_goal: false,
        ..PLAIN
    },
    Process {
        name: "AR 0.8, season, kernel",
        common: 0.8,
        season: 0.03,
        step: 0.04,
        is_kernel_known: true,
        is_goal: false,
        ..PLAIN
    },
];

/// Draws a number from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.unit()).cos()
}

/// Draws a stationary series with this correlation and a standard deviation of 1.
fn series(rng: &mut Rng, days: usize, correlation: f64) -> Vec<f64> {
    let mut value = normal(rng);
    let fresh = (1.0 - correlation * correlation).sqrt();
    (0..days)
        .map(|_| {
            let now = value;
            value = correlation * now + fresh * normal(rng);
            now
        })
        .collect()
}

impl Process {
    fn card(&self, rng: &mut Rng, days: usize, change: f64) -> Vec<RateHistory> {
        let common = series(rng, days, self.common);
        let phase = 2.0 * std::f64::consts::PI * rng.unit();
        let history = |number: usize, rng: &mut Rng| {
            let own = series(rng, days, self.own);
            let run = |week: usize| {
                let at_days = 20_000.3 + 7.0 * week as f64;
                let turn = 2.0 * std::f64::consts::PI * at_days / 365.25;
                let is_new = 2 * week >= days;
                let trend = (1.0 + change).ln() * week as f64 / (days - 1) as f64;
                let step = if is_new { (1.0 + self.step).ln() } else { 0.0 };
                let season = (1.0 + self.season).ln() * (turn + phase).sin();
                let log = 0.02 * (common[week] + own[week]) + season + step + trend;
                let kernel = if is_new { "6.12" } else { "6.6" };
                HistoryRun {
                    at_days,
                    value: 1_000.0 * log.exp(),
                    kernel: self.is_kernel_known.then(|| kernel.to_owned()),
                }
            };
            RateHistory {
                metric: format!("rate_{number}"),
                quantity: Quantity::OperationRate,
                runs: (0..days).map(run).collect(),
            }
        };
        (0..RATES).map(|number| history(number, rng)).collect()
    }

    /// Returns the share of histories with a rate that fell or rose, and the share of rates that fell.
    fn found(&self, count: u32, seed: u64, days: usize, change: f64) -> (f64, f64) {
        let mut rng = Rng::for_part(seed, self.name, days as u64);
        let (mut with_any, mut fallen) = (0_u32, 0_usize);
        for _ in 0..count {
            let trends = rate_trends(&self.card(&mut rng, days, change));
            let number = |outcome| trends.iter().filter(|t| t.outcome == Some(outcome)).count();
            let (lower, higher) = (number(Conclusion::Lower), number(Conclusion::Higher));
            with_any += u32::from(lower + higher > 0);
            fallen += lower;
        }
        let all = f64::from(count);
        (
            f64::from(with_any) / all,
            fallen as f64 / all / RATES as f64,
        )
    }
}

fn tables() -> Result<bool, String> {
    let (count, seed) = (number(0, 1000_u32)?, number(1, 1)?);
    let mut is_met = true;
    print!("histories with a rate that \"fell\" or \"rose\" without a real change:\n\n| days |");
    for process in PROCESSES {
        print!(" {} |", process.name);
    }
    println!("\n|---:|{}", "---:|".repeat(PROCESSES.len()));
    for days in DAYS {
        print!("| {days} |");
        for process in PROCESSES {
            let (any, _) = process.found(count, seed, days, 0.0);
            is_met &= !process.is_goal || any <= MOST_FALSE_RATIO;
            print!(" {:.1} % |", 100.0 * any);
        }
        println!();
    }
    println!("\nrates found to fall if all eight do:\n");
    println!(
        "| days | fall | independent | AR(1) 0.8 | AR(1) 0.8, own too |\n|---:|---:|---:|---:|---:|"
    );
    for days in [12, 24, 52] {
        for fall in [0.10, 0.20, 0.31] {
            print!("| {days} | {:.0} % |", 100.0 * fall);
            for process in [PROCESSES[0], PROCESSES[2], PROCESSES[3]] {
                let (_, rates) = process.found(count, seed, days, -fall);
                print!(" {:.1} % |", 100.0 * rates);
            }
            println!();
        }
    }
    let (_, found) = PROCESSES[2].found(count, seed, 52, -0.20);
    let is_found = found >= LEAST_FOUND_RATIO;
    let state = |is_met: bool| if is_met { "ok" } else { "MISSED" };
    println!(
        "\nat most 6.5 % false alarms where it is a goal: {}",
        state(is_met)
    );
    println!(
        "20 % over 52 weeks under AR(1) 0.8: {:.1} %: {}",
        100.0 * found,
        state(is_found)
    );
    Ok(is_met && is_found)
}

fn main() -> ExitCode {
    ended(tables())
}
