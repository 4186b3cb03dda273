//! Coverage of the intervals of `quick`: how often they hold the truth, over many seeds of each
//! stationary model, in virtual time. Prints a Markdown table and fails where a cell lies outside
//! 93–97 %.
//!
//! Usage: `coverage [SEEDS = 4000] [FIRST_SEED] [MODEL…]`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints a table"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use cardmark_benchmarks::{number, simulate};
use cardmark_core::{Origin, OriginKind, Record, Suite, TargetKind, simulated_run_id};
use cardmark_engine::Place;
use cardmark_sim::{Model, SimulatedCard, models};

/// Share of intervals that must hold the truth, percent.
const BAND: std::ops::RangeInclusive<f64> = 93.0..=97.0;

/// How often an interval was there, and how often it held the truth.
#[derive(Clone, Copy, Default)]
struct Cell {
    intervals_count: u32,
    held_count: u32,
    below_count: u32,
    widths: f64,
}

impl Cell {
    fn add(&mut self, low: f64, value: f64, high: f64, truth: f64) {
        self.intervals_count += 1;
        self.held_count += u32::from((low..=high).contains(&truth));
        self.below_count += u32::from(high < truth);
        self.widths += (high - low) / 2.0 / value;
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.held_count) / f64::from(self.intervals_count)
    }
}

type Cells = BTreeMap<String, Cell>;

fn run_one(model: &Model, suite: &Suite, seed: u64, cells: &mut Cells) -> Result<(), String> {
    let card = SimulatedCard::new(model, seed);
    let place = Place::disk(TargetKind::Sim, card.capacity_bytes());
    let header = Record::new(
        simulated_run_id(&[model.name()]),
        Origin::of(OriginKind::Simulated),
    );
    let record = simulate(&card, suite, seed, place, header)?;
    for workload in &suite.workloads {
        let Some(truth) = card.truth(workload) else {
            continue;
        };
        let metric = |suffix: &str| record.metric(&format!("{}{suffix}", workload.id));
        let mut note = |suffix: &str, truth: Option<f64>| {
            let Some((metric, truth)) = metric(suffix).zip(truth) else {
                return;
            };
            if let (Some(low), Some(high)) = (metric.low, metric.high) {
                let cell = cells.entry(metric.id.clone()).or_default();
                cell.add(low, metric.value, high, truth);
            }
        };
        let is_bytes = workload.block_bytes >= 65_536;
        note(
            "",
            Some(if is_bytes {
                truth.rate_bytes_per_s
            } else {
                truth.operations_per_s
            }),
        );
        note("_p50", truth.p50_ns);
        note("_p99", truth.p99_ns);
    }
    Ok(())
}

fn print_model(name: &str, cells: &Cells) -> (u32, u32) {
    let (mut all, mut outside) = (0, 0);
    for (id, cell) in cells {
        all += 1;
        let is_outside = !BAND.contains(&cell.percent());
        outside += u32::from(is_outside);
        let count = f64::from(cell.intervals_count);
        println!(
            "| {name} | {id} | {} | {:.1} %{} | {:.1} % | {:.2} % |",
            cell.intervals_count,
            cell.percent(),
            if is_outside { " MISSED" } else { "" },
            100.0 * f64::from(cell.below_count) / count,
            100.0 * cell.widths / count,
        );
    }
    (all, outside)
}

fn main() -> ExitCode {
    match table() {
        Ok((all, 0)) => {
            println!("\n{all} cells, none outside 93–97 %");
            ExitCode::SUCCESS
        }
        Ok((all, outside)) => {
            println!("\n{all} cells, {outside} outside 93–97 %: MISSED");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn table() -> Result<(u32, u32), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (seeds, first) = (number(0, 4000)?, number(1, 1)?);
    let wanted = words.get(2..).unwrap_or_default();
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    println!("| model | metric | intervals | held the truth | ended below it | half-width |");
    println!("|---|---|---:|---:|---:|---:|");
    let mut sums = (0, 0);
    for entry in models() {
        let model = Model::named(entry.name).map_err(|error| error.to_string())?;
        let is_wanted = wanted.is_empty() || wanted.iter().any(|name| name == entry.name);
        if !model.is_stationary() || !is_wanted {
            continue;
        }
        let cells = all_seeds(&model, &suite, first, seeds)?;
        let (all, outside) = print_model(entry.name, &cells);
        sums = (sums.0 + all, sums.1 + outside);
    }
    Ok(sums)
}

/// Two threads, half of the seeds each.
fn all_seeds(model: &Model, suite: &Suite, first: u64, seeds: u64) -> Result<Cells, String> {
    let half = |from: u64, to: u64| {
        let mut cells = Cells::new();
        (from..to)
            .try_for_each(|seed| run_one(model, suite, seed, &mut cells))
            .map(|()| cells)
    };
    let middle = first + seeds / 2;
    let (low, high) = std::thread::scope(|scope| {
        let low = scope.spawn(|| half(first, middle));
        let high = half(middle, first + seeds);
        (low.join(), high)
    });
    let mut cells = low.map_err(|_| "a thread panicked".to_owned())??;
    for (id, other) in high? {
        let cell = cells.entry(id).or_default();
        cell.intervals_count += other.intervals_count;
        cell.held_count += other.held_count;
        cell.below_count += other.below_count;
        cell.widths += other.widths;
    }
    Ok(cells)
}
