//! A report before it has a form: headings, sentences, tables, charts.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

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
    Table(Table),
    /// A chart.
    Chart(Chart),
}

/// A table: figures stand right, all else left.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The heading of each column.
    pub heading: Vec<String>,
    /// How many columns, from the left, are names and not figures.
    pub names_count: usize,
    /// The rows, as many cells each as there are headings.
    pub rows: Vec<Vec<String>>,
}
