//! What the suite `sustained` claims about courses of the rate drawn at random, compared with the writes
//! themselves: no claim goes beyond what was written, and the slowest minute is right. Prints Markdown and fails
//! if a run breaks a rule.
//!
//! Usage: `sustained_reach [SEEDS = 20] [FIRST_SEED = 1000]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::claim::Stretch;
use cardmark_benchmarks::drawn::{KINDS_COUNT, kind_name};
use cardmark_benchmarks::reach::{Amount, Outcome, outcome};
use cardmark_benchmarks::{ended, number};
use cardmark_core::Suite;

/// Counts over the runs of one kind.
#[derive(Default)]
struct Row {
    runs: u32,
    steady: u32,
    falling: u32,
    others: u32,
    whole: u32,
    faulty: u32,
    minutes: u32,
    minute_errors: Vec<f64>,
}

impl Row {
    fn add(&mut self, found: &Outcome) {
        self.runs += 1;
        self.whole += u32::from(found.is_whole);
        self.faulty += u32::from(!found.faults.is_empty());
        self.minutes += u32::from(found.minute_error.is_some());
        self.minute_errors.extend(found.minute_error.map(f64::abs));
        match &found.claim {
            Some(claim) if claim.is_falling => self.falling += 1,
            Some(claim) if matches!(claim.of, Stretch::Last(_)) => self.steady += 1,
            _ => self.others += 1,
        }
    }

    fn print(&mut self, name: &str) {
        self.minute_errors.sort_by(f64::total_cmp);
        let errors = &self.minute_errors;
        let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        let worst = errors.last().copied().unwrap_or(0.0);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {:.1} % ({:.1} %) | {} |",
            self.runs,
            self.steady,
            self.falling,
            self.others,
            self.whole,
            self.minutes,
            100.0 * median,
            100.0 * worst,
            self.faulty,
        );
    }
}

fn few(seed: u64) -> u64 {
    50_000_000 + seed % 20 * 150_000_000
}

fn table(suite: &Suite, name: &str, amount: impl Fn(u64) -> Amount) -> Result<bool, String> {
    let (seeds, first) = (number(0, 20)?, number(1, 1000)?);
    println!(
        "\n{name}\n\n| course | runs | steady | still falling | other | all written | with a minute | \
         its error, median (most) | faulty |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut faults = Vec::new();
    for kind in 0..KINDS_COUNT {
        let mut row = Row::default();
        for seed in first..first + seeds {
            let found = outcome(kind, seed, amount(seed), suite)?;
            row.add(&found);
            let of = |fault: &String| format!("{} {seed}: {fault}", kind_name(kind));
            faults.extend(found.faults.iter().map(of));
        }
        row.print(kind_name(kind));
    }
    for fault in &faults {
        println!("- {fault}");
    }
    Ok(faults.is_empty())
}

fn tables() -> Result<bool, String> {
    let suite = cardmark_catalog::suite("sustained", None).map_err(|error| error.to_string())?;
    let usual = table(&suite, "Usual amount", |_| Amount::Usual)?;
    let whole = table(&suite, "`--until-settled`", |_| Amount::Whole)?;
    let few = table(&suite, "`--bytes`, 50 MB to 2.9 GB", |seed| {
        Amount::Bytes(few(seed))
    })?;
    Ok(usual && whole && few)
}

fn main() -> ExitCode {
    ended(tables())
}
