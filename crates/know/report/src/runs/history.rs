//! One card over time: its runs with their rates, and what became of each rate.

mod answer;

use std::collections::BTreeSet;

use cardmark_core::{Context, Record};
use cardmark_judge::{HistoryGroup, started_at_s};
use cardmark_stats::{Conclusion, LEAST_DAYS, RateTrend};

pub use answer::answer_of_history;

use crate::chart::{Chart, Curve, Curves, Heading};
use crate::document::Block;
use crate::run::identity::device_line;
use crate::runs::shifts::{self, date_of};
use crate::text::SHORT_ID;
use crate::text::layout::{joined, painted, points};
use crate::text::names::workload_name;
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Row, Table};
use crate::text::{MISSING, count_of, figure, in_unit, p_value, percent, unit};

/// The history as a text of lines at most `width` columns wide: the answer, then the runs with the rates that people ask
/// for; with all rates, their trends and the method if `all` are wanted.
pub fn card_history(
    card: &str,
    groups: &[HistoryGroup<'_>],
    all: bool,
    width: usize,
    style: Style,
) -> String {
    let count: usize = groups.iter().map(|group| group.runs.len()).sum();
    let runs = count_of(count, "run", "runs");
    let title = format!("{} · {runs}", clean(card));
    let answer = answer_of_history(groups).lines(width, style);
    let mut blocks = vec![[answer, painted(&[title], width, style, Tone::Dim)].concat()];
    for group in groups {
        let mut lines = painted(&[clean(&about(&group.runs))], width, style, Tone::Heading);
        let trends = match all {
            true => answer::all_trends(group),
            false => answer::main_trends(group),
        };
        lines.extend(table(group, &trends).lines(width, style));
        blocks.push(lines);
        if all {
            blocks.push(points(&trend_clauses(group), width));
        }
    }
    let notes = match all {
        true => notes(groups),
        false => vec!["`--all` shows all rates, their trends and the method"],
    };
    blocks.push(painted(&notes, width, style, Tone::Dim));
    joined(&blocks)
}

/// Returns the name of the card of a run: its id and its own identification.
pub fn card_name(run: &Record) -> String {
    let Some(device) = run.devices.first() else {
        return "card without a name".to_owned();
    };
    match device.card_id() {
        Some(id) => format!("{id}, {}", device_line(device, &[])),
        None => device_line(device, &[]),
    }
}

/// Most runs of a table on a page; trends and charts have all.
pub const MOST_RUNS: usize = 200;
/// Most rates of a table on a page; further ones are in another table.
const MOST_RATES: usize = 7;
/// Most rates of a chart: each has a colour of its own.
const MOST_CURVES: usize = 6;

/// Returns the history as content of a page. `address` returns the address of a run.
pub fn history_blocks(
    groups: &[HistoryGroup<'_>],
    address: impl Fn(&Record) -> String,
) -> Vec<Block> {
    let mut blocks = answer_of_history(groups).blocks();
    for (index, group) in groups.iter().enumerate() {
        blocks.push(Block::Heading(about(&group.runs)));
        blocks.push(Block::List(trend_clauses(group)));
        blocks.extend(chart(group, index).map(Block::Chart));
        let tables = group.trends.chunks(MOST_RATES);
        blocks.extend(tables.map(|trends| page_table(group, trends, &address)));
    }
    let notes: Vec<String> = notes(groups).into_iter().map(str::to_owned).collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks
}

/// Rates over time, each as a share of its first figure; `None` without two moments.
fn chart(group: &HistoryGroup<'_>, index: usize) -> Option<Chart> {
    let starts = || group.runs.iter().filter_map(|run| started_at_s(run));
    let (first, last) = (starts().min()?, starts().max()?);
    if first == last {
        return None;
    }
    let days = |second: i64| (second - first) as f64 / 86_400.0;
    let curve = |trend: &RateTrend| {
        let figures = group.runs.iter().filter_map(|run| {
            let value = run.metric(&trend.metric)?.value;
            Some((days(started_at_s(run)?), value))
        });
        let figures: Vec<(f64, f64)> = figures.filter(|(_, value)| *value > 0.0).collect();
        let base = figures.first()?.1;
        let points = figures
            .into_iter()
            .map(|(at, value)| (at, 100.0 * value / base));
        Some(Curve {
            name: workload_name(&trend.metric).to_owned(),
            points: points.collect(),
        })
    };
    let curves: Vec<Curve> = group
        .trends
        .iter()
        .filter_map(curve)
        .take(MOST_CURVES)
        .collect();
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    let subtitle = match group.trends.len() > curves.len() {
        true => format!("{} of {} rates", curves.len(), group.trends.len()),
        false => String::new(),
    };
    Some(Chart::Curves(Curves {
        heading: Heading {
            name: format!("history-{}", index + 1),
            title: "Rates over time, as a share of the first figure of each".to_owned(),
            subtitle,
            footer: about(&group.runs),
            about: names.join("; "),
        },
        x_axis: format!("days since {}", date_of(first as f64 / 86_400.0)),
        y_axis: "% of the first figure".to_owned(),
        is_log: (false, false),
        curves,
    }))
}

/// The runs with some of their rates, the first run first.
fn page_table(
    group: &HistoryGroup<'_>,
    trends: &[RateTrend],
    address: impl Fn(&Record) -> String,
) -> Block {
    let left_out = group.runs.len().saturating_sub(MOST_RUNS);
    let caption = match left_out {
        0 => "Runs, the first one first".to_owned(),
        _ => format!("The last {MOST_RUNS} of {} runs", group.runs.len()),
    };
    let mut columns = vec![Column::left("date"), Column::left("id")];
    columns.extend(trends.iter().map(|trend| {
        let unit = unit(&trend.metric, trend.quantity);
        Column::right(format!("{}, {unit}", workload_name(&trend.metric)))
    }));
    let row = |run: &&Record| {
        let [date, id] = title(run);
        let figures = trends.iter().map(|trend| value(run, trend));
        let metric = |trend: &RateTrend| Some(run.metric(&trend.metric)?.value);
        let values = [None, None].into_iter().chain(trends.iter().map(metric));
        Row::new([date, id].into_iter().chain(figures).collect())
            .valued(values.collect())
            .linked(address(run))
    };
    Block::Table {
        caption,
        table: Table {
            columns,
            rows: group.runs.iter().skip(left_out).map(row).collect(),
        },
    }
}

/// Date and short id of a run.
fn title(run: &Record) -> [String; 2] {
    let id = run.id.to_string();
    [
        date(run).unwrap_or(MISSING).to_owned(),
        id.get(..SHORT_ID).unwrap_or(&id).to_owned(),
    ]
}

/// Suite, board, kind of target and bus in words.
fn about(runs: &[&Record]) -> String {
    let Some(run) = runs.first() else {
        return String::new();
    };
    let context = Context::of(run);
    let part = |name: &str| context.must.get(name).filter(|value| *value != "unknown");
    let board = run.board.as_ref().and_then(|board| board.model.as_ref());
    let parts = [part("suite"), board, part("target"), part("bus")];
    let mut parts: Vec<String> = parts.into_iter().flatten().cloned().collect();
    parts.push(count_of(runs.len(), "run", "runs"));
    parts.join(" · ")
}

/// Date with id, and those rates that fit, in order.
fn table(group: &HistoryGroup<'_>, trends: &[&RateTrend]) -> Table {
    let mut columns = vec![Column::left("")];
    let priorities = (0..=u8::MAX).rev();
    columns.extend(
        trends
            .iter()
            .zip(priorities)
            .map(|(trend, priority)| Column::right(answer::heading(trend)).priority(priority)),
    );
    let row = |run: &&Record| {
        let title = title(run).join("  ");
        let values = trends.iter().map(|trend| value(run, trend));
        let cells = std::iter::once(title.clone()).chain(values);
        Row::new(cells.collect()).stacked(vec![title])
    };
    Table {
        rows: group.runs.iter().map(row).collect(),
        columns,
    }
}

/// The day of a run.
fn date(run: &Record) -> Option<&str> {
    run.started_at.as_deref().and_then(|at| at.get(..10))
}

fn value(run: &Record, trend: &RateTrend) -> String {
    let metric = run.metric(&trend.metric);
    metric.map_or_else(
        || MISSING.to_owned(),
        |metric| figure(in_unit(metric.quantity, metric.value)),
    )
}

/// Changes of level, then the trend of each other rate: changed ones, unchanged ones, undecided ones.
fn trend_clauses(group: &HistoryGroup<'_>) -> Vec<String> {
    let mut clauses = shifts::clauses(&group.trends);
    let of = |wanted: Option<Conclusion>| {
        let trends = group.trends.iter().filter(|trend| trend.shift.is_none());
        trends.filter(move |trend| trend.outcome == wanted)
    };
    let names = |wanted| -> Vec<&str> { of(wanted).map(|t| workload_name(&t.metric)).collect() };
    let changed = of(Some(Conclusion::Lower)).chain(of(Some(Conclusion::Higher)));
    clauses.extend(changed.filter_map(clause));
    let same = names(Some(Conclusion::Same));
    if !same.is_empty() {
        clauses.push(format!("the same within 10 %: {}", same.join(", ")));
    }
    let undecided = names(Some(Conclusion::Undecided));
    if !undecided.is_empty() {
        let least = of(Some(Conclusion::Undecided)).filter_map(|trend| trend.least_ratio);
        let rise = least.fold(f64::INFINITY, f64::min);
        let fall = rise / (1.0 + rise);
        clauses.push(format!(
            "not decided, as a fall by less than {} or a rise by less than {} can be season or chance: {}",
            percent(fall),
            percent(rise),
            undecided.join(", ")
        ));
    }
    let seen = group.trends.iter().filter_map(|trend| {
        let words = answer::changed_last(trend.seen.as_ref()?);
        Some(format!("{} {words}", workload_name(&trend.metric)))
    });
    let seen: Vec<String> = seen.collect();
    if !seen.is_empty() {
        clauses.push(format!("seen, but not decided: {}", seen.join("; ")));
    }
    let changes = group.trends.iter().flat_map(|t| &t.kernel_changes_at_days);
    let changes: BTreeSet<String> = changes.map(|at_days| date_of(*at_days)).collect();
    if !changes.is_empty() {
        let dates: Vec<String> = changes.into_iter().collect();
        clauses.push(format!(
            "kernel changed on {}: only runs of one kernel are held against each other",
            dates.join(", ")
        ));
    }
    if let Some(trend) = of(None).max_by_key(|trend| trend.days_count) {
        let days = trend.days_count;
        clauses.push(match days {
            days if days >= LEAST_DAYS => "no trend: no kernel has runs on two days".to_owned(),
            0 => "no run has a time, so there is no trend".to_owned(),
            days => format!("too few days with runs for a trend: {days}, it takes {LEAST_DAYS}"),
        });
    }
    clauses
}

/// `random write 4 KiB fell 31 % since 2026-03-01 (95 % CI 24 % to 37 %, p = 0.004)`.
fn clause(trend: &RateTrend) -> Option<String> {
    let ratio = trend.change_ratio?;
    let since = date_of(trend.first_at_days?);
    let name = workload_name(&trend.metric);
    let is_fall = ratio < 0.0;
    let (near, far) = if is_fall {
        (-trend.high_ratio?, -trend.low_ratio?)
    } else {
        (trend.low_ratio?, trend.high_ratio?)
    };
    let verb = if is_fall { "fell" } else { "rose" };
    let (sign, probability) = p_value(trend.adjusted_p_value?);
    Some(format!(
        "{name} {verb} {} since {since} (95 % CI {} to {}, p {sign} {probability})",
        percent(ratio.abs()),
        percent(near),
        percent(far)
    ))
}

fn notes(groups: &[HistoryGroup<'_>]) -> Vec<&'static str> {
    let is_tested = |trend: &RateTrend| trend.outcome.is_some();
    let mut notes = Vec::new();
    if groups
        .iter()
        .any(|group| group.trends.iter().any(is_tested))
    {
        notes.push(
            "a trend over days with runs (Mann, Theil, Sen), corrected for the number of rates \
             (Holm) and for days that resemble each other",
        );
    }
    if groups.iter().any(HistoryGroup::has_shift) {
        notes.push(
            "another level since a day is an observation: what else changed then, such as board, reader, fill or \
             programs, explains it as well as the card; `cardmark compare` holds the runs before and after \
             against each other",
        );
    }
    if groups.len() > 1 {
        notes.push("runs of different suites, places or circumstances are kept apart");
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::{Metric, Origin, OriginKind, Quantity};
    use cardmark_stats::{HistoryRun, RateHistory, rate_trends};

    /// A run without the rate, then nine of 2026-03-01 and later in which it falls.
    #[test]
    fn a_change_is_told_since_the_first_run_with_that_rate() {
        let run = |date: &str, value: Option<f64>| {
            let mut run = Record::new(uuid::Uuid::new_v4(), Origin::of(OriginKind::Measured));
            run.started_at = Some(format!("{date}T10:00:00Z"));
            let metric = |value| Metric::new("rand_write_4k", Quantity::OperationRate, value);
            run.metrics = value.map(metric).into_iter().collect();
            run
        };
        let rates = (0..9).map(|day| 100.0 * 0.69_f64.powf(f64::from(day) / 8.0));
        let mut records = vec![run("2026-01-03", None)];
        let later = (1..).zip(rates.clone());
        records.extend(later.map(|(day, rate)| run(&format!("2026-03-{day:02}"), Some(rate))));
        let days = (0..).map(|day| 20_513.4 + f64::from(day));
        let history = RateHistory {
            metric: "rand_write_4k".to_owned(),
            quantity: Quantity::OperationRate,
            runs: days
                .zip(rates)
                .map(|(at_days, value)| HistoryRun {
                    at_days,
                    value,
                    kernel: None,
                    reference: None,
                })
                .collect(),
        };
        let group = HistoryGroup {
            runs: records.iter().collect(),
            trends: rate_trends(&[history]),
        };
        let said = trend_clauses(&group).join(" ");
        assert!(said.contains("fell 31 % since 2026-03-01 ("), "{said}");
    }

    /// Nine rates over more runs than a page shows: tables of seven and two rates, with links to the last runs.
    #[test]
    fn a_page_has_all_rates_and_states_which_runs_it_shows() {
        let ids: Vec<String> = (0..9).map(|index| format!("rate_{index}")).collect();
        let run = |day: i64| {
            let mut run = Record::new(uuid::Uuid::new_v4(), Origin::of(OriginKind::Measured));
            let start = jiff::Timestamp::from_second(1_767_225_600 + day * 86_400).unwrap();
            run.started_at = Some(start.to_string());
            let metric = |id: &String| Metric::new(id, Quantity::OperationRate, 100.0);
            run.metrics = ids.iter().map(metric).collect();
            run
        };
        let runs: Vec<Record> = (0..203).map(run).collect();
        let groups = cardmark_judge::history(&runs, &[]);
        let blocks = history_blocks(&groups, |run| format!("/runs/{}", run.id));
        let tables: Vec<(&String, &Table)> = blocks
            .iter()
            .filter_map(|block| match block {
                Block::Table { caption, table } => Some((caption, table)),
                _ => None,
            })
            .collect();
        let widths: Vec<usize> = tables.iter().map(|(_, it)| it.columns.len()).collect();
        assert_eq!(widths, [2 + 7, 2 + 2]);
        for (caption, table) in tables {
            assert_eq!(caption, "The last 200 of 203 runs");
            assert_eq!(table.rows.len(), 200);
            let last = format!("/runs/{}", runs[202].id);
            assert_eq!(table.rows[199].link.as_ref(), Some(&last));
        }
        let charts = blocks
            .iter()
            .filter(|block| matches!(block, Block::Chart(_)));
        assert_eq!(charts.count(), 1);
        let same = format!("the same within 10 %: {}", ids.join(", "));
        assert!(blocks.contains(&Block::List(vec![same])), "{blocks:?}");
    }
}
