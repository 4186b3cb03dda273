//! Fills a store with runs: `store FILE [RUNS = 10000]`. Simulates some runs of `quick`, completes them to
//! the extent of a real run's record, and repeats them with other figures, products, cards, boards and times.
//! The result is the same each time.

#![allow(clippy::print_stderr, reason = "a program for people")]

use std::path::Path;
use std::process::ExitCode;

use cardmark_benchmarks::simulate;
use cardmark_core::{
    Board, Context, Metric, Origin, OriginKind, Record, Rng, Sample, Suite, SuiteRef, Target,
    TargetKind, simulated_run_id,
};
use cardmark_engine::TargetRoom;
use cardmark_sim::{Model, SimulatedCard};
use cardmark_store::Store;

/// Models, and the number of simulated runs of each.
const MODELS: [&str; 6] = [
    "a1-32gb",
    "a2-64gb",
    "c10-16gb",
    "usb2-32gb",
    "swaying-32gb",
    "worn-32gb",
];
const SEEDS: u64 = 2;
/// Numbers of products, cards of each, and boards they were measured on.
const PRODUCTS: usize = 200;
const CARDS: usize = 2;
const BOARDS: [&str; 4] = [
    "Raspberry Pi 3 Model B",
    "Raspberry Pi 4 Model B",
    "Raspberry Pi 5",
    "Raspberry Pi Zero 2 W",
];

fn run(name: &str, suite: &Suite, seed: u64) -> Result<Record, String> {
    let model = Model::named(name).map_err(|error| error.to_string())?;
    let card = SimulatedCard::new(&model, seed);
    let place = TargetRoom::disk(TargetKind::Device, card.capacity_bytes());
    let id = simulated_run_id(&[name, &seed.to_string()]);
    let mut header = Record::new(id, Origin::of(OriginKind::Measured));
    header.suite = Some(SuiteRef {
        name: suite.name.clone(),
        version: suite.version,
        digest: None,
        only: Vec::new(),
        tier: None,
    });
    header.target = Some(Target::of(TargetKind::Device));
    header.devices = vec![card.device()];
    header.host = Some(card.host());
    simulate(&card, suite, seed, place, header)
}

/// Returns another run: of another card, on another board, with realistic differences in the figures.
fn varied(base: &Record, index: usize, rng: &mut Rng) -> Record {
    let mut record = base.clone();
    record.id = simulated_run_id(&["store", &index.to_string()]);
    let (day, second) = (index / 400, index % 400 * 200);
    record.started_at = Some(format!(
        "2026-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        1 + day / 28 % 12,
        1 + day % 28,
        second / 3600,
        second / 60 % 60,
        second % 60
    ));
    let product = index % PRODUCTS;
    let card = index / PRODUCTS % CARDS;
    record.board = Some(Board {
        model: Some(BOARDS[index / PRODUCTS / CARDS % BOARDS.len()].to_owned()),
        ..Board::default()
    });
    for device in &mut record.devices {
        device.sample = Some(Sample::of_card(format!("{:06x}", product * CARDS + card)));
    }
    let factor = 0.5 + product as f64 / PRODUCTS as f64 + 0.1 * rng.unit();
    for metric in &mut record.metrics {
        scale(metric, factor * (1.0 + 0.02 * rng.unit()));
    }
    // So that it is no copy of the others.
    if let Some(trial) = record.trials.first_mut() {
        trial.span_ns += index as u64;
    }
    record
        .labels
        .insert("product".to_owned(), format!("Product {product}"));
    record.context = Some(Context::of(&record));
    record
}

fn scale(metric: &mut Metric, factor: f64) {
    metric.value *= factor;
    for figure in [
        &mut metric.low,
        &mut metric.high,
        &mut metric.rate_bytes_per_s,
        &mut metric.rate_low_bytes_per_s,
        &mut metric.rate_high_bytes_per_s,
        &mut metric.operations_per_s,
        &mut metric.operations_low_per_s,
        &mut metric.operations_high_per_s,
    ] {
        *figure = figure.map(|value| value * factor);
    }
}

fn fill() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let file = words.first().ok_or("usage: store FILE [RUNS]")?;
    let runs: usize = words
        .get(1)
        .map_or(Ok(10_000), |word| word.parse().map_err(|_| word.clone()))?;
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    let mut bases = Vec::new();
    for name in MODELS {
        for seed in 1..=SEEDS {
            bases.push(run(name, &suite, seed)?);
        }
    }
    let mut store = Store::open(Path::new(file)).map_err(|error| error.to_string())?;
    let mut rng = Rng::new(1);
    for index in 0..runs {
        let base = &bases[index % bases.len()];
        store
            .insert(&varied(base, index, &mut rng))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match fill() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
