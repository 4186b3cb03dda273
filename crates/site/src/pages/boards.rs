//! Boards on which runs were measured.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_report::document::{Block, Column, Row, Table};
use serde::Deserialize;

use super::addresses;
use super::frame::{Page, PageRefusal};
use crate::parameters::{Parameters, optional};
use crate::problem::Refusal;
use crate::state::Site;

const BOARDS: u32 = 100;

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
    let rows = site.store.boards(after.as_deref(), BOARDS).await?;
    let last = rows.last().filter(|_| rows.len() == BOARDS as usize);
    let next =
        last.map(|(model, _)| addresses::with("/boards", &[("cursor", Some(model.as_str()))]));
    let row = |(model, runs): &(String, u64)| {
        let address = addresses::with("/runs", &[("board", Some(model.as_str()))]);
        Row::new(vec![model.clone(), runs.to_string()]).linked(address)
    };
    let blocks = match rows.is_empty() {
        true => vec![Block::Text(
            "No run with a board was shared yet.".to_owned(),
        )],
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
