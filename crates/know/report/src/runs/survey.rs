//! A report on runs: tables of cards and figures, charts, findings, circumstances.

mod anatomy;
mod answer;
mod charts;
mod curves;
mod methods;
mod place;
mod repeats;
mod results;
mod sources;
mod subjects;
mod verdicts;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{OriginKind, Record, Severity, context_rows};
use cardmark_judge::{CardRuns, attention, cards_of};

use self::charts::Charts;
pub use self::charts::class_marks;
use self::methods::{Method, Rate, methods};
use self::sources::is_own;
pub(crate) use self::sources::publication_of;
pub use self::sources::survey_title;
pub use self::subjects::setting_words;
use self::subjects::{Subject, board_of, name_of, subjects, suite_of};
use crate::chart::Chart;
use crate::document::{Block, Column, Document, Row, Table};
use crate::run::anatomy as anatomy_text;
use crate::run::answer::begin_with_answer;
use crate::run::block_sizes;
use crate::run::findings::{points, selected, wording};
use crate::run::integrity;
use crate::run::usable::usable_part;
use crate::run::workloads::{Workload, legend, others, rows, useful_table};
use crate::runs::attention::attention_blocks;
use crate::runs::circumstances::circumstances;
use crate::text::count_of;
use crate::text::names::workload_name;

/// The answer of a run that does not know.
const UNKNOWN: &str = "unknown";

/// Findings that are not folded away, the worst first.
const MOST_FINDINGS: usize = 8;

/// A report on these runs, under that title; of one run it begins with the answer.
pub fn survey(title: &str, records: &[Record]) -> Document {
    let cards = tested_cards(records);
    let watched = attention(&cards);
    let subjects = subjects(records, &watched);
    let rates = rates(records);
    let methods = methods(&subjects, &rates);
    let charts = Charts::of(&subjects, &methods, &rates);
    let mut blocks = match records {
        [one] => storage_of_one(one),
        _ if watched.is_empty() => Vec::new(),
        _ => attention_blocks(&cards, &watched, |_| None),
    };
    if records.len() > 1
        && let Some((answer, has_winner)) = methods.first().and_then(answer::answer_of_survey)
    {
        // Without a winner, cards that need attention are the message.
        let at = if has_winner { 0 } else { blocks.len() };
        blocks.splice(at..at, answer.blocks());
    }
    blocks.push(Block::Text(summary(&subjects, records)));
    match records {
        [one] => {
            blocks.extend(figures_of_one(one));
            blocks.extend(verdicts::of_one(one));
            blocks.extend(charts.shown.into_iter().map(Block::Chart));
        }
        _ => {
            blocks.extend(figures_of_all(&subjects, &rates, &methods));
            blocks.extend(charts.shown.into_iter().map(Block::Chart));
            blocks.extend(verdicts::of_all(&subjects));
            blocks.extend(results::all_rates(&subjects, &rates, &methods));
        }
    }
    blocks.extend(
        charts
            .folded
            .into_iter()
            .map(|(title, chart)| Block::Details {
                title,
                blocks: vec![Block::Chart(chart)],
            }),
    );
    blocks.extend(match records {
        [one] => findings_of_one(one),
        _ => findings(&subjects),
    });
    blocks.extend(context(records));
    blocks.extend(sources::section(records));
    blocks.push(Block::Heading("Method".to_owned()));
    blocks.push(Block::Text(method(records)));
    let mut document = Document {
        title: title.to_owned(),
        blocks,
    };
    let joined = repeats::joined(&subjects);
    let answered = match records {
        [one] => Some(one),
        _ => joined.as_ref(),
    };
    if let Some(record) = answered {
        begin_with_answer(&mut document, record);
    }
    document
}

/// All charts of these runs, those of the report first.
pub fn survey_charts(records: &[Record]) -> Vec<Chart> {
    let cards = tested_cards(records);
    let subjects = subjects(records, &attention(&cards));
    let rates = rates(records);
    let methods = methods(&subjects, &rates);
    Charts::of(&subjects, &methods, &rates).into_all()
}

/// Cards that their owners tested; those of a publication are not to be replaced.
fn tested_cards(records: &[Record]) -> Vec<CardRuns<'_>> {
    let is_published = |record: &&Record| record.origin.kind == OriginKind::Published;
    cards_of(records.iter().filter(|record| !is_published(record)))
}

/// A table for each method, further figures.
fn figures_of_all(subjects: &[Subject<'_>], rates: &[Rate], methods: &[Method<'_>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = methods.iter().map(results::of_method).collect();
    blocks.extend(results::others(subjects));
    blocks.extend(results::silent(subjects));
    blocks.extend(
        results::legend(subjects, rates)
            .into_iter()
            .map(Block::Text),
    );
    blocks
}

/// The rates of any of these records, in their order: id and quantity.
fn rates(records: &[Record]) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::new();
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
    let own = records.iter().filter(|record| is_own(record));
    let mut suites: Vec<String> = own.filter_map(suite_of).collect();
    suites.sort();
    suites.dedup();
    // Cards without a name or id may be one or several.
    let cards_of_names = match cards_of(records).len() > names.len() {
        true => count_of(names.len(), "product", "products"),
        false => count_of(names.len(), "card", "cards"),
    };
    let computers: BTreeSet<Option<&String>> = records
        .iter()
        .map(|record| record.board.as_ref()?.model.as_ref())
        .collect();
    // Computers of one model may be several boards.
    let boards = count_of(computers.len(), "board model", "board models");
    let runs = count_of(records.len(), "run", "runs");
    let mut text = match records {
        [_] => "One run".to_owned(),
        _ => format!("{runs} of {cards_of_names} on {boards}"),
    };
    if !suites.is_empty() {
        text += &format!(", by {}", suites.join(", "));
    }
    let all: Vec<&Record> = records.iter().collect();
    let days = sources::days(&all).map(|days| match days.contains(' ') {
        true => days,
        false => format!("on {days}"),
    });
    let parts = [days, sources::authors(&all)];
    for part in parts.into_iter().flatten() {
        text += &format!(", {part}");
    }
    text + "."
}

/// Verdict of an integrity test, and what can be used of a device whose end holds no data.
fn storage_of_one(record: &Record) -> Vec<Block> {
    let Some(found) = &record.integrity else {
        return Vec::new();
    };
    let mut answer = vec![Block::Text(integrity::verdict(record, found))];
    let mut blocks = Vec::new();
    if let Some(usable) = usable_part(record) {
        answer.push(Block::Text(usable.sentence()));
        // Records do not have the name that the device had.
        if let Some([introduction, command, warning]) = usable.advice_parts("/dev/DEVICE") {
            blocks.push(Block::Text(introduction));
            blocks.push(Block::Command(command));
            blocks.push(Block::Text(warning));
        }
    }
    let answer = Block::Answer {
        weight: integrity::weight(record),
        blocks: answer,
    };
    std::iter::once(answer).chain(blocks).collect()
}

/// Figures of an integrity test, or the result of an anatomy.
fn found(record: &Record) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(found) = &record.integrity {
        let figures = integrity::figures(found).into_iter();
        let cells: Vec<_> = figures
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if !cells.is_empty() {
            let caption = caption_of(record);
            blocks.push(pairs(caption, ["what", "found"], cells.into_iter()));
        }
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
    let hidden = selected(&record.findings, |id| record.metric(id).is_some()).hidden;
    let lines: Vec<Workload> = rows(record)
        .into_iter()
        .filter(|row| record.metric(&row.id).is_some())
        .map(|row| row.without_warnings(&hidden))
        .collect();
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
    blocks.extend(block_sizes::sentence(record).map(|text| Block::Text(text + ".")));
    blocks.extend(legend(record, &lines).into_iter().map(Block::Text));
    blocks
}

/// Findings of one run: each cause once as on a terminal, the others folded away.
fn findings_of_one(record: &Record) -> Vec<Block> {
    let lines = rows(record);
    let ids: Vec<&str> = lines.iter().map(|row| row.id.as_str()).collect();
    let selected = selected(&record.findings, |id| record.metric(id).is_some());
    let mut blocks = Vec::new();
    if !selected.findings.is_empty() {
        blocks.push(Block::Heading("Findings".to_owned()));
        blocks.push(Block::List(points(&selected.findings, &ids)));
    }
    if !selected.others.is_empty() {
        blocks.push(Block::Details {
            title: format!("Further findings ({})", selected.others.len()),
            blocks: vec![Block::List(points(&selected.others, &ids))],
        });
    }
    blocks
}

/// Findings, each once, with the subjects whose runs have it. Notes are folded away.
fn findings(subjects: &[Subject<'_>]) -> Vec<Block> {
    let mut told = BTreeMap::<(Reverse<Severity>, String, &[String]), BTreeSet<&str>>::new();
    for subject in subjects {
        for finding in subject.records.iter().flat_map(|record| &record.findings) {
            let key = (
                Reverse(finding.severity),
                wording(finding),
                finding.workloads.as_slice(),
            );
            told.entry(key).or_default().insert(&subject.name);
        }
    }
    if told.is_empty() {
        return Vec::new();
    }
    let all: BTreeSet<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
    let (mut points, mut notes) = (Vec::new(), Vec::new());
    for ((severity, detail, of), names) in told {
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
        let point = match parts.as_slice() {
            [] => format!("{word}: {detail}"),
            parts => format!("{word}: {detail} ({})", parts.join("; ")),
        };
        match severity.0 {
            Severity::Note => notes.push(point),
            _ => points.push(point),
        }
    }
    let mut blocks = Vec::new();
    if !points.is_empty() {
        blocks.push(Block::Heading("Findings".to_owned()));
        let rest = points.split_off(points.len().min(MOST_FINDINGS));
        blocks.push(Block::List(points));
        if !rest.is_empty() {
            blocks.push(Block::Details {
                title: format!("{} more", rest.len()),
                blocks: vec![Block::List(rest)],
            });
        }
    }
    if !notes.is_empty() {
        blocks.push(Block::Details {
            title: format!("Notes ({})", notes.len()),
            blocks: vec![Block::List(notes)],
        });
    }
    blocks
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
    let mut blocks = Vec::new();
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
    vec![Block::Details {
        title: "Circumstances".to_owned(),
        blocks,
    }]
}

fn method(records: &[Record]) -> String {
    let mut tools: Vec<String> = records
        .iter()
        .filter_map(|record| record.tool.as_ref())
        .map(|tool| format!("{} {}", tool.name, tool.version))
        .collect();
    tools.sort();
    tools.dedup();
    let has_others = records.iter().any(|record| !is_own(record));
    let by = match (tools.as_slice(), has_others) {
        ([], _) => "Figures come from publications or other tools.".to_owned(),
        (tools, false) => format!("Measured by {}.", tools.join(", ")),
        (tools, true) => format!(
            "Measured by {}; other figures come from publications or other tools.",
            tools.join(", ")
        ),
    };
    format!(
        "{by} Figures are geometric means over the runs of a card. MB are a million bytes. The raw values of each \
         run are kept in its record."
    )
}
