//! Publications, with the charts and tables of their figures.

use cardmark_catalog::{Publication, publications};
use cardmark_core::Record;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::survey;

use crate::frame::Page;

/// The list of publications.
pub fn list() -> Page {
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

/// A publication.
pub fn publication(one: &Publication) -> Page {
    let records: Vec<Record> = one.records();
    let document = survey(&one.title, &records);
    let about = format!("{}, {}", one.title, one.author);
    Page::new(document.title, about, document.blocks)
}
