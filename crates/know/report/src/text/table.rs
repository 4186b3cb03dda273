//! Tables: columns that are dropped, cut or stacked until they fit a width.

use crate::text::layout::{cut, wrap};
use crate::text::style::{Style, Tone, columns};

/// Space between two columns.
const GAP: usize = 2;
/// Indent of the details below the first line of a stacked row.
const INDENT: usize = 2;

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Figures.
    Right,
}

/// Rule for cutting cells to make a table fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Never,
    /// Before columns are dropped, to at least this number of columns of text.
    First(usize),
    /// After all other means.
    Last(usize),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Its alignment.
    pub side: Side,
    /// Columns of the lowest priority are dropped first, those of the same together; `None`: never.
    priority: Option<u8>,
    cut: Cut,
}

impl Column {
    /// Returns a column of text.
    pub fn left(title: impl Into<String>) -> Self {
        Self::new(title.into(), Side::Left)
    }

    /// Returns a column of figures.
    pub fn right(title: impl Into<String>) -> Self {
        Self::new(title.into(), Side::Right)
    }

    fn new(title: String, side: Side) -> Self {
        Self {
            title,
            side,
            priority: None,
            cut: Cut::Never,
        }
    }

    pub(crate) fn priority(self, priority: u8) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }

    pub(crate) fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// A cell for each column.
    pub cells: Vec<String>,
    /// First line and details where the columns do not fit.
    stacked: Vec<String>,
    tone: Tone,
    /// Value of each cell in its base unit, for sorting; empty if the cells sort as text. Pages only.
    pub(crate) values: Vec<Option<f64>>,
    /// Address that the first cell leads to. Pages only.
    pub(crate) link: Option<String>,
    /// Heading of the rows below it. Documents only.
    pub(crate) heading: Option<RowHeading>,
}

/// Heading in a table of a document, above rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowHeading {
    /// Of a part of the table.
    Part,
    /// Of the rows of one thing.
    Group,
}

impl Row {
    /// Returns a row of these cells.
    pub fn new(cells: Vec<String>) -> Self {
        Self {
            cells,
            ..Self::default()
        }
    }

    /// Returns the row with an address that its first cell leads to on a page.
    #[must_use]
    pub fn linked(self, address: impl Into<String>) -> Self {
        Self {
            link: Some(address.into()),
            ..self
        }
    }

    /// Returns the row with the values of its cells in their base units, by which a page sorts it; `None` sorts as text.
    #[must_use]
    pub fn valued(self, values: Vec<Option<f64>>) -> Self {
        Self { values, ..self }
    }

    /// Returns the heading of the rows below it.
    pub(crate) fn heading(heading: RowHeading, text: String) -> Self {
        Self {
            heading: Some(heading),
            ..Self::new(vec![text])
        }
    }

    pub(crate) fn stacked(self, stacked: Vec<String>) -> Self {
        Self { stacked, ..self }
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// A table, for terminals and pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Table {
    /// Keeps the columns whose index passes.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut index = 0..;
        self.columns.retain(|_| index.next().is_some_and(&is_kept));
        for row in &mut self.rows {
            let mut index = 0..;
            row.cells.retain(|_| index.next().is_some_and(&is_kept));
            let mut index = 0..;
            row.values.retain(|_| index.next().is_some_and(&is_kept));
        }
    }

    /// Removes a column by its index.
    pub fn remove_column(&mut self, index: usize) {
        self.retain(|other| other != index);
    }

    /// Returns the lines of the table, at most `width` columns wide: with as many columns as fit, or
    /// each row below its first line.
    pub(crate) fn lines(&self, width: usize, style: Style) -> Vec<String> {
        match self.fit(width) {
            Some(fitted) => {
                let heading = fitted.heading(style).into_iter();
                heading.chain(fitted.rows(style)).collect()
            }
            None => self.stacked(width, style),
        }
    }

    /// Returns the columns that fit: the least important are dropped until the rest fits, and put
    /// back where that left room for them. `None` if not even the necessary ones fit.
    pub(crate) fn fit(&self, width: usize) -> Option<Fitted<'_>> {
        let mut left: Vec<u8> = self.columns.iter().filter_map(|c| c.priority).collect();
        left.sort_unstable_by_key(|priority| std::cmp::Reverse(*priority));
        left.dedup();
        let mut dropped = Vec::new();
        let mut fitted = loop {
            let fitted = Fitted::new(self, |priority| left.contains(&priority));
            if let Some(fitted) = fitted.cut_to(width, left.is_empty()) {
                break fitted;
            }
            dropped.push(left.pop()?);
        };
        // The one that was dropped last did not fit.
        dropped.pop();
        while let Some(priority) = dropped.pop() {
            left.push(priority);
            let more = Fitted::new(self, |priority| left.contains(&priority));
            match more.cut_to(width, false) {
                Some(more) => fitted = more,
                None => break,
            }
        }
        Some(fitted)
    }

    /// Returns each row as its first line with its details below.
    pub(crate) fn stacked(&self, width: usize, style: Style) -> Vec<String> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let Some((first, details)) = row.stacked.split_first() else {
                continue;
            };
            let tone = match row.tone {
                Tone::Plain if !details.is_empty() => Tone::Heading,
                tone => tone,
            };
            let first = wrap(first, width, INDENT);
            lines.extend(first.iter().map(|line| style.paint(tone, line)));
            for detail in details {
                let wrapped = wrap(detail, width.saturating_sub(INDENT), 0);
                lines.extend(wrapped.iter().map(|line| " ".repeat(INDENT) + line));
            }
        }
        lines
    }
}

/// The columns of a table that fit a width.
pub(crate) struct Fitted<'a> {
    table: &'a Table,
    /// Index and width of each column.
    kept: Vec<(usize, usize)>,
}

impl<'a> Fitted<'a> {
    fn new(table: &'a Table, is_kept: impl Fn(u8) -> bool) -> Self {
        let all = table.columns.iter().enumerate();
        let kept = all.filter(|(_, column)| column.priority.is_none_or(&is_kept));
        Self {
            table,
            kept: kept
                .map(|(index, column)| (index, columns(&column.title).max(widest(table, index))))
                .collect(),
        }
    }

    /// Returns the columns with one of them cut, if need be, to fit a width.
    fn cut_to(mut self, width: usize, is_last: bool) -> Option<Self> {
        let gaps = GAP * self.kept.len().saturating_sub(1);
        let used: usize = self.kept.iter().map(|(_, width)| width).sum();
        let excess = (used + gaps).saturating_sub(width);
        if excess == 0 {
            return Some(self);
        }
        let table = self.table;
        self.kept.iter_mut().find_map(|(index, width)| {
            let column = &table.columns[*index];
            let least = match column.cut {
                Cut::First(least) => least,
                Cut::Last(least) if is_last => least,
                Cut::Never | Cut::Last(_) => return None,
            };
            let least = least.min(widest(table, *index)).max(columns(&column.title));
            let room = width.checked_sub(excess).filter(|room| *room >= least)?;
            let cells = table.rows.iter().filter_map(|row| row.cells.get(*index));
            let cut = cells.map(|cell| columns(&cut(cell, room))).max();
            *width = cut.unwrap_or(0).max(columns(&column.title));
            Some(())
        })?;
        Some(self)
    }

    /// Returns whether a column is there.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.kept.iter().any(|(kept, _)| *kept == index)
    }

    /// Returns whether a column is too narrow for this cell.
    pub(crate) fn cuts(&self, index: usize, cell: &str) -> bool {
        let mut kept = self.kept.iter();
        kept.any(|(kept, width)| *kept == index && columns(cell) > *width)
    }

    /// Returns the line of titles; `None` if there are none.
    fn heading(&self, style: Style) -> Option<String> {
        let titles = self.table.columns.iter().map(|column| column.title.clone());
        let titles: Vec<String> = titles.collect();
        let has_titles = titles.iter().any(|title| !title.is_empty());
        has_titles.then(|| style.paint(Tone::Dim, &self.line(&titles)))
    }

    /// Returns a line for each row.
    pub(crate) fn rows(&self, style: Style) -> impl Iterator<Item = String> {
        let rows = self.table.rows.iter();
        rows.map(move |row| style.paint(row.tone, &self.line(&row.cells)))
    }

    fn line(&self, cells: &[String]) -> String {
        let cell = |&(index, width): &(usize, usize)| {
            let text = cells.get(index).map_or("", String::as_str);
            let text = cut(text, width);
            match self.table.columns[index].side {
                Side::Left => format!("{text:<width$}"),
                Side::Right => format!("{text:>width$}"),
            }
        };
        let cells: Vec<String> = self.kept.iter().map(cell).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    }
}

/// Width of the widest cell of a column.
fn widest(table: &Table, index: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(index));
    cells.map(|cell| columns(cell)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table() -> Table {
        let cells = ["name", "123", "12345678", "x"].map(str::to_owned);
        let row = Row::new(cells.to_vec()).stacked(vec!["name".to_owned(), "123 x".to_owned()]);
        Table {
            columns: vec![
                Column::left(""),
                Column::right("n").priority(1),
                Column::right("long").priority(2),
                Column::left("x"),
            ],
            rows: vec![row],
        }
    }

    fn shown(width: usize) -> String {
        table().lines(width, Style::Plain).join("|")
    }

    #[test]
    fn the_least_important_columns_are_dropped_first_and_put_back_where_they_fit() {
        assert_eq!(shown(22), "        n      long  x|name  123  12345678  x");
        assert_eq!(shown(21), "          long  x|name  12345678  x");
        // `n` came back into the room of `long`.
        assert_eq!(shown(16), "        n  x|name  123  x");
        assert_eq!(shown(7), "      x|name  x");
        assert_eq!(shown(6), "name|  123|  x");
    }

    #[test]
    fn cells_are_cut_before_or_after_columns_are_dropped() {
        let with = |cut: Cut| {
            let mut table = table();
            table.columns[0] = Column::left("").cut(cut);
            move |width: usize| table.lines(width, Style::Plain).pop().unwrap()
        };
        let first = with(Cut::First(2));
        assert_eq!(first(20), "n…  123  12345678  x");
        assert_eq!(first(19), "name  12345678  x");
        let last = with(Cut::Last(2));
        assert_eq!(last(20), "name  12345678  x");
        assert_eq!(last(6), "na…  x");
        assert_eq!(last(4), "  x");
    }

    #[test]
    fn rows_have_their_tone_in_both_forms() {
        let mut table = table();
        table.rows[0].tone = Tone::Warning;
        let painted = |text: &str| Style::Color.paint(Tone::Warning, text);
        let wide = table.lines(22, Style::Color);
        assert_eq!(wide[1], painted("name  123  12345678  x"));
        assert_eq!(table.lines(6, Style::Color)[0], painted("name"));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_no_necessary_column_is_missing(
            cells in prop::collection::vec(prop::collection::vec("[a-z]{0,12}", 4), 1..4),
            priorities in prop::collection::vec(prop::option::of(0_u8..4), 4),
            width in 1_usize..60,
        ) {
            let column = |priority: &Option<u8>| Column {
                priority: *priority,
                ..Column::left("t")
            };
            let table = Table {
                columns: priorities.iter().map(column).collect(),
                rows: cells.into_iter().map(Row::new).collect(),
            };
            let necessary = |index: usize| priorities[index].is_none();
            let least: usize = (0..4).filter(|index| necessary(*index))
                .map(|index| widest(&table, index).max(1) + GAP)
                .sum();
            let Some(fitted) = table.fit(width) else {
                prop_assert!(least.saturating_sub(GAP) > width);
                return Ok(());
            };
            prop_assert!((0..4).all(|index| fitted.has(index) || !necessary(index)));
            for line in table.lines(width, Style::Plain) {
                prop_assert!(columns(&line) <= width, "{width}: {line}");
            }
        }
    }
}
