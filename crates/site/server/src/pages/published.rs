//! Publications, with the charts and tables of their figures.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_catalog::{Publication, publications};
use cardmark_core::Record;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::survey;

use super::frame::{Page, PageRefusal};
use crate::kept::Kept;
use crate::parameters::Key;
use crate::problem::Refusal;

/// Pages of publications by id; they never change while the process runs.
static PAGES: LazyLock<BTreeMap<&'static str, Kept>> = LazyLock::new(|| {
    let page = |one: &'static Publication| {
        let records: Vec<Record> = one.records();
        let document = survey(&one.title, &records);
        let about = format!("{}, {}", one.title, one.author);
        (
            one.id.as_str(),
            Page::new(document.title, about, document.blocks).kept(),
        )
    };
    publications().iter().map(page).collect()
});

pub(super) async fn list(headers: HeaderMap) -> Response {
    static PAGE: LazyLock<Kept> = LazyLock::new(|| listed().kept());
    PAGE.answer(&headers)
}

fn listed() -> Page {
    let row = |one: &Publication| {
        let cells = vec![
            one.title.clone(),
            one.author.clone(),
            one.published.clone().unwrap_or_else(|| "–".to_owned()),
            one.figures_count().to_string(),
            one.licence.clone(),
        ];
        Row::new(cells).linked(format!("/published/{}", one.id))
    };
    let columns = vec![
        Column::left("publication"),
        Column::left("author"),
        Column::left("date"),
        Column::right("figures"),
        Column::left("licence"),
    ];
    let blocks = vec![
        Block::Text(
            "Figures that others published, with their methods. They stand beside the figures of runs and are never mixed with them."
                .to_owned(),
        ),
        Block::Table {
            caption: "Publications".to_owned(),
            table: Table {
                columns,
                rows: publications().iter().map(row).collect(),
            },
        },
    ];
    let page = Page::new(
        "Published figures",
        "Published measurements of memory cards.",
        blocks,
    );
    page.link("As data", "/api/v1/published")
}

pub(super) async fn publication(
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Key(id) = key?;
    let page = PAGES.get(id.as_str()).ok_or_else(|| {
        let detail = "/published lists the publications that there are";
        Refusal::new(
            StatusCode::NOT_FOUND,
            "unknown-path",
            "No such publication",
            detail,
        )
    })?;
    Ok(page.answer(&headers))
}
