//! Evaluates runs of the field kit: repeatability over insertions, coverage of the ranges, readers, clocks.
//!
//! Usage: `field_kit RECORDS.jsonl…`, the files of unpacked archives; `benchmarks/field-kit/run` unpacks them.

#![allow(clippy::print_stdout, reason = "a program that prints tables")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use cardmark_benchmarks::ended;
use cardmark_benchmarks::share::clopper_pearson;
use cardmark_core::{
    Bus, BusMode, Estimate, Metric, Quantity, Record, is_statement, parse_run_file,
};
use cardmark_judge::known_spread;
use cardmark_stats::again;

/// Promised coverage of each range.
const PROMISE: f64 = 0.95;
/// Runs from which the range of the next one is predicted without published repeats.
const OWN_RUNS: usize = 3;
/// Sequential read rate, which the bus limits.
const READ: &str = "seq_read_1m";

/// One card on one board, measured by one suite: its runs in order of insertion.
type Cells = BTreeMap<[String; 3], Vec<Record>>;

/// Hits and trials of a range.
#[derive(Clone, Copy, Default)]
struct Tally(u32, u32);

impl Tally {
    fn add(&mut self, range: Option<(f64, f64)>, value: f64) {
        if let Some((low, high)) = range {
            self.0 += u32::from((low..=high).contains(&value));
            self.1 += 1;
        }
    }
}

/// Selects one range.
type TallyOf = fn(&Coverage) -> Tally;

/// Coverage of the four ranges.
#[derive(Clone, Copy, Default)]
struct Coverage {
    from_one: Tally,
    from_three: Tally,
    this_run: Tally,
    long_run: Tally,
}

/// Reads all runs. A file is a list of records, each with its statement in the next line.
fn read(paths: impl Iterator<Item = String>) -> Result<Cells, String> {
    let mut cells = Cells::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let statement = lines.next_if(|next| is_statement(next));
            let whole = format!("{line}\n{}", statement.unwrap_or_default());
            let record = parse_run_file(&whole).map_err(|error| format!("{path}: {error}"))?;
            // A read-only check has no suite.
            let Some(suite) = record.suite.as_ref().map(|suite| suite.name.clone()) else {
                continue;
            };
            let label = |key: &str| record.labels.get(key).cloned().unwrap_or_default();
            let cell = [label("sample"), label("setting"), suite];
            let runs = cells.entry(cell).or_default();
            if runs.iter().all(|known| known.id != record.id) {
                runs.push(record);
            }
        }
    }
    for runs in cells.values_mut() {
        runs.sort_by_key(insertion);
    }
    Ok(cells)
}

fn insertion(record: &Record) -> u32 {
    let label = record.labels.get("repeat");
    label.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Rates that every run of a cell has, none answered by a cache: by name, in order of insertion.
fn rates(runs: &[Record]) -> Vec<(String, Vec<&Metric>)> {
    let first = runs.first().map(|run| run.metrics.iter());
    let is_rate = |metric: &&Metric| metric.quantity.is_rate() && metric.value > 0.0;
    let of_all = first.into_iter().flatten().filter(is_rate).map(|metric| {
        let same = runs.iter().filter_map(|run| run.metric(&metric.id));
        let usable = same.filter(|metric| metric.voided_by().is_none() && metric.value > 0.0);
        (metric.id.clone(), usable.collect::<Vec<_>>())
    });
    of_all
        .filter(|(_, metrics)| metrics.len() == runs.len())
        .collect()
}

fn values(metrics: &[&Metric]) -> Vec<f64> {
    metrics.iter().map(|metric| metric.value).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (below, above) = ((values.len() - 1) / 2, values.len() / 2);
    f64::midpoint(values[below], values[above])
}

/// Standard deviation of the logarithms.
fn spread(values: &[f64]) -> f64 {
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    let squares: f64 = logarithms.iter().map(|l| (l - mean) * (l - mean)).sum();
    libm::sqrt(squares / (logarithms.len() as f64 - 1.0))
}

/// Relative half-width of a range.
fn half_width(estimate: &Estimate) -> Option<f64> {
    Some((estimate.high? - estimate.low?) / (2.0 * estimate.value))
}

fn body(metric: &Metric) -> Option<Estimate> {
    metric.parts.as_ref().map(|parts| parts.body)
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn rate(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::ByteRate => format!("{:.2} MB/s", value / 1e6),
        _ => format!("{value:.1} /s"),
    }
}

fn print_repeatability(cells: &Cells) {
    println!("## Repeatability over insertions\n");
    println!("| card | board | suite | figure | insertions | median | spread | ± this run |");
    println!("|---|---|---|---|---:|---:|---:|---:|");
    for ([card, board, suite], runs) in cells.iter().filter(|(_, runs)| runs.len() > 1) {
        for (id, metrics) in rates(runs) {
            let values = values(&metrics);
            let widths = metrics
                .iter()
                .filter_map(|metric| half_width(&body(metric)?));
            let widths: Vec<f64> = widths.collect();
            let width = (!widths.is_empty()).then(|| median(widths));
            println!(
                "| {card} | {board} | {suite} | {id} | {} | {} | {} | {} |",
                values.len(),
                rate(median(values.clone()), metrics[0].quantity),
                percent(Some(spread(&values))),
                percent(width),
            );
        }
    }
}

/// Counts, for pairs of neighbouring insertions, the hits of each range. No run is in two pairs.
fn cover(metrics: &[&Metric]) -> Coverage {
    let mut coverage = Coverage::default();
    for pair in metrics.chunks_exact(2) {
        let (this, next) = (pair[0], pair[1]);
        let known = known_spread(&this.id, this.quantity);
        let range = again(&[this.value], known).map(|again| (again.low, again.high));
        coverage.from_one.add(range, next.value);
        let long = this.parts.as_ref().and_then(|parts| parts.long_run);
        let range = long.and_then(|long| Some((long.low?, long.high?)));
        coverage.long_run.add(range, next.value);
        if let (Some(this), Some(next)) = (body(this), body(next)) {
            let widths = half_width(&this).zip(half_width(&next));
            let most = widths.map(|(one, other)| libm::hypot(one, other));
            let difference = libm::fabs(libm::log(next.value / this.value));
            coverage
                .this_run
                .add(most.map(|most| (0.0, most)), difference);
        }
    }
    for group in metrics.chunks_exact(OWN_RUNS + 1) {
        let (before, next) = group.split_at(OWN_RUNS);
        let range = again(&values(before), None).map(|again| (again.low, again.high));
        coverage.from_three.add(range, next[0].value);
    }
    coverage
}

/// Returns whether no row refutes the promise it makes.
fn print_coverage(cells: &Cells) -> bool {
    let mut by_metric = BTreeMap::<String, Vec<Coverage>>::new();
    for runs in cells.values().filter(|runs| runs.len() > 1) {
        for (id, metrics) in rates(runs) {
            by_metric.entry(id).or_default().push(cover(&metrics));
        }
    }
    println!("\n## Coverage\n\n| range | figure | hits | exact 95 % range |\n|---|---|---:|---:|");
    let mut is_kept = true;
    let rows: [(&str, TallyOf, bool); 4] = [
        ("measured again, from one run", |c| c.from_one, true),
        ("measured again, from three runs", |c| c.from_three, true),
        (
            "this run: two neighbours agree within both",
            |c| c.this_run,
            false,
        ),
        ("long run: rate of the next run", |c| c.long_run, false),
    ];
    for (name, of, is_promise) in rows {
        for (id, coverages) in &by_metric {
            let tallies = coverages.iter().map(of);
            let Tally(hits, trials) = tallies.fold(Tally::default(), |sum, tally| {
                Tally(sum.0 + tally.0, sum.1 + tally.1)
            });
            if trials == 0 {
                continue;
            }
            let (low, high) = clopper_pearson(hits, trials);
            // A range that is too wide breaks no promise.
            is_kept &= !is_promise || high >= PROMISE;
            println!(
                "| {name} | {id} | {hits} of {trials} | {:.0} to {:.0} % |",
                100.0 * low,
                100.0 * high
            );
        }
    }
    println!(
        "\n95 % or more possible in each row of `measured again`: {}",
        if is_kept { "ok" } else { "MISSED" }
    );
    is_kept
}

/// Prints the rates of each card on each other board, as a multiple of those on its first one.
fn print_boards(cells: &Cells) {
    println!("\n## Boards and readers\n");
    println!("| card | suite | figure | board | against | ratio | insertions apart |");
    println!("|---|---|---|---|---|---:|---|");
    for ([card, board, suite], runs) in cells {
        let is_same = |cell: &&[String; 3]| cell[0] == *card && cell[2] == *suite;
        let Some(first) = cells.keys().find(is_same).filter(|cell| cell[1] != *board) else {
            continue;
        };
        let firsts = rates(&cells[first]);
        for (id, metrics) in rates(runs) {
            let Some((_, others)) = firsts.iter().find(|(other, _)| *other == id) else {
                continue;
            };
            let (here, there) = (values(&metrics), values(others));
            let ends = |values: &[f64]| {
                let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
                (fold(f64::min), fold(f64::max))
            };
            let is_apart = ends(&here).0 > ends(&there).1 || ends(&here).1 < ends(&there).0;
            println!(
                "| {card} | {suite} | {id} | {board} | {} | {:.3} | {} |",
                first[1],
                median(here) / median(there),
                if is_apart { "yes" } else { "no" }
            );
        }
    }
}

/// Bytes per second that a bus carries at most.
fn bus_bytes_per_s(bus: &Bus) -> Option<f64> {
    let is_double = matches!(
        bus.mode,
        Some(BusMode::Ddr50 | BusMode::Ddr52 | BusMode::Hs400)
    );
    let clock_hz = bus.actual_clock_hz.or(bus.clock_hz)?;
    let edges = if is_double { 2.0 } else { 1.0 };
    Some(edges * clock_hz as f64 * f64::from(bus.lines_count?) / 8.0)
}

/// Prints the bus clock beside the read rate. Returns whether no rate exceeds its bus.
fn print_clocks(cells: &Cells) -> bool {
    println!("\n## Reader and clock\n");
    println!("| card | board | bus | clock | limit | sequential read | share |");
    println!("|---|---|---|---:|---:|---:|---:|");
    let mut is_possible = true;
    for ([card, board, _], runs) in cells.iter().filter(|(cell, _)| cell[2] == "quick") {
        let reader = runs.last().and_then(|run| run.devices.last());
        let bus = reader
            .and_then(|device| device.reader.as_ref())
            .and_then(|reader| reader.bus.as_ref());
        let read: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.metric(READ)?.rate_bytes_per_s)
            .collect();
        let (Some(bus), false) = (bus, read.is_empty()) else {
            println!("| {card} | {board} | – | – | – | – | – |");
            continue;
        };
        let (limit, rate) = (bus_bytes_per_s(bus), median(read));
        let share = limit.map(|limit| rate / limit);
        is_possible &= share.is_none_or(|share| share <= 1.0);
        println!(
            "| {card} | {board} | {} | {} | {} | {:.1} MB/s | {} |",
            bus.mode.as_ref().map_or("–", BusMode::name),
            bus.clock_hz
                .map_or("–".to_owned(), |hz| format!("{:.1} MHz", hz as f64 / 1e6)),
            limit.map_or("–".to_owned(), |limit| format!("{:.1} MB/s", limit / 1e6)),
            rate / 1e6,
            percent(share),
        );
    }
    println!(
        "\nno read rate above its bus: {}",
        if is_possible { "ok" } else { "MISSED" }
    );
    is_possible
}

fn tables() -> Result<bool, String> {
    let cells = read(std::env::args().skip(1))?;
    if cells.is_empty() {
        return Err("no runs: give the records.jsonl of unpacked archives".to_owned());
    }
    print_repeatability(&cells);
    let is_kept = print_coverage(&cells);
    print_boards(&cells);
    Ok(print_clocks(&cells) && is_kept)
}

fn main() -> ExitCode {
    ended(tables())
}
