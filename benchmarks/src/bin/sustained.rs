//! Results of the suite `sustained` on simulated cards compared with the truth: how often a cliff is found
//! with and without a cache, and how often the intervals contain the truth. Prints a Markdown table and fails
//! if a cell is outside its band.
//!
//! Usage: `sustained [SEEDS = 2000] [FIRST_SEED = 1]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number, simulate};
use cardmark_core::{Metric, Origin, OriginKind, Record, Suite, TargetKind, simulated_run_id};
use cardmark_engine::TargetRoom;
use cardmark_sim::{Model, SimulatedCard};

/// Required share of intervals that contain the truth, percent. They are computed at 96 %, and with few
/// batches they are slightly too wide rather than too narrow.
const BAND: std::ops::RangeInclusive<f64> = 93.0..=98.5;
/// Models with their own service times that neither break nor get hot, and true for those with a cache.
const MODELS: [(&str, bool); 8] = [
    ("a1-32gb", false),
    ("a2-64gb", false),
    ("c10-16gb", false),
    ("usb2-32gb", false),
    ("swaying-32gb", false),
    ("worn-32gb", false),
    ("lying-32gb", false),
    ("v30-64gb", true),
];
/// Minimum share of runs in which the interval of the cache's size contains it, percent. Slices of 100 ms
/// determine its width, so it is above its level.
const LEAST_CACHE: f64 = 95.0;
/// Caches that are added to models: model, bytes, slowdown behind.
const CACHES: [(&str, u64, f64); 6] = [
    ("a1-32gb", 1 << 30, 2.5),
    ("a2-64gb", 3 << 30, 6.0),
    ("c10-16gb", 512 << 20, 1.5),
    ("usb2-32gb", 3 << 30, 1.4),
    ("swaying-32gb", 2 << 30, 2.0),
    ("worn-32gb", 700 << 20, 3.0),
];
const BLOCK_BYTES: u64 = 1 << 20;

/// Number of intervals, how many contain the truth, and their width.
#[derive(Clone, Copy, Default)]
struct Cell {
    intervals: u32,
    held: u32,
    widths: f64,
}

impl Cell {
    fn add(&mut self, metric: Option<&Metric>, truth: Option<f64>) {
        let Some((metric, truth)) = metric.zip(truth) else {
            return;
        };
        if let Some((low, high)) = metric.low.zip(metric.high) {
            self.intervals += 1;
            self.held += u32::from((low..=high).contains(&truth));
            self.widths += (high - low) / 2.0 / truth;
        }
    }

    fn percent(self) -> f64 {
        100.0 * f64::from(self.held) / f64::from(self.intervals.max(1))
    }

    fn shown(self) -> String {
        if self.intervals == 0 {
            return "–".to_owned();
        }
        let width = 100.0 * self.widths / f64::from(self.intervals);
        format!("{:.1} % (± {width:.1} %)", self.percent())
    }
}

/// Results of all runs of a model.
#[derive(Default)]
struct Row {
    runs: u32,
    cliffs: u32,
    settled: u32,
    cache: Cell,
    burst: Cell,
    rate: Cell,
}

impl Row {
    fn print(&self, name: &str, has_cache: bool) -> bool {
        let cliffs_fit = self.cliffs == if has_cache { self.runs } else { 0 };
        let in_band = |cell: Cell| cell.intervals == 0 || BAND.contains(&cell.percent());
        let cache_fits = self.cache.intervals == 0 || self.cache.percent() >= LEAST_CACHE;
        let fits = cliffs_fit && cache_fits && in_band(self.burst) && in_band(self.rate);
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} |{}",
            self.runs,
            self.cliffs,
            self.cache.shown(),
            self.burst.shown(),
            self.settled,
            self.rate.shown(),
            if fits { "" } else { " MISSED" },
        );
        fits
    }
}

fn run_one(model: &Model, suite: &Suite, seed: u64, row: &mut Row) -> Result<(), String> {
    let card = SimulatedCard::new(model, seed);
    let Some(truth) = card.course_truth(BLOCK_BYTES) else {
        return Err(format!("{} has no truth", model.name()));
    };
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let head = Record::new(
        simulated_run_id(&[model.name()]),
        Origin::of(OriginKind::Simulated),
    );
    let record = simulate(&card, suite, seed, place, head)?;
    row.runs += 1;
    row.cliffs += u32::from(record.metric("cache_bytes").is_some());
    row.settled += u32::from(record.metric("settled_write").is_some());
    row.cache
        .add(record.metric("cache_bytes"), truth.cache_bytes);
    row.burst
        .add(record.metric("burst_write"), truth.burst_bytes_per_s);
    let settled = Some(truth.settled_bytes_per_s);
    row.rate.add(record.metric("settled_write"), settled);
    Ok(())
}

/// Returns the models with known truth, without and with added caches.
fn all_models() -> Result<Vec<(String, Model, bool)>, String> {
    let mut all = Vec::new();
    for (name, has_cache) in MODELS {
        let model = Model::named(name).map_err(|error| error.to_string())?;
        all.push((name.to_owned(), model, has_cache));
    }
    for (like, bytes, slowdown) in CACHES {
        let text = format!(
            "name = \"cached\"\nlike = \"{like}\"\n\
             [cache]\nbytes = {bytes}\nslowdown = {slowdown:?}\ndrain_mb_per_s = 2.0\n"
        );
        let model = Model::parse(&text).map_err(|error| error.to_string())?;
        let name = format!("{like}, {} MiB in front, {slowdown} times", bytes >> 20);
        all.push((name, model, true));
    }
    Ok(all)
}

fn table() -> Result<bool, String> {
    let (seeds, first) = (number(0, 2000)?, number(1, 1)?);
    let suite = cardmark_catalog::suite("sustained", None).map_err(|error| error.to_string())?;
    println!("| card | runs | cliffs | cache held | burst held | settled | settled rate held |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut fits = true;
    for (name, model, has_cache) in all_models()? {
        let mut row = Row::default();
        for seed in first..first + seeds {
            run_one(&model, &suite, seed, &mut row)?;
        }
        fits &= row.print(&name, has_cache);
    }
    Ok(fits)
}

fn main() -> ExitCode {
    ended(table())
}
