//! Pages on checks and data.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_pages::frame::Page;
use cardmark_pages::pages::checks;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::amount;
use cardmark_site_data::Manifest;

use crate::http::page::{PageRefusal, shown};
use crate::jobs::dumps::newest;
use crate::state::Site;

pub(super) async fn checks(headers: HeaderMap) -> Response {
    shown(&checks::checks(), &headers)
}

pub(super) async fn data(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let mut blocks = vec![Block::Text(
        "All data are public domain (CC0 1.0). No serial number is among them.".to_owned(),
    )];
    if let Some((name, manifest)) = newest(&site).await? {
        blocks.push(Block::Text(format!(
            "Everything at once, as of {}: {} runs. README.txt explains the files; cardmark-site import makes the same site from them.",
            manifest.made_at.replace('T', " ").trim_end_matches('Z'),
            manifest.records
        )));
        blocks.push(files(&name, &manifest));
    }
    blocks.extend([
        Block::Text("Or run by run:".to_owned()),
        Block::List(vec![
            "/api/v1/records/{id}/document: a record as its owner sent it".to_owned(),
            "/api/v1/records, /api/v1/products, /api/v1/rankings: what was derived from it".to_owned(),
            "/api/v1/changes: what came and went, for copies; what was withdrawn has to be deleted there too".to_owned(),
        ]),
        Block::Text("To measure a card and share it:".to_owned()),
        Block::Command(format!(
            "cardmark run && cardmark submit last --server {}",
            site.origin(&headers)
        )),
        Block::Text(
            "Whoever sent a run can amend or withdraw it. Copies that others made by then remain.".to_owned(),
        ),
    ]);
    let page = Page::new(
        "Data",
        "Open data of measured memory cards, CC0 1.0.",
        blocks,
    )
    .link("Description of the API", "/api/v1/openapi.json")
    .link("Schema of a record", "/schema/record-1.json")
    .link("New runs (Atom)", "/feed.atom");
    Ok(shown(&page, &headers))
}

/// Files of a dump with their sizes.
fn files(name: &str, manifest: &Manifest) -> Block {
    let row = |path: &str, size: String, rows: String| {
        Row::new(vec![path.to_owned(), size, rows]).linked(format!("/data/dumps/{name}/{path}"))
    };
    let first = row("manifest.json", String::new(), String::new());
    let others = manifest.files.iter().map(|file| {
        let rows = match file.rows {
            0 => String::new(),
            rows => rows.to_string(),
        };
        row(&file.path, amount(file.bytes), rows)
    });
    Block::Table {
        caption: "Files".to_owned(),
        table: Table {
            columns: vec![
                Column::left("file"),
                Column::right("size"),
                Column::right("rows"),
            ],
            rows: std::iter::once(first).chain(others).collect(),
        },
    }
}
