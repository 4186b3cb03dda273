//! Boards on which runs were measured: a list, and a page for each.

use std::collections::BTreeMap;

use cardmark_catalog::{board as known_board, use_of};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::workload_name;

use crate::addresses;
use crate::frame::Page;
use crate::pages::{figures, runs};
use crate::places::possible;
use crate::queries::{Queries, not_found};
use crate::views::board::BoardEntry;
use crate::views::product::SummaryView;
use crate::views::ranking::{ContextEntry, MOST_CONTEXTS, RankedEntry};
use crate::views::run::{ListedRun, RunState};
use crate::views::search::SearchQuery;

const BOARDS: u32 = 100;
/// Runs of a board that its page counts, the last arrivals.
const COUNTED: u32 = 100;
/// Places of a ranking among which the best are looked for.
const PLACES: u32 = 100;
/// Runs and products of a board that its page shows.
const SHOWN: usize = 20;
/// Use that a board's page leads to.
const USUAL_USE: &str = "boot";

/// The list of boards.
///
/// # Errors
/// If a query has no answer.
pub async fn boards<Q: Queries>(queries: &Q, cursor: Option<String>) -> Result<Page, Q::Error> {
    let found = queries.boards(cursor, BOARDS).await?;
    let next = found
        .next
        .map(|cursor| addresses::with("/boards", &[("cursor", Some(cursor.as_str()))]));
    let row = |one: &BoardEntry| {
        let cells = vec![one.model.clone(), one.runs_count.to_string()];
        Row::new(cells).linked(addresses::board(&one.model))
    };
    let blocks = match found.boards.is_empty() {
        true => vec![Block::Text("There is no run with a board yet.".to_owned())],
        false => vec![Block::Table {
            caption: "Boards".to_owned(),
            table: Table {
                columns: vec![Column::left("board"), Column::right("runs")],
                rows: found.boards.iter().map(row).collect(),
            },
        }],
    };
    let page = Page::new("Boards", "Computers on which cards were measured.", blocks);
    Ok(page.next(next))
}

/// A board.
///
/// # Errors
/// If there is no run on it, or a query has no answer.
pub async fn board<Q: Queries>(queries: &Q, board: String) -> Result<Page, Q::Error> {
    let found = queries.search(SearchQuery {
        board: Some(board.clone()),
        ..SearchQuery::last(COUNTED)
    });
    let found = found.await?;
    if found.records.is_empty() {
        let detail = "there is no run on a board of this name; /boards lists those that there are";
        return Err(not_found("No such board", detail).into());
    }
    let (mut records, is_all) = (found.records, found.next.is_none());
    let runs = count_of(records.len(), "run", "runs");
    let runs = match is_all {
        true => runs,
        false => format!("the last {runs}"),
    };
    let mut blocks = vec![Block::Heading("Best known figures".to_owned())];
    blocks.extend(best(queries, &board).await?);
    blocks.push(Block::Heading("Products".to_owned()));
    blocks.push(products(&records, &runs));
    blocks.push(Block::Heading("Runs".to_owned()));
    let caption = match records.len() > SHOWN {
        true => format!("The last {SHOWN} runs"),
        false => "Runs, the last arrivals first".to_owned(),
    };
    records.truncate(SHOWN);
    blocks.push(runs::table(caption, records, queries.is_personal()));
    let address = addresses::with("/runs", &[("board", Some(board.as_str()))]);
    let about = format!("Memory cards that were measured on {board}.");
    let known = known_board(&board);
    let page = Page::new(board, about, blocks).link("All runs on it", address);
    Ok(match known.zip(use_of(USUAL_USE)) {
        Some((known, usual)) => page.link(
            "Which card for it?",
            addresses::choice_on(usual, &known.name),
        ),
        None => page,
    })
}

/// Products of runs that count, with their numbers of runs, those with the most first.
fn products(records: &[ListedRun], runs: &str) -> Block {
    let shared: Vec<&ListedRun> = records
        .iter()
        .filter(|run| run.state == RunState::Shared)
        .collect();
    let counted = match shared.len() == records.len() {
        true => runs.to_owned(),
        false => format!("the {} that count of {runs}", shared.len()),
    };
    // The same product is spelt in several ways.
    let mut counts = BTreeMap::<&str, (&str, usize)>::new();
    for run in shared {
        if let (Some(name), Some(key)) = (&run.product_name, &run.product) {
            counts.entry(key).or_insert((name, 0)).1 += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    if counts.is_empty() {
        return Block::Text(format!(
            "No product is named among {counted} on this board."
        ));
    }
    counts.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
    let caption = match counts.len() > SHOWN {
        true => format!("{SHOWN} of {} products among {counted}", counts.len()),
        false => format!("Products among {counted}"),
    };
    let row = |(key, (name, count)): &(&str, (&str, usize))| {
        Row::new(vec![(*name).to_owned(), count.to_string()]).linked(addresses::product(key))
    };
    Block::Table {
        caption,
        table: Table {
            columns: vec![Column::left("product"), Column::right("runs")],
            rows: counts.iter().take(SHOWN).map(row).collect(),
        },
    }
}

/// The best product in each figure, in the circumstances on this board in which most products are ranked.
async fn best<Q: Queries>(queries: &Q, board: &str) -> Result<Vec<Block>, Q::Error> {
    let mut rows = Vec::new();
    for metric in figures::OFFERED {
        let contexts = queries
            .contexts(metric, None, MOST_CONTEXTS)
            .await?
            .contexts;
        let is_here = |one: &&ContextEntry| one.context.get("board").is_some_and(|it| it == board);
        if let Some(context) = contexts.iter().find(is_here) {
            rows.extend(best_of(queries, metric, context).await?);
        }
    }
    if rows.is_empty() {
        return Ok(vec![Block::Text(format!(
            "No ranking on this board is among the {MOST_CONTEXTS} with the most products of each figure."
        ))]);
    }
    let columns = [
        Column::left("figure"),
        Column::left("best product"),
        Column::right("median"),
        Column::right("95 % interval"),
        Column::right("products"),
        Column::left("circumstances"),
    ];
    Ok(vec![Block::Table {
        caption: "The circumstances in which most products are ranked, for each figure; each row leads to its ranking".to_owned(),
        table: Table {
            columns: columns.into(),
            rows,
        },
    }])
}

async fn best_of<Q: Queries>(
    queries: &Q,
    metric: &str,
    ranked: &ContextEntry,
) -> Result<Option<Row>, Q::Error> {
    let ranking = queries
        .ranking(metric, ranked.key, None, PLACES)
        .await?
        .places;
    let listed: Vec<&SummaryView> = ranking.iter().map(|one| &one.summary).collect();
    let possible = possible(&listed);
    let is_first = |(_, place): &(&RankedEntry, &[usize; 2])| place[0] == 1;
    let first = ranking.iter().zip(&possible).filter(is_first);
    let names: Vec<&str> = first.map(|(one, _)| one.name.as_str()).collect();
    let mut context = ranked.context.clone();
    context.remove("board");
    let row = |first: &RankedEntry| {
        let summary = &first.summary;
        let (median, interval) = match names.len() {
            1 => (
                figures::shown(summary, summary.median),
                figures::interval(summary),
            ),
            _ => ("–".to_owned(), "–".to_owned()),
        };
        Row::new(vec![
            workload_name(metric).to_owned(),
            best_names(&names),
            median,
            interval,
            ranked.products_count.to_string(),
            figures::circumstances(&context),
        ])
        .valued(vec![
            None,
            None,
            Some(summary.median).filter(|_| names.len() == 1),
        ])
        .linked(addresses::ranking(metric, &ranked.key.to_string()))
    };
    Ok(ranking.first().map(row))
}

/// The best product, or those among which none is clearly the best.
fn best_names(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_owned(),
        [first, second] => format!("no clear best of {first} and {second}"),
        [first, second, more @ ..] => {
            format!("no clear best of {first}, {second} and {} more", more.len())
        }
        [] => String::new(),
    }
}
