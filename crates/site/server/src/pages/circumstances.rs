//! Circumstances in which products are ranked by a metric, each with a link to its ranking.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::workload_name;
use cardmark_site_store::RankedContext;
use serde::Deserialize;

use super::frame::{Page, PageRefusal, Section};
use super::{addresses, figures};
use crate::contexts::MOST_CONTEXTS;
use crate::parameters::{Parameters, plain};
use crate::problem::Refusal;
use crate::rankings::contexts_page;
use crate::state::Site;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    metric: String,
    cursor: Option<String>,
}

pub(super) async fn circumstances(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<Query>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let metric = plain("metric", query.metric)?;
    let cursor = query.cursor.as_deref();
    let (contexts, next) = contexts_page(&site, &metric, cursor, MOST_CONTEXTS).await?;
    let next = next.map(|cursor| {
        let parameters = [("metric", metric.as_str()), ("cursor", &cursor)];
        addresses::with(PATH, &parameters.map(|(name, value)| (name, Some(value))))
    });
    let blocks = match contexts.is_empty() {
        true => vec![Block::Text(
            "No product is ranked here: a place needs three submitters.".to_owned(),
        )],
        false => vec![
            Block::Text("Figures of different circumstances are not ranked together.".to_owned()),
            table(&metric, &contexts, None),
        ],
    };
    let name = workload_name(&metric);
    let about = "Circumstances in which products are ranked, those with the most products first.";
    let page = Page::new(format!("Circumstances: {name}"), about, blocks)
        .link("Ranking", ranking_of(&metric))
        .next(next);
    Ok(page.answer(&headers))
}

const PATH: &str = "/rankings/circumstances";

/// Address of all circumstances of a metric.
pub(super) fn address_of(metric: &str) -> String {
    addresses::with(PATH, &[("metric", Some(metric))])
}

fn ranking_of(metric: &str) -> String {
    addresses::with("/rankings", &[("metric", Some(metric))])
}

/// Returns whether there may be more than these.
fn is_full(contexts: &[RankedContext]) -> bool {
    contexts.len() == MOST_CONTEXTS as usize
}

/// A table of circumstances, without those of `own`.
fn table(metric: &str, contexts: &[RankedContext], own: Option<i64>) -> Block {
    let row = |one: &RankedContext| {
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

/// Links to the rankings in other circumstances; `contexts` are those in which most products are ranked, and `own` is not listed.
pub(super) fn others(
    metric: &str,
    contexts: &[RankedContext],
    own: Option<i64>,
) -> Option<Section> {
    if contexts.iter().all(|one| Some(one.key) == own) {
        return None;
    }
    let section = Section::new("Other circumstances", vec![table(metric, contexts, own)]);
    Some(match is_full(contexts) {
        true => section.link("All circumstances", address_of(metric)),
        false => section,
    })
}

/// Links to the rankings in other figures.
pub(super) fn other_figures(metric: &str) -> Section {
    let others = figures::OFFERED.iter().filter(|other| **other != metric);
    others.fold(
        Section::new("Other figures", Vec::new()),
        |section, other| section.link(workload_name(other), ranking_of(other)),
    )
}
