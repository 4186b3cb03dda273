//! What publications and the catalogue know of a product.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{
    Equivalents, Product, Publication, equivalents_of, lines_of, products, publications,
};
use cardmark_core::{Quantity, Record};
use cardmark_judge::{ROLES, Role, at_once, ordered_metrics};
use cardmark_report::document::{Block, Column, Row, Source, Table};
use cardmark_report::text::{count_of, per_second, value};
use cardmark_report::{capitalised, plain_name, product_facts, setting_words};

use crate::addresses;
use crate::views::published::{figures_count, records_of};

/// Runs on one board in one setting of one publication: the names of all three.
type Place = (String, String, String);

fn place_of(record: &Record) -> Place {
    let board = record.board.as_ref().and_then(|board| board.model.clone());
    let publication = record.labels.get("publication").cloned();
    (
        board.unwrap_or_else(|| "Unknown board".to_owned()),
        setting_words(record),
        publication.unwrap_or_default(),
    )
}

fn publication(id: &str) -> Option<&'static Publication> {
    publications().iter().find(|one| one.id == id)
}

/// Author and year of a publication.
fn author(id: &str) -> String {
    let Some(one) = publication(id) else {
        return id.to_owned();
    };
    let date = one.published.as_deref();
    let year = date.and_then(|date| date.split('-').next());
    match year {
        Some(year) => format!("{}, {year}", one.author),
        None => one.author.clone(),
    }
}

/// The four rates by which people choose, on each board; `None` without one.
pub(super) fn on_boards(key: &str) -> Option<Block> {
    let mut places = BTreeMap::<Place, Vec<&Record>>::new();
    for record in records_of(key) {
        places.entry(place_of(record)).or_default().push(record);
    }
    let row = |(place, records): (Place, Vec<&Record>)| {
        let rates: Vec<Option<(String, f64)>> =
            ROLES.iter().map(|role| rate(role, &records)).collect();
        rates.iter().flatten().next()?;
        let (board, setting, publication) = place;
        let name = match setting.as_str() {
            "" => board,
            setting => format!("{board}, {setting}"),
        };
        let mut cells = vec![name];
        let dash = || "–".to_owned();
        cells.extend(
            rates
                .iter()
                .map(|rate| rate.as_ref().map_or_else(dash, |(text, _)| text.clone())),
        );
        cells.push(author(&publication));
        let values = rates.iter().map(|rate| Some(rate.as_ref()?.1));
        let row = Row::new(cells).valued(std::iter::once(None).chain(values).collect());
        Some(row.linked(format!("/published/{publication}")))
    };
    let rows: Vec<Row> = places.into_iter().filter_map(row).collect();
    let roles = ROLES
        .iter()
        .map(|role| Column::right(capitalised(role.name)));
    let columns = std::iter::once(Column::left("board")).chain(roles);
    (!rows.is_empty()).then(|| Block::Table {
        caption:
            "Published, means of runs; methods differ: compare within a row, or rows of one author"
                .to_owned(),
        table: Table {
            columns: columns.chain([Column::left("published by")]).collect(),
            rows,
        },
    })
}

/// The rate of a role in words and as a value: the geometric mean of these runs by the first metric that one of them has.
fn rate(role: &Role, records: &[&Record]) -> Option<(String, f64)> {
    let found = |metric: &&&str| records.iter().any(|record| record.metric(metric).is_some());
    let metric = *role.metrics.iter().find(found)?;
    let pattern = equivalents_of(metric);
    let rates = records.iter().filter_map(|record| record.metric(metric));
    let rates: Vec<(Quantity, f64)> = rates
        .map(|rate| converted(pattern, rate.quantity, rate.value))
        .collect();
    let (quantity, _) = rates.first()?;
    let logarithms: f64 = rates.iter().map(|(_, value)| value.ln()).sum();
    let mean = (logarithms / rates.len() as f64).exp();
    let depth = at_once(metric).map(|depth| format!(", {depth} at once"));
    let text = per_second(*quantity, mean) + &depth.unwrap_or_default();
    Some((text, mean))
}

/// A rate in the quantity of its pattern.
fn converted(pattern: Option<&Equivalents>, of: Quantity, value: f64) -> (Quantity, f64) {
    let rate =
        pattern.and_then(|one| Some((one.quantity, one.converted(of, one.quantity, value)?)));
    rate.unwrap_or((of, value))
}

/// Facts of the catalogue, each list under its heading.
pub(super) fn facts(known: &Product) -> Vec<Block> {
    let facts = product_facts(known).into_iter();
    facts
        .flat_map(|(heading, facts)| [Block::Heading(heading.to_owned()), Block::List(facts)])
        .collect()
}

/// Whether cards of this name are known to be false, and how to find that out.
pub(super) fn fakes(fakes_count: u64, cards_count: u64) -> Block {
    let here = match (fakes_count, cards_count) {
        (_, 0) => "not known, because no card of this name was tested here".to_owned(),
        // Most runs measure rates only.
        (0, cards) => format!(
            "none of {cards} with runs here failed a test of capacity; how many were tested is not known"
        ),
        (fakes, cards) => {
            format!("{fakes} of {cards} with runs here failed a test of capacity")
        }
    };
    Block::Text(format!(
        "Often faked? {}. Fakes look like the real card; `cardmark probe /dev/DEVICE` finds most in seconds.",
        capitalised(&here)
    ))
}

/// Other capacities of the line, and its other generations.
pub(super) fn relatives(known: &Product) -> Option<Block> {
    let own: BTreeSet<&str> = lines_of(known)
        .iter()
        .map(|line| line.id.as_str())
        .collect();
    let is_generation = |other: &Product| {
        let others = lines_of(other);
        let mut others = others.iter();
        others.any(|line| {
            let succeeds = own.iter().any(|id| {
                let mut lines = cardmark_catalog::lines().iter();
                lines.any(|one| one.id == *id && one.successor.as_ref() == Some(&line.id))
            });
            let precedes = line.successor.as_deref().is_some_and(|id| own.contains(id));
            own.contains(line.id.as_str()) || succeeds || precedes
        })
    };
    let is_of_line = |other: &&Product| {
        let is_same = other.brand == known.brand && other.line == known.line;
        other.id != known.id && (is_same || is_generation(other))
    };
    let row = |other: &Product| {
        let count = figures_count(&other.id);
        Row::new(vec![other.name(), count.to_string()])
            .valued(vec![None, Some(count as f64)])
            .linked(addresses::product(&other.id))
    };
    let rows: Vec<Row> = products().iter().filter(is_of_line).map(row).collect();
    (!rows.is_empty()).then(|| Block::Table {
        caption: "Other sizes and generations".to_owned(),
        table: Table {
            columns: vec![Column::left("product"), Column::right("published figures")],
            rows,
        },
    })
}

/// Every published figure, and the publications, folded away; `None` without one.
pub(super) fn sources(key: &str) -> Option<Block> {
    let records = records_of(key);
    let rows: Vec<Row> = records.iter().flat_map(rows_of).collect();
    let ids: BTreeSet<&String> = records
        .iter()
        .filter_map(|record| record.labels.get("publication"))
        .collect();
    let source = |id: &String| {
        let one = publication(id)?;
        let date = one.published.clone();
        let about = [date, Some(one.licence.clone())].into_iter().flatten();
        Some(Source {
            name: format!("{}: {}", one.author, one.title),
            address: one.address.clone(),
            about: about.collect::<Vec<_>>().join("; "),
        })
    };
    let count = count_of(rows.len(), "published figure", "published figures");
    (!rows.is_empty()).then(|| Block::Details {
        title: format!("All {count}, with their sources"),
        blocks: vec![
            Block::Text(
                "Other people's measurements, with their methods; never mixed with runs of cardmark."
                    .to_owned(),
            ),
            Block::Table {
                caption: "Published figures".to_owned(),
                table: Table {
                    columns: vec![
                        Column::left("rate"),
                        Column::right("figure"),
                        Column::left("board"),
                        Column::left("published by"),
                    ],
                    rows,
                },
            },
            Block::Sources(ids.into_iter().filter_map(source).collect()),
        ],
    })
}

fn rows_of(record: &Record) -> Vec<Row> {
    let (board, setting, publication) = place_of(record);
    let board = match setting.as_str() {
        "" => board,
        setting => format!("{board}, {setting}"),
    };
    let metrics = ordered_metrics(record).into_iter();
    metrics
        .map(|metric| {
            Row::new(vec![
                capitalised(&plain_name(&metric.id)),
                value(&metric.id, metric.quantity, metric.value),
                board.clone(),
                author(&publication),
            ])
            .valued(vec![None, Some(metric.value)])
            .linked(format!("/published/{publication}"))
        })
        .collect()
}
