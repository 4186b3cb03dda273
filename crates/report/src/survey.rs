//! A report on runs: tables of cards and figures, charts, findings, circumstances.

mod anatomy;
mod charts;
mod curves;
mod place;
mod subjects;
mod verdicts;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{Quantity, Record, Severity, context_rows};

use self::subjects::{Subject, board_of, boards, name_of, subjects, suite_of};
use crate::anatomy as anatomy_text;
use crate::circumstances::circumstances;
use crate::document::{Block, Column, Document, Row, Table};
use crate::integrity;
use crate::names::workload_name;
use crate::text::{MISSING, count_of, figure, in_unit, percent, unit};
use crate::workloads::{legend, others, rows, useful_table};

/// The answer of a run that does not know.
const UNKNOWN: &str = "unknown";

/// A report on these runs, under that title.
#[must_use]
pub fn survey(title: &str, records: &[Record]) -> Document {
    let subjects = subjects(records);
    let metrics = rates(records);
    let mut blocks = vec![Block::Text(summary(&subjects, records))];
    match records {
        [one] => {
            blocks.extend(figures_of_one(one));
            blocks.extend(verdicts::of_one(one));
        }
        _ => {
            let boards = boards(&subjects);
            let tables = boards
                .iter()
                .filter_map(|board| table(board, &subjects, &metrics));
            blocks.extend(tables);
            blocks.extend(verdicts::of_all(&subjects));
        }
    }
    blocks.extend(
        charts::charts(&subjects, &metrics)
            .into_iter()
            .map(Block::Chart),
    );
    blocks.extend(findings(&subjects));
    blocks.extend(context(records));
    blocks.push(Block::Heading("Method".to_owned()));
    blocks.push(Block::Text(method(records)));
    Document {
        title: title.to_owned(),
        blocks,
    }
}

/// The rates of any of these records, in their order: id and quantity.
fn rates(records: &[Record]) -> Vec<(String, Quantity)> {
    let mut rates: Vec<(String, Quantity)> = Vec::new();
    for metric in records.iter().flat_map(|record| &record.metrics) {
        if metric.quantity.is_rate() && rates.iter().all(|(id, _)| *id != metric.id) {
            rates.push((metric.id.clone(), metric.quantity));
        }
    }
    rates
}

fn summary(subjects: &[Subject<'_>], records: &[Record]) -> String {
    let mut names: Vec<&str> = subjects
        .iter()
        .map(|subject| subject.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut suites: Vec<String> = records.iter().filter_map(suite_of).collect();
    suites.sort();
    suites.dedup();
    let computers: BTreeSet<Option<&String>> = records
        .iter()
        .map(|record| record.board.as_ref()?.model.as_ref())
        .collect();
    let mut text = format!(
        "{} of {} on {}",
        count_of(records.len(), "run", "runs"),
        count_of(names.len(), "card", "cards"),
        count_of(computers.len(), "board", "boards")
    );
    if !suites.is_empty() {
        text += &format!(", by {}", suites.join(", "));
    }
    let mut days: Vec<&str> = records
        .iter()
        .filter_map(|record| record.started_at.as_deref()?.get(..10))
        .collect();
    days.sort_unstable();
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first == last => text += &format!(", on {first}"),
        (Some(first), Some(last)) => text += &format!(", {first} to {last}"),
        _ => {}
    }
    text + "."
}

/// Names, and a column for each rate that there is on this board, as the tables of magazines have it;
/// nothing where there is no rate and the verdicts have the names.
fn table(board: &str, subjects: &[Subject<'_>], metrics: &[(String, Quantity)]) -> Option<Block> {
    let here: Vec<&Subject<'_>> = subjects
        .iter()
        .filter(|subject| subject.board == board)
        .collect();
    let is_known = |id: &str| here.iter().any(|subject| subject.rate(id).is_some());
    let metrics: Vec<_> = metrics.iter().filter(|(id, _)| is_known(id)).collect();
    let has_points = |subject: &&Subject<'_>| !verdicts::points(subject).is_empty();
    if metrics.is_empty() && here.iter().all(has_points) {
        return None;
    }
    let has_counts = here.iter().any(|subject| subject.records.len() > 1);
    let counts = |count: usize| has_counts.then(|| count.to_string());
    let mut columns = vec![Column::left("Card")];
    columns.extend(has_counts.then(|| Column::right("Runs")));
    columns.extend(metrics.iter().map(|(id, quantity)| {
        Column::right(format!("{}, {}", workload_name(id), unit(id, *quantity)))
    }));
    let row = |subject: &&Subject<'_>| {
        let mut cells = vec![subject.name.clone()];
        cells.extend(counts(subject.records.len()));
        cells.extend(
            metrics
                .iter()
                .map(|(id, quantity)| cell(subject, id, *quantity)),
        );
        Row::new(cells)
    };
    let rows = here.iter().map(row).collect();
    Some(Block::Table {
        caption: board.to_owned(),
        table: Table { columns, rows },
    })
}

/// Result of an integrity test or an anatomy.
fn found(record: &Record) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(found) = &record.integrity {
        let figures = integrity::figures(found).into_iter();
        let cells = figures.map(|(name, value)| (name.to_owned(), value));
        blocks.push(Block::Text(integrity::verdict(record, found)));
        blocks.push(pairs(caption_of(record), ["what", "found"], cells));
    }
    let sentences = record.anatomy.iter().flat_map(anatomy_text::sentences);
    blocks.extend(sentences.map(Block::Text));
    blocks
}

/// A table of names with what belongs to them.
fn pairs(
    caption: String,
    heading: [&str; 2],
    cells: impl Iterator<Item = (String, String)>,
) -> Block {
    let rows = cells.map(|(name, value)| Row::new(vec![name, value]));
    Block::Table {
        caption,
        table: Table {
            columns: heading.map(Column::left).to_vec(),
            rows: rows.collect(),
        },
    }
}

fn caption_of(record: &Record) -> String {
    format!("{} on {}", name_of(record), board_of(record))
}

/// The figures of one run, a line for each metric: rates first, then what is no rate.
fn figures_of_one(record: &Record) -> Vec<Block> {
    let lines = rows(record);
    let mut blocks = found(record);
    if !lines.is_empty() {
        blocks.push(Block::Table {
            caption: caption_of(record),
            table: useful_table(&lines),
        });
    }
    let others = others(record, &lines);
    if !others.is_empty() {
        let heading = ["Metric", "Value"];
        blocks.push(pairs(
            "Further figures".to_owned(),
            heading,
            others.into_iter(),
        ));
    }
    blocks.extend(legend(record, &lines).into_iter().map(Block::Text));
    blocks
}

fn cell(subject: &Subject<'_>, metric: &str, quantity: Quantity) -> String {
    let Some((value, ends)) = subject.rate(metric) else {
        return MISSING.to_owned();
    };
    let text = figure(in_unit(quantity, value));
    match ends {
        Some((low, high)) => format!("{text} ± {}", percent(0.5 * (high - low) / value)),
        None => text,
    }
}

/// Findings, each once, with the subjects whose runs have it.
fn findings(subjects: &[Subject<'_>]) -> Vec<Block> {
    let mut told = BTreeMap::<(Reverse<Severity>, &str, &[String]), BTreeSet<&str>>::new();
    for subject in subjects {
        for finding in subject.records.iter().flat_map(|record| &record.findings) {
            let key = (
                Reverse(finding.severity),
                finding.detail.as_str(),
                finding.workloads.as_slice(),
            );
            told.entry(key).or_default().insert(&subject.name);
        }
    }
    if told.is_empty() {
        return Vec::new();
    }
    let all: BTreeSet<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
    let points = told.into_iter().map(|((severity, detail, of), names)| {
        let word: &str = match &severity.0 {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Note => "Note",
            Severity::Other(word) => word,
        };
        let workloads: Vec<&str> = of.iter().map(|id| workload_name(id)).collect();
        let whose = match names.len() {
            _ if all.len() == 1 => String::new(),
            count if count == all.len() => "all cards".to_owned(),
            _ => names.into_iter().collect::<Vec<_>>().join(", "),
        };
        let mut parts = vec![workloads.join(", "), whose];
        parts.retain(|part| !part.is_empty());
        match parts.as_slice() {
            [] => format!("{word}: {detail}"),
            parts => format!("{word}: {detail} ({})", parts.join("; ")),
        }
    });
    vec![
        Block::Heading("Findings".to_owned()),
        Block::List(points.collect()),
    ]
}

/// Known context of the runs, and the names of unknown items.
fn context(records: &[Record]) -> Vec<Block> {
    let all = [records.iter().collect::<Vec<_>>()];
    let (known, unknown): (Vec<_>, Vec<_>) = context_rows(&all)
        .into_iter()
        .partition(|row| row.sides.iter().flatten().any(|answer| answer != UNKNOWN));
    let rows: Vec<Row> = known
        .into_iter()
        .map(|row| {
            let answers = circumstances(&row).concat();
            let must = if row.must_match { "yes" } else { "no" };
            Row::new(vec![row.name, answers.join(", "), must.to_owned()])
        })
        .collect();
    let mut blocks = vec![Block::Heading("Circumstances".to_owned())];
    if !rows.is_empty() {
        let titles = ["Name", "Values", "Must be the same to compare"];
        blocks.push(Block::Table {
            caption: "Context of the runs".to_owned(),
            table: Table {
                columns: titles.map(Column::left).to_vec(),
                rows,
            },
        });
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.into_iter().map(|row| row.name).collect();
        blocks.push(Block::Text(format!("Not known: {}.", names.join(", "))));
    }
    blocks
}

fn method(records: &[Record]) -> String {
    let mut tools: Vec<String> = records
        .iter()
        .filter_map(|record| record.tool.as_ref())
        .map(|tool| format!("{} {}", tool.name, tool.version))
        .collect();
    tools.sort();
    tools.dedup();
    let by = match tools.as_slice() {
        [] => "Figures come from publications or other tools, as labelled.".to_owned(),
        tools => format!("Measured by {}.", tools.join(", ")),
    };
    format!(
        "{by} Figures are geometric means over the runs of a card; ± is half of the 95 % interval. MB \
         are a million bytes. The raw values of each run are kept in its record."
    )
}
