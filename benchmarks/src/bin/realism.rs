//! Real ÷ simulated: figures of real cards (`benchmarks/realism/real.toml`) compared with those of the models
//! fitted to them. Fails if a ratio lies outside 0.67–1.5.
//!
//! Usage: `realism`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small positive numbers"
)]

use std::process::ExitCode;

use cardmark_benchmarks::ended;
use cardmark_core::{
    Errno, Flush, Manner, Order, Payload, Rng, SECOND_NS, StopRule, UnitStep, Workload,
};
use cardmark_engine::{Backend, Clock, Op, OpKind};
use cardmark_integrity::{AnatomyRequest, anatomy};
use cardmark_sim::{Model, SimMedium, SimulatedCard};
use serde::Deserialize;

const REAL: &str = include_str!("../../realism/real.toml");
/// Ratios that count as equal.
const BAND: std::ops::RangeInclusive<f64> = 0.67..=1.5;
/// Simulated time of a series, seconds.
const SERIES_S: u64 = 1_800;
/// Number of runs for differences between runs.
const RUNS: u64 = 4_000;
/// Rate of outlying runs relative to the median run, upper limit.
const OUTLYING: f64 = 0.6;

#[derive(Deserialize)]
struct Table {
    row: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    quantity: String,
    model: String,
    workload: String,
    what: String,
    real: f64,
    source: String,
}

fn main() -> ExitCode {
    ended(table())
}

fn table() -> Result<bool, String> {
    let table: Table = toml::from_str(REAL).map_err(|error| error.to_string())?;
    println!("| quantity | model | real | simulated | real ÷ simulated | source |");
    println!("|---|---|---:|---:|---:|---|");
    let mut missed = 0;
    for row in &table.row {
        let found = simulated(row)?;
        let ratio = row.real / found;
        let is_alike = BAND.contains(&ratio);
        missed += u32::from(!is_alike);
        println!(
            "| {} | {} | {:.4} | {found:.4} | {ratio:.2}{} | {} |",
            row.what,
            row.model,
            row.real,
            if is_alike { "" } else { " MISSED" },
            row.source
        );
    }
    println!(
        "\n{} quantities, {missed} outside 0.67–1.5",
        table.row.len()
    );
    Ok(missed == 0)
}

fn simulated(row: &Row) -> Result<f64, String> {
    let model = Model::named(&row.model).map_err(|error| error.to_string())?;
    let anatomy_of = || inside(&model).ok_or_else(|| format!("{}: no anatomy", row.model));
    Ok(match row.quantity.as_str() {
        "step_factor" => anatomy_of()?.factor,
        "units_before_step" => anatomy_of()?.units,
        "boundary_mib" => anatomy_of()?.boundary_bytes / f64::from(1 << 20),
        "boundary_us" => anatomy_of()?.boundary_us,
        "run_spread" => between_runs(&model, &row.workload)?.0,
        "outlying_share" => between_runs(&model, &row.workload)?.1,
        quantity => series(&model, &row.workload)?.figure(quantity)?,
    })
}

/// Returns a workload of the tables: name, share of reads, order, block, depth.
fn workload(name: &str) -> Result<Workload, String> {
    let (read_share_percent, order, block_bytes, queue_depth) = match name {
        "rand_write" => (0, Order::Random, 4096, 32),
        "rand_read" => (100, Order::Random, 4096, 32),
        "seq_write" => (0, Order::Sequential, 1 << 20, 1),
        "seq_read" => (100, Order::Sequential, 1 << 20, 1),
        _ => return Err(format!("no workload {name}")),
    };
    Ok(Workload {
        id: name.to_owned(),
        read_share_percent,
        order,
        block_bytes,
        queue_depth,
        span_bytes: 1 << 30,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule::default(),
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    })
}

/// Completions of one long series: time and latency in nanoseconds.
struct Series {
    workload: Workload,
    done: Vec<(u64, u64)>,
}

fn series(model: &Model, name: &str) -> Result<Series, String> {
    let workload = workload(name)?;
    let card = SimulatedCard::new(model, 1);
    let (mut backend, mut clock, _) = card.ports();
    let depth = workload.queue_depth;
    let broken = |errno: Errno| format!("{name}: {errno}");
    backend.prepare(&workload).map_err(broken)?;
    let mut begun_ns = vec![0; depth as usize];
    let mut rng = Rng::new(2);
    let mut place = 0;
    let mut submit = |backend: &mut dyn Backend, slot: u32| {
        let blocks = workload.blocks_count();
        let block = match workload.order {
            Order::Random => rng.below(blocks),
            _ => place % blocks,
        };
        place += 1;
        let kind = if workload.reads() {
            OpKind::Read
        } else {
            OpKind::Write
        };
        backend.submit(Op {
            kind,
            offset: block * workload.block_bytes,
            bytes: workload.block_bytes as u32,
            slot,
            stream: 0,
        });
    };
    let start_ns = clock.now_ns();
    for slot in 0..depth {
        begun_ns[slot as usize] = start_ns;
        submit(&mut backend, slot);
    }
    let mut done = Vec::new();
    while clock.now_ns() - start_ns < SERIES_S * SECOND_NS {
        let slot = backend.reap().slot;
        let now_ns = clock.now_ns();
        done.push((now_ns - start_ns, now_ns - begun_ns[slot as usize]));
        begun_ns[slot as usize] = now_ns;
        submit(&mut backend, slot);
    }
    Ok(Series { workload, done })
}

impl Series {
    fn figure(&self, quantity: &str) -> Result<f64, String> {
        // Operations of one queue wait for the same stall.
        let depth = f64::from(self.workload.queue_depth);
        let stalls = self.share_from(100_000_000) * self.done.len() as f64 / depth;
        let bytes = (self.done.len() as u64 * self.workload.block_bytes) as f64;
        Ok(match quantity {
            "stalls_per_minute" => stalls * 60.0 / SERIES_S as f64,
            "stalls_per_gib" => stalls / bytes * f64::from(1 << 30),
            "share_over_2s" => self.share_from(2_000_000_000),
            "p99_ms" => self.quantile_ms(0.99),
            "p999_ms" => self.quantile_ms(0.999),
            "variation_500ms" => self.variation(),
            _ => return Err(format!("no quantity {quantity}")),
        })
    }

    fn share_from(&self, least_ns: u64) -> f64 {
        let slow = self.done.iter().filter(|&&(_, ns)| ns >= least_ns);
        slow.count() as f64 / self.done.len() as f64
    }

    fn quantile_ms(&self, share: f64) -> f64 {
        let mut spans: Vec<u64> = self.done.iter().map(|&(_, ns)| ns).collect();
        spans.sort_unstable();
        spans[(spans.len() as f64 * share) as usize] as f64 / 1e6
    }

    /// Coefficient of variation of rates over 500 ms, each from completion to completion, as in fio.
    fn variation(&self) -> f64 {
        let (mut rates, mut count, mut begun_ns) = (Vec::new(), 0.0, 0);
        for &(at_ns, _) in &self.done {
            count += 1.0;
            if at_ns - begun_ns >= 500_000_000 {
                rates.push(count / (at_ns - begun_ns) as f64);
                (count, begun_ns) = (0.0, at_ns);
            }
        }
        let (mean, deviation) = moments(&rates);
        deviation / mean
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Returns the standard deviation of the logarithm of the rate between runs without outliers, and the share
/// of outliers.
fn between_runs(model: &Model, name: &str) -> Result<(f64, f64), String> {
    let workload = workload(name)?;
    let rates: Option<Vec<f64>> = (0..RUNS)
        .map(|seed| {
            Some(
                SimulatedCard::new(model, seed)
                    .truth(&workload)?
                    .operations_per_s,
            )
        })
        .collect();
    let mut rates = rates.ok_or("no truth")?;
    rates.sort_by(f64::total_cmp);
    let least = OUTLYING * rates[rates.len() / 2];
    let outlying = rates.partition_point(|&rate| rate < least);
    let logarithms: Vec<f64> = rates[outlying..].iter().map(|rate| rate.ln()).collect();
    Ok((moments(&logarithms).1, outlying as f64 / RUNS as f64))
}

/// Results of anatomy.
struct Inside {
    factor: f64,
    units: f64,
    boundary_bytes: f64,
    boundary_us: f64,
}

fn inside(model: &Model) -> Option<Inside> {
    let request = AnatomyRequest {
        seed: 1,
        with_writes: true,
        asked_blocks: None,
        registers_blocks: None,
    };
    let mut medium = SimMedium::new(model, 1);
    let (found, _) = anatomy(&mut medium, &request, &mut |_| ()).ok()?;
    let open = found.open_units?;
    Some(Inside {
        factor: UnitStep::of(open, &found.turns)?.factor(),
        units: f64::from(open.min_count),
        boundary_bytes: found.boundary_bytes? as f64,
        boundary_us: found.boundary_more_ns? as f64 / 1e3,
    })
}
