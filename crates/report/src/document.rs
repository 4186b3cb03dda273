//! A report before it has a form: headings, sentences, tables, charts.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

pub use crate::table::{Column, Row, Side, Table};

use crate::chart::Chart;

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What follows, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// The heading of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Points, one after the other.
    List(Vec<String>),
    /// A table.
    Table {
        /// What it shows.
        caption: String,
        /// Columns and rows.
        table: Table,
    },
    /// A chart.
    Chart(Chart),
}
