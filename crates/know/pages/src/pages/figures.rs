//! Figures of summaries: tables and charts.

use std::collections::BTreeMap;

use cardmark_core::METHOD;
use cardmark_report::chart::{Bar, Bars, Chart, Curve, Curves, Group, Heading};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{amount, in_unit, unit, value};
use cardmark_report::{capitalised, plain_name};

use crate::views::product::SummaryView;
use crate::views::published::quantity;

/// Names of the context that are the same for all summaries, or follow from others.
const UNTOLD: [&str; 2] = ["origin", "target"];
/// Values that need no name before them.
const NAMELESS: [&str; 2] = ["board", "suite"];

/// Circumstances in one line, the board first.
pub(super) fn circumstances(context: &BTreeMap<String, String>) -> String {
    let named = |name: &str| NAMELESS.contains(&name);
    let first = NAMELESS.iter().filter_map(|name| context.get(*name));
    let is_usual = |name: &str, value: &str| name == "method" && value == METHOD.to_string();
    let others = context
        .iter()
        .filter(|(name, value)| {
            !named(name) && !UNTOLD.contains(&name.as_str()) && *value != "none"
        })
        .filter(|(name, value)| !is_usual(name, value))
        .map(|(name, value)| condition(name, value));
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

/// A condition in words, such as `268 MB tested` or `reader sdhci`.
fn condition(name: &str, value: &str) -> String {
    let plain = value.replace('_', " ");
    match (name, value.parse(), plain.split_once(' ')) {
        ("span", Ok(bytes), _) => format!("{} tested", amount(bytes)),
        ("reader", _, Some(("usb", driver))) => format!("USB reader with {driver}"),
        _ => format!("{} {plain}", name.replace('_', " ")),
    }
}

/// Figures that are offered in rankings, the best known first; any other can be named in an address.
pub(super) const OFFERED: [&str; 8] = [
    "rand_read_4k",
    "rand_write_4k",
    "seq_read_1m",
    "seq_write_1m",
    "sync_write_4k",
    "mixed_4k",
    "sqlite_tps",
    "files_per_s",
];

/// The same with the offered figures first.
pub(super) fn offered_first<T>(mut all: Vec<T>, metric: impl Fn(&T) -> &str) -> Vec<T> {
    let place = |one: &T| OFFERED.iter().position(|offered| *offered == metric(one));
    all.sort_by_key(|one| place(one).unwrap_or(OFFERED.len()));
    all
}

pub(super) fn shown(summary: &SummaryView, amount: f64) -> String {
    value(&summary.metric, quantity(&summary.metric), amount)
}

/// `7.2 to 8.1 MB/s`, or a dash below six submitters.
pub(super) fn interval(summary: &SummaryView) -> String {
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
        ])
        .valued(vec![
            None,
            Some(summary.median),
            summary.low,
            Some(summary.lower_quartile),
            Some(summary.upper_quartile),
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

/// Title of an axis, with the unit and, of a rate, the direction.
fn axis(metric: &str) -> String {
    let quantity = quantity(metric);
    let direction = match quantity.is_rate() {
        true => "; higher is better",
        false => "",
    };
    format!(
        "{}, {}{direction}",
        plain_name(metric),
        unit(metric, quantity)
    )
}

const FOOTER: &str = "cardmark, shared runs, CC0 1.0";

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
            footer: FOOTER.to_owned(),
            about: about.join("; "),
        },
        axis: axis(metric),
        series: Vec::new(),
        groups,
        marks: Vec::new(),
    })
}

/// Fewest submitters of a curve.
const LEAST_OF_CURVE: u64 = 6;
/// Steps of a curve.
const STEPS: u32 = 20;
/// Most curves of a chart.
const MOST_CURVES: usize = 6;

/// Share of the submitters whose cards reach a rate, with a curve for each of the circumstances; `None` without six in any.
pub(super) fn distribution(metric: &str, summaries: &[&SummaryView]) -> Option<Chart> {
    let quantity = quantity(metric);
    let of_metric = summaries.iter().filter(|summary| summary.metric == metric);
    let enough = of_metric.filter(|summary| summary.submitters_count >= LEAST_OF_CURVE);
    let curve = |summary: &&SummaryView| {
        let point = |step: u32| {
            let below = f64::from(step) / f64::from(STEPS);
            let value = summary.submitters.quantile(below)?;
            Some((in_unit(quantity, value), 100.0 * (1.0 - below)))
        };
        let name = circumstances(&summary.context);
        Curve {
            name: format!("{name} ({} people)", summary.submitters_count),
            points: (0..=STEPS).filter_map(point).collect(),
        }
    };
    let enough: Vec<&&SummaryView> = enough.take(MOST_CURVES).collect();
    let title = match enough.as_slice() {
        [] => String::new(),
        [most, ..] => format!(
            "{}: half of the cards reach {}",
            capitalised(&plain_name(metric)),
            shown(most, most.median)
        ),
    };
    let curves: Vec<Curve> = enough.into_iter().map(curve).collect();
    let about: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    let about = about.join("; ");
    (!curves.is_empty()).then(|| {
        Chart::Curves(Curves {
            heading: Heading {
                name: format!("{}-of-cards", metric.replace('_', "-")),
                title,
                subtitle:
                    "share of people whose card reaches a rate; a steep curve: all cards are alike"
                        .to_owned(),
                footer: FOOTER.to_owned(),
                about,
            },
            x_axis: axis(metric),
            y_axis: "people, %".to_owned(),
            is_log: (false, false),
            curves,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circumstances_of_two_methods_differ() {
        let of = |method: u32| {
            let context = [
                ("method", method.to_string()),
                ("suite", "quick 2".to_owned()),
            ];
            circumstances(&context.map(|(name, value)| (name.to_owned(), value)).into())
        };
        assert_eq!(of(METHOD), "quick 2");
        assert_eq!(of(METHOD - 1), format!("quick 2, method {}", METHOD - 1));
    }
}
