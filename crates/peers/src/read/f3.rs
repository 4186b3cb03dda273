//! What f3write, f3read and f3probe print, versions 7 to 10.
//!
//! Their KB, MB and GB are binary. Sizes are rounded to two decimals and stand with the exact count
//! in brackets; both must agree. Rates stand alone before version 10.

mod probe;
mod span;

use super::number::{Number, plain_number_and_unit, whole};
use super::{Line, Parts, Rate, ReadError, lines};
use probe::Probing;
use span::span;

pub use probe::{F3Operation, F3Probe, F3Verdict};

const TOOL: &str = "f3";
/// Its sectors, whatever those of the device are.
const SECTOR_BYTES: u64 = 512;

/// What is in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct F3Output {
    /// Runs of f3write.
    pub writes: Vec<F3Write>,
    /// Runs of f3read.
    pub reads: Vec<F3Read>,
    /// Runs of f3probe.
    pub probes: Vec<F3Probe>,
}

/// A run of f3write that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct F3Write {
    /// Number of its last line, from 1.
    pub line: usize,
    /// Free space before it, bytes, as good as printed.
    pub free_before_bytes: Option<u64>,
    /// Free space that it left, bytes, as good as printed.
    pub free_after_bytes: Option<u64>,
    /// The rate, as printed; none where f3 could not tell it.
    pub average_rate: Option<Rate>,
}

/// A run of f3read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct F3Read {
    /// Number of the line with its rate, or of the last of what it found, from 1.
    pub line: usize,
    /// What it found; none where a text has its rate alone.
    pub sectors: Option<F3Sectors>,
    /// Whether the text says that files were missing or could not be read to their end. What was
    /// not read is not counted as lost.
    pub is_partial: bool,
    /// The rate, as printed; none where f3 could not tell it or the text is cut before it.
    pub average_rate: Option<Rate>,
}

/// What f3read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F3Sectors {
    /// As f3write had written them.
    pub ok: F3Amount,
    /// The sum of the following.
    pub lost: F3Amount,
    /// Not what f3write wrote.
    pub corrupted: F3Amount,
    /// In their place, with few bits changed.
    pub changed: F3Amount,
    /// Whole, but written for another place.
    pub overwritten: F3Amount,
}

/// A number of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F3Amount {
    /// Sectors of 512 bytes.
    pub sectors_count: u64,
    /// The same in bytes.
    pub bytes: u64,
}

/// Reads the runs in a text, in order. One of f3write that has not come to its end says nothing of
/// the card and is passed over.
///
/// # Errors
/// When there is none, or one is not whole or contradicts itself.
pub fn read_f3(text: &str) -> Result<F3Output, ReadError> {
    let expected = "`Average writing speed: …`, `Data OK: …` or `… news: The device …`";
    super::whole(f3_parts(text), TOOL, expected)
}

/// The runs that are whole, and lines that are not. What had been said of the run of such a line is
/// forgotten.
pub(crate) fn f3_parts(text: &str) -> Parts<F3Output> {
    let mut output = F3Output::default();
    let mut errors = Vec::new();
    let mut writing = Writing::default();
    let mut reading = Reading::default();
    let mut probing = Probing::default();
    for line in lines(text) {
        let said = line
            .text
            .trim_start_matches(['>', '|', ' ', '\t'])
            .trim_end();
        if said.is_empty() {
            continue;
        }
        match writing.read(line, said) {
            Ok(write) => output.writes.extend(write),
            Err(error) => {
                errors.push(error);
                writing = Writing::default();
            }
        }
        if let Err(error) = reading.read(line, said, &mut output.reads) {
            errors.push(error);
            reading = Reading::default();
        }
        match probing.read(line, said) {
            Ok(probe) => output.probes.extend(probe),
            Err(error) => {
                errors.push(error);
                probing = Probing::default();
            }
        }
    }
    errors.extend(reading.end().err());
    match probing.end() {
        Ok(probe) => output.probes.extend(probe),
        Err(error) => errors.push(error),
    }
    (output, errors)
}

/// The last lines of a run: of versions to 9, of version 10, and where it was too short.
const WRITE_ENDS: [&str; 3] = [
    "Average writing speed:",
    "Average sequential write speed:",
    "Writing speed not available",
];
const READ_ENDS: [&str; 3] = [
    "Average reading speed:",
    "Average sequential read speed:",
    "Reading speed not available",
];

/// What is known of a run of f3write.
#[derive(Default)]
struct Writing {
    before: Option<u64>,
    after: Option<u64>,
    has_files: bool,
    /// Whether nothing has been said since free space.
    free_is_last: bool,
}

impl Writing {
    fn read(&mut self, line: Line, text: &str) -> Result<Option<F3Write>, ReadError> {
        if let Some(average) = average(line, text, WRITE_ENDS)? {
            return Ok(Some(std::mem::take(self).end(line, average.rate)));
        }
        if let Some(size) = after_label(text, "Free space:") {
            let bytes = free_bytes(size);
            self.free(bytes.ok_or_else(|| line.error(TOOL, "a size such as `28.83 GB`"))?);
            return Ok(None);
        }
        if text.starts_with("F3 write ") {
            *self = Self::default();
        } else if text.starts_with("Creating file ") {
            // Files below the second free space are those of another run.
            if self.after.is_some() {
                *self = Self {
                    before: self.after,
                    ..Self::default()
                };
            }
            self.has_files = true;
        }
        self.free_is_last = false;
        Ok(None)
    }

    /// Free space is printed before and after the files.
    fn free(&mut self, bytes: u64) {
        if self.has_files || self.before.is_some() {
            self.after = Some(bytes);
        } else {
            self.before = Some(bytes);
        }
        self.free_is_last = true;
    }

    fn end(self, line: Line, average_rate: Option<Rate>) -> F3Write {
        // Of a text whose beginning is missing: what stands right above the end was left.
        let is_cut = self.free_is_last && self.after.is_none();
        let (free_before_bytes, free_after_bytes) = if is_cut {
            (None, self.before)
        } else {
            (self.before, self.after)
        };
        F3Write {
            line: line.number,
            free_before_bytes,
            free_after_bytes,
            average_rate,
        }
    }
}

/// The lines of what f3read found, in their order.
const AMOUNTS: [&str; 5] = [
    "Data OK:",
    "Data LOST:",
    "Corrupted:",
    "Slightly changed:",
    "Overwritten:",
];
const AMOUNTS_EXPECTED: &str = "the five lines from `Data OK:` to `Overwritten:`, in their order";

/// What is known of a run of f3read.
#[derive(Default)]
struct Reading<'a> {
    amounts: Vec<F3Amount>,
    /// The last of their lines.
    line: Option<Line<'a>>,
    /// Whether the last run may still tell its rate.
    is_open: bool,
}

impl<'a> Reading<'a> {
    fn read(
        &mut self,
        line: Line<'a>,
        text: &str,
        reads: &mut Vec<F3Read>,
    ) -> Result<(), ReadError> {
        if let Some(Average { rate }) = average(line, text, READ_ENDS)? {
            self.end()?;
            if !self.is_open && rate.is_some() {
                reads.push(F3Read::default());
                self.is_open = true;
            }
            if let Some(read) = reads.last_mut().filter(|_| self.is_open) {
                read.line = line.number;
                read.average_rate = rate;
            }
            self.is_open = false;
        } else if text.starts_with("WARNING: Not all ") {
            if let Some(read) = reads.last_mut().filter(|_| self.is_open) {
                read.is_partial = true;
            }
        } else if text.starts_with("F3 read ") || text.starts_with("Validating file ") {
            self.end()?;
            self.is_open = false;
        } else {
            reads.extend(self.amount(line, text)?);
        }
        Ok(())
    }

    /// A line of what was found; the last of them ends it.
    fn amount(&mut self, line: Line<'a>, text: &str) -> Result<Option<F3Read>, ReadError> {
        let mut labels = AMOUNTS.iter().enumerate();
        let found = labels.find_map(|(place, label)| Some((place, after_label(text, label)?)));
        let Some((place, printed)) = found else {
            return Ok(None);
        };
        // Labels of one word are other people's too.
        if place > 1 && self.amounts.is_empty() {
            return Ok(None);
        }
        if place != self.amounts.len() {
            return Err(line.error(TOOL, AMOUNTS_EXPECTED));
        }
        let expected = "a size and in brackets the same in sectors: `1.02 GB (2131424 sectors)`";
        self.amounts
            .push(F3Amount::parse(printed).ok_or_else(|| line.error(TOOL, expected))?);
        self.line = Some(line);
        self.is_open = false;
        let &[ok, lost, corrupted, changed, overwritten] = self.amounts.as_slice() else {
            return Ok(None);
        };
        let parts = [corrupted, changed, overwritten].map(|part| part.sectors_count);
        let sum = parts.into_iter().try_fold(0u64, u64::checked_add);
        if sum != Some(lost.sectors_count) {
            return Err(line.error(TOOL, "lost sectors that are the sum of the three below"));
        }
        self.amounts.clear();
        self.is_open = true;
        let sectors = F3Sectors {
            ok,
            lost,
            corrupted,
            changed,
            overwritten,
        };
        Ok(Some(F3Read {
            line: line.number,
            sectors: Some(sectors),
            ..F3Read::default()
        }))
    }

    fn end(&self) -> Result<(), ReadError> {
        match self.line {
            Some(line) if !self.amounts.is_empty() => Err(line.error(TOOL, AMOUNTS_EXPECTED)),
            _ => Ok(()),
        }
    }
}

impl F3Amount {
    fn parse(text: &str) -> Option<Self> {
        let printed = Printed::parse(text)?;
        let sectors_count = count(printed.exact, "sector")?;
        let bytes = sectors_count.checked_mul(SECTOR_BYTES)?;
        printed.is(bytes).then_some(Self {
            sectors_count,
            bytes,
        })
    }
}

/// The end of a run.
struct Average {
    rate: Option<Rate>,
}

fn average(line: Line, text: &str, ends: [&str; 3]) -> Result<Option<Average>, ReadError> {
    let [old, new, missing] = ends;
    let printed = after_label(text, old).or_else(|| after_label(text, new));
    if text.eq_ignore_ascii_case(missing) || printed == Some("NO DATA") {
        return Ok(Some(Average { rate: None }));
    }
    let Some(printed) = printed else {
        return Ok(None);
    };
    let expected = "a rate such as `9.42 MB/s`, behind it perhaps `(62309312 sectors / 1:47:46)`";
    let rate = rate(printed).ok_or_else(|| line.error(TOOL, expected))?;
    Ok(Some(Average { rate: Some(rate) }))
}

/// A rate; what it was computed from, if that is there, must agree.
fn rate(text: &str) -> Option<Rate> {
    let (printed, measured) = match text.split_once('(') {
        Some((printed, measured)) => (printed.trim_end(), Some(measured)),
        None => (text, None),
    };
    let (number, unit) = plain_number_and_unit(printed)?;
    let unit = unit_bytes(unit.strip_suffix("/s")?)?;
    if let Some(measured) = measured {
        let (sectors, time) = measured.strip_suffix(')')?.split_once(" / ")?;
        let bytes = count(sectors, "sector")?.checked_mul(SECTOR_BYTES)?;
        let (most, least) = span(time)?.rates(bytes);
        is_between(number, least / unit, most / unit).then_some(())?;
    }
    Some(Rate {
        bytes_per_s: number.value * unit,
        printed: printed.to_owned(),
    })
}

/// Whether what was printed as this number may lie between the two.
fn is_between(number: Number, least: f64, most: f64) -> bool {
    number.agrees(number.value.clamp(least.min(most), most), 0.0)
}

fn free_bytes(text: &str) -> Option<u64> {
    let (number, unit) = plain_number_and_unit(text)?;
    whole(number.value * unit_bytes(unit)?)
}

/// `1.02 GB (2131424 sectors)`: a rounded size and the exact one.
#[derive(Clone, Copy)]
struct Printed<'a> {
    number: Number,
    unit: f64,
    /// What stands in the brackets.
    exact: &'a str,
}

impl<'a> Printed<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (size, rest) = text.split_once('(')?;
        let (exact, _) = rest.split_once(')')?;
        let (number, unit) = plain_number_and_unit(size)?;
        Some(Self {
            number,
            unit: unit_bytes(unit)?,
            exact,
        })
    }

    /// Whether this many bytes would be printed so.
    fn is(&self, bytes: u64) -> bool {
        self.number.agrees(bytes as f64 / self.unit, 0.0)
    }
}

/// `2131424 sectors`, and from version 10 `1 sector`.
fn count(text: &str, noun: &str) -> Option<u64> {
    let text = text.strip_suffix('s').unwrap_or(text);
    text.strip_suffix(noun)?.trim_end().parse().ok()
}

/// What stands behind a label, whose capitals are not the same in all versions.
fn after_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let is_labelled = text.get(..label.len())?.eq_ignore_ascii_case(label);
    is_labelled.then(|| text[label.len()..].trim())
}

fn unit_bytes(unit: &str) -> Option<f64> {
    let power = match unit {
        "Byte" | "Bytes" => 0,
        "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        "PB" => 5,
        "EB" => 6,
        _ => return None,
    };
    Some(1024f64.powi(power))
}
