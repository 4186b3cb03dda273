//! One card over time: its runs with their rates, and what became of each rate.

use std::collections::BTreeSet;

use cardmark_core::{Context, Record};
use cardmark_judge::HistoryGroup;
use cardmark_stats::{Conclusion, LEAST_DAYS, RateTrend};

use crate::layout::{joined, painted, points};
use crate::names::workload_name;
use crate::style::{Style, Tone, clean};
use crate::summary::SHORT_ID;
use crate::table::{Column, Row, Table};
use crate::text::{MISSING, count_of, figure, in_unit, p_value, percent, unit};

/// The history as a text of lines at most `width` columns wide.
#[must_use]
pub fn card_history(card: &str, groups: &[HistoryGroup<'_>], width: usize, style: Style) -> String {
    let count: usize = groups.iter().map(|group| group.runs.len()).sum();
    let runs = count_of(count, "run", "runs");
    let title = format!("{} · {runs}", clean(card));
    let mut blocks = vec![painted(&[title], width, style, Tone::Heading)];
    for group in groups {
        let mut lines = painted(&[clean(&about(&group.runs))], width, style, Tone::Heading);
        lines.extend(table(group).lines(width, style));
        blocks.push(lines);
        blocks.push(trend_lines(group, width));
    }
    blocks.push(notes(groups, width, style));
    joined(&blocks)
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

/// Date, run, and those rates that fit, in order.
fn table(group: &HistoryGroup<'_>) -> Table {
    let mut columns = vec![Column::left("date"), Column::left("run")];
    let priorities = (0..=u8::MAX).rev();
    columns.extend(
        group
            .trends
            .iter()
            .zip(priorities)
            .map(|(trend, priority)| {
                let unit = unit(&trend.metric, trend.quantity);
                Column::right(format!("{} {unit}", clean(&trend.metric))).priority(priority)
            }),
    );
    let rows = group.runs.iter().map(|run| {
        let id = run.id.to_string();
        let mut cells = vec![
            date(run).unwrap_or(MISSING).to_owned(),
            id.get(..SHORT_ID).unwrap_or(&id).to_owned(),
        ];
        let title = cells.join("  ");
        cells.extend(group.trends.iter().map(|trend| value(run, trend)));
        Row::new(cells).stacked(vec![title])
    });
    Table {
        rows: rows.collect(),
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

/// Trend of each rate: changed rates, then unchanged ones, then undecided ones.
fn trend_lines(group: &HistoryGroup<'_>, width: usize) -> Vec<String> {
    let of = |wanted: Option<Conclusion>| {
        let trends = group.trends.iter();
        trends.filter(move |trend| trend.outcome == wanted)
    };
    let names = |wanted| -> Vec<&str> { of(wanted).map(|t| workload_name(&t.metric)).collect() };
    let changed = of(Some(Conclusion::Lower)).chain(of(Some(Conclusion::Higher)));
    let mut clauses: Vec<String> = changed.filter_map(clause).collect();
    let same = names(Some(Conclusion::Same));
    if !same.is_empty() {
        clauses.push(format!("the same within 10 %: {}", same.join(", ")));
    }
    let undecided = names(Some(Conclusion::Undecided));
    if !undecided.is_empty() {
        clauses.push(format!("not decided: {}", undecided.join(", ")));
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
    points(&clauses, width)
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

/// The date (UTC) of a moment in days since 1970-01-01.
#[allow(
    clippy::cast_possible_truncation,
    reason = "seconds; the cast saturates where there are too many"
)]
fn date_of(at_days: f64) -> String {
    let second = libm::floor(at_days * 86_400.0) as i64;
    let moment = jiff::Timestamp::from_second(second);
    moment.map_or_else(
        |_| MISSING.to_owned(),
        |moment| moment.to_string().chars().take(10).collect(),
    )
}

fn notes(groups: &[HistoryGroup<'_>], width: usize, style: Style) -> Vec<String> {
    let is_tested = |trend: &RateTrend| trend.outcome.is_some();
    let mut notes = Vec::new();
    if groups
        .iter()
        .any(|group| group.trends.iter().any(is_tested))
    {
        notes.push(
            "a trend over days with runs (Mann, Theil, Sen), corrected for the number of rates \
             (Holm) and for days that resemble each other; below 8 % nothing is said to change, as seasons do \
             that; a sudden change is better found by `cardmark compare` of runs before and after",
        );
    }
    if groups.len() > 1 {
        notes.push("runs of different suites, places or circumstances are kept apart");
    }
    painted(&notes, width, style, Tone::Dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_core::{Metric, Origin, OriginKind, Quantity};
    use cardmark_stats::{HistoryRun, RateHistory, rate_trends};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (at_days, date) in [
            (0.0, "1970-01-01"),
            (-0.1, "1969-12-31"),
            (10_956.999, "1999-12-31"),
            (11_016.5, "2000-02-29"),
            (11_017.0, "2000-03-01"),
            (20_513.4, "2026-03-01"),
            (47_540.0, "2100-02-28"),
            (47_541.0, "2100-03-01"),
        ] {
            assert_eq!(date_of(at_days), date);
        }
    }

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
                })
                .collect(),
        };
        let group = HistoryGroup {
            runs: records.iter().collect(),
            trends: rate_trends(&[history]),
        };
        let said = trend_lines(&group, 200).join(" ");
        assert!(said.contains("fell 31 % since 2026-03-01 ("), "{said}");
    }
}
