//! A report before it has a form: headings, sentences, tables, charts; and its forms.

use std::fmt::{self, Write};

use askama::Template;
use askama::filters::Escaper;

use crate::chart::{Chart, Size, Theme, escaped};
use crate::style::clean;
pub use crate::table::{Column, Row, Side, Table};

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// Content in order.
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
        /// Caption.
        caption: String,
        /// Columns and rows.
        table: Table,
    },
    /// A chart.
    Chart(Chart),
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
}

/// Returns the report as one page of HTML: no script, nothing loaded from elsewhere, light and dark, for
/// screens and paper.
#[must_use]
pub fn html(document: &Document) -> String {
    Page { document }.to_string()
}

#[derive(Template)]
#[template(path = "report.md")]
struct Markdown<'a> {
    document: &'a Document,
}

/// Returns the report as Markdown with tables (GitHub's), to be pasted. Charts are left out.
#[must_use]
pub fn markdown(document: &Document) -> String {
    Markdown { document }.to_string()
}

/// Text of foreign origin in a page.
#[derive(Clone, Copy)]
pub(crate) struct HtmlText;

impl Escaper for HtmlText {
    fn write_escaped_str<W: Write>(&self, mut page: W, text: &str) -> fmt::Result {
        page.write_str(&escaped(&clean(text)))
    }
}

/// Text of foreign origin in Markdown: what could be taken for markup stays text.
#[derive(Clone, Copy)]
pub(crate) struct MarkdownText;

impl Escaper for MarkdownText {
    fn write_escaped_str<W: Write>(&self, mut page: W, text: &str) -> fmt::Result {
        for letter in clean(text).chars() {
            if "\\`*_[]<>|#~&$".contains(letter) {
                page.write_char('\\')?;
            }
            page.write_char(letter)?;
        }
        Ok(())
    }
}

/// Returns the HTML of an id that may be broken behind each of its words.
fn breakable(id: &str) -> String {
    escaped(&clean(id)).replace('_', "_<wbr>")
}
