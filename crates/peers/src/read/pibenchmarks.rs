//! The table of PiBenchmarks' `Storage.sh`, and what the script says of board and drive before it.
//!
//! Not every unit in the table is that of its figure. Until the end of 2023 the script put `MB/s`
//! behind the figures of hdparm and dd whatever those had said; since then it puts the unit of
//! hdparm's disk reads behind the cached reads too. Where a unit is open for that, it stays open. A
//! whole transcript has the lines of hdparm and dd themselves; their readers find them in it.

mod facts;

use cardmark_core::{KIB, MIB};

use super::number::{Number, digits, number_and_unit, whole};
use super::{Line, Parts, ReadError, lines, plain, sift};

pub use facts::{PibenchmarksBoard, PibenchmarksDrive};

const TOOL: &str = "PiBenchmarks";

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PibenchmarksTest {
    /// `hdparm -t`.
    DiskRead,
    /// `hdparm -T`.
    CachedDiskRead,
    /// dd.
    DiskWrite,
    /// 4 KiB random reads by fio, 64 at a time.
    FioRandomRead,
    /// 4 KiB random writes by fio, 64 at a time.
    FioRandomWrite,
    /// 4 KiB reads in order by iozone.
    Read,
    /// 4 KiB writes in order by iozone.
    Write,
    /// 4 KiB random reads by iozone.
    RandomRead,
    /// 4 KiB random writes by iozone.
    RandomWrite,
}

use PibenchmarksTest as Test;

/// First and second column of the rows.
const ROWS: [(&str, &str, Test); 9] = [
    ("HDParm", "Disk Read", Test::DiskRead),
    ("HDParm", "Cached Disk Read", Test::CachedDiskRead),
    ("DD", "Disk Write", Test::DiskWrite),
    ("FIO", "4k random read", Test::FioRandomRead),
    ("FIO", "4k random write", Test::FioRandomWrite),
    ("IOZone", "4k read", Test::Read),
    ("IOZone", "4k write", Test::Write),
    ("IOZone", "4k random read", Test::RandomRead),
    ("IOZone", "4k random write", Test::RandomWrite),
];

/// What a hundred points of the score are the sum of.
const WEIGHTS: [(Test, f64); 7] = [
    (Test::DiskWrite, 1024.0),
    (Test::FioRandomRead, 4.0),
    (Test::FioRandomWrite, 10.0),
    (Test::Read, 1.0),
    (Test::Write, 1.0),
    (Test::RandomRead, 4.0),
    (Test::RandomWrite, 10.0),
];

/// Whether the unit behind a figure is that of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PibenchmarksUnit {
    /// It is.
    Own,
    /// It is `MB/s`, which older scripts print whatever the tool said, and the table is of such a
    /// script or does not tell.
    MaybeFixed,
    /// It is that of the disk reads.
    OfDiskRead,
}

use PibenchmarksUnit as Unit;

/// A result in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct PibenchmarksResult {
    /// Number of its line, from 1.
    pub line: usize,
    /// The row.
    pub test: PibenchmarksTest,
    /// The third column as in the text.
    pub printed: String,
    /// The first number in it.
    pub number: f64,
    /// Whether the unit in it is that of the number.
    pub unit: PibenchmarksUnit,
    /// Bytes a second, where the unit is that of the number.
    pub bytes_per_s: Option<f64>,
    /// Operations a second, which fio tells.
    pub operations_per_s: Option<f64>,
}

/// One table, and what was said before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PibenchmarksReading {
    /// The results, in order; a test that failed has none.
    pub results: Vec<PibenchmarksResult>,
    /// The score; none where a part of it was missing.
    pub score: Option<u64>,
    /// The board.
    pub board: PibenchmarksBoard,
    /// The drive.
    pub drive: PibenchmarksDrive,
}

impl PibenchmarksReading {
    /// The score that the script would make of these results. It adds their numbers, whatever the
    /// units, so a table that nobody changed shows the same. None where a result is missing.
    #[must_use]
    pub fn recomputed_score(&self) -> Option<u64> {
        let mut sum = 0.0;
        for (test, weight) in WEIGHTS {
            let result = self.results.iter().find(|result| result.test == test)?;
            sum += weight * result.number;
        }
        // Its hundredths are whole: rounded there, no float tips it below the next point.
        Some(whole(sum * 100.0)? / 10_000)
    }
}

/// Reads the tables in a text, in order.
///
/// # Errors
/// When there is none, or a row is not whole.
pub fn read_pibenchmarks(text: &str) -> Result<Vec<PibenchmarksReading>, ReadError> {
    let expected = "rows such as `IOZone 4k random read 7004 KB/s`";
    super::whole(pibenchmarks_parts(text), TOOL, expected)
}

/// The tables with the rows that are whole, and rows that are not.
pub(crate) fn pibenchmarks_parts(text: &str) -> Parts<Vec<PibenchmarksReading>> {
    let text = plain(text);
    let (mut readings, mut errors) = (Vec::new(), Vec::new());
    let mut run = Run::default();
    for line in lines(&text) {
        if run.is_over(line) {
            readings.extend(std::mem::take(&mut run).end(&mut errors));
        }
        errors.extend(run.read(line).err());
    }
    readings.extend(run.end(&mut errors));
    (readings, errors)
}

/// What is known of a run so far.
#[derive(Default)]
struct Run<'a> {
    rows: Vec<Row<'a>>,
    score: Option<u64>,
    board: PibenchmarksBoard,
    drive: PibenchmarksDrive,
}

impl<'a> Run<'a> {
    /// Whether the line belongs to the next run: what stands before a table, or a row once more.
    fn is_over(&self, line: Line<'a>) -> bool {
        let is_again = |row: Row| self.rows.iter().any(|known| known.test == row.test);
        let begins = || is_heading(line.text) || facts::is_fact(line.text);
        !self.rows.is_empty() && (Row::find(line).is_some_and(is_again) || begins())
    }

    fn read(&mut self, line: Line<'a>) -> Result<(), ReadError> {
        let text = line.text.trim();
        if let Some(row) = Row::find(line) {
            self.rows.push(row);
        } else if let Some(score) = text.strip_prefix("Score:") {
            let score = score.trim();
            if !self.rows.is_empty() && !score.is_empty() {
                let points = digits(score).ok_or_else(|| line.error(TOOL, "a whole score"))?;
                self.score = Some(points);
            }
        } else {
            self.board.look_at(text);
            self.drive.look_at(text);
        }
        Ok(())
    }

    /// The table, unless none of its rows could be read.
    fn end(self, errors: &mut Vec<ReadError>) -> Option<PibenchmarksReading> {
        let prints_units = prints_units(&self.rows);
        let rows = self.rows.iter();
        let (results, wrong) = sift(rows.filter_map(|row| row.read(prints_units).transpose()));
        let is_lost = results.is_empty() && !wrong.is_empty();
        errors.extend(wrong);
        let table = PibenchmarksReading {
            results,
            score: self.score,
            board: self.board,
            drive: self.drive,
        };
        (!self.rows.is_empty() && !is_lost).then_some(table)
    }
}

fn is_heading(text: &str) -> bool {
    text.split_whitespace().eq(["Category", "Test", "Result"])
}

/// Whether the script is one that prints the units of the tools: its figures of hdparm, or what it
/// prints without them, can be read and do not end in the `MB/s` that hdparm never says.
fn prints_units(rows: &[Row]) -> bool {
    let mut of_hdparm = rows
        .iter()
        .filter(|row| matches!(row.test, Test::DiskRead | Test::CachedDiskRead))
        .peekable();
    of_hdparm.peek().is_some()
        && of_hdparm.all(|row| !row.result.ends_with("MB/s") && row.read(false).is_ok())
}

/// A row, its result as in the text.
#[derive(Clone, Copy)]
struct Row<'a> {
    line: Line<'a>,
    test: Test,
    result: &'a str,
}

impl<'a> Row<'a> {
    fn find(line: Line<'a>) -> Option<Self> {
        let text = line.text.trim_start_matches(['>', '|', ' ', '\t']);
        ROWS.iter().find_map(|(category, name, test)| {
            let rest = text.strip_prefix(*category)?;
            let rest = behind_space(rest)?.strip_prefix(*name)?;
            let result = if rest.is_empty() {
                rest
            } else {
                behind_space(rest)?.trim_end()
            };
            Some(Self {
                line,
                test: *test,
                result,
            })
        })
    }

    /// None where the test failed: then a unit stands alone or behind a word.
    fn read(&self, prints_units: bool) -> Result<Option<PibenchmarksResult>, ReadError> {
        let is_word = |c: char| c.is_alphabetic() || c == '(';
        if self.result.is_empty() || self.result.starts_with(is_word) {
            return Ok(None);
        }
        let result = match self.test {
            Test::DiskRead | Test::CachedDiskRead => self.hdparm()?,
            Test::DiskWrite => self.dd(prints_units)?,
            Test::FioRandomRead | Test::FioRandomWrite => self.fio()?,
            Test::Read | Test::Write | Test::RandomRead | Test::RandomWrite => self.iozone()?,
        };
        Ok(Some(result))
    }

    fn hdparm(&self) -> Result<PibenchmarksResult, ReadError> {
        let (number, printed) = self.number_and_unit()?;
        let (unit, unit_bytes) = match (self.test, printed) {
            (_, "MB/s") => (Unit::MaybeFixed, None),
            (Test::CachedDiskRead, "MB/sec" | "kB/sec" | "") => (Unit::OfDiskRead, None),
            (_, "MB/sec") => (Unit::Own, Some(MIB as f64)),
            (_, "kB/sec") => (Unit::Own, Some(KIB as f64)),
            _ => return Err(self.error("MB/sec, kB/sec or MB/s")),
        };
        Ok(self.result(number.value, unit, unit_bytes))
    }

    /// Nothing but dd itself says something else than `MB/s`.
    fn dd(&self, prints_units: bool) -> Result<PibenchmarksResult, ReadError> {
        let (number, printed) = self.number_and_unit()?;
        let unit_bytes = match printed.strip_suffix("B/s") {
            Some("") => 1.0,
            Some("k") => 1e3,
            Some("M") => 1e6,
            Some("G") => 1e9,
            Some("T") => 1e12,
            _ => return Err(self.error("a rate such as `10.4 MB/s`")),
        };
        if printed == "MB/s" && !prints_units {
            return Ok(self.result(number.value, Unit::MaybeFixed, None));
        }
        Ok(self.result(number.value, Unit::Own, Some(unit_bytes)))
    }

    /// `2380 IOPS (9523 KB/s)`, cut to whole ones of the same 4 KiB operations.
    fn fio(&self) -> Result<PibenchmarksResult, ReadError> {
        let figures = self.result.split_once(" IOPS (").and_then(|(iops, rest)| {
            let kib = rest.strip_suffix(" KB/s)")?;
            Some((digits(iops)?, digits(kib)?))
        });
        let (iops, kib) = figures.ok_or_else(|| self.error("`2380 IOPS (9523 KB/s)`"))?;
        if kib / 4 != iops {
            return Err(self.error("figures that agree with each other"));
        }
        let mut result = self.result(iops as f64, Unit::Own, None);
        result.bytes_per_s = Some(kib as f64 * KIB as f64);
        result.operations_per_s = Some(iops as f64);
        Ok(result)
    }

    fn iozone(&self) -> Result<PibenchmarksResult, ReadError> {
        let kib = self.result.strip_suffix(" KB/s").and_then(digits);
        let kib = kib.ok_or_else(|| self.error("a whole number and `KB/s`"))?;
        Ok(self.result(kib as f64, Unit::Own, Some(KIB as f64)))
    }

    fn number_and_unit(&self) -> Result<(Number, &'a str), ReadError> {
        number_and_unit(self.result).ok_or_else(|| self.error("a number and a unit"))
    }

    fn result(&self, number: f64, unit: Unit, unit_bytes: Option<f64>) -> PibenchmarksResult {
        PibenchmarksResult {
            line: self.line.number,
            test: self.test,
            printed: self.result.to_owned(),
            number,
            unit,
            bytes_per_s: unit_bytes.map(|bytes| number * bytes),
            operations_per_s: None,
        }
    }

    fn error(&self, expected: &'static str) -> ReadError {
        self.line.error(TOOL, expected)
    }
}

/// What stands behind white space, which must be there.
fn behind_space(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    (rest.len() < text.len()).then_some(rest)
}
