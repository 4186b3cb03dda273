//! Shared runs of a product: its classes, its figures by circumstances, and the answer that follows from them.

use std::collections::BTreeMap;

use cardmark_catalog::{Class, class};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{count_of, value};
use cardmark_report::{AnswerBlock, KeyFigure, Weight, plain_name};
use cardmark_share::{LEAST_SUBMITTERS, context_key};

use crate::addresses;
use crate::pages::{figures, published_charts};
use crate::views::product::{ProductView, SummaryView};
use crate::views::published::quantity;

/// Contexts that are shown; the others are folded away.
const SHOWN: usize = 2;
/// Charts of the distribution over cards.
const CHARTS: usize = 2;
/// Rates of the answer.
const KEY_RATES: [(&str, &str); 4] = [
    ("rand_write_4k", "random writes"),
    ("rand_read_4k", "random reads"),
    ("seq_write_1m", "sequential writes"),
    ("seq_read_1m", "sequential reads"),
];

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Numbers of runs and cards, and of those that failed a test of their capacity.
pub(super) fn counted(view: &ProductView) -> String {
    let entry = &view.entry;
    if entry.runs_count == 0 {
        return "There is no run of it yet.".to_owned();
    }
    let mut text = format!(
        "{} of {}.",
        count_of(number(entry.runs_count), "run", "runs"),
        count_of(number(entry.cards_count), "card", "cards"),
    );
    if entry.fakes_count > 0 {
        text += &format!(
            " {} failed a test of capacity.",
            count_of(number(entry.fakes_count), "card", "cards")
        );
    }
    text
}

/// The warning of a product if cards sold as it hold less than they report. Fewer than a ranking needs are no word about a product:
/// anybody can send one such run.
pub(super) fn false_capacity(view: &ProductView) -> Option<String> {
    let entry = &view.entry;
    (entry.fakes_count >= LEAST_SUBMITTERS).then(|| {
        format!(
            "FALSE CAPACITY: {} of {} failed a test of capacity, by the runs sent here; test yours before you use it",
            entry.fakes_count,
            count_of(number(entry.cards_count), "card", "cards")
        )
    })
}

/// The answer by shared runs: medians in the circumstances with the most submitters; `None` without one.
pub(super) fn answer(view: &ProductView) -> Option<AnswerBlock> {
    let most = view
        .summaries
        .iter()
        .max_by_key(|one| one.submitters_count)?;
    let here = |metric: &str| {
        let mut here = view.summaries.iter();
        here.find(|one| one.context == most.context && one.metric == metric)
    };
    let rated = KEY_RATES.iter();
    let rated: Vec<(&str, &SummaryView)> = rated
        .filter_map(|(metric, name)| Some((*name, here(metric)?)))
        .collect();
    let (name, first) = rated.first()?;
    let submitters = count_of(number(first.submitters_count), "submitter", "submitters");
    Some(AnswerBlock {
        weight: Weight::Plain,
        sentence: format!(
            "{}: {} {name} in the median of {submitters}",
            view.entry.name,
            figures::shown(first, first.median),
        ),
        more: vec![figures::circumstances(&most.context)],
        sides: vec![String::new()],
        figures: rated
            .iter()
            .map(|(name, one)| KeyFigure {
                id: one.metric.clone(),
                name: (*name).to_owned(),
                cells: vec![figures::shown(one, one.median)],
                word: match figures::interval(one).as_str() {
                    "–" => String::new(),
                    interval => interval.to_owned(),
                },
            })
            .collect(),
        open: match first.is_ranked {
            true => Vec::new(),
            false => vec!["Too few submitters for a place in a ranking".to_owned()],
        },
        ..AnswerBlock::default()
    })
}

/// Classes on the package, and beside each rate that they promise what was measured.
pub(super) fn claims(view: &ProductView) -> Vec<Block> {
    let known = view.claims.iter().filter_map(|claim| class(claim));
    let rows: Vec<Row> = known.flat_map(|class| promises(class, view)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::left("promise"),
        Column::right("at least"),
        Column::right("published"),
        Column::right("runs here"),
        Column::right("95 % interval"),
        Column::right("cards"),
    ];
    vec![
        Block::Heading("Promised and measured".to_owned()),
        Block::Table {
            caption: "Published: on all boards; of runs here: medians, in the circumstances with the most submitters".to_owned(),
            table: Table { columns, rows },
        },
        Block::Text(
            "A class is tested by a procedure of its own (`cardmark run --suite app-class`); rates of other suites are no verdict on it."
                .to_owned(),
        ),
    ]
}

/// A row for each rate that a class promises.
fn promises(class: &Class, view: &ProductView) -> Vec<Row> {
    // A2 promises its random rates with a command queue.
    let [reads, writes]: [&[&str]; 2] = match class.id.as_str() {
        "A2" => [&["random_read_q32"], &["random_write_q32"]],
        _ => [&["random_read"], &["random_write"]],
    };
    let rates: [(&str, Option<u64>, &[&str]); 3] = [
        (
            "seq_write_1m",
            Some(class.least_write_bytes_per_s),
            &["sequential_write"],
        ),
        ("rand_read_4k", class.least_read_operations_per_s, reads),
        ("rand_write_4k", class.least_write_operations_per_s, writes),
    ];
    let row = |(metric, least, patterns): (&str, Option<u64>, &[&str])| {
        let least = least? as f64;
        let of_metric = view.summaries.iter().filter(|one| one.metric == metric);
        let measured = of_metric.max_by_key(|one| one.submitters_count);
        let dash = || "–".to_owned();
        let published = published_charts::range(&view.entry.key, patterns);
        let cells = vec![
            format!("{}, {}", class.id, plain_name(metric)),
            value(metric, quantity(metric), least),
            published.unwrap_or_else(dash),
            measured.map_or_else(dash, |one| figures::shown(one, one.median)),
            measured.map_or_else(dash, figures::interval),
            measured.map_or_else(dash, |one| one.cards_count.to_string()),
        ];
        let values = vec![None, Some(least), None, measured.map(|one| one.median)];
        Some(Row::new(cells).valued(values))
    };
    rates.into_iter().filter_map(row).collect()
}

/// Figures by context, those with the most cards first.
pub(super) fn summaries(view: &ProductView, is_personal: bool) -> Vec<Block> {
    let mut contexts = BTreeMap::<&BTreeMap<String, String>, Vec<&SummaryView>>::new();
    for summary in &view.summaries {
        contexts.entry(&summary.context).or_default().push(summary);
    }
    let mut contexts: Vec<_> = contexts.into_iter().collect();
    let cards = |rows: &[&SummaryView]| rows.iter().map(|row| row.cards_count).max();
    contexts.sort_by_key(|(_, rows)| std::cmp::Reverse(cards(rows)));
    let block = |(context, mut rows): (&BTreeMap<String, String>, Vec<&SummaryView>)| {
        rows.sort_by(|one, next| one.metric.cmp(&next.metric));
        let rows = figures::offered_first(rows, |row| row.metric.as_str());
        let ranking = |row: &SummaryView| (!is_personal).then(|| ranking_of(row));
        let rows = rows
            .into_iter()
            .map(|row| (plain_name(&row.metric), ranking(row), row));
        figures::table(figures::circumstances(context), rows)
    };
    let by_cards: Vec<&SummaryView> = contexts.iter().flat_map(|(_, rows)| rows.clone()).collect();
    let curve = |metric: &&str| figures::distribution(metric, &by_cards);
    let charts = figures::OFFERED.iter().filter_map(curve).take(CHARTS);
    let charts: Vec<Block> = charts.map(Block::Chart).collect();
    let folded = contexts.split_off(contexts.len().min(SHOWN));
    let mut blocks: Vec<Block> = contexts.into_iter().map(block).collect();
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading("Runs".to_owned()));
        let meaning = if is_personal { OWN_MEANING } else { MEANING };
        blocks.push(Block::Text(meaning.to_owned()));
        blocks.extend(charts);
    }
    if !folded.is_empty() {
        blocks.push(Block::Details {
            title: match view.next.is_some() {
                true => "Other circumstances".to_owned(),
                false => format!("Other circumstances: {}", folded.len()),
            },
            blocks: folded.into_iter().map(block).collect(),
        });
    }
    blocks
}

/// The ranking that a figure has a place in, or else the one with the most products.
fn ranking_of(row: &SummaryView) -> String {
    match row.is_ranked {
        true => addresses::ranking(&row.metric, &context_key(&row.context).to_string()),
        false => addresses::with("/rankings", &[("metric", Some(row.metric.as_str()))]),
    }
}

const MEANING: &str = "Each submitter has one voice: the median of the cards, at most five, each with the median of its runs. \
                       An interval needs six submitters, a place in the rankings three.";

const OWN_MEANING: &str =
    "Of each of your cards the median of its runs counts, and of at most five cards the median.";
