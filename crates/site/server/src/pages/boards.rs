//! Boards on which runs were measured: a list, and a page for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::workload_name;
use cardmark_site_store::{Head, RankedContext, Search, State as RunState};
use serde::Deserialize;

use super::frame::{Page, PageRefusal};
use super::{addresses, figures, runs};
use crate::apart::{Listed, possible};
use crate::contexts::MOST_CONTEXTS;
use crate::parameters::{Key, MOST_LIMIT, Parameters, optional, page_of};
use crate::problem::Refusal;
use crate::rankings::{RankedEntry, places};
use crate::state::Site;

const BOARDS: u32 = 100;
/// Runs of a board that its page counts, the last arrivals.
const COUNTED: u32 = 100;
/// Runs and products of a board that its page shows.
const SHOWN: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    cursor: Option<String>,
}

pub(super) async fn boards(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<Query>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let after = optional("cursor", query.cursor)?;
    let rows = site.store.boards(after.as_deref(), BOARDS + 1).await?;
    let (rows, next) = page_of(rows, BOARDS, |(model, _)| {
        addresses::with("/boards", &[("cursor", Some(model.as_str()))])
    });
    let row = |(model, runs): &(String, u64)| {
        Row::new(vec![model.clone(), runs.to_string()]).linked(addresses::board(model))
    };
    let blocks = match rows.is_empty() {
        true => vec![Block::Text("There is no run with a board yet.".to_owned())],
        false => vec![Block::Table {
            caption: "Boards".to_owned(),
            table: Table {
                columns: vec![Column::left("board"), Column::right("runs")],
                rows: rows.iter().map(row).collect(),
            },
        }],
    };
    let page = Page::new("Boards", "Computers on which cards were measured.", blocks);
    Ok(page.next(next).answer(&headers))
}

pub(super) async fn board(
    State(site): State<Arc<Site>>,
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Key(board) = key?;
    let search = Search {
        board: Some(board.clone()),
        limit: COUNTED,
        ..Search::default()
    };
    let found = site.store.search(&search).await?;
    if found.heads.is_empty() {
        let detail = "there is no run on a board of this name; /boards lists those that there are";
        let title = "No such board";
        return Err(Refusal::new(StatusCode::NOT_FOUND, "unknown-path", title, detail).into());
    }
    let (mut heads, is_all) = (found.heads, found.next.is_none());
    let runs = count_of(heads.len(), "run", "runs");
    let runs = match is_all {
        true => runs,
        false => format!("the last {runs}"),
    };
    let mut blocks = vec![Block::Heading("Best known figures".to_owned())];
    blocks.extend(best(&site, &board).await?);
    blocks.push(Block::Heading("Products".to_owned()));
    blocks.push(products(&heads, &runs));
    blocks.push(Block::Heading("Runs".to_owned()));
    let caption = match heads.len() > SHOWN {
        true => format!("The last {SHOWN} runs"),
        false => "Runs, the last arrivals first".to_owned(),
    };
    heads.truncate(SHOWN);
    blocks.push(runs::table(caption, heads, site.mine.is_some()));
    let address = addresses::with("/runs", &[("board", Some(board.as_str()))]);
    let about = format!("Memory cards that were measured on {board}.");
    let page = Page::new(board, about, blocks).link("All runs on it", address);
    Ok(page.answer(&headers))
}

/// Products of runs that count, with their numbers of runs, those with the most first.
fn products(heads: &[Head], runs: &str) -> Block {
    let shared: Vec<&Head> = heads
        .iter()
        .filter(|head| head.state == RunState::Shared)
        .collect();
    let counted = match shared.len() == heads.len() {
        true => runs.to_owned(),
        false => format!("the {} that count of {runs}", shared.len()),
    };
    // The same product is spelt in several ways.
    let mut counts = BTreeMap::<&str, (&str, usize)>::new();
    for head in shared {
        if let (Some(name), Some(key)) = (&head.product_name, &head.product) {
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
async fn best(site: &Site, board: &str) -> Result<Vec<Block>, Refusal> {
    let mut rows = Vec::new();
    for metric in figures::OFFERED {
        let contexts = site.contexts.of(&site.store, metric).await?;
        let is_here = |one: &&RankedContext| one.context.get("board").is_some_and(|it| it == board);
        if let Some(context) = contexts.iter().find(is_here) {
            rows.extend(best_of(site, metric, context).await?);
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

async fn best_of(
    site: &Site,
    metric: &str,
    ranked: &RankedContext,
) -> Result<Option<Row>, Refusal> {
    let ranking = places(site, metric, ranked.key, MOST_LIMIT).await?;
    let listed: Vec<Listed<'_>> = ranking.iter().map(|one| Listed::of(&one.summary)).collect();
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
