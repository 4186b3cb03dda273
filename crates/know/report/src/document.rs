//! A report before it has a form: headings, sentences, tables, charts; and its forms.

use std::fmt::{self, Write};

use askama::Template;
use askama::filters::Escaper;

use crate::chart::{Chart, Size, Theme, escaped};
use crate::text::style::clean;
use crate::text::table::RowHeading;
pub use crate::text::table::{Column, Row, Side, Table};

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
    /// A command of a shell, in one line.
    Command(String),
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
    /// Publications that figures come from.
    Sources(Vec<Source>),
    /// The answer to the question of a document, whose first block is its sentence.
    Answer {
        /// How grave it is.
        weight: Weight,
        /// Content in order.
        blocks: Vec<Block>,
    },
    /// Content that is folded away below a line of text.
    Details {
        /// The line.
        title: String,
        /// Content in order.
        blocks: Vec<Block>,
    },
}

/// Gravity of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Nothing speaks against the storage.
    #[default]
    Plain,
    /// Something to think of before it is used.
    Warning,
    /// It must not be used, or not for this.
    Error,
}

/// A publication that figures come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Author and title.
    pub name: String,
    /// Its address on the web.
    pub address: String,
    /// Date, licence and what else is known of it.
    pub about: String,
}

impl Document {
    /// The charts in order, those that are folded away too.
    pub fn charts(&self) -> Vec<&Chart> {
        self.blocks.iter().flat_map(Block::charts).collect()
    }
}

impl Block {
    fn charts(&self) -> Vec<&Chart> {
        match self {
            Self::Chart(chart) => vec![chart],
            Self::Details { blocks, .. } | Self::Answer { blocks, .. } => {
                blocks.iter().flat_map(Self::charts).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
}

impl Page<'_> {
    fn content(&self) -> HtmlBlocks<'_> {
        HtmlBlocks {
            blocks: &self.document.blocks,
        }
    }
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct HtmlBlocks<'a> {
    blocks: &'a [Block],
}

impl<'a> HtmlBlocks<'a> {
    /// Of blocks that are folded away.
    fn inside(blocks: &'a [Block]) -> Self {
        Self { blocks }
    }
}

/// Returns the report as one page of HTML: no script, nothing loaded from elsewhere, light and dark, for
/// screens and paper.
pub fn html(document: &Document) -> String {
    Page { document }.to_string()
}

/// Returns the content of a report as HTML, for a page with its own frame. It needs the rules of [`style_sheet`].
pub fn html_content(document: &Document) -> String {
    HtmlBlocks {
        blocks: &document.blocks,
    }
    .to_string()
}

/// Returns the style sheet of pages with reports.
pub fn style_sheet() -> String {
    let page = include_str!("../templates/page.css");
    page.to_owned() + &crate::chart::style(Theme::Page) + "\n"
}

#[derive(Template)]
#[template(path = "report.md")]
struct Markdown<'a> {
    document: &'a Document,
}

impl Markdown<'_> {
    fn content(&self) -> MarkdownBlocks<'_> {
        MarkdownBlocks {
            blocks: &self.document.blocks,
        }
    }
}

#[derive(Template)]
#[template(path = "blocks.md")]
struct MarkdownBlocks<'a> {
    blocks: &'a [Block],
}

impl<'a> MarkdownBlocks<'a> {
    /// Of blocks that are folded away.
    fn inside(blocks: &'a [Block]) -> Self {
        Self { blocks }
    }
}

/// Returns the report as Markdown with tables (GitHub's), to be pasted. Charts are left out.
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

/// Columns that fit on a screen, behind the first.
const MOST_COLUMNS: usize = 8;

/// Returns the class of an answer of that weight.
fn answer_class(weight: &Weight) -> &'static str {
    match weight {
        Weight::Plain => "answer",
        Weight::Warning => "answer warning",
        Weight::Error => "answer error",
    }
}

/// Columns from which on a phone shows each row as a card.
const LEAST_FOLDED: usize = 4;

/// Returns whether a phone shows each row of the table as a card.
fn is_folded(table: &Table) -> bool {
    table.columns.len() >= LEAST_FOLDED
}

/// Returns whether a cell has no content.
fn is_empty(cell: &str) -> bool {
    ["", "–"].contains(&cell)
}

/// Returns the table without columns in which no row has content.
fn without_empty_columns(table: &Table) -> Table {
    let mut kept = table.clone();
    let rows = || table.rows.iter().filter(|row| row.heading.is_none());
    let has_content = |index: usize| {
        let mut cells = rows().filter_map(|row| row.cells.get(index));
        cells.any(|cell| !is_empty(cell))
    };
    if rows().next().is_some() {
        kept.retain(|index| index == 0 || has_content(index));
    }
    kept
}

/// Returns the table as it fits on a screen: without empty columns; one with many columns is turned on its side if it is wider than
/// high, and cut into parts with the same first column.
fn parts(table: &Table) -> Vec<Table> {
    let table = &without_empty_columns(table);
    let count = table.columns.len();
    if count <= MOST_COLUMNS + 1 {
        return vec![table.clone()];
    }
    let mut table = table.clone();
    if table.rows.len() < count {
        table = turned(&table);
    }
    let all: Vec<usize> = (1..table.columns.len()).collect();
    let part = |columns: &[usize]| {
        let mut part = table.clone();
        part.retain(|index| index == 0 || columns.contains(&index));
        part
    };
    all.chunks(MOST_COLUMNS).map(part).collect()
}

/// Returns the table with its rows as columns of figures.
fn turned(table: &Table) -> Table {
    let names = table.rows.iter().filter_map(|row| row.cells.first());
    let columns = names.map(Column::right);
    let mut columns: Vec<Column> = columns.collect();
    columns.insert(0, Column::left(""));
    let row = |(index, column): (usize, &Column)| {
        let cell = |row: &Row| row.cells.get(index).cloned().unwrap_or_default();
        let cells = table.rows.iter().map(cell);
        let value = |row: &Row| row.values.get(index).copied().flatten();
        let values = table.rows.iter().map(value);
        Row::new(std::iter::once(column.title.clone()).chain(cells).collect())
            .valued(std::iter::once(None).chain(values).collect())
    };
    let rows = table.columns.iter().enumerate().skip(1).map(row).collect();
    Table { columns, rows }
}

/// Returns the HTML of a sentence, in which text between two backticks is code.
fn prose(text: &str) -> String {
    let text = escaped(&clean(text));
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text;
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Returns the HTML of a cell with figures, whose only breaks are before the uncertainty and the printed figure.
fn figure(cell: &str) -> String {
    let text = escaped(&clean(cell)).replace(' ', "\u{a0}");
    text.replace("\u{a0}±", " ±").replace("\u{a0}(", " (")
}

/// Returns the HTML of an id or a heading that may be broken behind each word of an id, and within long words.
fn breakable(id: &str) -> String {
    let text = escaped(&clean(id)).replace('_', "_<wbr>");
    text.replace("equential", "equen\u{ad}tial")
        .replace("transactions", "trans\u{ad}actions")
}

/// The attributes for the values of cells, by which a script sorts the rows.
fn sort_values(row: &Row) -> impl Iterator<Item = String> {
    let values = row.values.iter().copied();
    values.chain(std::iter::repeat(None)).map(|value| {
        let attribute = value.map(|value| format!(" data-value=\"{value}\""));
        attribute.unwrap_or_default()
    })
}

/// The attributes of a cell in a table whose rows become cards: the title of its column, and whether it has no content.
fn card_attributes(cell: &str, column: &Column) -> String {
    match is_empty(cell) {
        true => " data-none".to_owned(),
        false => format!(" data-title=\"{}\"", escaped(&clean(&column.title))),
    }
}

/// The attribute for the classes of a column: of figures, and of what a phone has no room for.
fn classes(column: &Column) -> String {
    let side = (column.side == Side::Right).then_some("figure");
    let is_detail = ["id", "95 % interval"].contains(&column.title.as_str());
    let classes = side.into_iter().chain(is_detail.then_some("detail"));
    match classes.collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => none,
        classes => format!(" class=\"{classes}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize, rows: usize) -> Table {
        let names = (0..columns).map(|column| format!("column {column}"));
        let row = |row: usize| Row::new((0..columns).map(|it| format!("{row}.{it}")).collect());
        Table {
            columns: names.map(Column::right).collect(),
            rows: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn text_between_backticks_is_code() {
        assert_eq!(
            prose("use `dd <if>` here"),
            "use <code>dd &lt;if&gt;</code> here"
        );
        assert_eq!(prose("one ` alone"), "one ` alone");
        assert_eq!(prose("none"), "none");
    }

    #[test]
    fn a_table_that_fits_stays() {
        assert_eq!(parts(&table(9, 2)), [table(9, 2)]);
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let mut given = table(3, 2);
        for row in &mut given.rows {
            "–".clone_into(&mut row.cells[1]);
        }
        let shown = parts(&given);
        let [kept] = shown.as_slice() else {
            panic!("{shown:?}");
        };
        let titles: Vec<&str> = kept.columns.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, ["column 0", "column 2"]);
        assert_eq!(kept.rows[1].cells, ["1.0", "1.2"]);
        "1".clone_into(&mut given.rows[0].cells[1]);
        assert_eq!(parts(&given), [given]);
    }

    #[test]
    fn a_wide_table_is_turned_on_its_side() {
        let parts = parts(&table(10, 2));
        let [turned] = parts.as_slice() else {
            panic!("{parts:?}");
        };
        let titles: Vec<&str> = turned.columns.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, ["", "0.0", "1.0"]);
        assert_eq!(turned.rows.len(), 9);
        assert_eq!(turned.rows[8].cells, ["column 9", "0.9", "1.9"]);
    }

    #[test]
    fn a_wide_and_high_table_is_cut_behind_its_first_column() {
        let parts = parts(&table(12, 40));
        let widths: Vec<usize> = parts.iter().map(|part| part.columns.len()).collect();
        assert_eq!(widths, [9, 4]);
        for part in &parts {
            assert_eq!(part.rows[39].cells[0], "39.0");
        }
        assert_eq!(parts[1].rows[39].cells[1], "39.9");
    }
}
