//! Figures of summaries: tables and charts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_catalog::metric_quantities;
use cardmark_core::Quantity;
use cardmark_report::chart::{Bar, Bars, Chart, Group, Heading};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{amount, in_unit, unit, value};
use cardmark_report::workload_name;

use crate::lists::SummaryView;

static QUANTITIES: LazyLock<BTreeMap<String, Quantity>> = LazyLock::new(metric_quantities);

/// The quantity of a metric; a count if it is unknown.
pub(super) fn quantity(metric: &str) -> Quantity {
    QUANTITIES.get(metric).copied().unwrap_or(Quantity::Count)
}

/// Names of the context that are the same for all summaries, or follow from others.
const UNTOLD: [&str; 3] = ["method", "origin", "target"];
/// Values that need no name before them.
const NAMELESS: [&str; 2] = ["board", "suite"];

/// Circumstances in one line, the board first.
pub(super) fn circumstances(context: &BTreeMap<String, String>) -> String {
    let named = |name: &str| NAMELESS.contains(&name);
    let first = NAMELESS.iter().filter_map(|name| context.get(*name));
    let others = context
        .iter()
        .filter(|(name, value)| {
            !named(name) && !UNTOLD.contains(&name.as_str()) && *value != "none"
        })
        .map(|(name, value)| {
            let size = value.parse().ok().filter(|_| name == "span");
            let value = size.map_or_else(|| value.replace('_', " "), amount);
            format!("{} {value}", name.replace('_', " "))
        });
    let words: Vec<String> = first
        .filter(|value| *value != "unknown")
        .cloned()
        .chain(others.filter(|words| !words.ends_with("unknown")))
        .collect();
    match words.is_empty() {
        true => "circumstances unknown".to_owned(),
        false => words.join(", "),
    }
}

fn shown(summary: &SummaryView, amount: f64) -> String {
    value(&summary.metric, quantity(&summary.metric), amount)
}

/// `7.2 to 8.1 MB/s`, or a dash below six submitters.
fn interval(summary: &SummaryView) -> String {
    match (summary.low, summary.high) {
        (Some(low), Some(high)) => format!("{} to {}", shown(summary, low), shown(summary, high)),
        _ => "–".to_owned(),
    }
}

/// A table of summaries, each in a row under the name that `name` gives it, which may lead to an address.
pub(super) fn table<'a>(
    caption: String,
    rows: impl Iterator<Item = (String, Option<String>, &'a SummaryView)>,
) -> Block {
    let row = |(name, address, summary): (String, Option<String>, &SummaryView)| {
        let row = Row::new(vec![
            name,
            shown(summary, summary.median),
            interval(summary),
            shown(summary, summary.lower_quartile),
            shown(summary, summary.upper_quartile),
            summary.cards_count.to_string(),
            summary.submitters_count.to_string(),
        ]);
        match address {
            Some(address) => row.linked(address),
            None => row,
        }
    };
    let columns = [
        "median",
        "95 % interval",
        "lower quartile",
        "upper quartile",
        "cards",
        "submitters",
    ];
    let columns = std::iter::once(Column::left("")).chain(columns.map(Column::right));
    Block::Table {
        caption,
        table: Table {
            columns: columns.collect(),
            rows: rows.map(row).collect(),
        },
    }
}

/// Bars of the medians, with the interval as whisker, or without one below six submitters.
pub(super) fn bars<'a>(
    title: &str,
    metric: &str,
    rows: impl Iterator<Item = (String, &'a SummaryView)>,
) -> Chart {
    let quantity = quantity(metric);
    let bar = |(name, summary): (String, &SummaryView)| Group {
        name,
        bars: vec![Bar {
            value: in_unit(quantity, summary.median),
            ends: summary
                .low
                .zip(summary.high)
                .map(|(low, high)| (in_unit(quantity, low), in_unit(quantity, high))),
            series: 0,
            label: String::new(),
        }],
    };
    let groups: Vec<Group> = rows.map(bar).collect();
    let about: Vec<String> = groups
        .iter()
        .flat_map(|group| group.bars.iter().map(move |bar| (&group.name, bar.value)))
        .map(|(name, value)| format!("{name}: {}", cardmark_report::text::figure(value)))
        .collect();
    Chart::Bars(Bars {
        heading: Heading {
            name: metric.replace('_', "-"),
            title: title.to_owned(),
            subtitle: "median of submitters; whisker: 95 % interval, from six on".to_owned(),
            footer: "cardmark, shared runs, CC0 1.0".to_owned(),
            about: about.join("; "),
        },
        axis: format!("{}, {}", workload_name(metric), unit(metric, quantity)),
        series: Vec::new(),
        groups,
    })
}
