//! The four usual figures in a comment: hdparm, dd, 4 KiB random reads and writes by iozone.
//!
//! What is read, capitals or not except in units:
//!
//! ```text
//! line    = timing | copy | heading | row | { figure } [ all ]
//! timing  = a whole line of `hdparm -t`
//! copy    = a whole last line of dd
//! figure  = label { ":" | "=" | "|" | "~" | "*" | "`" | dash } [ "(" unit ")" ] number [ unit ]
//! label   = "hdparm" [ "-t" ] { "buffered" | "read" | "reads" }
//!         | ( "dd" | "ddwrite" ) { "write" | "writes" }
//!         | [ 4k ] [ random ] ( "read" | "write" ) [ 4k ]       with one of the two at least
//! 4k      = "4k" | "4kB" | "4KiB"
//! random  = "random" | "rand"
//! all     = "(" [ "in" ] unit ")" | "in" unit        iozone's figures without unit just before it
//! heading = the four labels, other words before them
//!         | [ "kB" "reclen" ] "write" "rewrite" "read" "reread" "read" "write"
//! row     = other words, then four figures, all with unit or none
//!         | six numbers, two more before them under "kB" "reclen"
//! unit    = prefix ( "B" | "Bytes" ) ( "/s" | "/sec" | "ps" ) | "IOPS"    prefix: k K M G Ki Mi
//! ```
//!
//! Tables end at an empty line. A label behind `fio`, `sequential` or another record size is of
//! another test, and the line of PiBenchmarks that has `HDParmCached` says more than hdparm did.
//! Everything else is left out; only a label with a number that cannot be understood is told, with
//! the reason. Prefixes are those of the tool: hdparm's and iozone's are binary, dd's decimal, and
//! an iozone figure in `MB/s` was divided by its author, nobody knows by what.

mod labels;
mod tokens;
mod units;

use cardmark_core::KIB;

use super::number::digits;
use super::{
    DdReading, HdparmTest, IozoneTest, Line, Rate, ReadError, lines, read_dd, read_hdparm,
};
use labels::{Label, Labelled, Printed};
use tokens::{Kind, Token, tokens};

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentFigure {
    /// `hdparm -t`.
    Hdparm,
    /// A copy by dd to the card.
    Dd,
    /// A test of iozone.
    Iozone(IozoneTest),
}

use CommentFigure as Figure;

/// What a figure means. Both are the same where its unit is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommentRate {
    /// At least, bytes a second.
    pub least_bytes_per_s: f64,
    /// At most, bytes a second.
    pub most_bytes_per_s: f64,
}

/// Why a figure is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentDoubt {
    /// It has no unit.
    NoUnit,
    /// Its unit is not one of that tool.
    UnknownUnit,
    /// Its digits may be grouped: `3,412`.
    Digits,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentReading {
    /// Number of its line, from 1.
    pub line: usize,
    /// What it is of.
    pub figure: CommentFigure,
    /// Whether the text says that the test is this one. `4k read` is taken for random reads where
    /// nothing else in the text is.
    pub is_test_told: bool,
    /// Size of a record, bytes, where that is told.
    pub record_bytes: Option<u64>,
    /// The number as in the text.
    pub number: String,
    /// The unit as in the text, if there is one.
    pub unit: Option<String>,
    /// What it means, or why that cannot be told.
    pub rate: Result<CommentRate, CommentDoubt>,
}

/// Reads the figures in a comment, in order.
///
/// # Errors
/// When there is none, not even one that is not understood.
pub fn read_comment(text: &str) -> Result<Vec<CommentReading>, ReadError> {
    let lines: Vec<Line> = lines(text).collect();
    let mut comment = Comment::default();
    for (index, line) in lines.iter().enumerate() {
        if let Some(copy) = copy(&lines, index) {
            comment.take_copy(*line, &copy.rate);
        } else {
            comment.read(*line);
        }
    }
    let readings = comment.end();
    if readings.is_empty() {
        return Err(ReadError::Missing {
            tool: "hdparm, dd or iozone",
            expected: "figures with their names, such as `hdparm 43.51 MB/s`",
        });
    }
    Ok(readings)
}

/// The copy that a line tells of. Counts of records beside it tell the last line of a copy from
/// those on the way.
fn copy(lines: &[Line], index: usize) -> Option<DdReading> {
    let text = lines.get(index)?.text;
    let counts = |at: Option<usize>| {
        let text = at.and_then(|at| lines.get(at)).map_or("", |line| line.text);
        let count = text.split_once('+').and_then(|(count, _)| digits(count));
        count.map_or("", |_| text)
    };
    let (before, behind) = (counts(index.checked_sub(1)), counts(Some(index + 1)));
    read_dd(&format!("{before}\n{text}\n{behind}")).ok()?.pop()
}

/// A table that is under way.
enum Table {
    /// The labels of its four columns.
    Four(Vec<Label>),
    /// Iozone's columns, behind so many of sizes.
    Iozone(usize),
}

/// What was found so far.
#[derive(Default)]
struct Comment {
    readings: Vec<CommentReading>,
    table: Option<Table>,
    /// Where the readings begin that a unit on the next line is of.
    open: usize,
    /// Whether copies read the card.
    copies_read: bool,
}

impl Comment {
    fn take_copy(&mut self, line: Line, rate: &Rate) {
        if !self.copies_read {
            self.readings.push(whole_line(line, Figure::Dd, rate));
        }
        self.open = self.readings.len();
    }

    fn read(&mut self, line: Line) {
        let tokens = tokens(line.text);
        if tokens.is_empty() {
            self.table = None;
            self.open = self.readings.len();
        } else if tokens.iter().any(|token| token.is("HDParmCached")) {
            self.open = self.readings.len();
        } else if let Ok(timings) = read_hdparm(line.text) {
            let of_disk = timings
                .iter()
                .filter(|timing| timing.test == HdparmTest::Disk);
            let readings = of_disk.map(|timing| whole_line(line, Figure::Hdparm, &timing.rate));
            self.readings.extend(readings);
            self.open = self.readings.len();
        } else if let Some(row) = self.row(line, &tokens) {
            self.readings.extend(row);
            self.open = self.readings.len();
        } else {
            let labelled = labels::labelled(&tokens);
            if let Some(table) = iozone_heading(&tokens).or_else(|| heading(&labelled, &tokens)) {
                self.table = Some(table);
            }
            if matches!(labelled.as_slice(), [] | [Labelled { printed: None, .. }]) {
                self.look_at_command(line, &tokens);
            }
            self.take_labelled(line, &labelled, &tokens);
        }
    }

    fn take_labelled(&mut self, line: Line, labelled: &[Labelled], tokens: &[Token]) {
        let first = self.readings.len();
        let readings = labelled.iter().filter_map(|labelled| {
            let printed = labelled.printed?;
            Some(reading(line, labelled.label, &printed))
        });
        self.readings.extend(readings);
        if let Some(unit) = labels::unit_at_end(tokens) {
            for reading in &mut self.readings[self.open..] {
                if lacks_unit(reading) {
                    reading.set_unit(unit);
                }
            }
        } else if first < self.readings.len() && self.readings[first..].iter().all(lacks_unit) {
            return;
        }
        self.open = self.readings.len();
    }

    /// Whether the copies that follow read the card or write to it: `dd … of=/dev/null`, `DD READ`.
    fn look_at_command(&mut self, line: Line, tokens: &[Token]) {
        let has = |words: &[&str]| tokens.iter().any(|token| token.is_any(words));
        let is_dd = has(&["dd"]);
        if line.text.contains("of=/dev/null") || is_dd && has(&["read", "reads", "reading"]) {
            self.copies_read = true;
        } else if line.text.contains("if=/dev/") || is_dd {
            self.copies_read = false;
        }
    }

    fn row(&self, line: Line, tokens: &[Token]) -> Option<Vec<CommentReading>> {
        match self.table.as_ref()? {
            Table::Four(labels) => {
                let figures = labels::figures_at_end(tokens, labels.len())?;
                let figures = labels.iter().zip(&figures);
                Some(
                    figures
                        .map(|(label, figure)| reading(line, *label, figure))
                        .collect(),
                )
            }
            Table::Iozone(sizes) => iozone_row(line, tokens, *sizes),
        }
    }

    fn end(mut self) -> Vec<CommentReading> {
        let is_random = |reading: &CommentReading| reading.is_test_told && reading.is_random();
        if self.readings.iter().any(is_random) {
            self.readings
                .iter_mut()
                .for_each(CommentReading::set_not_random);
        }
        self.readings
    }
}

impl CommentReading {
    fn is_random(&self) -> bool {
        let random = [IozoneTest::RandomRead, IozoneTest::RandomWrite];
        random.map(Figure::Iozone).contains(&self.figure)
    }

    /// Where others are called random, `4k read` is none of them.
    fn set_not_random(&mut self) {
        if !self.is_test_told {
            self.figure = match self.figure {
                Figure::Iozone(IozoneTest::RandomRead) => Figure::Iozone(IozoneTest::Read),
                Figure::Iozone(IozoneTest::RandomWrite) => Figure::Iozone(IozoneTest::Write),
                other => other,
            };
            self.is_test_told = true;
        }
    }

    fn set_unit(&mut self, unit: &str) {
        let printed = Printed {
            number: &self.number,
            unit: Some(unit),
            is_unit_close: false,
        };
        self.rate = units::rate(self.figure, self.record_bytes, &printed);
        self.unit = Some(unit.to_owned());
    }
}

/// Whether a reading may get its unit from the end of a line.
fn lacks_unit(reading: &CommentReading) -> bool {
    matches!(reading.figure, Figure::Iozone(_)) && reading.rate == Err(CommentDoubt::NoUnit)
}

fn reading(line: Line, label: Label, printed: &Printed) -> CommentReading {
    CommentReading {
        line: line.number,
        figure: label.figure,
        is_test_told: label.is_test_told,
        record_bytes: label.record_bytes,
        number: printed.number.to_owned(),
        unit: printed.unit.map(str::to_owned),
        rate: units::rate(label.figure, label.record_bytes, printed),
    }
}

/// The reading of a line that is the tool's own.
fn whole_line(line: Line, figure: Figure, rate: &Rate) -> CommentReading {
    let pieces = tokens(&rate.printed);
    let piece = |at: usize| pieces.get(at).map(|token| token.text.to_owned());
    CommentReading {
        line: line.number,
        figure,
        is_test_told: true,
        record_bytes: None,
        number: piece(0).unwrap_or_default(),
        unit: piece(1),
        rate: Ok(certain(rate.bytes_per_s)),
    }
}

fn certain(bytes_per_s: f64) -> CommentRate {
    CommentRate {
        least_bytes_per_s: bytes_per_s,
        most_bytes_per_s: bytes_per_s,
    }
}

/// The four labels, at the end of a line.
fn heading(labelled: &[Labelled], tokens: &[Token]) -> Option<Table> {
    let four = [
        Figure::Hdparm,
        Figure::Dd,
        Figure::Iozone(IozoneTest::RandomRead),
        Figure::Iozone(IozoneTest::RandomWrite),
    ];
    let is_whole = labelled.len() == four.len()
        && labelled.iter().all(|labelled| labelled.printed.is_none())
        && four.iter().all(|figure| {
            labelled
                .iter()
                .any(|labelled| labelled.label.figure == *figure)
        });
    let end = labelled.last()?.end;
    let ends = tokens[end..].iter().all(|token| token.text == "|");
    let labels = labelled.iter().map(|labelled| labelled.label);
    (is_whole && ends).then(|| Table::Four(labels.collect()))
}

/// Iozone's columns as `-i 0 -i 1 -i 2` fills them.
const COLUMNS: [(&str, IozoneTest); 6] = [
    ("write", IozoneTest::Write),
    ("rewrite", IozoneTest::Rewrite),
    ("read", IozoneTest::Read),
    ("reread", IozoneTest::Reread),
    ("read", IozoneTest::RandomRead),
    ("write", IozoneTest::RandomWrite),
];

fn iozone_heading(tokens: &[Token]) -> Option<Table> {
    let (sizes, tests) = match tokens {
        [unit, record, tests @ ..] if unit.is("kB") && record.is("reclen") => (2, tests),
        tests => (0, tests),
    };
    let headings = COLUMNS.iter().map(|(heading, _)| *heading);
    let is_whole = tests.iter().map(|token| token.text).eq(headings);
    is_whole.then_some(Table::Iozone(sizes))
}

/// Iozone prints whole KiB a second; others were divided, nobody knows by what.
fn iozone_row(line: Line, tokens: &[Token], sizes: usize) -> Option<Vec<CommentReading>> {
    let is_number = |token: &Token| token.kind == Kind::Number && !token.is_close;
    if tokens.len() != sizes + COLUMNS.len() || !tokens.iter().all(is_number) {
        return None;
    }
    let (sizes, figures) = tokens.split_at(sizes);
    let record_kib = sizes.last().and_then(|record| digits(record.text));
    let kib: Option<Vec<u64>> = figures.iter().map(|figure| digits(figure.text)).collect();
    let rate = |at: usize| {
        let kib = kib.as_ref().and_then(|kib| kib.get(at));
        let bytes_per_s = kib.map(|kib| *kib as f64 * KIB as f64);
        bytes_per_s.map(certain).ok_or(CommentDoubt::NoUnit)
    };
    let columns = COLUMNS.iter().zip(figures).enumerate();
    let readings = columns.map(|(at, ((_, test), figure))| CommentReading {
        line: line.number,
        figure: Figure::Iozone(*test),
        is_test_told: true,
        record_bytes: record_kib.and_then(|kib| kib.checked_mul(KIB)),
        number: figure.text.to_owned(),
        unit: None,
        rate: rate(at),
    });
    Some(readings.collect())
}
