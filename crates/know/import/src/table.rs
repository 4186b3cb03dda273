//! Tables whose headings name metrics: CSV with commas, semicolons or tabs, and Markdown.

use std::collections::BTreeSet;

use cardmark_core::{Finding, FindingKind, Severity};

use crate::figure::{digits_and_unit, put_cell};
use crate::form::{Role, Span};
use crate::heading::{self, Marks, Names, Script};
use crate::metrics::KnownMetric;
use crate::number::decimal_sign;
use crate::reading::{Found, Reading};
use crate::records::record;
use crate::text::{Line, is_unit, numbers};
use crate::{FigureError, Imported};

/// The tool of tables, also in reasons.
pub(crate) const TABLE: &str = "table";
/// Longest label, in characters.
const MOST_LABEL: usize = 80;
/// Separators of cells; the first that yields a heading is taken.
const SEPARATORS: [char; 4] = ['|', ';', '\t', ','];

/// Expected content of a cell that could not be read.
const EXPECTED: &str = "a number with a unit of its metric in each column; the unit may stand in \
                        the heading: `hdparm_t (MiB/s)`";

/// Reads the tables. Each row is a record, or each column if the tests stand in rows.
pub(crate) fn read(lines: &[Line], names: &Names, found: &mut Found) {
    let is_open = |line: &Line| !found.is_understood(*line) && !line.text.trim().is_empty();
    let begins = TURNED_SEPARATORS.map(|it| Turned::begins(lines, it, &is_open, names));
    let mut rest = lines;
    while let Some((line, below)) = rest.split_first() {
        let is_open = |line: &&Line| !found.is_understood(**line) && !line.text.trim().is_empty();
        let heading = Some(line).filter(is_open);
        let heading = heading.and_then(|line| Heading::find(line.text, names));
        let of_table = |line: &&Line, separator| is_open(line) && line.text.contains(separator);
        if let Some(heading) = heading {
            let is_row = |line: &&Line| {
                of_table(line, heading.separator) && Heading::find(line.text, names).is_none()
            };
            let count = below.iter().take_while(is_row).count();
            heading.read(*line, &below[..count], found);
            rest = &below[count..];
            continue;
        }
        let at = lines.len() - rest.len();
        let turned = TURNED_SEPARATORS.iter().zip(&begins);
        let turned = turned.filter(|(_, begins)| begins[at]);
        let turned = turned
            .map(|(separator, _)| separator)
            .find_map(|&separator| {
                let count = rest
                    .iter()
                    .take_while(|line| of_table(line, separator))
                    .count();
                let table = Turned::find(&rest[..count], separator, names)?;
                Some((table, count))
            });
        rest = match turned {
            Some((table, count)) => {
                table.read(&rest[..count], found);
                &rest[count..]
            }
            None => below,
        };
    }
}

/// Form of a heading.
pub(crate) const HEADING: [&str; 1] = ["{*}"];

/// The label or name at the start of a row, and its figures.
fn cell_spans(line: &str, separator: char) -> Vec<Span> {
    let start = line.len() - line.trim_start_matches(['>', ' ', '|']).len();
    let mut is_quoted = false;
    let mut signs = line[start..].char_indices();
    let end = signs.find(|(_, c)| {
        is_quoted ^= *c == '"';
        *c == separator && !is_quoted
    });
    let end = end.map_or(start, |(end, _)| start + end);
    vec![
        Span::new(0..end, Role::Known),
        Span::new(end..line.len(), Role::Figure),
    ]
}

/// Content of a column.
enum Column {
    Label,
    /// A metric, and the unit in its heading.
    Metric(KnownMetric, Option<String>),
    Unknown,
}

struct Heading {
    separator: char,
    columns: Vec<Column>,
    /// Metrics of iozone whose headings name no tool.
    inferred: Vec<String>,
}

impl Heading {
    fn find(text: &str, names: &Names) -> Option<Self> {
        let separators = SEPARATORS
            .iter()
            .filter(|separator| text.contains(**separator));
        separators.into_iter().find_map(|&separator| {
            let cells = cells(text, separator);
            if cells.len() < 2 || cells.iter().any(|cell| is_figure(cell)) {
                return None;
            }
            let headings: Vec<_> = cells.iter().map(|cell| name_and_unit(cell)).collect();
            let marks = headings.iter().map(|(name, _)| Marks::of(name));
            let script = Script::of(marks.fold(Marks::default(), Marks::and));
            let mut inferred = Vec::new();
            let columns = headings.iter().enumerate().map(|(place, (name, unit))| {
                let metric = heading::named(name, names).or_else(|| {
                    let metric = heading::of_script(name, script, names)?;
                    inferred.push(metric.id.clone());
                    Some(metric)
                });
                match metric {
                    Some(metric) => Column::Metric(metric, unit.map(str::to_owned)),
                    None if place == 0 => Column::Label,
                    None => Column::Unknown,
                }
            });
            let columns: Vec<Column> = columns.collect();
            let has_metric = columns.iter().any(|it| matches!(it, Column::Metric(..)));
            has_metric.then_some(Self {
                separator,
                columns,
                inferred,
            })
        })
    }

    /// Expected content of the headings that name no metric, by their places.
    fn unknown(&self) -> Option<String> {
        let columns = self.columns.iter().zip(1..);
        let unknown = columns.filter(|(column, _)| matches!(column, Column::Unknown));
        let places: Vec<String> = unknown
            .map(|(_, place): (_, u32)| place.to_string())
            .collect();
        let (last, others) = places.split_last()?;
        Some(match others {
            [] => format!("the name of a metric above column {last}"),
            _ => format!(
                "names of metrics above columns {} and {last}",
                others.join(", ")
            ),
        })
    }

    fn read(&self, line: Line, rows: &[Line], found: &mut Found) {
        match self.unknown() {
            Some(expected) => found.damages.push(line.damage(TABLE, expected)),
            None => found.understand(line, &HEADING),
        }
        let cells = rows.iter().flat_map(|row| cells(row.text, self.separator));
        let decimal = decimal(cells);
        for row in rows {
            let (one, expected) = self.row(*row, decimal);
            found.of_table(one);
            match expected {
                None => found.take(*row, cell_spans(row.text, self.separator)),
                Some(expected) => found.damages.push(row.damage(TABLE, expected)),
            }
        }
    }

    /// The record of a row, and the content that it lacks.
    fn row(&self, line: Line, decimal: Option<char>) -> (Option<Imported>, Option<&'static str>) {
        let cells = cells(line.text, self.separator);
        if cells.iter().all(|cell| is_rule(cell)) {
            return (None, None);
        }
        if cells.len() != self.columns.len() {
            return (None, Some("as many cells as there are headings"));
        }
        let mut reading = Reading::new(TABLE, line.number, Vec::new());
        let (mut product, mut expected) = (None, None);
        for (cell, column) in cells.iter().zip(&self.columns) {
            match column {
                Column::Label => product = label(cell),
                Column::Metric(metric, unit) if !is_missing(cell) => {
                    let result = put_cell(&mut reading, metric, cell, unit.as_deref(), decimal);
                    expected = result.err().map(|error| lacking(&error)).or(expected);
                }
                Column::Unknown if !numbers(cell).is_empty() => {
                    expected = expected.or(Some("names of metrics above all of its figures"));
                }
                Column::Metric(..) | Column::Unknown => {}
            }
        }
        note_inferred(&self.inferred, &mut reading);
        (report(reading, product), expected)
    }
}

/// Notes which of the metrics were taken for iozone's though their headings name no tool.
pub(crate) fn note_inferred(inferred: &[String], reading: &mut Reading) {
    let ids: BTreeSet<&str> = reading.metrics.iter().map(|it| it.id.as_str()).collect();
    let there = inferred.iter().filter(|id| ids.contains(id.as_str()));
    let there: Vec<&String> = there.collect();
    if !there.is_empty() {
        let detail = "the heading names no tool: taken for iozone, as in the script that gives the \
                      other columns";
        let finding = Finding::new(FindingKind::DoubtfulFigure, Severity::Note, detail);
        reading
            .findings
            .push(there.into_iter().fold(finding, Finding::on));
    }
}

/// A table whose rows are tests.
struct Turned {
    separator: char,
    /// Metrics of its rows, with the unit in their names.
    rows: Vec<Option<(KnownMetric, Option<String>)>>,
    /// Names above the figures, if there are several.
    products: Vec<Option<String>>,
}

/// The metric of a row with figures, and the unit in its name.
fn test_of(cells: &[String], names: &Names) -> Option<(KnownMetric, Option<String>)> {
    let (first, figures) = cells.split_first()?;
    let (name, unit) = name_and_unit(first);
    let has_figure = figures.iter().any(|it| is_figure(it));
    let metric = has_figure.then(|| heading::named(name, names))??;
    Some((metric, unit.map(str::to_owned)))
}

/// Separators of such tables. Commas would fit too many sentences.
const TURNED_SEPARATORS: [char; 3] = ['|', ';', '\t'];

impl Turned {
    /// For each line, whether a table begins there: a row below, or the line itself, has as many cells and is
    /// a test. Each line is looked at once.
    fn begins(
        lines: &[Line],
        separator: char,
        is_open: &dyn Fn(&Line) -> bool,
        names: &Names,
    ) -> Vec<bool> {
        let mut counts = BTreeSet::new();
        let begins = lines.iter().rev().map(|line| {
            if !line.text.contains(separator) || !is_open(line) {
                counts.clear();
                return false;
            }
            let cells = cells(line.text, separator);
            if test_of(&cells, names).is_some() {
                counts.insert(cells.len());
            }
            counts.contains(&cells.len())
        });
        let mut begins: Vec<bool> = begins.collect();
        begins.reverse();
        begins
    }

    fn find(lines: &[Line], separator: char, names: &Names) -> Option<Self> {
        let first = cells(lines.first()?.text, separator);
        let is_heading = !first.iter().skip(1).any(|cell| is_figure(cell));
        let rows = lines.iter().map(|line| {
            let cells = cells(line.text, separator);
            test_of(&cells, names).filter(|_| cells.len() == first.len())
        });
        let rows: Vec<_> = rows.collect();
        let has_names = is_heading && first.len() > 2;
        let products = first
            .iter()
            .skip(1)
            .map(|cell| label(cell).filter(|_| has_names));
        rows.iter().any(Option::is_some).then(|| Self {
            separator,
            products: products.collect(),
            rows,
        })
    }

    fn read(&self, lines: &[Line], found: &mut Found) {
        let decimal = decimal(
            lines
                .iter()
                .flat_map(|line| cells(line.text, self.separator)),
        );
        let number = lines.first().map_or(1, |line| line.number);
        let mut columns: Vec<Reading> = Vec::new();
        columns.resize_with(self.products.len(), || {
            Reading::new(TABLE, number, Vec::new())
        });
        for (line, row) in lines.iter().zip(&self.rows) {
            let cells = cells(line.text, self.separator);
            let Some((metric, unit)) = row else {
                // A row with figures lacks a name; a heading and a rule do not.
                if cells.iter().skip(1).any(|cell| is_figure(cell)) {
                    let expected = "the name of a metric in its first column";
                    found.damages.push(line.damage(TABLE, expected));
                }
                continue;
            };
            let mut expected = None;
            for (cell, reading) in cells.iter().skip(1).zip(&mut columns) {
                if !is_missing(cell) {
                    let result = put_cell(reading, metric, cell, unit.as_deref(), decimal);
                    expected = result.err().map(|error| lacking(&error)).or(expected);
                }
            }
            match expected {
                None => found.take(*line, cell_spans(line.text, self.separator)),
                Some(expected) => found.damages.push(line.damage(TABLE, expected)),
            }
        }
        let reports = columns.into_iter().zip(&self.products);
        let reports = reports.filter_map(|(reading, product)| report(reading, product.clone()));
        found.of_table(reports);
    }
}

/// A record of its own, if the reading has a figure.
pub(crate) fn report(reading: Reading, product: Option<String>) -> Option<Imported> {
    if reading.metrics.is_empty() {
        return None;
    }
    let mut one = record(vec![reading]);
    one.labels
        .extend(product.map(|it| ("product".to_owned(), it)));
    Some(one)
}

/// The decimal sign that the figures of a table show; none if they show none or both.
pub(crate) fn decimal(cells: impl Iterator<Item = String>) -> Option<char> {
    let figures = cells.filter(|cell| is_figure(cell));
    let signs: BTreeSet<char> = figures
        .filter_map(|cell| decimal_sign(digits_and_unit(&cell).0))
        .collect();
    match signs.len() {
        1 => signs.into_iter().next(),
        _ => None,
    }
}

pub(crate) fn lacking(error: &FigureError) -> &'static str {
    match error {
        FigureError::Comma { .. } => {
            "figures that show whether a point or a comma separates thousands or decimals"
        }
        _ => EXPECTED,
    }
}

/// Returns whether a cell is a number, perhaps with a unit.
pub(crate) fn is_figure(cell: &str) -> bool {
    let (digits, unit) = digits_and_unit(cell);
    digits.starts_with(|c: char| c.is_ascii_digit()) && (unit.is_empty() || is_unit(unit))
}

fn is_rule(cell: &str) -> bool {
    cell.chars().all(|c| "-: ".contains(c))
}

/// Returns whether a cell stands for a test that was not run.
pub(crate) fn is_missing(cell: &str) -> bool {
    ["", "-", "–", "—", "?", "n/a", "N/A"].contains(&cell)
}

pub(crate) fn label(cell: &str) -> Option<String> {
    let label: String = cell.chars().filter(|c| !c.is_control()).collect();
    let label: String = label.chars().take(MOST_LABEL).collect();
    (!is_missing(label.trim())).then(|| label.trim().to_owned())
}

/// The cells of a line, without borders, quotes and emphasis.
fn cells(text: &str, separator: char) -> Vec<String> {
    #[cfg(test)]
    crate::text::work::count(text);
    let mut text = text
        .trim_start_matches(['>', ' '])
        .trim_end_matches([' ', '\r']);
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
pub(crate) fn name_and_unit(heading: &str) -> (&str, Option<&str>) {
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
