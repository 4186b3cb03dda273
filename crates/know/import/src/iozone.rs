//! The table of iozone 3 and the blocks of its `-t`.

mod lines;
mod method;

use cardmark_core::{Finding, FindingKind, KIB, Metric, Printed, Severity};

use crate::form::{Role, Span};
use crate::number::number_and_unit;
use crate::reading::{Found, Reading, byte_rate, doubtful, operations, printed, size};
use crate::text::{Damage, Line};
use lines::{FORMS, FRAME, MARKS, excel_spans, row_spans};
use method::{Method, Methods};

const TOOL: &str = "iozone";
/// Record size of the common script; ids leave it out.
const USUAL_RECORD_BYTES: u64 = 4 * KIB;
/// Stands in an id for an unknown record size: such a figure is none of our suites'.
const UNSIZED: &str = "_unsized";
/// Stands in an id for a figure in which the page cache has a part: it is none of our suites' either.
const BUFFERED: &str = "_buffered";
/// Share of the children's rate that the parent has at least, if the threads waited for the card.
const LEAST_OF_PARENT: f64 = 0.5;

/// The six tests of `-i 0 -i 1 -i 2`.
pub(crate) const SIX: [&str; 6] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random_read",
    "random_write",
];
/// The words of the table's heading above the six tests, for pages that lost the two sizes.
const SIX_HEADING: [&str; 6] = ["write", "rewrite", "read", "reread", "read", "write"];
/// The figures of a block of threads, as ids end.
pub(crate) const PARTS: [&str; 5] = ["children", "parent", "min", "max", "avg"];

/// The columns behind size and record size: heading, test, and its number in `-i`.
const COLUMNS: [(&str, &str, u8); 13] = [
    ("write", "write", 0),
    ("rewrite", "rewrite", 0),
    ("read", "read", 1),
    ("reread", "reread", 1),
    ("read", "random_read", 2),
    ("write", "random_write", 2),
    ("read", "backward_read", 3),
    ("rewrite", "record_rewrite", 4),
    ("read", "stride_read", 5),
    ("fwrite", "fwrite", 6),
    ("frewrite", "frewrite", 6),
    ("fread", "fread", 7),
    ("freread", "freread", 7),
];

/// Names of the tests in the blocks.
const BLOCKS: [(&str, &str); 13] = [
    ("initial writers", "write"),
    ("rewriters", "rewrite"),
    ("readers", "read"),
    ("re-readers", "reread"),
    ("random readers", "random_read"),
    ("random writers", "random_write"),
    ("reverse readers", "backward_read"),
    ("stride readers", "stride_read"),
    ("mixed workload", "mixed"),
    ("pwrite writers", "pwrite"),
    ("pread readers", "pread"),
    ("fwriters", "fwrite"),
    ("freaders", "fread"),
];

/// Reads the lines of tables and the blocks of `-t`, in order.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut rows = Vec::new();
    let mut blocks = Blocks::default();
    let mut table = Table::default();
    let mut frame = Vec::new();
    let mut is_excel = false;
    let mut methods = Methods::default();
    read_sizeless(lines, found);
    for line in lines {
        if table.header.is_none() && !is_excel && !MARKS.any(line.text) {
            continue;
        }
        methods.look_at(line.text, line.unquoted());
        if line.text.contains("Iozone: Performance Test") {
            table = Table::default();
            frame.clear();
        } else if line.text.contains("iozone test complete") {
            table.header = None;
        }
        let text = line.unquoted();
        if FRAME.iter().any(|begin| text.starts_with(begin)) {
            frame.push(*line);
        }
        // The table once more.
        is_excel |= line.text.contains("Excel output is below");
        is_excel &= !line.text.starts_with(char::is_alphabetic) || line.text.starts_with("Excel");
        table.look_at(*line);
        if let Some(header) = Header::find(*line) {
            table.header = Some(header);
            continue;
        }
        let result = match table.row(*line) {
            Ok(Some(mut row)) => {
                row.method = methods.of_figures();
                rows.push(row);
                Ok(true)
            }
            Ok(None) => blocks.read(*line, &mut methods),
            Err(damage) => Err(damage),
        };
        match result {
            Ok(true) => {
                found.understand_all(&mut frame, &FORMS);
                match rows.last().filter(|row| row.line == line.number) {
                    Some(_) => found.take(*line, row_spans(line.text)),
                    None => found.understand(*line, &FORMS),
                }
            }
            Ok(false) if is_excel && text.starts_with('"') => {
                found.take(*line, excel_spans(line.text));
            }
            Ok(_) => {}
            Err(damage) => found.damaged(damage),
        }
    }
    let first = rows.first().map(|row| row.record_bytes);
    let is_alone = rows.iter().all(|row| Some(row.record_bytes) == first);
    for row in rows {
        found.add(row.reading(is_alone));
    }
    for block in blocks.found {
        found.add(block.reading());
    }
}

/// Reads rows of six whole numbers below the names of the six tests. Their record size is unknown.
fn read_sizeless(lines: &[Line], found: &mut Found) {
    let mut is_below = false;
    for line in lines {
        if !is_below && !line.text.contains("rewrite") {
            continue;
        }
        let words: Vec<&str> = line.unquoted().split_whitespace().collect();
        if words == SIX_HEADING {
            is_below = true;
            continue;
        }
        let rates: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
        match rates {
            Some(rates) if is_below && rates.len() == SIX.len() => {
                found.take(*line, vec![Span::new(0..line.text.len(), Role::Figure)]);
                found.add(sizeless(line.number, &rates));
            }
            _ => is_below = false,
        }
    }
}

fn sizeless(line: usize, rates: &[u64]) -> Reading {
    let metrics = SIX.iter().zip(rates).map(|(test, kib)| {
        let printed = printed(TOOL, &kib.to_string(), Some("KiB/s"));
        rate(
            format!("iozone_{test}{UNSIZED}"),
            *kib as f64,
            printed,
            None,
        )
    });
    let mut reading = Reading::new(TOOL, line, metrics.collect());
    reading.is_of_suite = false;
    reading.note(doubtful(
        "the size of iozone's records is unknown: the columns `kB` and `reclen` are missing",
    ));
    note_unit(&mut reading);
    reading
}

fn note_unit(reading: &mut Reading) {
    let detail = "the text has no unit for iozone's table: taken for kB of 1,024 bytes per second, \
                  which iozone prints unless asked otherwise";
    reading.note(Finding::new(
        FindingKind::AmbiguousUnit,
        Severity::Note,
        detail,
    ));
}

/// The end of an id by the method.
fn buffered(method: Option<Method>) -> &'static str {
    if method.is_some_and(Method::is_buffered) {
        BUFFERED
    } else {
        ""
    }
}

/// Notes figures of the page cache. Figures of an unknown command are of no suite.
fn note_method(reading: &mut Reading, method: Option<Method>) {
    reading.is_of_suite = method.is_some_and(Method::is_of_suite);
    let Some(method) = method.filter(|method| method.is_buffered()) else {
        return;
    };
    let writes = match method {
        method if method.is_synced => "; with `-o` each write waited for the card",
        method if method.is_flushed => "; with `-e` the rates of writes include one flush",
        _ => ", and writes may not have reached the card",
    };
    let detail = format!(
        "the page cache took part: the command of iozone has no `-I`, so that reads may come from memory{writes}"
    );
    reading.note(doubtful(detail));
}

/// The record size in an id; none for 4 KiB if there is no other.
fn record_name(record_bytes: u64, is_alone: bool) -> String {
    if record_bytes == USUAL_RECORD_BYTES && is_alone {
        String::new()
    } else {
        format!("_{}", size(record_bytes))
    }
}

fn rate(id: String, kib: f64, printed: Option<Printed>, record_bytes: Option<u64>) -> Metric {
    let bytes_per_s = kib * KIB as f64;
    Metric {
        operations_per_s: operations(bytes_per_s, record_bytes),
        ..byte_rate(id, bytes_per_s, printed)
    }
}

/// A line of the table.
struct Row {
    line: usize,
    file_bytes: u64,
    record_bytes: u64,
    /// Tests and KiB per second.
    rates: Vec<(&'static str, u64)>,
    /// True if the text has the unit. iozone prints kilobytes per second by default.
    has_unit: bool,
    /// Options of the command, if known.
    method: Option<Method>,
}

impl Row {
    fn reading(&self, is_alone: bool) -> Reading {
        let record = record_name(self.record_bytes, is_alone);
        let unit = if self.has_unit { " kB/sec" } else { "" };
        let buffered = buffered(self.method);
        let metrics = self.rates.iter().map(|(test, kib)| {
            let printed = printed(TOOL, &format!("{kib}{unit}"), Some("KiB/s"));
            let id = format!("iozone_{test}{record}{buffered}");
            rate(id, *kib as f64, printed, Some(self.record_bytes))
        });
        let mut reading = Reading::new(TOOL, self.line, metrics.collect());
        reading.file_bytes = Some(self.file_bytes);
        note_method(&mut reading, self.method);
        if !self.has_unit {
            note_unit(&mut reading);
        }
        reading
    }
}

/// Known properties of a table before its lines.
#[derive(Default)]
struct Table<'a> {
    /// Numbers behind `-i` of the command line.
    asked: Vec<u8>,
    /// True if figures are kilobytes per second, if known.
    is_rate: Option<bool>,
    header: Option<Header<'a>>,
}

impl<'a> Table<'a> {
    fn look_at(&mut self, line: Line<'a>) {
        if let Some((_, command)) = line.text.split_once("Command line used:") {
            self.asked = asked_tests(command);
        } else if let Some((_, unit)) = line.text.split_once("Output is in ") {
            self.is_rate = Some(unit.trim().eq_ignore_ascii_case("kBytes/sec"));
        }
    }

    fn row(&self, line: Line<'a>) -> Result<Option<Row>, Damage> {
        let Some(header) = &self.header else {
            return Ok(None);
        };
        let words = words(line.unquoted());
        let numbers: Option<Vec<u64>> = words.iter().map(|(word, _)| word.parse().ok()).collect();
        let Some([size, record, rates @ ..]) = numbers.as_deref() else {
            return Ok(None);
        };
        if rates.is_empty() {
            return Ok(None);
        }
        if self.is_rate == Some(false) {
            return Err(line.damage(TOOL, "rates in kBytes/sec; this table holds other figures"));
        }
        let columns = header
            .columns(&words)
            .or_else(|| self.columns_asked(rates.len()))
            .ok_or_else(|| line.damage(TOOL, "figures under the headings of the table"))?;
        let too_large = || line.damage(TOOL, "sizes that fit into 64 bits");
        let rates = rates.iter().zip(columns);
        Ok(Some(Row {
            line: line.number,
            file_bytes: size.checked_mul(KIB).ok_or_else(too_large)?,
            record_bytes: record.checked_mul(KIB).ok_or_else(too_large)?,
            rates: rates.map(|(kib, test)| (test, *kib)).collect(),
            has_unit: self.is_rate.is_some(),
            method: None,
        }))
    }

    /// The columns that the command line asks for, where their number is that of the figures.
    fn columns_asked(&self, count: usize) -> Option<Vec<&'static str>> {
        let asked = COLUMNS
            .iter()
            .filter(|(_, _, number)| self.asked.contains(number));
        let tests: Vec<&'static str> = asked.map(|(_, test, _)| *test).collect();
        (tests.len() == count).then_some(tests)
    }
}

/// Numbers behind `-i`; `-i0` is possible too.
fn asked_tests(command: &str) -> Vec<u8> {
    let mut asked = Vec::new();
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let number = match word.strip_prefix("-i") {
            Some("") => words.next(),
            attached => attached,
        };
        asked.extend(number.and_then(|number| number.parse::<u8>().ok()));
    }
    asked
}

/// The heading of a table, and where its words end.
struct Header<'a> {
    words: Vec<(&'a str, usize)>,
}

/// Places of `reclen` and of the first test in heading and lines.
const RECORD: usize = 1;
const FIRST: usize = 2;
/// Largest distance between the ends of a figure and its heading; columns are at least eight characters wide.
const MOST_SHIFT: usize = 3;
const LEAST_WIDTH: usize = 8;

impl<'a> Header<'a> {
    fn find(line: Line<'a>) -> Option<Self> {
        let words = words(line.unquoted());
        let [(unit, _), ("reclen", _), tests @ ..] = words.as_slice() else {
            return None;
        };
        let known = COLUMNS.iter().map(|(heading, ..)| *heading);
        let begins = tests
            .iter()
            .zip(known)
            .all(|((word, _), known)| *word == known);
        let fits = !tests.is_empty() && tests.len() <= COLUMNS.len();
        (unit.eq_ignore_ascii_case("kB") && begins && fits).then_some(Self { words })
    }

    /// The tests that the figures of a line belong to: all of them, or those they stand under.
    fn columns(&self, line: &[(&str, usize)]) -> Option<Vec<&'static str>> {
        let tests = COLUMNS.iter().map(|(_, test, _)| *test);
        if line.len() == self.words.len() {
            return Some(tests.take(line.len() - FIRST).collect());
        }
        // Seen from `reclen`, as forums drop spaces at the beginning of lines. Where they drop
        // those between words too, positions mean nothing.
        let ends = self.ends();
        if ends.first().is_none_or(|end| *end < LEAST_WIDTH) {
            return None;
        }
        let mut columns = ends.iter().zip(tests);
        let mut found = Vec::new();
        for (_, end) in line.get(FIRST..)? {
            let end = end - line[RECORD].1;
            let (_, test) = columns.find(|(heading, _)| heading.abs_diff(end) <= MOST_SHIFT)?;
            found.push(test);
        }
        Some(found)
    }

    fn ends(&self) -> Vec<usize> {
        let record = self.words[RECORD].1;
        self.words[FIRST..]
            .iter()
            .map(|(_, end)| end - record)
            .collect()
    }
}

/// The words of a line and where they end, characters from the start.
fn words(text: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if !word.is_empty() {
            words.push((word, at + word.chars().count()));
        }
        at += piece.chars().count();
    }
    words
}

/// A block of `-t`: one test by several threads.
struct Block {
    line: usize,
    test: &'static str,
    threads_count: u32,
    /// Sizes of file and record in bytes, if known.
    sizes: Option<(u64, u64)>,
    /// KiB per second and the text as printed, in the order of `PARTS`.
    rates: [Option<(f64, String)>; 5],
    /// Options of the command, if known.
    method: Option<Method>,
}

impl Block {
    fn reading(&self) -> Reading {
        let record_bytes = self.sizes.map(|(_, record)| record);
        let record = record_bytes.map_or(UNSIZED.to_owned(), |bytes| record_name(bytes, true));
        let (count, test) = (self.threads_count, self.test);
        let buffered = buffered(self.method);
        let metrics = PARTS.iter().zip(&self.rates).filter_map(|(part, figure)| {
            let (kib, text) = figure.as_ref()?;
            let id = format!("iozone_t{count}_{test}{record}_{part}{buffered}");
            let printed = printed(TOOL, text, Some("KiB/s"));
            Some(rate(id, *kib, printed, record_bytes))
        });
        let mut reading = Reading::new(TOOL, self.line, metrics.collect());
        reading.file_bytes = self.sizes.map(|(file, _)| file);
        note_method(&mut reading, self.method);
        if let [Some((children, _)), Some((parent, _)), ..] = &self.rates
            && *parent < LEAST_OF_PARENT * children
        {
            let detail = "the parent of the threads sees less than half of their rate: the threads did not \
                          wait for the card";
            reading.note(doubtful(detail));
        }
        if self.sizes.is_none() {
            let detail = "the size of iozone's records is unknown: the line `Each thread writes a …` \
                          is missing above";
            reading.note(doubtful(detail));
        }
        reading
    }
}

/// The blocks so far.
#[derive(Default)]
struct Blocks {
    found: Vec<Block>,
    /// Sizes of file and record that the text gives, in bytes.
    sizes: Option<(u64, u64)>,
    /// True if the first line of the current block could not be read: its test is unknown.
    is_lost: bool,
}

impl Blocks {
    /// Reads a line of a block; returns whether it is one.
    fn read(&mut self, line: Line, methods: &mut Methods) -> Result<bool, Damage> {
        if let Some((_, rest)) = line.text.split_once(" writes a ") {
            self.sizes = thread_sizes(rest);
            return Ok(self.sizes.is_some());
        }
        if let Some((_, rest)) = line.text.split_once("Children see throughput for") {
            self.is_lost = true;
            let block = thread_block(line, rest, self.sizes)?;
            self.found.push(Block {
                method: methods.of_figures(),
                ..block
            });
            self.is_lost = false;
            return Ok(true);
        }
        let label = LABELS.iter().position(|label| line.text.contains(label));
        let Some(place) = label else {
            return Ok(false);
        };
        if self.is_lost {
            return Ok(true);
        }
        let error = || line.damage(TOOL, "`Children see throughput for …` before this");
        let block = self.found.last_mut().ok_or_else(error)?;
        if place == LABELS.len() - 1 {
            return Ok(true);
        }
        let rate = &mut block.rates[place + 1];
        if rate.is_some() {
            self.is_lost = true;
            return Err(error());
        }
        *rate = Some(thread_rate(line)?);
        Ok(true)
    }
}

/// The lines of a block behind its first.
const LABELS: [&str; 5] = [
    "Parent sees throughput",
    "Min throughput per ",
    "Max throughput per ",
    "Avg throughput per ",
    "Min xfer",
];

/// Parses the first line of a block: `4 initial writers = 12992.28 kB/sec`.
fn thread_block(line: Line, rest: &str, sizes: Option<(u64, u64)>) -> Result<Block, Damage> {
    let error = || line.damage(TOOL, "a number of threads, a known test, `=` and a rate");
    let (name, _) = rest.split_once('=').ok_or_else(error)?;
    let (count, name) = name.trim().split_once(' ').ok_or_else(error)?;
    let name = name.trim();
    let test = BLOCKS.iter().find(|(known, _)| *known == name);
    Ok(Block {
        line: line.number,
        test: test.ok_or_else(error)?.1,
        threads_count: count.parse().map_err(|_| error())?,
        sizes,
        rates: [Some(thread_rate(line)?), None, None, None, None],
        method: None,
    })
}

fn thread_rate(line: Line) -> Result<(f64, String), Damage> {
    let error = || line.damage(TOOL, "`=` and a rate in kB/sec");
    let (_, printed) = line.text.split_once('=').ok_or_else(error)?;
    let (number, unit) = number_and_unit(printed).ok_or_else(error)?;
    if !unit.trim_end().eq_ignore_ascii_case("kB/sec") {
        return Err(error());
    }
    Ok((number.value, printed.trim().to_owned()))
}

/// Parses `4096 kByte file in 4 kByte records`.
fn thread_sizes(text: &str) -> Option<(u64, u64)> {
    let (file, rest) = text.trim().split_once(" kByte file in ")?;
    let (record, _) = rest.split_once(" kByte records")?;
    let bytes = |kib: &str| kib.trim().parse::<u64>().ok()?.checked_mul(KIB);
    Some((bytes(file)?, bytes(record)?))
}
