//! Circumstances in which products are ranked by a metric, each with a link to its ranking.

use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::plain_name;

use crate::addresses;
use crate::frame::{Page, Section};
use crate::pages::figures;
use crate::queries::Queries;
use crate::views::ranking::{ContextEntry, Contexts, MOST_CONTEXTS};

/// The circumstances of a metric.
///
/// # Errors
/// If a query has no answer.
pub async fn circumstances<Q: Queries>(
    queries: &Q,
    metric: &str,
    cursor: Option<&str>,
) -> Result<Page, Q::Error> {
    let Contexts { contexts, next } = queries.contexts(metric, cursor, MOST_CONTEXTS).await?;
    let next = next.map(|cursor| {
        let parameters = [("metric", metric), ("cursor", &cursor)];
        addresses::with(PATH, &parameters.map(|(name, value)| (name, Some(value))))
    });
    let blocks = match contexts.is_empty() {
        true => vec![Block::Text(
            "No product is ranked here: a place needs three submitters.".to_owned(),
        )],
        false => vec![
            Block::Text("Figures of different circumstances are not ranked together.".to_owned()),
            table(metric, &contexts, None),
        ],
    };
    let name = plain_name(metric);
    let about = "Circumstances in which products are ranked, those with the most products first.";
    let page = Page::new(format!("Circumstances: {name}"), about, blocks)
        .link("Ranking", ranking_of(metric))
        .next(next);
    Ok(page)
}

const PATH: &str = "/rankings/circumstances";

/// Address of all circumstances of a metric.
fn address_of(metric: &str) -> String {
    addresses::with(PATH, &[("metric", Some(metric))])
}

fn ranking_of(metric: &str) -> String {
    addresses::with("/rankings", &[("metric", Some(metric))])
}

/// A table of circumstances, without those of `own`.
fn table(metric: &str, contexts: &[ContextEntry], own: Option<i64>) -> Block {
    let row = |one: &ContextEntry| {
        let cells = vec![
            figures::circumstances(&one.context),
            one.products_count.to_string(),
        ];
        Row::new(cells).linked(addresses::ranking(metric, &one.key.to_string()))
    };
    let others = contexts.iter().filter(|one| Some(one.key) != own);
    Block::Table {
        caption: "Circumstances, those with the most ranked products first".to_owned(),
        table: Table {
            columns: vec![Column::left("circumstances"), Column::right("products")],
            rows: others.map(row).collect(),
        },
    }
}

/// Links to the rankings in other circumstances; `found` are those in which most products are ranked, and `own` is not listed.
pub(super) fn others(metric: &str, found: &Contexts, own: Option<i64>) -> Option<Section> {
    let contexts = &found.contexts;
    if contexts.iter().all(|one| Some(one.key) == own) {
        return None;
    }
    let section = Section::new("Other circumstances", vec![table(metric, contexts, own)]);
    Some(match found.next.is_some() {
        true => section.link("All circumstances", address_of(metric)),
        false => section,
    })
}

/// Links to the rankings in other figures.
pub(super) fn other_figures(metric: &str) -> Section {
    let others = figures::OFFERED.iter().filter(|other| **other != metric);
    others.fold(
        Section::new("Other figures", Vec::new()),
        |section, other| section.link(plain_name(other), ranking_of(other)),
    )
}
