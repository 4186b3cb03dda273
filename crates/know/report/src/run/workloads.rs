//! The table of workloads: columns where they fit, a stacked list where they do not.

use std::collections::BTreeSet;

use cardmark_core::{IntervalKind, LatencyFigure, Metric, Printed, Quantity, Record};
use cardmark_judge::{UNEVEN_RATIO, is_uneven};

use crate::text::names::{always_listed, workload_name};
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Row, Table};
use crate::text::{self, LatencyUnit, MISSING, figure, in_unit, percent, unit, value};

/// Stands before intervals that come from one trial.
const WITHIN_MARK: &str = "~";
/// Stands behind names of workloads that a warning touches.
const WARNING_MARK: &str = "!";
/// Largest size of blocks whose rates are given in operations, bytes.
const SMALL_BLOCK_BYTES: f64 = 4096.0;
/// Lower end of the long run, relative to the rate, below which it is worth a sentence.
const LONG_RUN_RATIO: f64 = 0.7;

/// One workload's figures.
pub(crate) struct Workload {
    pub(crate) id: String,
    pub(crate) rate: Option<Interval>,
    /// Ends of the range that allows for stalls too rare to have been seen, bytes/s.
    pub(crate) long_run: Option<(f64, f64)>,
    /// True if the parts of its rate are known: then its interval is that of the body.
    has_parts: bool,
    pub(crate) operations_per_s: Option<f64>,
    pub(crate) p99_ns: Option<f64>,
    /// As an old tool prints it.
    pub(crate) printed: Option<String>,
    /// Kinds of findings that limit trust in it.
    warnings: Vec<String>,
    /// Half of the interval's width, relative to its middle.
    half_width_ratio: Option<f64>,
}

impl Workload {
    fn is_warned(&self) -> bool {
        !self.warnings.is_empty()
    }

    fn is_uneven(&self) -> bool {
        self.half_width_ratio.is_some_and(is_uneven)
    }

    fn is_marked(&self) -> bool {
        self.is_warned() || self.is_uneven()
    }

    /// Leaves out the mark of intervals from within one trial.
    pub(crate) fn without_marks(mut self) -> Self {
        if let Some(rate) = &mut self.rate {
            rate.is_within_trial = false;
        }
        self
    }

    /// Leaves out warnings that are not shown, because another one is their cause.
    pub(crate) fn without_warnings(mut self, hidden: &[String]) -> Self {
        self.warnings.retain(|name| !hidden.contains(name));
        self
    }
}

/// A rate in bytes per second with its interval.
#[derive(Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) value: f64,
    pub(crate) ends: Option<(f64, f64)>,
    pub(crate) is_within_trial: bool,
}

impl Interval {
    fn of(metric: &Metric) -> Option<Self> {
        if let Some(parts) = &metric.parts {
            let in_bytes = bytes_per_unit(metric)?;
            let body = parts.body.low.zip(parts.body.high);
            let within = metric.low.zip(metric.high);
            let within = within.filter(|_| metric.interval_kind == IntervalKind::WithinTrial);
            return Some(Self {
                value: metric.value * in_bytes,
                ends: body
                    .or(within)
                    .map(|(low, high)| (low * in_bytes, high * in_bytes)),
                is_within_trial: body.is_none(),
            });
        }
        let is_byte_rate = metric.quantity == Quantity::ByteRate;
        let or_own = |rate: Option<f64>, own| rate.or(if is_byte_rate { own } else { None });
        let value = or_own(metric.rate_bytes_per_s, Some(metric.value))?;
        let low = or_own(metric.rate_low_bytes_per_s, metric.low);
        let high = or_own(metric.rate_high_bytes_per_s, metric.high);
        let is_within_trial = metric.interval_kind == IntervalKind::WithinTrial;
        // The two meanings of a unit are no interval.
        let is_interval = metric.interval_kind != IntervalKind::None;
        Some(Self {
            value,
            ends: low.zip(high).filter(|_| is_interval),
            is_within_trial,
        })
    }

    fn value_cell(self) -> String {
        shown(self.value)
    }

    fn ends_cell(self) -> Option<String> {
        let (low, high) = self.ends?;
        Some(format!("{}{}–{}", self.mark(), shown(low), shown(high)))
    }

    fn half_width_cell(self) -> Option<String> {
        let (low, high) = self.ends.filter(|(low, high)| low + high > 0.0)?;
        // The ends are those of the rate between stalls; the value has the stalls in it.
        let half_width = percent((high - low) / (high + low));
        Some(format!("{}±{half_width}", self.mark()))
    }

    fn mark(self) -> &'static str {
        match self.is_within_trial {
            true => WITHIN_MARK,
            false => "",
        }
    }
}

/// Bytes in one unit of a rate.
fn bytes_per_unit(metric: &Metric) -> Option<f64> {
    let bytes_per_s = metric.rate_bytes_per_s?;
    (metric.value > 0.0).then(|| bytes_per_s / metric.value)
}

/// The long run's ends, bytes/s.
fn long_run(metric: &Metric) -> Option<(f64, f64)> {
    let long_run = metric.parts.as_ref()?.long_run?;
    let in_bytes = bytes_per_unit(metric)?;
    Some((long_run.low? * in_bytes, long_run.high? * in_bytes))
}

/// In MB/s, as in the heading.
fn shown(bytes_per_s: f64) -> String {
    figure(in_unit(Quantity::ByteRate, bytes_per_s))
}

/// The rows of a record: the suite's workloads, measured or not, then all others.
pub(crate) fn rows(record: &Record) -> Vec<Workload> {
    ids(record).into_iter().map(|id| row(record, id)).collect()
}

fn row(record: &Record, id: &str) -> Workload {
    let metric = record.metric(id);
    let own_operations =
        |metric: &Metric| (metric.quantity == Quantity::OperationRate).then_some(metric.value);
    Workload {
        id: clean(id),
        rate: metric.and_then(Interval::of),
        long_run: metric.and_then(long_run),
        has_parts: metric.is_some_and(|metric| metric.parts.is_some()),
        operations_per_s: metric
            .filter(|metric| is_spoken_of_in_operations(metric))
            .and_then(|metric| metric.operations_per_s.or_else(|| own_operations(metric))),
        p99_ns: record
            .metric(&LatencyFigure::P99.of(id))
            .map(|metric| metric.value),
        printed: metric
            .and_then(|metric| metric.printed.as_ref())
            .map(printed_text),
        warnings: metric.map_or_else(Vec::new, |metric| metric.warnings.clone()),
        half_width_ratio: metric.and_then(Metric::half_width_ratio),
    }
}

/// The tool's own words, and the right unit where theirs is wrong.
fn printed_text(printed: &Printed) -> String {
    let meaning = match &printed.meaning {
        Some(meaning) => format!(" = {}", clean(meaning)),
        None => String::new(),
    };
    format!("{} {}{meaning}", clean(&printed.tool), clean(&printed.text))
}

/// The old tools' figures for large blocks are rates alone.
fn is_spoken_of_in_operations(metric: &Metric) -> bool {
    let block_bytes = metric
        .rate_bytes_per_s
        .zip(metric.operations_per_s)
        .map(|(bytes, operations)| bytes / operations);
    metric.printed.is_none() || block_bytes.is_none_or(|bytes| bytes < 1.5 * SMALL_BLOCK_BYTES)
}

fn ids(record: &Record) -> Vec<&str> {
    let mut ids = Vec::new();
    if let Some(asked) = &record.suite
        && let Ok(suite) = cardmark_catalog::suite(&asked.name, Some(asked.version))
    {
        let is_wanted = |id: &str| asked.only.is_empty() || asked.only.iter().any(|o| o == id);
        ids.extend(always_listed().filter(|id| is_wanted(id) && suite.workload(id).is_some()));
    }
    let rates = record
        .metrics
        .iter()
        .filter(|metric| metric.quantity.is_rate());
    ids.extend(rates.map(|metric| metric.id.as_str()));
    let whole: BTreeSet<&str> = record
        .trials
        .iter()
        .filter(|trial| trial.is_whole())
        .map(|trial| trial.workload.id.as_str())
        .collect();
    let all = record.trials.iter().map(|trial| trial.workload.id.as_str());
    // A workload that was measured and has no metric of its name serves others.
    ids.extend(all.filter(|id| !whole.contains(id)));
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

/// Names and values of the metrics that have no place in the table.
pub(crate) fn others(record: &Record, rows: &[Workload]) -> Vec<(String, String)> {
    others_with(WITHIN_MARK, record, rows)
}

/// The same without the mark of intervals from within one trial.
pub(crate) fn main_others(record: &Record, rows: &[Workload]) -> Vec<(String, String)> {
    others_with("", record, rows)
}

fn others_with(within: &str, record: &Record, rows: &[Workload]) -> Vec<(String, String)> {
    let is_latency_of_row = |metric: &Metric| {
        metric.latency().is_some_and(|(id, figure)| {
            figure != LatencyFigure::Mean && rows.iter().any(|row| row.id == id)
        })
    };
    let metrics = record.metrics.iter();
    metrics
        .filter(|metric| !metric.quantity.is_rate() && !is_latency_of_row(metric))
        .map(|metric| {
            let name = clean(workload_name(&metric.id));
            (name, value_with_ends(metric, within))
        })
        .collect()
}

fn value_with_ends(metric: &Metric, within: &str) -> String {
    let text = |of| value(&metric.id, metric.quantity, of);
    let mark = match metric.interval_kind {
        IntervalKind::BetweenRounds => "",
        IntervalKind::WithinTrial => within,
        IntervalKind::None | IntervalKind::Other(_) => return text(metric.value),
    };
    let ends = metric.low.zip(metric.high);
    let ends = ends.map(|(low, high)| format!(" ({mark}{} to {})", text(low), text(high)));
    text(metric.value) + &ends.unwrap_or_default()
}

/// Legend of the marks that occur.
pub(crate) fn legend(record: &Record, rows: &[Workload]) -> Vec<String> {
    let is_within = |metric: &Metric| metric.interval_kind == IntervalKind::WithinTrial;
    let within = record.metrics.iter().any(is_within).then(|| {
        format!("{WITHIN_MARK} interval from within a trial, without the differences between runs")
    });
    within.into_iter().chain(main_legend(rows)).collect()
}

/// Legend of the marks of the main columns.
pub(crate) fn main_legend(rows: &[Workload]) -> impl Iterator<Item = String> {
    let is_warned = rows.iter().any(Workload::is_warned);
    let warned = is_warned.then(|| format!("{WARNING_MARK} see the warnings below"));
    let is_uneven = rows.iter().any(Workload::is_uneven);
    let uneven = is_uneven.then(|| {
        format!(
            "{WARNING_MARK} too uneven to compare where ± is {} or more; repeat the run",
            percent(UNEVEN_RATIO)
        )
    });
    warned.into_iter().chain(uneven)
}

/// Columns of the table on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Those that people need first: names, rates, their spread, operations, and what an old tool prints.
    Main,
    /// All.
    All,
}

/// The table, at most `width` columns wide.
pub(crate) fn lines(
    rows: &[Workload],
    columns: Columns,
    width: usize,
    style: Style,
) -> Vec<String> {
    let mut table = match columns {
        Columns::All => table(rows),
        Columns::Main => main_table(rows),
    };
    let has_names = rows.iter().any(|row| workload_name(&row.id) != row.id);
    let has_latencies = rows.iter().any(|row| row.p99_ns.is_some());
    let has_printed = rows.iter().any(|row| row.printed.is_some());
    let has_intervals = rows
        .iter()
        .any(|row| row.rate.is_some_and(|r| r.ends.is_some()));
    let is_main = columns == Columns::Main;
    table.retain(|column| match column {
        ID => has_names && !is_main,
        P99 => has_latencies && !is_main,
        PRINTED => has_printed,
        HALF_WIDTH => has_intervals || !has_printed,
        ENDS => (has_intervals || !has_printed) && !is_main,
        _ => true,
    });
    table.lines(width, style)
}

/// The table with the details of stacked rows that belong to the main columns.
fn main_table(rows: &[Workload]) -> Table {
    let mut table = table(rows);
    for (row, workload) in table.rows.iter_mut().zip(rows) {
        let rate = workload.rate.map(|rate| {
            let half_width = rate.half_width_cell().map(|cell| format!(" {cell}"));
            text::rate(rate.value) + &half_width.unwrap_or_default()
        });
        let details = [
            rate.or_else(|| rate_text(workload)),
            operations_text(workload),
        ];
        let details = details.into_iter().chain([workload.printed.clone()]);
        let stacked = std::iter::once(name(workload)).chain(details.flatten());
        *row = std::mem::take(row).stacked(stacked.collect());
    }
    table
}

/// The rate that stalls too rare to be seen could lower most: its name and the lower end of its long run.
pub(crate) fn lowest_long_run(rows: &[Workload]) -> Option<(String, String)> {
    let share = |row: &Workload| Some(row.long_run?.0 / row.rate?.value);
    let shares = rows.iter().filter_map(|row| Some((share(row)?, row)));
    let (_, row) = shares
        .filter(|(share, _)| *share < LONG_RUN_RATIO)
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let name = workload_name(&row.id).to_owned();
    Some((name, text::rate(row.long_run?.0)))
}

/// The table with all columns in which something stands.
pub(crate) fn useful_table(rows: &[Workload]) -> Table {
    let mut table = table(rows);
    let all = table.rows.clone();
    let is_useful = |column: usize| {
        let mut cells = all.iter().filter_map(|row| row.cells.get(column));
        cells.any(|cell| cell != MISSING)
    };
    table.retain(is_useful);
    if let Some(first) = table.columns.first_mut() {
        "Metric".clone_into(&mut first.title);
    }
    table
}

fn latency_unit(rows: &[Workload]) -> LatencyUnit {
    let latencies: Vec<f64> = rows.iter().filter_map(|row| row.p99_ns).collect();
    LatencyUnit::for_all(&latencies)
}

/// Common unit of these operations; if they differ, the names show it.
fn operations_unit(rows: &[Workload]) -> &'static str {
    let mut units = rows
        .iter()
        .map(|row| unit(&row.id, Quantity::OperationRate));
    let first = units.next().unwrap_or_default();
    if units.all(|unit| unit == first) {
        first
    } else {
        "/s"
    }
}

const ID: usize = 1;
const HALF_WIDTH: usize = 3;
const ENDS: usize = 4;
const P99: usize = 6;
const PRINTED: usize = 7;

fn table(rows: &[Workload]) -> Table {
    let unit = latency_unit(rows);
    let has_parts = rows.iter().any(|row| row.has_parts);
    let (half_width, ends) = if has_parts {
        ("± this run", "long run")
    } else {
        ("±", "95 % interval")
    };
    // Output of an old tool is worth more than interval, latency and operations; our own figures are not.
    let has_printed = rows.iter().any(|row| row.printed.is_some());
    let or_printed = |column: Column, priority| match has_printed {
        true => column.priority(priority),
        false => column,
    };
    let columns = vec![
        Column::left(""),
        Column::left("id").priority(1),
        Column::right("MB/s"),
        Column::right(half_width).priority(2),
        or_printed(Column::right(ends), 3),
        or_printed(Column::right(operations_unit(rows)), 5),
        or_printed(Column::right(format!("p99 {}", unit.name())), 4),
        Column::left("as printed"),
    ];
    Table {
        columns,
        rows: rows.iter().map(|row| table_row(row, unit)).collect(),
    }
}

fn table_row(row: &Workload, unit: LatencyUnit) -> Row {
    let or_missing = |cell: Option<String>| cell.unwrap_or_else(|| MISSING.to_owned());
    let cells = vec![
        name(row),
        row.id.clone(),
        or_missing(row.rate.map(Interval::value_cell)),
        or_missing(row.rate.and_then(Interval::half_width_cell)),
        or_missing(ends_cell(row)),
        or_missing(row.operations_per_s.map(figure)),
        or_missing(row.p99_ns.map(|latency_ns| unit.figure(latency_ns))),
        or_missing(row.printed.clone()),
    ];
    let details = [rate_text(row), latency_text(row, unit), row.printed.clone()];
    let stacked = std::iter::once(name(row)).chain(details.into_iter().flatten());
    let tone = if row.is_marked() {
        Tone::Warning
    } else {
        Tone::Plain
    };
    Row::new(cells).stacked(stacked.collect()).tone(tone)
}

/// The range in the long run, if the row has one, else its interval.
fn ends_cell(row: &Workload) -> Option<String> {
    if !row.has_parts {
        return row.rate.and_then(Interval::ends_cell);
    }
    let (low, high) = row.long_run?;
    Some(format!("{}–{}", shown(low), shown(high)))
}

fn name(row: &Workload) -> String {
    let name = workload_name(&row.id);
    if row.is_marked() {
        format!("{name} {WARNING_MARK}")
    } else {
        name.to_owned()
    }
}

fn rate_text(row: &Workload) -> Option<String> {
    let Some(rate) = row.rate else {
        return row.operations_per_s.is_none().then(|| MISSING.to_owned());
    };
    let within = if row.has_parts { "long run " } else { "" };
    let ends = ends_cell(row).map_or(String::new(), |ends| format!(" ({within}{ends})"));
    Some(format!("{}{ends}", text::rate(rate.value)))
}

fn operations_text(row: &Workload) -> Option<String> {
    row.operations_per_s
        .map(|rate| value(&row.id, Quantity::OperationRate, rate))
}

fn latency_text(row: &Workload, unit: LatencyUnit) -> Option<String> {
    let operations = operations_text(row);
    let p99 = row
        .p99_ns
        .map(|value| format!("p99 {} {}", unit.figure(value), unit.name()));
    let parts: Vec<String> = operations.into_iter().chain(p99).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
