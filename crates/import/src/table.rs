//! Tables whose headings name metrics: CSV with commas, semicolons or tabs, and Markdown.

use crate::Imported;
use crate::figure;
use crate::metrics::KnownMetric;
use crate::reading::Found;
use crate::text::Line;

/// The tool of tables, also in reasons.
pub(crate) const TABLE: &str = "table";
/// Longest label, in characters.
const MOST_LABEL: usize = 80;
/// Separators of cells; the first that yields a heading is taken.
const SEPARATORS: [char; 4] = ['|', ';', '\t', ','];

/// Reads the tables; each row is a record.
pub(crate) fn read(lines: &[Line], known: &[KnownMetric], found: &mut Found) {
    let mut heading: Option<Heading> = None;
    for line in lines {
        if found.is_understood(*line) || line.text.trim().is_empty() {
            heading = None;
        } else if let Some(next) = Heading::find(line.text, known) {
            if next.has_unknown() {
                let expected = "headings that name metrics in all columns but the first";
                found.damages.push(line.damage(TABLE, expected));
            } else {
                found.understand(*line);
            }
            heading = Some(next);
        } else if let Some(of_table) = heading.take_if(|it| line.text.contains(it.separator)) {
            let Row { one, expected } = of_table.row(line.text);
            found.reports.extend(one);
            match expected {
                None => found.understand(*line),
                Some(expected) => found.damages.push(line.damage(TABLE, expected)),
            }
            heading = Some(of_table);
        } else {
            heading = None;
        }
    }
}

/// Content of a column.
enum Column<'a> {
    Label,
    /// A metric, and the unit in its heading.
    Metric(&'a KnownMetric, Option<String>),
    Unknown,
}

/// A row of a table.
#[derive(Default)]
struct Row {
    one: Option<Imported>,
    /// Expected content of a cell that could not be read.
    expected: Option<&'static str>,
}

struct Heading<'a> {
    separator: char,
    columns: Vec<Column<'a>>,
}

impl<'a> Heading<'a> {
    fn find(text: &str, known: &'a [KnownMetric]) -> Option<Self> {
        SEPARATORS.iter().find_map(|&separator| {
            let cells = cells(text, separator);
            let columns = cells.iter().enumerate().map(|(place, cell)| {
                let (name, unit) = name_and_unit(cell);
                let metric = known.iter().find(|metric| metric.is_named(name));
                match metric {
                    Some(metric) => Column::Metric(metric, unit.map(str::to_owned)),
                    None if place == 0 => Column::Label,
                    None => Column::Unknown,
                }
            });
            let columns: Vec<Column> = columns.collect();
            let has_metric = columns.iter().any(|it| matches!(it, Column::Metric(..)));
            (has_metric && columns.len() > 1).then_some(Self { separator, columns })
        })
    }

    fn has_unknown(&self) -> bool {
        self.columns.iter().any(|it| matches!(it, Column::Unknown))
    }

    fn row(&self, text: &str) -> Row {
        let mut row = Row::default();
        let cells = cells(text, self.separator);
        let is_rule = |cell: &String| cell.chars().all(|c| "-: ".contains(c));
        if cells.iter().all(is_rule) {
            return row;
        }
        if cells.len() != self.columns.len() {
            row.expected = Some("as many cells as there are headings");
            return row;
        }
        let mut one = Imported {
            tools: vec![TABLE.to_owned()],
            ..Imported::default()
        };
        let mut is_whole = true;
        for (cell, column) in cells.iter().zip(&self.columns) {
            match column {
                Column::Label => {
                    let label = label(cell).map(|label| ("product".to_owned(), label));
                    one.labels.extend(label);
                }
                Column::Metric(metric, unit) if !is_missing(cell) => {
                    is_whole &= figure::put(&mut one, metric, cell, unit.as_deref()).is_ok();
                }
                Column::Metric(..) | Column::Unknown => {}
            }
        }
        row.one = (!one.metrics.is_empty()).then_some(one);
        if !is_whole {
            let expected = "a number with a unit of its metric in each column; the unit may stand in \
                            the heading: `hdparm_t (MiB/s)`";
            row.expected = Some(expected);
        }
        row
    }
}

/// Returns whether a cell stands for a test that was not run.
fn is_missing(cell: &str) -> bool {
    ["", "-", "–", "—", "?", "n/a", "N/A"].contains(&cell)
}

fn label(cell: &str) -> Option<String> {
    let label: String = cell.chars().filter(|c| !c.is_control()).collect();
    let label: String = label.chars().take(MOST_LABEL).collect();
    (!is_missing(label.trim())).then(|| label.trim().to_owned())
}

/// The cells of a line, without borders, quotes and emphasis.
fn cells(text: &str, separator: char) -> Vec<String> {
    let mut text = text.trim_matches([' ', '\r']);
    if separator == '|' {
        text = text.strip_prefix('|').unwrap_or(text);
        text = text.strip_suffix('|').unwrap_or(text);
    }
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in text.chars() {
        match (c, cells.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (c, _) if c == separator && !is_quoted => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    let plain = |cell: String| cell.trim().trim_matches(['*', '`']).trim().to_owned();
    cells.into_iter().map(plain).collect()
}

/// Parses `hdparm_t (MiB/s)` and `random read 4 KiB [IOPS]`.
fn name_and_unit(heading: &str) -> (&str, Option<&str>) {
    let brackets = [('(', ')'), ('[', ']')];
    let found = brackets.iter().find_map(|(open, close)| {
        let (name, unit) = heading.strip_suffix(*close)?.rsplit_once(*open)?;
        Some((name.trim(), unit.trim()))
    });
    match found {
        Some((name, unit)) => (name.trim_matches(['*', '`']), Some(unit)),
        None => (heading, None),
    }
}
