//! The suite `sustained` on twelve courses of the rate that are hard to judge, and on honest flat ones.
//! Compares the settled rate with the rate of a write of an hour, and the slowest minute with that of the
//! operations, and counts false cliffs. The courses are not models of the simulator; the engine runs on a
//! special back end in virtual time. Prints Markdown and fails if a goal is missed.
//!
//! Usage: `sustained_courses [SEEDS = 20] [HONEST = 1000]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;

use cardmark_benchmarks::course::{Course, run_on};
use cardmark_benchmarks::{ended, normal, number};
use cardmark_core::{MIB, Record, Rng, Suite, TargetKind};
use cardmark_engine::{Request, TargetRoom};

const CAPACITY_BYTES: u64 = 64_000_000_000;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MINUTE_S: f64 = 60.0;
/// Maximum relative error of a correct settled rate or slowest minute.
const RIGHT: f64 = 0.10;
/// Number of courses whose settled rate must be claimed in all runs, and right in each.
const LEAST_RIGHT: usize = 8;
/// Rate at which a cache is emptied at rest, MB/s.
const EMPTIED_MB_PER_S: f64 = 20.0;

/// Shape of a course of the rate, MB/s.
#[derive(Clone, Copy)]
enum Shape {
    Flat(f64),
    /// The second rate after this number of bytes at the first. The cache is emptied at rest.
    Cache(f64, f64, f64),
    /// After a cache, 16 of each 64 MiB are folded slowly.
    Folding,
    /// Three rates, with changes after 1 and 20 GiB.
    TwoCliffs,
    /// Falls between two points in time.
    Thermal,
    Hyperbolic,
    /// Fast in three tenths of a period in seconds.
    Sawtooth(f64),
    /// Three in a thousand operations take 0.5 to 3.5 s longer.
    Stalls,
    /// Flat with slow wandering and short pauses.
    Honest(f64, f64),
}

const COURSES: [(&str, Shape); 12] = [
    ("flat", Shape::Flat(29.8)),
    ("1 GiB SLC, then short folding", Shape::Folding),
    ("USB bridge with 2 GiB", Shape::Cache(2.0, 298.0, 29.8)),
    ("SLC 6 GiB, 80 → 20", Shape::Cache(6.0, 80.0, 20.0)),
    ("SLC 6 GiB, 25 → 8", Shape::Cache(6.0, 25.0, 8.0)),
    ("cliffs at 1 and 20 GiB, 90/45/15", Shape::TwoCliffs),
    ("thermal, 80 → 32 from 60 to 150 s", Shape::Thermal),
    ("hyperbolic decline", Shape::Hyperbolic),
    ("sawtooth 80/12, 10 s", Shape::Sawtooth(10.0)),
    ("sawtooth 80/12, 40 s", Shape::Sawtooth(40.0)),
    ("sawtooth 80/12, 90 s", Shape::Sawtooth(90.0)),
    ("0.3 % of MiB stall 0.5–3.5 s", Shape::Stalls),
];

/// A card whose rate follows a shape.
struct Card {
    shape: Shape,
    rng: Rng,
    now_s: f64,
    written: f64,
    /// Number of bytes in the cache.
    fill: f64,
    /// Slow deviation of the logarithm of the rate.
    wander: f64,
    /// End of each write, seconds.
    ends_s: Vec<f64>,
}

impl Card {
    fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            rng: Rng::for_part(seed, "course", 0),
            now_s: 0.0,
            written: 0.0,
            fill: 0.0,
            wander: 0.0,
            ends_s: Vec::new(),
        }
    }

    fn cache_bytes(&self) -> f64 {
        match self.shape {
            Shape::Cache(gib, _, _) => gib * GIB,
            Shape::Folding => GIB,
            _ => f64::INFINITY,
        }
    }

    fn mb_per_s(&self) -> f64 {
        let is_cached = self.fill < self.cache_bytes();
        match self.shape {
            Shape::Flat(rate) | Shape::Honest(rate, _) => rate,
            Shape::Cache(_, before, _) if is_cached => before,
            Shape::Cache(_, _, after) => after,
            Shape::Folding if is_cached => 60.0,
            Shape::Folding if self.written % (64.0 * MIB as f64) < 16.0 * MIB as f64 => 14.0,
            Shape::Folding => 30.0,
            Shape::TwoCliffs if self.written < GIB => 90.0,
            Shape::TwoCliffs if self.written < 20.0 * GIB => 45.0,
            Shape::TwoCliffs => 15.0,
            Shape::Thermal => 80.0 - 48.0 * ((self.now_s - 60.0) / 90.0).clamp(0.0, 1.0),
            Shape::Hyperbolic => 80.0 / (1.0 + self.now_s / 89.0),
            Shape::Sawtooth(period_s) if self.now_s % period_s < 0.3 * period_s => 80.0,
            Shape::Sawtooth(_) => 12.0,
            Shape::Stalls => 29.8,
        }
    }
}

impl Course for Card {
    fn write(&mut self, _: u64, bytes: u64) {
        let bytes = bytes as f64;
        let mut span_s = bytes / 1e6 / self.mb_per_s() * (0.05 * normal(&mut self.rng)).exp();
        match self.shape {
            Shape::Stalls if self.rng.unit() < 0.003 => span_s += 0.5 + 3.0 * self.rng.unit(),
            Shape::Honest(_, deviation) => {
                // Correlated over some seconds of writing, like housekeeping.
                let keep = (-span_s / 3.0).exp();
                let fresh = (1.0 - keep * keep).sqrt() * deviation * normal(&mut self.rng);
                self.wander = keep * self.wander + fresh;
                span_s *= self.wander.exp();
                if self.rng.unit() < 0.004 {
                    span_s += 0.01 + 0.09 * self.rng.unit();
                }
            }
            _ => {}
        }
        self.now_s += span_s;
        self.written += bytes;
        self.fill = (self.fill + bytes).min(self.cache_bytes());
        self.ends_s.push(self.now_s);
    }

    fn rest(&mut self, span_s: f64) {
        self.now_s += span_s;
        self.fill = (self.fill - EMPTIED_MB_PER_S * 1e6 * span_s).max(0.0);
    }

    fn now_s(&self) -> f64 {
        self.now_s
    }
}

/// Returns the record of the suite on a course, and the ends of the writes.
fn run(shape: Shape, suite: &Suite, seed: u64) -> Result<(Record, Vec<f64>), String> {
    let card = Rc::new(RefCell::new(Card::new(shape, seed)));
    let request = Request {
        seed,
        limit_ns: 30_000_000_000,
        ..Request::default()
    };
    let place = TargetRoom::disk(TargetKind::Sim, CAPACITY_BYTES);
    let record = run_on(&card, suite, &request, place)?;
    let ends_s = card.borrow().ends_s.clone();
    Ok((record, ends_s))
}

/// Returns the rate in the last ten minutes of an hour of writing, MB/s.
fn hour_truth(shape: Shape, seed: u64) -> f64 {
    let mut card = Card::new(shape, seed);
    while card.now_s < 60.0 * MINUTE_S {
        card.write(0, MIB);
    }
    let begin_s = 50.0 * MINUTE_S;
    let count = card.ends_s.iter().filter(|&&end| end > begin_s).count();
    count as f64 * MIB as f64 / 1e6 / (card.now_s - begin_s)
}

/// Returns the rate of the slowest minute that begins at the end of a write, MB/s.
fn slowest_minute(ends_s: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    let mut last = 0;
    for (first, begin_s) in ends_s.iter().enumerate() {
        while last < ends_s.len() && ends_s[last] <= begin_s + MINUTE_S {
            last += 1;
        }
        if last == ends_s.len() {
            break;
        }
        // The share of the last write that lies within the minute.
        let under_way = (begin_s + MINUTE_S - ends_s[last - 1]) / (ends_s[last] - ends_s[last - 1]);
        least = least.min((last - 1 - first) as f64 + under_way);
    }
    least * MIB as f64 / 1e6 / MINUTE_S
}

/// Figures over the runs of a course.
#[derive(Default)]
struct Row {
    settled: Vec<f64>,
    /// Settled rate over truth, for each run that claims one.
    ratios: Vec<f64>,
    truths: Vec<f64>,
    slowest: Vec<f64>,
    minutes: Vec<f64>,
    cliffs: Vec<f64>,
    periods: Vec<f64>,
    bytes: Vec<f64>,
    spans: Vec<f64>,
    refills: [Vec<f64>; 2],
}

impl Row {
    fn add(&mut self, record: &Record, ends_s: &[f64], truth: f64) {
        let trial = &record.trials[0];
        let value = |id: &str| record.metric(id).map(|metric| metric.value);
        self.truths.push(truth);
        if let Some(settled) = value("settled_write") {
            self.settled.push(settled / 1e6);
            self.ratios.push(settled / 1e6 / truth);
        }
        self.minutes
            .extend(value("slowest_60s_write").map(|rate| rate / 1e6));
        self.cliffs
            .extend(value("cache_bytes").map(|bytes| bytes / GIB));
        self.periods
            .extend(value("write_period").map(|span| span / 1e9));
        self.bytes.push(trial.bytes() as f64 / 1e9);
        self.spans.push(trial.span_ns as f64 / 1e9);
        for (list, id) in self
            .refills
            .iter_mut()
            .zip(["refill_30s_bytes", "refill_120s_bytes"])
        {
            list.extend(value(id).map(|bytes| bytes / 1e9));
        }
        #[allow(clippy::cast_possible_truncation, reason = "a count of writes")]
        let writes = trial.operations_count() as usize;
        let truth = slowest_minute(&ends_s[..writes]);
        self.slowest.push(truth);
    }

    fn is_right(&self, runs: usize) -> bool {
        self.ratios.len() == runs && !self.is_wrong()
    }

    fn is_wrong(&self) -> bool {
        self.ratios.iter().any(|ratio| (ratio - 1.0).abs() > RIGHT)
    }

    fn has_minutes(&self) -> bool {
        self.minutes.len() == self.slowest.len()
            && self
                .minutes
                .iter()
                .zip(&self.slowest)
                .all(|(found, truth)| (found / truth - 1.0).abs() <= RIGHT)
    }
}

/// Formats mean and range, if there are values.
fn shown(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if (high - low) < 0.02 * mean {
        return format!("{mean:.1}");
    }
    format!("{mean:.1} ({low:.1}–{high:.1})")
}

fn print(name: &str, row: &Row, runs: usize) {
    let claimed = format!("{} of {runs}", row.ratios.len());
    let verdict = match (row.is_right(runs), row.is_wrong()) {
        (true, _) => "right",
        (_, true) => "WRONG",
        (false, false) if row.ratios.is_empty() => "not claimed",
        (false, false) => "right if claimed",
    };
    let minutes = if row.has_minutes() { "" } else { " MISSED" };
    println!(
        "| {name} | {} | {claimed} | {} | {verdict} | {} | {}{minutes} | {} | {} | {} | {} | {} / {} |",
        shown(&row.settled),
        shown(&row.truths),
        shown(&row.minutes),
        shown(&row.slowest),
        shown(&row.cliffs),
        shown(&row.periods),
        shown(&row.bytes),
        shown(&row.spans),
        shown(&row.refills[0]),
        shown(&row.refills[1]),
    );
}

fn courses(suite: &Suite, seeds: u64) -> Result<bool, String> {
    println!(
        "| course | settled, MB/s | claimed | truth | | slowest 60 s | its truth | cliff, GiB | \
         period, s | written, GB | time, s | refill 30 s / 120 s, GB |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    let runs = usize::try_from(seeds).map_err(|error| error.to_string())?;
    let (mut right, mut fits) = (0, true);
    for (name, shape) in COURSES {
        let mut row = Row::default();
        for seed in 0..seeds {
            let (record, ends_s) = run(shape, suite, seed)?;
            row.add(&record, &ends_s, hour_truth(shape, seed));
        }
        print(name, &row, runs);
        right += usize::from(row.is_right(runs));
        let has_false_cliff = matches!(
            shape,
            Shape::Flat(_) | Shape::Sawtooth(_) | Shape::Stalls | Shape::Hyperbolic
        ) && !row.cliffs.is_empty();
        fits &= !row.is_wrong() && row.has_minutes() && !has_false_cliff;
    }
    println!("\n{right} of {} courses right in every run.", COURSES.len());
    Ok(fits && right >= LEAST_RIGHT)
}

/// Runs flat courses of many rates with wandering and short pauses.
fn honest(suite: &Suite, count: u64) -> Result<bool, String> {
    let (mut cliffs, mut periods, mut claimed, mut wrong) = (0, 0, 0, 0);
    for seed in 0..count {
        let mut rng = Rng::for_part(seed, "honest", 0);
        let rate = 8.0 + 82.0 * rng.unit();
        let shape = Shape::Honest(rate, 0.01 + 0.09 * rng.unit());
        let (record, _) = run(shape, suite, seed)?;
        cliffs += u32::from(record.metric("cache_bytes").is_some());
        periods += u32::from(record.metric("write_period").is_some());
        if let Some(settled) = record.metric("settled_write") {
            claimed += 1;
            let ratio = settled.value / 1e6 / hour_truth(shape, seed);
            wrong += u32::from((ratio - 1.0).abs() > RIGHT);
        }
    }
    println!(
        "\nHonest runs: {count}; cliffs {cliffs}, periods {periods}, settled {claimed}, of these \
         off by more than 10 % {wrong}."
    );
    Ok(cliffs == 0 && wrong == 0)
}

fn table() -> Result<bool, String> {
    let (seeds, count) = (number(0, 20)?, number(1, 1000)?);
    let suite = cardmark_catalog::suite("sustained", None).map_err(|error| error.to_string())?;
    let courses = courses(&suite, seeds)?;
    Ok(honest(&suite, count)? && courses)
}

fn main() -> ExitCode {
    ended(table())
}
