//! Coverage of the prediction interval for the next run of `quick`, from three runs, and from one with the
//! published spread of the metric's class: simulated cards in virtual time.
//!
//! Usage: `again [PAIRS = 1000] [FIRST_SEED]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number, simulated_run};
use cardmark_catalog::suite;
use cardmark_core::{Record, Suite};
use cardmark_judge::known_spread;
use cardmark_sim::Model;
use cardmark_stats::{KnownSpread, again};

/// Required share of next runs within the range of three.
const GOAL: std::ops::RangeInclusive<f64> = 0.90..=0.98;
/// Stationary models.
const TEXTS: [&str; 7] = [
    include_str!("../../../crates/measure/sim/models/a1-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/a2-64gb.toml"),
    include_str!("../../../crates/measure/sim/models/c10-16gb.toml"),
    include_str!("../../../crates/measure/sim/models/usb2-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/swaying-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/worn-32gb.toml"),
    include_str!("../../../crates/measure/sim/models/lying-32gb.toml"),
];

/// Hits and trials of one prediction method.
#[derive(Clone, Copy, Default)]
struct Tally(u32, u32);

impl Tally {
    fn add(&mut self, values: &[f64], known: Option<KnownSpread>, next: f64) {
        if let Some(range) = again(values, known) {
            self.0 += u32::from((range.low..=range.high).contains(&next));
            self.1 += 1;
        }
    }

    fn share(self) -> f64 {
        f64::from(self.0) / f64::from(self.1.max(1))
    }
}

fn of_model(model: &Model, suite: &Suite, pairs: u64, first: u64) -> Result<[Tally; 2], String> {
    let mut tallies = [Tally::default(); 2];
    for pair in 0..pairs {
        let seeds = first + 4 * pair..first + 4 * (pair + 1);
        let runs: Vec<Record> = seeds
            .map(|seed| simulated_run(model, suite, seed))
            .collect::<Result<_, _>>()?;
        let [before @ .., last] = runs.as_slice() else {
            continue;
        };
        for metric in last.metrics.iter().filter(|m| m.quantity.is_rate()) {
            let earlier: Vec<f64> = before
                .iter()
                .filter_map(|run| Some(run.metric(&metric.id)?.value))
                .collect();
            tallies[0].add(&earlier, None, metric.value);
            tallies[1].add(
                &earlier[..1.min(earlier.len())],
                known_spread(&metric.id, metric.quantity),
                metric.value,
            );
        }
    }
    Ok(tallies)
}

fn table() -> Result<bool, String> {
    let (pairs, first) = (number(0, 1_000_u64)?, number(1, 1)?);
    let suite = suite("quick", None).map_err(|error| error.to_string())?;
    println!("| model | from three runs | from one and the published spread |\n|---|---:|---:|");
    let mut is_met = true;
    for text in TEXTS {
        let model = Model::parse(text).map_err(|error| error.to_string())?;
        let [own, published] = of_model(&model, &suite, pairs, first)?;
        is_met &= GOAL.contains(&own.share());
        println!(
            "| {} | {:.1} % | {:.1} % |",
            model.name(),
            100.0 * own.share(),
            100.0 * published.share()
        );
    }
    println!(
        "\n90 to 98 % from three runs: {}",
        if is_met { "ok" } else { "MISSED" }
    );
    Ok(is_met)
}

fn main() -> ExitCode {
    ended(table())
}
