//! Tables whose cells are parted by spaces alone, as a web page loses its columns.
//!
//! Nothing shows where a cell ends, so a table is read only if there is one way to read it: the heading ends
//! in names of metrics, each row in a figure for each of them, and no label ends in what could be a further figure.

mod parts;

use std::collections::BTreeMap;
use std::iter;
use std::rc::Rc;

use parts::{Name, Parts};

use crate::Imported;
use crate::figure::{digits_and_unit, put_cell};
use crate::form::{Role, Span};
use crate::heading::{Marks, Names, Script};
use crate::metrics::KnownMetric;
use crate::reading::{Found, Reading};
use crate::table::{
    HEADING, TABLE, decimal, is_figure, is_missing, label, lacking, note_inferred, report,
};
use crate::text::{Line, numbers};

/// Longest heading, in words.
const MOST_WORDS: usize = 40;
/// Fewest metrics and rows of a table.
const LEAST_METRICS: usize = 2;
const LEAST_ROWS: usize = 2;
/// Words of a heading that belong to a test: a heading with such a word before its metrics lacks a name.
const TEST_WORDS: [&str; 14] = [
    "read",
    "reads",
    "write",
    "writes",
    "reread",
    "rewrite",
    "rand",
    "random",
    "seq",
    "sequential",
    "hdparm",
    "dd",
    "iozone",
    "fio",
];

const COUNT: &str = "a figure at its end for each metric of the heading";
const ALONE: &str = "at least two rows of this form: spaces do not show where a cell ends";
const DECIMALS: &str = "the decimals that the other figures of its columns have";
const LABELS: &str = "names that do not end in a figure: spaces do not show where a cell ends";

/// Reads the tables.
pub(crate) fn read(lines: &[Line], names: &Names, found: &mut Found) {
    let mut rest = lines;
    while let Some((line, below)) = rest.split_first() {
        rest = below;
        if found.is_understood(*line) {
            continue;
        }
        let Some(heading) = Heading::find(line.text, names) else {
            continue;
        };
        let is_row = |line: &&Line| {
            let is_open = !found.is_understood(**line) && !line.text.trim().is_empty();
            is_open && Heading::find(line.text, names).is_none()
        };
        let count = below.iter().take_while(is_row).count();
        let (rows, others) = below.split_at(count);
        heading.read(*line, rows, found);
        rest = others;
    }
}

/// The metrics at the end of a heading.
struct Heading {
    metrics: Vec<(KnownMetric, Option<String>)>,
    /// Metrics of iozone whose headings name no tool.
    inferred: Vec<String>,
}

impl Heading {
    fn find(text: &str, names: &Names) -> Option<Self> {
        if text.contains(['\t', '|', ';']) {
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS + 1).collect();
        if !(2..=MOST_WORDS).contains(&words.len()) {
            return None;
        }
        let mut parts = Parts::of(&words, names);
        if !parts.may_end() {
            return None;
        }
        let marks = Marks::of(text);
        let scripts = [Script::Common, Script::Raw].map(Some);
        let scripts = scripts
            .into_iter()
            .filter(|it| it.is_some_and(|it| marks.fit(it)));
        let all = iter::once(None).chain(scripts);
        let mut ways: Vec<Way> = all.flat_map(|it| Self::ways(it, &mut parts)).collect();
        let start = ways.iter().map(|way| way.start).min()?;
        ways.retain(|way| way.start == start);
        let way = ways.pop().filter(|_| ways.is_empty())?;
        let is_whole = !words[..start].iter().any(|word| is_of_test(word));
        (is_whole && way.names.len() >= LEAST_METRICS).then(|| way.heading())
    }

    /// All ways to part the end of a heading into names of metrics, if `script` is that of the names. They are
    /// looked for from the end, so that each word begins a few names at most.
    fn ways(script: Option<Script>, parts: &mut Parts) -> Vec<Way> {
        let count = parts.words.len();
        let mut ways: Vec<Vec<Way>> = vec![Vec::new(); count];
        ways.push(vec![Way {
            start: count,
            names: Vec::new(),
        }]);
        for end in (2..=count).rev() {
            // Two ways are as good as more: neither is taken.
            ways[end].truncate(2);
            if ways[end].is_empty() {
                continue;
            }
            for start in parts.starts(end) {
                let Some(name) = parts.name(start, end, script) else {
                    continue;
                };
                let name = Rc::new(name);
                let longer = ways[end].iter().filter_map(|way| way.longer(start, &name));
                let longer: Vec<Way> = longer.collect();
                ways[start].extend(longer);
            }
        }
        ways.pop();
        let ways = ways.into_iter().flatten();
        ways.filter(|way| way.script() == script).collect()
    }

    fn read(&self, line: Line, rows: &[Line], found: &mut Found) {
        let parsed: Vec<Option<Row>> = rows.iter().map(|row| self.row(row.text)).collect();
        let whole: Vec<&Row> = parsed.iter().flatten().collect();
        let reason = if whole.len() < LEAST_ROWS {
            Some(ALONE)
        } else if whole.iter().any(|row| row.is_open) {
            Some(LABELS)
        } else {
            None
        };
        let decimals = self.decimals(&whole);
        let sign = decimal(whole.iter().flat_map(|row| row.cells.iter().cloned()));
        if reason.is_none() {
            found.understand(line, &HEADING);
        }
        for (line, row) in rows.iter().zip(&parsed) {
            let result = match (row, reason) {
                (None, _) => Err(COUNT),
                (Some(_), Some(reason)) => Err(reason),
                (Some(row), None) => self.record(*line, row, &decimals, sign),
            };
            match result {
                Ok(one) => {
                    found.of_table(one);
                    found.take(*line, row_spans(line.text, row.as_ref()));
                }
                Err(_) if numbers(line.text).is_empty() => {}
                Err(expected) => found.damages.push(line.damage(TABLE, expected)),
            }
        }
    }

    /// Parts a row from its end; none if it does not end in a figure for each metric.
    fn row(&self, text: &str) -> Option<Row> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let mut cells = Vec::new();
        for (_, unit) in self.metrics.iter().rev() {
            cells.push(take_cell(&mut words, unit.is_none())?);
        }
        cells.reverse();
        let has_figure = cells.iter().any(|cell| is_figure(cell));
        let product = label(&words.join(" "))?;
        let ends_so = |has_unit: bool| {
            let cell = take_cell(&mut words.clone(), has_unit);
            cell.is_some_and(|cell| is_figure(&cell))
        };
        let mut units = self.metrics.iter().map(|(_, unit)| unit.is_none());
        let is_open = units.any(ends_so);
        has_figure.then_some(Row {
            product,
            product_words: words.len(),
            cells,
            is_open,
        })
    }

    /// Decimals of each column in most of its rows; none if no number of decimals has most.
    fn decimals(&self, rows: &[&Row]) -> Vec<Option<usize>> {
        let column = |place: usize| {
            let mut counts = BTreeMap::<usize, usize>::new();
            for row in rows.iter().filter(|row| is_figure(&row.cells[place])) {
                *counts.entry(decimals_count(&row.cells[place])).or_default() += 1;
            }
            let all: usize = counts.values().sum();
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            most.filter(|(_, count)| 2 * count > all).map(|(it, _)| it)
        };
        (0..self.metrics.len()).map(column).collect()
    }

    fn record(
        &self,
        line: Line,
        row: &Row,
        decimals: &[Option<usize>],
        sign: Option<char>,
    ) -> Result<Option<Imported>, &'static str> {
        let mut reading = Reading::new(TABLE, line.number, Vec::new());
        for ((cell, (metric, unit)), wanted) in row.cells.iter().zip(&self.metrics).zip(decimals) {
            if !is_figure(cell) {
                continue;
            }
            if Some(decimals_count(cell)) != *wanted {
                return Err(DECIMALS);
            }
            put_cell(&mut reading, metric, cell, unit.as_deref(), sign)
                .map_err(|error| lacking(&error))?;
        }
        note_inferred(&self.inferred, &mut reading);
        Ok(report(reading, Some(row.product.clone())))
    }
}

/// The name of a row, which may have figures of its own, and the figures of its table.
fn row_spans(line: &str, row: Option<&Row>) -> Vec<Span> {
    let words = row.map_or(0, |row| row.product_words);
    let last = words
        .checked_sub(1)
        .and_then(|last| line.split_whitespace().nth(last));
    let end = last.map_or(0, |last| Span::of(line, last, Role::Known).range.end);
    vec![
        Span::new(0..end, Role::Known),
        Span::new(end..line.len(), Role::Figure),
    ]
}

/// A row with a cell for each metric.
struct Row {
    product: String,
    product_words: usize,
    cells: Vec<String>,
    /// True if its label ends in what could be a figure of the table.
    is_open: bool,
}

/// A way to read the end of a heading: different metrics, the last one first.
#[derive(Clone)]
struct Way {
    start: usize,
    names: Vec<Rc<Name>>,
}

impl Way {
    /// The way with a name before it; none if it has this metric already.
    fn longer(&self, start: usize, name: &Rc<Name>) -> Option<Self> {
        let is_new = self.names.iter().all(|it| it.metric.id != name.metric.id);
        is_new.then(|| {
            let names = self.names.iter().chain([name]).cloned();
            Self {
                start,
                names: names.collect(),
            }
        })
    }

    fn script(&self) -> Option<Script> {
        let marks = self.names.iter().map(|name| name.marks);
        Script::of(marks.fold(Marks::default(), Marks::and))
    }

    fn heading(&self) -> Heading {
        let names = self.names.iter().rev();
        let inferred = names.clone().filter(|name| name.is_inferred);
        Heading {
            inferred: inferred.map(|name| name.metric.id.clone()).collect(),
            metrics: names
                .map(|name| (name.metric.clone(), name.unit.clone()))
                .collect(),
        }
    }
}

/// Takes a figure or the sign of a missing one from the end of a row. A figure has a unit if
/// `has_unit`, none otherwise.
fn take_cell(words: &mut Vec<&str>, has_unit: bool) -> Option<String> {
    let last = *words.last()?;
    let (digits, unit) = digits_and_unit(last);
    let is_missing = is_missing(last) || last == "TODO";
    let cell = if is_missing {
        String::new()
    } else if has_unit && digits.is_empty() && is_rate(last) {
        words.pop();
        let number = *words.last()?;
        let cell = format!("{number} {last}");
        (digits_and_unit(number).1.is_empty() && is_figure(&cell)).then_some(cell)?
    } else {
        let fits = if has_unit {
            is_rate(unit)
        } else {
            unit.is_empty()
        };
        (fits && is_figure(last)).then(|| last.to_owned())?
    };
    words.pop();
    Some(cell)
}

fn is_rate(unit: &str) -> bool {
    unit.contains("/s") || unit.contains("/S") || unit.eq_ignore_ascii_case("iops")
}

fn is_of_test(word: &str) -> bool {
    let word = word.to_lowercase();
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    TEST_WORDS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit())
}

fn decimals_count(cell: &str) -> usize {
    let (digits, _) = digits_and_unit(cell);
    digits.rsplit_once(['.', ',']).map_or(0, |(_, it)| it.len())
}

#[cfg(test)]
mod tests {
    use crate::import;
    use crate::properties::known;

    /// Products with their printed figures, and the lines that are listed.
    fn imported(text: &str) -> (Vec<String>, Vec<usize>) {
        let import = import(text, &known());
        let shown = import.records.iter().map(|one| {
            let figures = one.metrics.iter().map(|metric| {
                let printed = metric.printed.as_ref().map_or("", |it| it.text.as_str());
                format!("{} {printed}", metric.id)
            });
            let figures: Vec<String> = figures.collect();
            format!("{}: {}", one.labels["product"], figures.join(", "))
        });
        let listed = import.not_understood.iter().map(|it| it.line);
        (shown.collect(), listed.collect())
    }

    const HEADING: &str = "Card Make/Model hdparm buffered dd write 4K rand read 4K rand write";

    #[test]
    fn figures_at_the_end_of_rows_belong_to_the_metrics_of_the_heading() {
        let text = format!(
            "{HEADING}\nBrand One (C10 90MB/s) 16GB 17.11 MB/s TODO 6.12 MB/s 0.13 MB/s\n\
             Brand Two+ 300x 32GB1 18.21 MB/s 10.2 MB/s 5.22 MB/s 0.23 MB/s\n\
             Brand Three 8GB 18.31MB/s 11.3MB/s 5.32MB/s 0.33MB/s\n\
             No-name 4GB 13.41 MB/s Bad Worse Worst\n"
        );
        let (records, listed) = imported(&text);
        assert_eq!(
            records,
            [
                "Brand One (C10 90MB/s) 16GB: hdparm_t 17.11 MB/s, iozone_random_read 6.12 MB/s, \
                 iozone_random_write 0.13 MB/s",
                "Brand Two+ 300x 32GB1: hdparm_t 18.21 MB/s, dd_write 10.2 MB/s, \
                 iozone_random_read 5.22 MB/s, iozone_random_write 0.23 MB/s",
                "Brand Three 8GB: hdparm_t 18.31 MB/s, dd_write 11.3 MB/s, \
                 iozone_random_read 5.32 MB/s, iozone_random_write 0.33 MB/s",
            ]
        );
        assert_eq!(listed, [5]);
    }

    #[test]
    fn units_may_stand_in_the_heading() {
        let text = "Maker Model Speed Class Capacity 16M seq. read (MB/s) 16M seq. write (MB/s) \
                    4K rand. read (MB/s) 4K rand. write (MB/s)\n\
                    Brand One A1 200 GB 42,75 36,80 8,54 5,13\n\
                    Brand Two A2 64 GB 92,58 64,01 4,97 3,05\n";
        let (records, listed) = imported(text);
        assert_eq!(
            records[1],
            "Brand Two A2 64 GB: iozone_read_16m 92,58 MB/s, iozone_write_16m 64,01 MB/s, \
             iozone_random_read_4k 4,97 MB/s, iozone_random_write_4k 3,05 MB/s"
        );
        assert_eq!((records.len(), listed), (2, vec![]));
    }

    #[test]
    fn a_shifted_row_is_listed() {
        // The name of the third ends in a rate and one cell is missing: the decimals differ.
        let text = format!(
            "{HEADING}\nOne 16GB 17.11 MB/s 10.2 MB/s 6.12 MB/s 0.13 MB/s\n\
             Two 16GB 17.11 MB/s 10.2 MB/s 6.12 MB/s 0.13 MB/s\n\
             Turbo 90 MB/s 17.11 MB/s 6.12 MB/s 0.13 MB/s\n"
        );
        assert_eq!(imported(&text).1, [4]);
    }

    #[test]
    fn a_table_that_can_be_read_in_two_ways_is_listed_whole() {
        let units = "Card iozone 4K rand read (MB/s) iozone 4K rand write (MB/s)";
        for (heading, rows) in [
            // The label of the first ends in a number: perhaps a figure of the second is missing.
            (units, ["One 32 8.54 5.13", "Two 9.54 6.13"]),
            (
                HEADING,
                ["One 90 MB/s 1.11 MB/s 2.2 MB/s 3.33 MB/s 4.44 MB/s"; 2],
            ),
            // A column before the metrics has figures of an unknown test.
            (
                "Card read 4K iozone 4K rand read (MB/s) iozone 4K rand write (MB/s)",
                ["One 8.54 5.13", "Two 9.54 6.13"],
            ),
            // No unit anywhere.
            (
                "Card iozone 4K rand read iozone 4K rand write",
                ["One 8.54 5.13", "Two 9.54 6.13"],
            ),
        ] {
            let text = format!("{heading}\n{}\n{}\n", rows[0], rows[1]);
            let (records, listed) = imported(&text);
            assert_eq!((records, listed), (vec![], vec![1, 2, 3]), "{text}");
        }
        let alone = format!("{units}\nOne 8.54 5.13\n");
        assert_eq!(imported(&alone), (vec![], vec![1, 2]));
    }
}
