//! What `compare` decides about cards that stall, heat up or change their state: false alarms, power, and the range
//! "measured again" from one run. Runs of `quick` in virtual time; each comparison draws its runs from a pool of the
//! model. The other card has the same process and figures `ratio` times as fast.
//!
//! Usage: `decided [COMPARISONS = 1000] [POOL = 300] [FIRST_SEED = 1]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::{ended, number, simulated_run};
use cardmark_core::{Record, Rng, Suite, simulated_run_id};
use cardmark_judge::{compare_sides, measured_again};
use cardmark_sim::Model;
use cardmark_stats::{Conclusion, Difference};

/// Maximum share of comparisons that may find a difference where there is none.
const MOST_FALSE_RATIO: f64 = 0.065;

/// What must be found of this kind of process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// 15 % from 3 v 3 in 75 %, 30 % in 90 %, 15 % from 5 v 5 in 95 %.
    Power,
    /// No goal but false alarms; the power is shown.
    Shown,
}

/// Name, goal and the text of the model: a file of `sim`, or processes of an otherwise ordinary card.
const PROCESSES: [(&str, Goal, &str); 16] = [
    ("a1-32gb", Goal::Power, ""),
    ("c10-16gb", Goal::Shown, ""),
    ("swaying-32gb", Goal::Shown, ""),
    ("worn-32gb", Goal::Shown, ""),
    ("usb2-32gb", Goal::Shown, ""),
    ("sd-stalls", Goal::Power, ""),
    ("stalls-heavy", Goal::Power, ""),
    ("stalls-rare", Goal::Power, ""),
    ("garbage", Goal::Power, ""),
    ("freeze-2s", Goal::Power, ""),
    ("recorded-emmc", Goal::Power, ""),
    ("runs-apart", Goal::Shown, ""),
    ("regimes", Goal::Shown, ""),
    ("hot-32gb", Goal::Shown, ""),
    (
        "tail of 1.2, to 8 s",
        Goal::Power,
        "kind = \"stalls\"\non = \"writes\"\nprobability = 5e-4\nshortest_ms = 20.0\nlongest_ms = 8000.0\nalpha = 1.2\n",
    ),
    (
        "1.5 s each 41 s",
        Goal::Power,
        "kind = \"freezes\"\nevery_s = 41.0\nspan_s = 1.5\n",
    ),
];

/// Runs on the sides and the ratio of the figures.
const CELLS: [(usize, f64); 9] = [
    (1, 1.0),
    (1, 2.0),
    (1, 3.0),
    (2, 1.0),
    (3, 1.0),
    (5, 1.0),
    (3, 1.15),
    (3, 1.30),
    (5, 1.15),
];

fn model(name: &str, process: &str) -> Result<Model, String> {
    if process.is_empty() {
        return Model::named(name).map_err(|error| error.to_string());
    }
    let text = format!(
        "name = \"own\"\nlike = \"a1-32gb\"\nsummary = \"own\"\nsource = \"this benchmark\"\n\n[[process]]\n{process}"
    );
    Model::parse(&text).map_err(|error| error.to_string())
}

fn run(model: &Model, suite: &Suite, seed: u64) -> Result<Record, String> {
    let mut record = simulated_run(model, suite, seed)?;
    // Long runs of rounds are of no use here.
    record.trials.clear();
    Ok(record)
}

/// Returns the run with all rates multiplied and all latencies divided by the ratio.
fn scaled(record: &Record, ratio: f64) -> Record {
    let mut record = record.clone();
    record.id = simulated_run_id(&[&record.id.to_string(), "scaled"]);
    for metric in &mut record.metrics {
        let factor = if metric.quantity.is_rate() {
            ratio
        } else {
            1.0 / ratio
        };
        let body = metric.parts.as_mut().map(|parts| &mut parts.body);
        let body = body
            .into_iter()
            .flat_map(|body| [Some(&mut body.value), body.low.as_mut(), body.high.as_mut()]);
        let own = [
            Some(&mut metric.value),
            metric.low.as_mut(),
            metric.high.as_mut(),
        ];
        for value in own.into_iter().chain(body).flatten() {
            *value *= factor;
        }
    }
    record
}

/// Draws this number of different runs.
fn draw<'a>(rng: &mut Rng, pool: &'a [Record], count: usize) -> Vec<&'a Record> {
    let mut all: Vec<&Record> = pool.iter().collect();
    for index in 0..count {
        let left = (all.len() - index) as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below the length"
        )]
        let other = index + (rng.unit() * left) as usize;
        all.swap(index, other.min(pool.len() - 1));
    }
    all.truncate(count);
    all
}

/// Returns whether any metric or stall differs in the right way, and in the wrong way. A latency is better if lower.
fn outcome(base: &[&Record], other: &[&Record]) -> Result<(bool, bool), String> {
    let sides = [base.to_vec(), other.to_vec()];
    let compared = compare_sides(&sides, &[], &[]).map_err(|error| format!("{error:?}"))?;
    let is_better = |one: &Difference| match one.outcome {
        Conclusion::Higher => Some(one.quantity.is_rate()),
        Conclusion::Lower => Some(!one.quantity.is_rate()),
        _ => None,
    };
    let of = |wanted: bool| {
        compared
            .differences
            .iter()
            .any(|one| is_better(one) == Some(wanted))
    };
    let stalls = compared
        .stalls
        .iter()
        .any(|one| one.outcome != Conclusion::Undecided);
    Ok((of(true), of(false) || stalls))
}

/// Shares of comparisons with any difference, and with one in the right direction only.
fn cell(
    pool: &[Record],
    faster: &[Record],
    runs: usize,
    count: u32,
    rng: &mut Rng,
) -> Result<(f64, f64), String> {
    let (mut any, mut found) = (0_u32, 0_u32);
    for _ in 0..count {
        let both = draw(rng, pool, 2 * runs);
        let (base, other) = both.split_at(runs);
        let index = |record: &&Record| pool.iter().position(|one| one.id == record.id);
        let other: Vec<&Record> = other
            .iter()
            .filter_map(index)
            .map(|at| &faster[at])
            .collect();
        let (right, wrong) = outcome(base, &other)?;
        any += u32::from(right || wrong);
        found += u32::from(right && !wrong);
    }
    Ok((
        f64::from(any) / f64::from(count),
        f64::from(found) / f64::from(count),
    ))
}

/// Share of runs within the range "measured again" of another run, over the rates that have one.
fn again(pool: &[Record], count: u32, rng: &mut Rng) -> f64 {
    let (mut within, mut all) = (0_u32, 0_u32);
    for _ in 0..count {
        let both = draw(rng, pool, 2);
        for metric in both[0]
            .metrics
            .iter()
            .filter(|metric| metric.quantity.is_rate())
        {
            let next = both[1].metric(&metric.id);
            let range = measured_again(metric, &[metric.value]);
            if let Some((range, next)) = range.zip(next) {
                all += 1;
                within += u32::from(range.low <= next.value && next.value <= range.high);
            }
        }
    }
    f64::from(within) / f64::from(all.max(1))
}

fn row(
    name: &str,
    goal: Goal,
    process: &str,
    [count, pool, first]: [u64; 3],
) -> Result<bool, String> {
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    let model = model(name, process)?;
    let runs: Vec<Record> = (first..first + pool)
        .map(|seed| run(&model, &suite, seed))
        .collect::<Result<_, _>>()?;
    let mut rng = Rng::for_part(first, name, 0);
    let count = u32::try_from(count).map_err(|error| error.to_string())?;
    print!("| {name} |");
    let mut is_met = true;
    for (sides, ratio) in CELLS {
        let faster: Vec<Record> = runs.iter().map(|record| scaled(record, ratio)).collect();
        let (any, found) = cell(&runs, &faster, sides, count, &mut rng)?;
        let (share, held) = match (sides, ratio) {
            (1, 1.0) => (any, any <= 0.02),
            (_, 1.0) => (any, any <= MOST_FALSE_RATIO),
            (3, 1.15) => (found, goal == Goal::Shown || found >= 0.75),
            (3, 1.30) => (found, goal == Goal::Shown || found >= 0.90),
            (5, 1.15) => (found, goal == Goal::Shown || found >= 0.95),
            _ => (found, true),
        };
        is_met &= held;
        print!(
            " {:.1} %{} |",
            100.0 * share,
            if held { "" } else { " **missed**" }
        );
    }
    let within = again(&runs, count, &mut rng);
    let held = within >= 0.90;
    println!(
        " {:.1} %{} |",
        100.0 * within,
        if held { "" } else { " **missed**" }
    );
    Ok(is_met && held)
}

fn table() -> Result<bool, String> {
    let sizes = [number(0, 1000_u64)?, number(1, 300)?, number(2, 1)?];
    print!("| process |");
    for (sides, ratio) in CELLS {
        match ratio {
            1.0 => print!(" false, {sides} v {sides} |"),
            _ => print!(" {ratio}×, {sides} v {sides} |"),
        }
    }
    println!(
        " again, one run |\n|---|{}---:|",
        "---:|".repeat(CELLS.len())
    );
    let mut is_met = true;
    for (name, goal, process) in PROCESSES {
        is_met &= row(name, goal, process, sizes)?;
    }
    println!("\nall goals: {}", if is_met { "ok" } else { "MISSED" });
    Ok(is_met)
}

fn main() -> ExitCode {
    ended(table())
}
