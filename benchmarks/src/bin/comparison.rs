//! False alarms and power of `compare`: pairs of simulated cards with their models' stated variance, three
//! runs of `quick` per side, in virtual time. Between two cards of the same model no metric may be called
//! faster or slower. Between a model and one that is 10 % faster in everything, some metric must be called
//! faster and none slower.
//!
//! Usage: `comparison [PAIRS = 1000] [FIRST_SEED]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number, simulated_run};
use cardmark_core::{Quantity, Record, Suite};
use cardmark_sim::{Model, SimulatedCard};
use cardmark_stats::{Claim, Conclusion, claim_of, compare, pairs};

/// Number of runs per side.
const RUNS: u64 = 3;
/// Rate of the faster card relative to the other.
const FACTOR: f64 = 1.1;
/// Maximum share of pairs of the same model that may differ.
const MOST_FALSE_RATIO: f64 = 0.065;
/// Minimum share of the faster cards that must be found.
const LEAST_FOUND_RATIO: f64 = 0.90;

/// Texts of the models; those that are not stationary are omitted.
const TEXTS: [&str; 8] = [
    include_str!("../../../crates/measure/sim/models/a1-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/a2-64gb.toml"),
    include_str!("../../../crates/measure/sim/models/c10-16gb.toml"),
    include_str!("../../../crates/measure/sim/models/usb2-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/swaying-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/worn-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/lying-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/v30-64gb.toml"),
];

/// Results of the comparisons of one kind.
#[derive(Clone, Copy, Default)]
struct Tally {
    pairs_count: u32,
    /// Some metric was called faster or slower.
    any_count: u32,
    /// Some metric was called faster and none slower.
    found_count: u32,
    metrics_count: u32,
    metrics_faster_count: u32,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.pairs_count += other.pairs_count;
        self.any_count += other.any_count;
        self.found_count += other.found_count;
        self.metrics_count += other.metrics_count;
        self.metrics_faster_count += other.metrics_faster_count;
    }

    fn ratio(self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.pairs_count.max(1))
    }
}

fn side(model: &Model, suite: &Suite, first: u64) -> Result<Vec<Record>, String> {
    (first..first + RUNS)
        .map(|seed| simulated_run(model, suite, seed))
        .collect()
}

/// Compares two cards whose runs share no seed.
fn pair(base: &Model, other: &Model, suite: &Suite, first: u64) -> Result<Tally, String> {
    let base = side(base, suite, first)?;
    let other = side(other, suite, first + RUNS)?;
    let pairs = pairs(
        &base.iter().collect::<Vec<_>>(),
        &other.iter().collect::<Vec<_>>(),
    );
    if claim_of(&pairs) != Claim::Cards {
        return Err("three runs a side are no claim about cards".to_owned());
    }
    let differences = compare(&pairs);
    // A latency is better if it is lower.
    let is_better = |outcome: Conclusion, quantity: Quantity| match outcome {
        Conclusion::Higher => Some(quantity.is_rate()),
        Conclusion::Lower => Some(!quantity.is_rate()),
        _ => None,
    };
    let count = |better: bool| {
        let outcomes = differences.iter().map(|d| is_better(d.outcome, d.quantity));
        let found = outcomes.filter(|outcome| *outcome == Some(better));
        u32::try_from(found.count()).unwrap_or(u32::MAX)
    };
    let (faster, slower) = (count(true), count(false));
    Ok(Tally {
        pairs_count: 1,
        any_count: u32::from(faster + slower > 0),
        found_count: u32::from(faster > 0 && slower == 0),
        metrics_count: u32::try_from(differences.len()).unwrap_or(u32::MAX),
        metrics_faster_count: faster,
    })
}

/// Runs two threads, each with every second pair.
fn all_pairs(
    base: &Model,
    other: &Model,
    suite: &Suite,
    count: u64,
    first: u64,
) -> Result<Tally, String> {
    let half = |parity: u64| {
        let mut tally = Tally::default();
        for index in (0..count).filter(|index| index % 2 == parity) {
            tally.add(pair(base, other, suite, first + index * 2 * RUNS)?);
        }
        Ok::<_, String>(tally)
    };
    let (even, odd) = std::thread::scope(|scope| {
        let even = scope.spawn(|| half(0));
        let odd = half(1);
        (even.join(), odd)
    });
    let mut tally = even.map_err(|_| "a thread panicked".to_owned())??;
    tally.add(odd?);
    Ok(tally)
}

/// Returns the model with all durations divided by `FACTOR`; its variance and swaying stay.
fn faster(text: &str) -> Result<Model, String> {
    let lines: Vec<String> = text.lines().map(scaled).collect();
    Model::parse(&lines.join("\n")).map_err(|error| error.to_string())
}

/// Divides durations and multiplies rates in lines of the form `name = number`.
fn scaled(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for index in 2..words.len() {
        let name = words[index - 2].clone();
        let value = words[index].trim_end_matches(',').parse::<f64>();
        let (true, Ok(value)) = (words[index - 1] == "=", value) else {
            continue;
        };
        let is_span = name.ends_with("_us") || name.ends_with("_ms");
        let changed = if is_span && name != "correlation_ms" {
            value / FACTOR
        } else if name.ends_with("_mb_per_s") {
            value * FACTOR
        } else {
            continue;
        };
        let comma = if words[index].ends_with(',') { "," } else { "" };
        words[index] = format!("{changed:?}{comma}");
    }
    words.join(" ")
}

/// Verifies the rates of the faster model.
fn check_truth(base: &Model, other: &Model, suite: &Suite, seed: u64) -> Result<(), String> {
    let cards = [base, other].map(|model| SimulatedCard::new(model, seed));
    for workload in &suite.workloads {
        let rates = cards.each_ref().map(|card| card.truth(workload));
        let [Some(one), Some(two)] = rates else {
            continue;
        };
        let ratio = two.rate_bytes_per_s / one.rate_bytes_per_s;
        if (ratio / FACTOR - 1.0).abs() > 0.005 {
            return Err(format!(
                "{}: {} of the faster card is {ratio:.4} times as fast, not {FACTOR}",
                base.name(),
                workload.id
            ));
        }
    }
    Ok(())
}

fn print_row(name: &str, same: Tally, ten: Tally) {
    println!(
        "| {name} | {} | {} ({:.1} %) | {} | {} ({:.1} %) | {:.0} % |",
        same.pairs_count,
        same.any_count,
        100.0 * same.ratio(same.any_count),
        ten.pairs_count,
        ten.found_count,
        100.0 * ten.ratio(ten.found_count),
        100.0 * f64::from(ten.metrics_faster_count) / f64::from(ten.metrics_count.max(1)),
    );
}

fn table() -> Result<bool, String> {
    let (wanted, first) = (number(0, 1000_u64)?, number(1, 1)?);
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    let mut models = Vec::new();
    for text in TEXTS {
        let model = Model::parse(text).map_err(|error| error.to_string())?;
        if model.is_stationary() {
            let faster = faster(text)?;
            check_truth(&model, &faster, &suite, first)?;
            models.push((model, faster));
        }
    }
    let each = wanted.div_ceil(models.len() as u64);
    println!("| model | A/A pairs | differ | pairs 10 % apart | found | of their metrics |");
    println!("|---|---:|---:|---:|---:|---:|");
    let (mut same, mut ten) = (Tally::default(), Tally::default());
    for (index, (model, faster)) in (0_u64..).zip(&models) {
        // Each seed is used once.
        let begin = first + index * 4 * RUNS * each;
        let alike = all_pairs(model, model, &suite, each, begin)?;
        let apart = all_pairs(model, faster, &suite, each, begin + 2 * RUNS * each)?;
        print_row(model.name(), alike, apart);
        same.add(alike);
        ten.add(apart);
    }
    print_row("all", same, ten);
    println!();
    let goal = |name: &str, held: bool| {
        println!("{name}: {}", if held { "ok" } else { "MISSED" });
        held
    };
    let is_quiet = goal(
        "false alarms, at most 65 of 1,000",
        same.ratio(same.any_count) <= MOST_FALSE_RATIO,
    );
    let is_keen = goal(
        "10 % found, at least 900 of 1,000",
        ten.ratio(ten.found_count) >= LEAST_FOUND_RATIO,
    );
    Ok(is_quiet && is_keen)
}

fn main() -> ExitCode {
    ended(table())
}
