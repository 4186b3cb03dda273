//! The time that `quick` announces, or corrects from the first eight seconds of its layout, beside the time that the run
//! takes: throttled targets from 2 to 200 MB/s in virtual time. Prints a table; the goal is a factor of 1.5 on each.
//!
//! Usage: `announced_time [FIRST_SEED = 1]`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::process::ExitCode;

use cardmark_benchmarks::hostile::Process;
use cardmark_benchmarks::{Deaf, ended, number, simulate_under};
use cardmark_core::{Origin, OriginKind, Record, Suite, TargetKind, simulated_run_id};
use cardmark_engine::{Clock, Plan, Request, TargetRoom, make_plan};
use cardmark_sim::{Model, SimulatedCard};

/// Number of rates of each kind of target.
const RATES_COUNT: u32 = 20;
/// Lowest and highest rate, MB/s.
const ENDS: (f64, f64) = (2.0, 200.0);
/// Time of the look, nanoseconds, as in the program.
const LOOK_AT_NS: u64 = 8_000_000_000;
/// Largest factor between the time shown and the time taken.
const MOST_RATIO: f64 = 1.5;

/// Kinds of targets: name; rate of reads in multiples of that of writes; setup of a random read, a random write and a
/// synced write, microseconds.
const KINDS: [(&str, f64, [f64; 3]); 5] = [
    ("a link that limits both", 1.0, [100.0, 100.0, 100.0]),
    ("reads four times as fast", 4.0, [300.0, 1000.0, 1000.0]),
    (
        "ten times, slow random writes",
        10.0,
        [600.0, 20_000.0, 6000.0],
    ),
    ("100 operations a second", 1.0, [10_000.0, 10_000.0, 100.0]),
    ("twice, uneven", 2.0, [500.0, 3000.0, 3000.0]),
];

fn model((name, reads, setups): (&str, f64, [f64; 3]), rate: f64) -> Result<Model, String> {
    let [read, write, sync] = setups;
    let uneven = if name.contains("uneven") { 0.5 } else { 0.05 };
    let direction = |kind: &str, setup: f64, rate: f64| {
        format!(
            "[{kind}]\nsetup_us = {setup:.1}\nrate_mb_per_s = {rate:.3}\nvariation = {uneven}\n\n"
        )
    };
    let text = [
        "name = \"own\"\nsummary = \"own\"\nsource = \"this benchmark\"\ncapacity_bytes = 31_914_983_424\n".to_owned(),
        "channels = 1\nprepare_ms = 1.0\n\n".to_owned(),
        direction("read.sequential", 100.0, reads * rate),
        direction("read.random", read, reads * rate),
        direction("write.sequential", 100.0, rate),
        direction("write.random", write, rate),
        format!("[sync]\nsetup_us = {sync:.1}\nvariation = 0.1\nflush_ms = 5.0\n\n"),
        "[variance]\nrun_deviation = 0.01\ntrial_deviation = 0.01\n".to_owned(),
    ];
    Model::parse(&text.concat()).map_err(|error| error.to_string())
}

/// Bytes of the layout and the time that they took, up to the look; `None` if the layout ended before.
fn look(record: &Record) -> Option<(u64, u64)> {
    let (mut bytes, mut span_ns) = (0, 0);
    for trial in record.trials.iter().filter(|trial| trial.layout) {
        for slice in &trial.slices {
            bytes += slice.0;
            span_ns += trial.slice_span_ns;
            if span_ns >= LOOK_AT_NS {
                return Some((bytes, span_ns));
            }
        }
    }
    None
}

fn plan(suite: &Suite, seed: u64, place: TargetRoom) -> Result<Plan, String> {
    let request = Request {
        seed,
        limit_ns: 30_000_000_000,
        ..Request::default()
    };
    make_plan(suite, &request, place).map_err(|error| error.to_string())
}

/// Returns whether the time shown was right.
fn row(suite: &Suite, kind: (&str, f64, [f64; 3]), rate: f64, seed: u64) -> Result<bool, String> {
    let model = model(kind, rate)?;
    let card = SimulatedCard::new(&model, seed);
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let plan = plan(suite, seed, place)?;
    let head = Record::new(
        simulated_run_id(&["own"]),
        Origin::of(OriginKind::Simulated),
    );
    let record = simulate_under(&card, suite, (seed, place), head, Process::Calm, &mut Deaf)?;
    let taken_ns = card.ports().1.now_ns();
    let announced_ns = plan.wear().span_ns;
    let corrected_ns = look(&record).and_then(|(bytes, span_ns)| plan.corrected_ns(bytes, span_ns));
    let ratio = |shown_ns: u64| taken_ns as f64 / shown_ns as f64;
    let shown = ratio(corrected_ns.unwrap_or(announced_ns));
    let is_right = shown.max(1.0 / shown) <= MOST_RATIO;
    let seconds = |ns: u64| format!("{:.0}", ns as f64 / 1e9);
    println!(
        "| {} | {rate:.1} | {} | {} | {} | {:.2} | {shown:.2}{} |",
        kind.0,
        seconds(announced_ns),
        corrected_ns.map_or_else(|| "–".to_owned(), seconds),
        seconds(taken_ns),
        ratio(announced_ns),
        if is_right { "" } else { " **missed**" }
    );
    Ok(is_right)
}

fn table() -> Result<bool, String> {
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    let first = number(0, 1_u64)?;
    println!(
        "| target | MB/s | announced s | corrected s | taken s | taken ÷ announced | taken ÷ shown |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut summary = Vec::new();
    for kind in KINDS {
        let mut right = 0;
        for index in 0..RATES_COUNT {
            let share = f64::from(index) / f64::from(RATES_COUNT - 1);
            let rate = ENDS.0 * libm::pow(ENDS.1 / ENDS.0, share);
            right += u32::from(row(&suite, kind, rate, first + u64::from(index))?);
        }
        summary.push((kind.0, right));
    }
    println!();
    for (name, right) in &summary {
        println!("- {name}: {right} of {RATES_COUNT} within {MOST_RATIO}");
    }
    Ok(summary.iter().all(|(_, right)| *right == RATES_COUNT))
}

fn main() -> ExitCode {
    ended(table())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_shown_is_right_on_throttled_targets() -> Result<(), String> {
        let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
        for kind in KINDS {
            for rate in [2.0, 3.0, 7.0, 25.0, 200.0] {
                assert!(row(&suite, kind, rate, 1000)?, "{} at {rate} MB/s", kind.0);
            }
        }
        Ok(())
    }
}
