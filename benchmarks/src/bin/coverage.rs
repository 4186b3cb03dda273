//! Coverage of the ranges of `quick`: the share of runs in which they contain the truth, on each simulated
//! model that has a truth, ordinary cards and the zoo of processes. Prints Markdown tables. Rows that miss
//! their goal stay in the tables, marked.
//!
//! Usage: `RUNS=100 FIRST=1 coverage [MODEL…]`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints a table"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use cardmark_benchmarks::poisson::garwood;
use cardmark_benchmarks::simulate;
use cardmark_core::{
    Estimate, IntervalKind, Origin, OriginKind, Record, Stalls, Suite, TargetKind, Workload,
    simulated_run_id,
};
use cardmark_engine::TargetRoom;
use cardmark_sim::{Model, SimulatedCard, StallTruth, Truth, zoo};

/// Ordinary stationary cards; the zoo follows.
const ORDINARY: [&str; 7] = [
    "a1-32gb",
    "a2-64gb",
    "c10-16gb",
    "usb2-32gb",
    "swaying-32gb",
    "worn-32gb",
    "lying-32gb",
];
/// Required share of body ranges that contain the run's own rate on ordinary cards, percent.
const BODY_BAND: std::ops::RangeInclusive<f64> = 93.0..=97.0;
/// Minimum share of long-run ranges that contain the long-run rate, percent.
const LEAST_HELD: f64 = 90.0;
/// Maximum share of them that lie completely above it, percent.
const MOST_ABOVE: f64 = 5.0;
/// Maximum width of a range, as a multiple of the exact bound.
const MOST_WIDTH: f64 = 1.5;
/// Maximum stall length for which the long-run range is designed, nanoseconds.
const LONGEST_NS: f64 = 2e9;

/// Number of ranges and their positions.
#[derive(Clone, Default)]
struct Ranges {
    given: u32,
    held: u32,
    above: u32,
    widths: Vec<f64>,
}

impl Ranges {
    fn add(&mut self, low: Option<f64>, value: f64, high: Option<f64>, truth: f64) {
        let (Some(low), Some(high)) = (low, high) else {
            return;
        };
        self.given += 1;
        self.held += u32::from((low..=high).contains(&truth));
        self.above += u32::from(low > truth);
        self.widths.push((high - low) / value);
    }

    fn estimate(&mut self, estimate: Option<Estimate>, truth: f64) {
        if let Some(Estimate { value, low, high }) = estimate {
            self.add(low, value, high, truth);
        }
    }
}

/// One metric of one model over all runs.
#[derive(Clone, Default)]
struct Row {
    runs: u32,
    stalls_per_minute: Option<f64>,
    /// True for a rate at queue depth 1, which has a body and a long run.
    has_parts: bool,
    is_of_one_trial: bool,
    /// True if the stalls are frequent and short enough for the goal.
    is_goal: bool,
    /// The metric's own interval.
    interval: Ranges,
    body: Ranges,
    long_run: Ranges,
    bounds: Vec<f64>,
}

#[derive(Clone, Default)]
struct Table {
    rows: BTreeMap<String, Row>,
    /// Number of runs with each kind of finding.
    findings: BTreeMap<String, u32>,
    failed: u32,
}

fn main() -> ExitCode {
    match tables() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("\n{missed} rows MISSED");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn variable(name: &str, otherwise: u64) -> Result<u64, String> {
    let text = std::env::var(name).ok();
    text.map_or(Ok(otherwise), |text| {
        text.parse().map_err(|_| format!("{name} is no number"))
    })
}

fn tables() -> Result<u32, String> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let (runs, first) = (variable("RUNS", 100)?, variable("FIRST", 1)?);
    let suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    println!(
        "Suite {} {}, {runs} runs from seed {first}. Body: holds the run's own rate between",
        suite.name, suite.version
    );
    println!(
        "stalls. Long run: holds the rate of the same workload without end. `?`: no range given.\n"
    );
    println!(
        "| model | metric | stalls/min | interval held | body held | long run held | above | width | ÷ exact |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    let (mut missed, mut notes) = (0, String::new());
    for name in ORDINARY.into_iter().chain(zoo()) {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let model = Model::named(name).map_err(|error| error.to_string())?;
        if !model.is_stationary() {
            println!("| {name} | no stationary truth | | | | | | | |");
            continue;
        }
        let table = all_runs(&model, &suite, first, runs)?;
        missed += print_rows(name, &table);
        notes.push_str(&findings_line(name, &table, runs));
    }
    println!("\nFindings, share of runs:\n\n{notes}");
    Ok(missed)
}

/// Runs two threads, each with half of the runs.
fn all_runs(model: &Model, suite: &Suite, first: u64, runs: u64) -> Result<Table, String> {
    let half = |from: u64, to: u64| {
        let mut table = Table::default();
        (from..to)
            .try_for_each(|seed| run_one(model, suite, seed, &mut table))
            .map(|()| table)
    };
    let middle = first + runs / 2;
    let (low, high) = std::thread::scope(|scope| {
        let low = scope.spawn(|| half(first, middle));
        let high = half(middle, first + runs);
        (low.join(), high)
    });
    let mut table = low.map_err(|_| "a thread panicked".to_owned())??;
    let high = high?;
    for (id, row) in high.rows {
        table.rows.entry(id).or_default().join(row);
    }
    for (kind, count) in high.findings {
        *table.findings.entry(kind).or_default() += count;
    }
    table.failed += high.failed;
    Ok(table)
}

impl Row {
    fn join(&mut self, other: Self) {
        self.runs += other.runs;
        self.stalls_per_minute = self.stalls_per_minute.or(other.stalls_per_minute);
        self.has_parts |= other.has_parts;
        self.is_of_one_trial |= other.is_of_one_trial;
        self.is_goal |= other.is_goal;
        self.bounds.extend(other.bounds);
        let ranges = [
            (&mut self.interval, other.interval),
            (&mut self.body, other.body),
            (&mut self.long_run, other.long_run),
        ];
        for (mine, other) in ranges {
            mine.given += other.given;
            mine.held += other.held;
            mine.above += other.above;
            mine.widths.extend(other.widths);
        }
    }
}

fn run_one(model: &Model, suite: &Suite, seed: u64, table: &mut Table) -> Result<(), String> {
    let card = SimulatedCard::new(model, seed);
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let header = Record::new(
        simulated_run_id(&[model.name()]),
        Origin::of(OriginKind::Simulated),
    );
    let record = simulate(&card, suite, seed, place, header)?;
    for workload in &suite.workloads {
        if let Some(truth) = card.truth(workload) {
            note_rate(model, &record, workload, truth, table);
            note_latencies(model, &record, workload, truth, table);
        }
    }
    let mut kinds: Vec<String> = record
        .findings
        .iter()
        .map(|finding| format!("{:?}", finding.kind))
        .collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        *table.findings.entry(kind).or_default() += 1;
    }
    Ok(())
}

fn note_rate(model: &Model, record: &Record, workload: &Workload, truth: Truth, table: &mut Table) {
    let Some(metric) = record.metric(&workload.id) else {
        table.failed += 1;
        return;
    };
    // The value is in bytes or in operations.
    let is_bytes = metric.rate_bytes_per_s == Some(metric.value);
    let unit = if is_bytes {
        workload.block_bytes as f64
    } else {
        1.0
    };
    let row = table.rows.entry(workload.id.clone()).or_default();
    row.runs += 1;
    row.interval.add(
        metric.low,
        metric.value,
        metric.high,
        truth.operations_per_s * unit,
    );
    let parts = metric.parts.as_ref();
    let has_stalls = parts.is_some_and(|parts| parts.stalls.is_some());
    row.has_parts |= has_stalls && metric.interval_kind == IntervalKind::BetweenRounds;
    row.is_of_one_trial |= metric.interval_kind == IntervalKind::WithinTrial;
    // Stalls are counted at queue depth 1 only; above it they are part of the body.
    let body_operations_per_s = match workload.queue_depth {
        1 => truth.body_operations_per_s,
        _ => truth.operations_per_s,
    };
    row.body
        .estimate(parts.map(|parts| parts.body), body_operations_per_s * unit);
    row.long_run.estimate(
        parts.and_then(|parts| parts.long_run),
        truth.operations_per_s * unit,
    );
    if let Some(stalls) = model.stalls(workload).filter(|_| workload.queue_depth == 1) {
        let per_minute = 60.0 * (stalls.per_second + stalls.per_operation * truth.operations_per_s);
        row.stalls_per_minute = Some(per_minute);
        row.is_goal = per_minute >= 1.0 && stalls.longest_ns <= LONGEST_NS;
        if let Some(seen) = parts.and_then(|parts| parts.stalls.as_ref()) {
            row.bounds.push(exact_width(seen, stalls));
        }
    } else {
        row.is_goal = ORDINARY.contains(&model.name());
    }
}

fn note_latencies(
    model: &Model,
    record: &Record,
    workload: &Workload,
    truth: Truth,
    table: &mut Table,
) {
    for (suffix, truth_ns) in [("_p50", truth.p50_ns), ("_p99", truth.p99_ns)] {
        let metric = record.metric(&format!("{}{suffix}", workload.id));
        if let Some((metric, truth_ns)) = metric.zip(truth_ns) {
            let row = table.rows.entry(metric.id.clone()).or_default();
            row.runs += 1;
            row.is_goal = ORDINARY.contains(&model.name());
            row.interval
                .add(metric.low, metric.value, metric.high, truth_ns);
        }
    }
}

/// Width ÷ point of the exact range for the long-run rate if the body's rate and the mean length of stalls
/// are known, and stalls are counted in the time that this run observed.
fn exact_width(seen: &Stalls, stalls: StallTruth) -> f64 {
    let span_ns = seen.observed_ns as f64;
    let count = seen.over_100ms.seen_count;
    let body_ns = (span_ns - count as f64 * stalls.mean_ns).max(0.1 * span_ns);
    let rate = |count: f64| 1.0 / (1.0 + count * stalls.mean_ns / body_ns);
    let (low, high) = garwood(count);
    (rate(low) - rate(high)) / rate(count as f64)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Prints the rows of a model. Returns the number of rows that missed a goal.
fn print_rows(name: &str, table: &Table) -> u32 {
    let is_zoo = !ORDINARY.contains(&name);
    let mut missed = 0;
    for (id, row) in &table.rows {
        let share = |count: u32| 100.0 * f64::from(count) / f64::from(row.runs);
        let given = |ranges: &Ranges, text: String| {
            if ranges.given == 0 {
                "?".to_owned()
            } else {
                text
            }
        };
        let percent = |ranges: &Ranges| given(ranges, format!("{:.1} %", share(ranges.held)));
        let width = median(&row.long_run.widths);
        let ratio = width
            .zip(median(&row.bounds))
            .map(|(width, exact)| width / exact);
        let fails = fails(row, is_zoo, ratio);
        missed += u32::from(fails && row.is_goal);
        let mark = match (fails, row.is_goal) {
            (true, true) => " MISSED",
            (true, false) => " fails",
            (false, _) => "",
        };
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(String::new, |value| format!("{value:.digits$}"))
        };
        println!(
            "| {name} | {id} | {} | {} | {} | {}{} | {} | {} | {} |",
            number(row.stalls_per_minute, 1),
            given(
                &row.interval,
                format!(
                    "{:.1} %",
                    100.0 * f64::from(row.interval.held) / f64::from(row.interval.given)
                )
            ),
            percent(&row.body),
            percent(&row.long_run),
            mark,
            given(&row.long_run, format!("{:.1} %", share(row.long_run.above))),
            width.map_or_else(String::new, |width| format!("{:.1} %", 100.0 * width)),
            number(ratio, 2),
        );
    }
    missed
}

/// True if a row misses the goals of the long run, or on ordinary cards the body's band. Rows of latencies
/// and of deep queues have no such ranges: on ordinary cards their interval must stay within the band.
fn fails(row: &Row, is_zoo: bool, ratio: Option<f64>) -> bool {
    let share = |count: u32| 100.0 * f64::from(count) / f64::from(row.runs);
    let long_run = share(row.long_run.held) < LEAST_HELD
        || share(row.long_run.above) > MOST_ABOVE
        || ratio.is_some_and(|ratio| ratio > MOST_WIDTH);
    let body = !is_zoo && !BODY_BAND.contains(&share(row.body.held));
    // A range from within one trial makes no claim about others. Its stalls count in `rand_write_4k`, which
    // has the same operations.
    if row.is_of_one_trial {
        return false;
    }
    if row.has_parts {
        return long_run || body;
    }
    // For a latency, only existing intervals count. A deep queue has a body, but no long run.
    let judged = if row.body.given > 0 {
        &row.body
    } else {
        &row.interval
    };
    let held = 100.0 * f64::from(judged.held) / f64::from(judged.given);
    !is_zoo && judged.given > 0 && !BODY_BAND.contains(&held)
}

fn findings_line(name: &str, table: &Table, runs: u64) -> String {
    let share = |count: &u32| 100.0 * f64::from(*count) / runs as f64;
    let kinds: Vec<String> = table
        .findings
        .iter()
        .map(|(kind, count)| format!("{kind} {:.0} %", share(count)))
        .collect();
    let failed = match table.failed {
        0 => String::new(),
        count => format!("; {count} metrics absent"),
    };
    format!("- {name}: {}{failed}\n", kinds.join(", "))
}
