//! Tables of figures: four columns for all cards and boards, and the others below.

use std::collections::BTreeSet;

use cardmark_core::{LatencyFigure, Metric, Quantity};

use super::answer::{BURSTS, LONG, is_slower};
use super::methods::{Method, Rate};
use super::sources::is_own;
use super::subjects::{Subject, boards, suite_of};
use super::verdicts;
use crate::document::{Block, Column, Row, Table};
use crate::text::names::{capitalised, plain_name, title_name};
use crate::text::table::RowHeading;
use crate::text::{MISSING, count_of, figure, in_unit, percent, unit, value};

/// Columns of figures that a phone has room for.
const MOST_COLUMNS: usize = 4;
/// Difference up to which a printed number counts as the shown one.
const EQUAL_RATIO: f64 = 0.001;
/// Marks figures that are not the card's.
const VOIDED: &str = "!";

/// The table of a method: a row for each card on each board, grouped by class on the label and by card.
pub(super) fn of_method(method: &Method<'_>) -> Block {
    let rates = method.rates();
    let are_several = boards(&method.subjects).len() > 1;
    let mut columns = vec![Column::left(if are_several {
        "Card, board"
    } else {
        "Card"
    })];
    columns.extend(
        rates
            .iter()
            .map(|rate| Column::right(heading_of(rate, &rates))),
    );
    let mut rows = Vec::new();
    let mut class = None;
    let has_counts = runs_each(&method.subjects).is_none();
    let has_classes = classes(method).len() > 1;
    for card in cards(method) {
        let [first, ..] = card.as_slice() else {
            continue;
        };
        let sold_as = first.class.map(|class| format!("sold as {class}"));
        if are_several {
            let sold_as = sold_as.filter(|_| has_classes);
            let parts = std::iter::once(first.name.clone()).chain(sold_as);
            let title = parts.collect::<Vec<_>>().join(", ");
            rows.push(Row::heading(RowHeading::Group, title));
        } else if has_classes && class != Some(first.class) {
            class = Some(first.class);
            let title = sold_as.map(|text| capitalised(&text));
            let title = title.unwrap_or_else(|| "Class on the label unknown".to_owned());
            rows.push(Row::heading(RowHeading::Part, title));
        }
        rows.extend(
            card.iter()
                .map(|subject| row(subject, &rates, are_several, has_counts)),
        );
    }
    Block::Table {
        caption: caption(method),
        table: Table { columns, rows },
    }
}

/// Title of a column: without the tool, if the four columns are named by what they measure.
fn heading_of((id, quantity): &Rate, rates: &[&Rate]) -> String {
    let bare = |id: &str| {
        let title = title_name(id);
        title.split(" (").next().unwrap_or_default().to_owned()
    };
    let title = bare(id);
    let is_clear = rates
        .iter()
        .filter(|(other, _)| bare(other) == title)
        .count()
        < 2;
    let title = if is_clear { title } else { title_name(id) };
    format!("{title}, {}", unit(id, *quantity))
}

/// Suites and tools of a method, and the board, if there is one only.
fn caption(method: &Method<'_>) -> String {
    let mut tools = BTreeSet::new();
    for (id, _) in method.rates() {
        let name = plain_name(id);
        let tool = name
            .split_once(" (")
            .map(|(_, tool)| tool.trim_end_matches(')'));
        tools.extend(tool.map(str::to_owned));
    }
    let records = || method.subjects.iter().flat_map(|subject| &subject.records);
    let is_own = records().any(|record| is_own(record));
    let suites: BTreeSet<String> = records().filter_map(|record| suite_of(record)).collect();
    let by = match (is_own && !suites.is_empty(), tools.is_empty()) {
        (true, _) => format!("Suite {}", join(suites)),
        (false, false) => format!("By {}", join(tools)),
        (false, true) => "Figures".to_owned(),
    };
    let each = runs_each(&method.subjects).filter(|_| is_own);
    let each = each.map(|count| format!(", {} each", count_of(count, "run", "runs")));
    let by = by + &each.unwrap_or_default();
    match boards(&method.subjects).as_slice() {
        [board] => format!("{by}, on {board}"),
        _ => by,
    }
}

fn join(names: BTreeSet<String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Known classes of the subjects.
fn classes(method: &Method<'_>) -> BTreeSet<Option<&'static str>> {
    method
        .subjects
        .iter()
        .map(|subject| subject.class)
        .collect()
}

/// Subjects by card, cards by class and by their best first figure.
fn cards<'a, 's>(method: &'s Method<'a>) -> Vec<Vec<&'s Subject<'a>>> {
    let mut cards: Vec<Vec<&Subject<'a>>> = Vec::new();
    for subject in &method.subjects {
        match cards
            .iter_mut()
            .find(|card| card.iter().any(|one| one.name == subject.name))
        {
            Some(card) => card.push(subject),
            None => cards.push(vec![subject]),
        }
    }
    let first = method.rates().first().map(|rate| rate.0.clone());
    let best = |card: &[&Subject<'_>]| {
        let rates = card
            .iter()
            .filter_map(|subject| lower_of(subject, first.as_deref()?));
        rates.fold(0.0, f64::max)
    };
    cards.sort_by(|a, b| best(b).total_cmp(&best(a)));
    // Stable. Unknown classes come last; of the known ones that of the fastest card first.
    let mut order: Vec<Option<&str>> = Vec::new();
    for class in cards
        .iter()
        .filter_map(|card| card.first())
        .map(|first| first.class)
    {
        if class.is_some() && !order.contains(&class) {
            order.push(class);
        }
    }
    cards.sort_by_key(|card| {
        let class = card.first().and_then(|first| first.class);
        order
            .iter()
            .position(|known| *known == class)
            .unwrap_or(order.len())
    });
    cards
}

/// The rate that decides: of random writes that of bursts, or of the long series if they slow down in that.
fn lower_of(subject: &Subject<'_>, metric: &str) -> Option<f64> {
    let (value, _) = subject.rate(metric)?;
    let long = subject
        .rate(LONG)
        .filter(|_| metric == BURSTS && !subject.is_voided(LONG));
    let long = long.filter(|(long, _)| is_slower(*long, value));
    Some(long.map_or(value, |(long, _)| long))
}

/// The number of runs of each of these subjects, if it is the same.
fn runs_each(subjects: &[Subject<'_>]) -> Option<usize> {
    let count = subjects.first()?.rated_count();
    let is_same = subjects
        .iter()
        .all(|subject| subject.rated_count() == count);
    is_same.then_some(count)
}

fn row(subject: &Subject<'_>, rates: &[&Rate], is_below_card: bool, has_count: bool) -> Row {
    let name = if is_below_card {
        &subject.board
    } else {
        &subject.name
    };
    let runs = subject.rated_count();
    let name = subject.marked(name);
    let name = match has_count && runs > 1 {
        true => format!("{name} ({})", count_of(runs, "run", "runs")),
        false => name,
    };
    let figures = rates
        .iter()
        .map(|(id, quantity)| cell(subject, id, *quantity));
    let values = rates
        .iter()
        .map(|(id, _)| subject.rate(id).map(|(value, _)| value));
    Row::new(std::iter::once(name).chain(figures).collect())
        .valued(std::iter::once(None).chain(values).collect())
}

/// A figure with half of its interval, or with the number that its source prints, if that differs.
fn cell(subject: &Subject<'_>, metric: &str, quantity: Quantity) -> String {
    let Some((value, ends)) = subject.rate(metric) else {
        return MISSING.to_owned();
    };
    let mut text = figure(in_unit(quantity, value));
    if let Some((low, high)) = ends {
        text += &format!(" ± {}", percent(0.5 * (high - low) / value));
    }
    if let Some(printed) = printed(subject, metric, in_unit(quantity, value)) {
        text += &format!(" ({printed})");
    }
    if subject.is_voided(metric) {
        text += &format!(" {VOIDED}");
    }
    text
}

/// The number as its source prints it, of one imported or published run, if it is not the shown one.
fn printed<'a>(subject: &Subject<'a>, metric: &str, shown: f64) -> Option<&'a str> {
    let mut measured = subject.measuring(metric);
    let (Some(one), None) = (measured.next(), measured.next()) else {
        return None;
    };
    let is_foreign = subject.records.iter().all(|record| !is_own(record));
    let printed = one.printed.as_ref().filter(|_| is_foreign)?;
    let differs = (printed.value / shown - 1.0).abs() > EQUAL_RATIO;
    printed.text.split(' ').next().filter(|_| differs)
}

/// Sentences on the signs in the tables of these subjects.
pub(super) fn legend(subjects: &[Subject<'_>], rates: &[Rate]) -> Vec<String> {
    let shown = || {
        let of = |subject: &Subject<'_>, (id, quantity): &Rate| cell(subject, id, *quantity);
        subjects
            .iter()
            .flat_map(move |subject| rates.iter().map(move |rate| of(subject, rate)))
    };
    let has = |sign: &str| shown().any(|cell| cell.contains(sign));
    let are_single = subjects.iter().all(|subject| subject.records.len() == 1);
    let mut sentences = Vec::new();
    if has("±") {
        let sentence = match are_single {
            true => {
                "± is half of the 95 % interval within the one run of a card: how evenly it worked. Another run, or \
                 another card of the product, may differ by more."
            }
            false => {
                "± is half of the 95 % interval of a card's mean over its runs, or within a single run. Another card \
                 of the product may differ by more."
            }
        };
        sentences.push(sentence.to_owned());
    }
    if has("(") {
        sentences.push(
            "In parentheses: the number as the source prints it, in its own unit.".to_owned(),
        );
    }
    if has(VOIDED) {
        sentences.push(format!(
            "{VOIDED} not a figure of the card: see the findings."
        ));
    }
    let has_rates = |subject: &&Subject<'_>| subject.rated_count() > 0;
    if subjects.iter().filter(has_rates).any(Subject::is_faulty) {
        sentences.push("! before a name: a card to replace; the reason is above.".to_owned());
    }
    sentences
}

/// Tables of all rates, one for each board; none where the main tables have all.
pub(super) fn all_rates(
    subjects: &[Subject<'_>],
    rates: &[Rate],
    methods: &[Method<'_>],
) -> Option<Block> {
    let is_shown = |(id, _): &Rate| {
        let mut shown = methods.iter().flat_map(Method::rates);
        shown.any(|(known, _)| known == id)
    };
    if rates.iter().all(is_shown) {
        return None;
    }
    let tables = boards(subjects);
    let tables = tables
        .iter()
        .filter_map(|board| table(board, subjects, rates));
    Some(Block::Details {
        title: "All rates".to_owned(),
        blocks: tables.collect(),
    })
}

/// Names, and a column for each rate that there is on this board.
fn table(board: &str, subjects: &[Subject<'_>], rates: &[Rate]) -> Option<Block> {
    let here = subjects.iter().filter(|subject| subject.board == board);
    let here: Vec<&Subject<'_>> = here.collect();
    let is_known = |id: &str| here.iter().any(|subject| subject.rate(id).is_some());
    let rates: Vec<&Rate> = rates.iter().filter(|(id, _)| is_known(id)).collect();
    if rates.is_empty() {
        return None;
    }
    let mut columns = vec![Column::left("Card")];
    let has_counts = runs_each(subjects).is_none();
    let titles = rates
        .iter()
        .map(|(id, of)| format!("{}, {}", capitalised(&plain_name(id)), unit(id, *of)));
    columns.extend(titles.map(Column::right));
    let rows = here
        .iter()
        .map(|subject| row(subject, &rates, false, has_counts))
        .collect();
    Some(Block::Table {
        caption: board.to_owned(),
        table: Table { columns, rows },
    })
}

/// Tables of what is neither a rate nor a latency of one: times of booting and installing, scores, sizes.
pub(super) fn others(subjects: &[Subject<'_>]) -> Vec<Block> {
    let mut known: Vec<(String, Quantity)> = Vec::new();
    let metrics = subjects.iter().flat_map(|subject| &subject.records);
    for metric in metrics
        .flat_map(|record| &record.metrics)
        .filter(|metric| is_other(metric))
    {
        if known.iter().all(|(id, _)| *id != metric.id) {
            known.push((metric.id.clone(), metric.quantity));
        }
    }
    let are_several = boards(subjects).len() > 1;
    let table = |part: &[(String, Quantity)]| {
        let titles = part.iter().map(|(id, _)| capitalised(&plain_name(id)));
        let columns = std::iter::once(Column::left("Card"));
        let row = |subject: &Subject<'_>| {
            let cells: Vec<String> = part
                .iter()
                .map(|(id, of)| range(subject, id, *of))
                .collect();
            let name = match are_several {
                true => format!("{}, {}", subject.name, subject.board),
                false => subject.name.clone(),
            };
            let is_empty = cells.iter().all(|cell| cell == MISSING);
            let values = part.iter().map(|(id, _)| {
                let values = subject.measuring(id).map(|metric| metric.value);
                values.reduce(f64::min)
            });
            let row = Row::new(std::iter::once(name).chain(cells).collect())
                .valued(std::iter::once(None).chain(values).collect());
            (!is_empty).then_some(row)
        };
        Block::Table {
            caption: "Times, scores and sizes".to_owned(),
            table: Table {
                columns: columns.chain(titles.map(Column::right)).collect(),
                rows: subjects.iter().filter_map(row).collect(),
            },
        }
    };
    known.chunks(MOST_COLUMNS).map(table).collect()
}

fn is_other(metric: &Metric) -> bool {
    let is_latency = metric
        .latency()
        .is_some_and(|(_, figure)| figure != LatencyFigure::Mean);
    !metric.quantity.is_rate() && !is_latency
}

/// The least and the most of a subject's figures.
fn range(subject: &Subject<'_>, metric: &str, quantity: Quantity) -> String {
    let values: Vec<f64> = subject
        .measuring(metric)
        .map(|metric| metric.value)
        .collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [low, high] = [least, most].map(|end| value(metric, quantity, end));
    match (values.is_empty(), low == high) {
        (true, _) => MISSING.to_owned(),
        (false, true) => low,
        (false, false) => format!("{low} to {high}"),
    }
}

/// Names of subjects that have neither a figure nor a verdict.
pub(super) fn silent(subjects: &[Subject<'_>]) -> Option<Block> {
    let is_silent = |subject: &&Subject<'_>| {
        let mut records = subject.records.iter();
        records.all(|record| record.metrics.is_empty()) && verdicts::points(subject).is_empty()
    };
    let names: Vec<String> = subjects
        .iter()
        .filter(is_silent)
        .map(|subject| format!("{} on {}", subject.name, subject.board))
        .collect();
    (!names.is_empty()).then(|| Block::Text(format!("No figures: {}.", names.join("; "))))
}
