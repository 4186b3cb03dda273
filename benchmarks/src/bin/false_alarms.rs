//! False alarms of `compare`: random figures without a real difference, with a stated spread between runs,
//! between cards of a product, and of the change of products that are on both sides. The comparison knows the
//! published spread of random writes.
//!
//! Usage: `false_alarms [COMPARISONS = 4000] [SEED]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number};
use cardmark_core::{Quantity, Rng};
use cardmark_judge::known_spread;
use cardmark_stats::{Claim, Conclusion, Observation, Pair, claim_of, compare};

/// Maximum share of comparisons that may find a difference.
const MOST_FALSE_RATIO: f64 = 0.065;
/// Half-width of a run's own interval, relative to its figure.
const OWN_HALF_WIDTH: f64 = 0.01;
/// Numbers of metrics in a comparison.
const METRICS: [usize; 3] = [1, 8, 13];
/// Standard deviations of the logarithm.
const SPREADS: [f64; 4] = [0.025, 0.05, 0.10, 0.20];

/// A kind of comparison.
struct Case {
    name: &'static str,
    claim: Claim,
    /// Number of cards, or products, per side.
    cards_count: usize,
    /// Number of runs of each.
    runs_count: usize,
}

const CASES: [Case; 5] = [
    Case {
        name: "3 runs against 3",
        claim: Claim::Cards,
        cards_count: 1,
        runs_count: 3,
    },
    Case {
        name: "2 runs against 2",
        claim: Claim::Runs,
        cards_count: 1,
        runs_count: 2,
    },
    Case {
        name: "2 cards against 2",
        claim: Claim::Products,
        cards_count: 2,
        runs_count: 3,
    },
    Case {
        name: "3 cards against 3",
        claim: Claim::Products,
        cards_count: 3,
        runs_count: 3,
    },
    Case {
        name: "3 products on both sides",
        claim: Claim::Matched,
        cards_count: 3,
        runs_count: 1,
    },
];

/// Draws a number from the standard normal distribution (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform(rng)));
    radius * libm::cos(2.0 * std::f64::consts::PI * uniform(rng))
}

/// Draws a number from 0 to below 1.
fn uniform(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Case {
    /// Draws one metric whose logarithms differ only by this standard deviation.
    fn pair(&self, rng: &mut Rng, deviation: f64) -> Pair {
        let is_matched = self.claim == Claim::Matched;
        // For matched products the spread is that of the change; the products may differ by any amount.
        let levels: Vec<f64> = (0..self.cards_count).map(|_| normal(rng)).collect();
        let mut side = |of_change: f64| -> Vec<Vec<Observation>> {
            let card = |level: &f64| {
                let level = match self.claim {
                    Claim::Runs | Claim::Cards => 0.0,
                    Claim::Products => deviation * normal(rng),
                    Claim::Matched => level + of_change * deviation * normal(rng),
                };
                let between = match self.claim {
                    Claim::Runs | Claim::Cards => deviation,
                    Claim::Products | Claim::Matched => 0.0,
                };
                let run = |_| Observation {
                    value: 100.0 * libm::exp(level + between * normal(rng)),
                    half_width_ratio: Some(OWN_HALF_WIDTH),
                    error_ratio: Some(0.4 * OWN_HALF_WIDTH),
                };
                (0..self.runs_count).map(run).collect()
            };
            levels.iter().map(card).collect()
        };
        Pair {
            metric: "m".to_owned(),
            quantity: Quantity::ByteRate,
            class: "",
            known: known_spread("rand_write_4k", Quantity::OperationRate),
            repeats: None,
            is_tested: true,
            base: side(0.0),
            other: side(1.0),
            is_matched,
        }
    }

    /// Returns the share of comparisons that find a difference.
    fn false_ratio(
        &self,
        count: u32,
        metrics: usize,
        spread: f64,
        seed: u64,
    ) -> Result<f64, String> {
        let mut rng = Rng::new(seed);
        let mut found = 0_u32;
        for _ in 0..count {
            let pairs: Vec<Pair> = (0..metrics).map(|_| self.pair(&mut rng, spread)).collect();
            if claim_of(&pairs) != self.claim {
                return Err(format!("{}: another claim", self.name));
            }
            let is_found = compare(&pairs).iter().any(|difference| {
                matches!(difference.outcome, Conclusion::Higher | Conclusion::Lower)
            });
            found += u32::from(is_found);
        }
        Ok(f64::from(found) / f64::from(count))
    }
}

fn table() -> Result<bool, String> {
    let (count, seed) = (number(0, 4000_u32)?, number(1, 1)?);
    let mut is_met = true;
    print!("| what is compared | metrics |");
    for spread in SPREADS {
        print!(" {:.1} % |", 100.0 * spread);
    }
    println!("\n|---|---:|---:|---:|---:|---:|");
    for case in &CASES {
        for metrics in METRICS {
            print!("| {} | {metrics} |", case.name);
            for spread in SPREADS {
                let ratio = case.false_ratio(count, metrics, spread, seed)?;
                is_met &= ratio <= MOST_FALSE_RATIO;
                print!(" {:.1} % |", 100.0 * ratio);
            }
            println!();
        }
    }
    println!();
    let state = if is_met { "ok" } else { "MISSED" };
    println!("false alarms, at most 65 of 1,000 in each cell: {state}");
    Ok(is_met)
}

fn main() -> ExitCode {
    ended(table())
}
