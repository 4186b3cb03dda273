//! The table of iozone and the blocks of its `-t`, versions 3.

use cardmark_core::KIB;

use super::number::{self, number_and_unit};
use super::{Line, Parts, Rate, ReadError, lines, whole};

const TOOL: &str = "iozone";

/// One of its tests; in its table each has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IozoneTest {
    /// Writes a new file.
    Write,
    /// Writes it again.
    Rewrite,
    /// Reads it.
    Read,
    /// Reads it again.
    Reread,
    /// Reads records in random order.
    RandomRead,
    /// Writes records in random order.
    RandomWrite,
    /// Reads backwards.
    BackwardRead,
    /// Writes one record over and over.
    RecordRewrite,
    /// Reads with gaps.
    StrideRead,
    /// Writes through the C library.
    Fwrite,
    /// Writes again through the C library.
    Frewrite,
    /// Reads through the C library.
    Fread,
    /// Reads again through the C library.
    Freread,
    /// Reads and writes at once; threads only.
    Mixed,
    /// Writes with `pwrite`; threads only.
    Pwrite,
    /// Reads with `pread`; threads only.
    Pread,
}

use IozoneTest as Test;

/// The columns behind size and record size: heading, test, and the number `-i` knows it by.
const COLUMNS: [(&str, Test, u8); 13] = [
    ("write", Test::Write, 0),
    ("rewrite", Test::Rewrite, 0),
    ("read", Test::Read, 1),
    ("reread", Test::Reread, 1),
    ("read", Test::RandomRead, 2),
    ("write", Test::RandomWrite, 2),
    ("read", Test::BackwardRead, 3),
    ("rewrite", Test::RecordRewrite, 4),
    ("read", Test::StrideRead, 5),
    ("fwrite", Test::Fwrite, 6),
    ("frewrite", Test::Frewrite, 6),
    ("fread", Test::Fread, 7),
    ("freread", Test::Freread, 7),
];

/// What the blocks call the tests.
const BLOCKS: [(&str, Test); 13] = [
    ("initial writers", Test::Write),
    ("rewriters", Test::Rewrite),
    ("readers", Test::Read),
    ("re-readers", Test::Reread),
    ("random readers", Test::RandomRead),
    ("random writers", Test::RandomWrite),
    ("reverse readers", Test::BackwardRead),
    ("stride readers", Test::StrideRead),
    ("mixed workload", Test::Mixed),
    ("pwrite writers", Test::Pwrite),
    ("pread readers", Test::Pread),
    ("fwriters", Test::Fwrite),
    ("freaders", Test::Fread),
];

/// A figure of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneRate {
    /// The test.
    pub test: IozoneTest,
    /// Its rate, cut to KiB a second.
    pub rate: Rate,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneRow {
    /// Number of its line, from 1.
    pub line: usize,
    /// Size of the file, bytes.
    pub size_bytes: u64,
    /// Size of a record, bytes.
    pub record_bytes: u64,
    /// The figures, in the order of the columns.
    pub rates: Vec<IozoneRate>,
    /// Whether the text says that the figures are kilobytes a second. Without that line they are
    /// taken for such, as iozone's are unless told otherwise.
    pub unit_stated: bool,
}

/// A block of `-t`: one test by several threads.
#[derive(Clone, Debug, PartialEq)]
pub struct IozoneThreads {
    /// Number of its first line, from 1.
    pub line: usize,
    /// The test.
    pub test: IozoneTest,
    /// Number of threads or processes.
    pub threads_count: u32,
    /// Sum of the threads' rates.
    pub children: Rate,
    /// What all moved, over the time until the last had ended.
    pub parent: Option<Rate>,
    /// The slowest thread.
    pub min: Option<Rate>,
    /// The fastest thread.
    pub max: Option<Rate>,
    /// Mean of the threads' rates.
    pub avg: Option<Rate>,
    /// Least bytes that one thread moved before the first had ended.
    pub min_transfer_bytes: Option<u64>,
}

/// What is in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IozoneOutput {
    /// Lines of tables.
    pub rows: Vec<IozoneRow>,
    /// Blocks of `-t`.
    pub threads: Vec<IozoneThreads>,
}

/// Reads tables and blocks, in order.
///
/// # Errors
/// When there are none, one is not whole, its columns cannot be told, or the figures are not rates.
pub fn read_iozone(text: &str) -> Result<IozoneOutput, ReadError> {
    let expected = "a table with `reclen` in its heading, or `Children see throughput for …`";
    whole(iozone_parts(text), TOOL, expected)
}

/// The lines and blocks that are whole, and lines that are not.
pub(crate) fn iozone_parts(text: &str) -> Parts<IozoneOutput> {
    let mut rows = Vec::new();
    let mut blocks = Blocks::default();
    let mut errors = Vec::new();
    let mut table = Table::default();
    for line in lines(text) {
        if line.text.contains("Iozone: Performance Test") {
            table = Table::default();
        } else if line.text.contains("iozone test complete") {
            table.header = None;
        }
        table.look_at(line);
        if let Some(header) = Header::find(line) {
            table.header = Some(header);
            continue;
        }
        match table.row(line) {
            Ok(Some(row)) => rows.push(row),
            Ok(None) => errors.extend(blocks.read(line).err()),
            Err(error) => errors.push(error),
        }
    }
    let threads = blocks.found;
    (IozoneOutput { rows, threads }, errors)
}

/// What was said about the table before its lines.
#[derive(Default)]
struct Table<'a> {
    /// Numbers behind `-i` of the command line.
    asked: Vec<u8>,
    /// Whether figures are kilobytes a second, where that is told.
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

    fn row(&self, line: Line<'a>) -> Result<Option<IozoneRow>, ReadError> {
        let Some(header) = &self.header else {
            return Ok(None);
        };
        let words = words(line.text);
        let numbers: Option<Vec<u64>> = words.iter().map(|(word, _)| word.parse().ok()).collect();
        let Some([size, record, rates @ ..]) = numbers.as_deref() else {
            return Ok(None);
        };
        if rates.is_empty() {
            return Ok(None);
        }
        if self.is_rate == Some(false) {
            return Err(line.error(TOOL, "rates in kBytes/sec; this table holds other figures"));
        }
        let columns = header
            .columns(&words)
            .or_else(|| self.columns_asked(rates.len()))
            .ok_or_else(|| line.error(TOOL, "figures under the headings of the table"))?;
        let too_large = || line.error(TOOL, "sizes that fit into 64 bits");
        let rates = rates.iter().zip(columns).map(|(kib, test)| IozoneRate {
            test,
            rate: Rate {
                bytes_per_s: *kib as f64 * KIB as f64,
                printed: kib.to_string(),
            },
        });
        Ok(Some(IozoneRow {
            line: line.number,
            size_bytes: size.checked_mul(KIB).ok_or_else(too_large)?,
            record_bytes: record.checked_mul(KIB).ok_or_else(too_large)?,
            rates: rates.collect(),
            unit_stated: self.is_rate.is_some(),
        }))
    }

    /// The columns that the command line asks for, where their number is that of the figures.
    fn columns_asked(&self, count: usize) -> Option<Vec<Test>> {
        let asked = COLUMNS
            .iter()
            .filter(|(_, _, number)| self.asked.contains(number));
        let tests: Vec<Test> = asked.map(|(_, test, _)| *test).collect();
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
/// How far a figure may end from its heading; columns are at least eight characters wide.
const MOST_SHIFT: usize = 3;
const LEAST_WIDTH: usize = 8;

impl<'a> Header<'a> {
    fn find(line: Line<'a>) -> Option<Self> {
        let words = words(line.text);
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
    fn columns(&self, line: &[(&str, usize)]) -> Option<Vec<Test>> {
        let tests = COLUMNS.iter().map(|(_, test, _)| *test);
        if line.len() == self.words.len() {
            return Some(tests.take(line.len() - FIRST).collect());
        }
        // Seen from `reclen`, as forums drop spaces at the beginning of lines. Where they drop
        // those between words too, places say nothing.
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

/// The blocks so far.
#[derive(Default)]
struct Blocks {
    found: Vec<IozoneThreads>,
    /// Whether the first line of the block that is under way could not be read: nobody knows then
    /// which test the others are of.
    is_lost: bool,
}

impl Blocks {
    /// A line of a block, if it is one.
    fn read(&mut self, line: Line) -> Result<(), ReadError> {
        if let Some((_, rest)) = line.text.split_once("Children see throughput for") {
            self.is_lost = true;
            self.found.push(thread_block(line, rest)?);
            self.is_lost = false;
            return Ok(());
        }
        let is_transfer = line.text.contains("Min xfer");
        let label = LABELS.iter().position(|label| line.text.contains(label));
        if self.is_lost || label.is_none() && !is_transfer {
            return Ok(());
        }
        let Some(block) = self.found.last_mut() else {
            return Err(line.error(TOOL, FIRST_EXPECTED));
        };
        let rate = match label {
            Some(0) => &mut block.parent,
            Some(1) => &mut block.min,
            Some(2) => &mut block.max,
            Some(_) => &mut block.avg,
            None => {
                block.min_transfer_bytes = Some(min_transfer_bytes(line)?);
                return Ok(());
            }
        };
        if rate.is_some() {
            self.is_lost = true;
            return Err(line.error(TOOL, FIRST_EXPECTED));
        }
        *rate = Some(thread_rate(line)?);
        Ok(())
    }
}

/// The lines of a block behind its first.
const LABELS: [&str; 4] = [
    "Parent sees throughput",
    "Min throughput per ",
    "Max throughput per ",
    "Avg throughput per ",
];
const FIRST_EXPECTED: &str = "`Children see throughput for …` before this";

/// The first line of a block: `4 initial writers = 12992.28 kB/sec`.
fn thread_block(line: Line, rest: &str) -> Result<IozoneThreads, ReadError> {
    let error = || line.error(TOOL, "a number of threads, a known test, `=` and a rate");
    let (name, _) = rest.split_once('=').ok_or_else(error)?;
    let (count, name) = name.trim().split_once(' ').ok_or_else(error)?;
    let name = name.trim();
    let test = BLOCKS.iter().find(|(known, _)| *known == name);
    Ok(IozoneThreads {
        line: line.number,
        test: test.ok_or_else(error)?.1,
        threads_count: count.parse().map_err(|_| error())?,
        children: thread_rate(line)?,
        parent: None,
        min: None,
        max: None,
        avg: None,
        min_transfer_bytes: None,
    })
}

fn thread_rate(line: Line) -> Result<Rate, ReadError> {
    let error = || line.error(TOOL, "`=` and a rate in kB/sec");
    let (_, printed) = line.text.split_once('=').ok_or_else(error)?;
    let (number, unit) = number_and_unit(printed).ok_or_else(error)?;
    if !unit.trim_end().eq_ignore_ascii_case("kB/sec") {
        return Err(error());
    }
    Ok(Rate {
        bytes_per_s: number.value * KIB as f64,
        printed: printed.trim().to_owned(),
    })
}

fn min_transfer_bytes(line: Line) -> Result<u64, ReadError> {
    let (_, printed) = line.text.split_once('=').unwrap_or_default();
    number_and_unit(printed)
        .filter(|(_, unit)| unit.trim_end().eq_ignore_ascii_case("kB"))
        .and_then(|(number, _)| number::whole(number.value * KIB as f64))
        .ok_or_else(|| line.error(TOOL, "`=` and a size in kB"))
}
