//! The report of H2testw, versions 1.3 and 1.4, in English and German.
//!
//! Its KByte, MByte and GByte are binary: 3.9 GByte are 8,252,480 sectors of 512 bytes. A report ends with
//! the rate of reading.

use cardmark_core::{Finding, FindingKind, MIB, Metric, Quantity, Severity};

use crate::number::{plain_number_and_unit, power};
use crate::reading::{Found, Reading, byte_rate, printed};
use crate::text::{Damage, Line, Words};

const TOOL: &str = "H2testw";
const SECTOR_BYTES: f64 = 512.0;

/// Forms of the lines of a report.
const FORMS: [&str; 13] = [
    "Writing speed: {}",
    "Reading speed: {}",
    "Schreibrate: {}",
    "Leserate: {}",
    "{n} {-}Byte OK ({} ",
    "{n} {-}Byte DATA LOST ({} ",
    "{n} {-}Byte Daten verloren ({} ",
    "{n} {-}Byte Datenverlust ({} ",
    "{n} {-}Byte verloren ({} ",
    // Lost sectors by their kind.
    "{n} {-}Byte {-} ({n} se",
    "First error at offset: {t}",
    "Erster Fehler bei Offset: {t}",
    "{*}",
];
/// Beginnings of further lines of a report.
const LINES: [&str; 17] = [
    "Warning: Only ",
    "Test finished without errors",
    "The media is likely to be defective",
    "You can now delete the test files",
    "Details:",
    "First error at offset:",
    "Expected: 0x",
    "Found: 0x",
    "H2testw v",
    "H2testw version",
    "Achtung: Nur ",
    "Fertig, kein Fehler aufgetreten",
    "Der Datenträger ist wahrscheinlich defekt",
    "Erster Fehler bei Offset:",
    "Soll: 0x",
    "Ist: 0x",
    "Gefunden: 0x",
];
/// Beginnings of the first line of a report.
const FIRST: [&str; 6] = [
    "Warning: Only ",
    "Test finished without errors",
    "The media is likely to be defective",
    "Achtung: Nur ",
    "Fertig, kein Fehler aufgetreten",
    "Der Datenträger ist wahrscheinlich defekt",
];
/// Words behind a number of sectors.
const SECTORS: [&str; 4] = ["sectors)", "sector)", "Sektoren)", "Sektor)"];
/// Words of a report of a card that lost data.
static DEFECTIVE: Words = Words::new(&["likely to be defective", "wahrscheinlich defekt"]);
/// Labels of the rates, and their metrics.
const RATES: [(&str, &str); 4] = [
    ("Writing speed:", "h2testw_write"),
    ("Reading speed:", "h2testw_read"),
    ("Schreibrate:", "h2testw_write"),
    ("Leserate:", "h2testw_read"),
];

/// Reads the reports. A damaged line costs its own figure.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut report = Report::default();
    for line in lines {
        let text = line.unquoted();
        if report.is_over(text) {
            std::mem::take(&mut report).end(found);
        }
        match report.read(*line, text) {
            Ok(true) => report.lines.push(*line),
            Ok(false) => {}
            Err(damage) => found.damaged(damage),
        }
    }
    report.end(found);
}

/// Known parts of a report.
#[derive(Default)]
struct Report<'a> {
    lines: Vec<Line<'a>>,
    metrics: Vec<Metric>,
    lost_sectors: Option<u64>,
    /// True if a line names lost data, even if its number could not be read.
    is_lossy: bool,
}

impl Report<'_> {
    fn has(&self, id: &str) -> bool {
        self.metrics.iter().any(|metric| metric.id == id)
    }

    /// Returns whether this line belongs to the next report. The version stands below the rates.
    fn is_over(&self, text: &str) -> bool {
        let begins = FIRST.iter().any(|begin| text.starts_with(begin));
        let again = RATES
            .iter()
            .any(|(label, id)| text.starts_with(label) && self.has(id));
        begins && !self.metrics.is_empty()
            || again
            || self.has("h2testw_read") && Amount::parse(text).is_some()
    }

    /// Reads a line; returns whether it is one of a report.
    fn read(&mut self, line: Line, text: &str) -> Result<bool, Damage> {
        for (label, id) in RATES {
            let rate = text.strip_prefix(label).map(str::trim);
            if let Some(rate) = rate.filter(|rate| rate.contains("Byte/s")) {
                self.metrics.push(metric(line, id, rate)?);
                return Ok(true);
            }
        }
        self.is_lossy |= DEFECTIVE.any(text);
        let Some(amount) = Amount::parse(text) else {
            let is_further = LINES.iter().any(|begin| text.starts_with(begin));
            return Ok(is_further || is_kind(text));
        };
        self.is_lossy |= amount.id == "h2testw_lost";
        let expected =
            "a size and in brackets the same in sectors: `3.9 GByte OK (8252480 sectors)`";
        let sectors = amount
            .sectors()
            .ok_or_else(|| line.damage(TOOL, expected))?;
        if amount.id == "h2testw_lost" {
            self.lost_sectors = Some(sectors);
        }
        let bytes = sectors as f64 * SECTOR_BYTES;
        self.metrics
            .push(Metric::new(amount.id, Quantity::Size, bytes));
        Ok(true)
    }

    /// Adds the report. A line that could not be read costs its own figure only.
    fn end(mut self, found: &mut Found) {
        let Some(first) = self.lines.first().filter(|_| !self.metrics.is_empty()) else {
            return;
        };
        let mut reading = Reading::new(TOOL, first.number, self.metrics);
        let detail = match self.lost_sectors {
            Some(0) => None,
            Some(1) => Some("H2testw found 1 sector of 512 bytes lost".to_owned()),
            Some(count) => Some(format!("H2testw found {count} sectors of 512 bytes lost")),
            None if self.is_lossy => Some("H2testw found data lost".to_owned()),
            None => None,
        };
        if let Some(detail) = detail {
            let finding = Finding::new(FindingKind::DataLost, Severity::Warning, detail);
            reading.note(finding);
        }
        found.understand_all(&mut self.lines, &FORMS);
        found.add(reading);
    }
}

/// A line such as `3.9 GByte OK (8252480 sectors)`.
struct Amount<'a> {
    id: &'static str,
    size: &'a str,
    /// The text in brackets.
    sectors: &'a str,
}

impl<'a> Amount<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        text.contains('(').then_some(())?;
        let (head, sectors) = text.rsplit_once(" (")?;
        let at = head.find("Byte")? + "Byte".len();
        let (size, words) = head.split_at(at);
        let words = words.trim().to_lowercase();
        let id = match words.as_str() {
            "ok" => "h2testw_ok",
            "data lost" | "daten verloren" | "datenverlust" | "verloren" => "h2testw_lost",
            _ => return None,
        };
        Some(Self { id, size, sectors })
    }

    /// The number of sectors, if the size agrees.
    fn sectors(&self) -> Option<u64> {
        let (count, rest) = self.sectors.split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        let bytes = count as f64 * SECTOR_BYTES;
        let (number, unit) = unit_and_number(self.size)?;
        // Cut or rounded, by version.
        let is_equal = number.agrees(bytes / unit, number.half_step);
        (SECTORS.contains(&rest) && is_equal).then_some(count)
    }
}

/// Returns whether a line divides lost sectors by their kind: `2 MByte overwritten (4096 sectors)`.
fn is_kind(text: &str) -> bool {
    let is_end = SECTORS.iter().any(|end| text.ends_with(end));
    is_end && text.contains("Byte ") && text.contains('(')
}

fn unit_and_number(text: &str) -> Option<(crate::number::Number, f64)> {
    let (number, unit) = plain_number_and_unit(text)?;
    Some((
        number,
        power(1024.0, &["Byte", "KByte", "MByte", "GByte", "TByte"], unit)?,
    ))
}

/// A rate such as `10.2 MByte/s`.
fn metric(line: Line, id: &str, text: &str) -> Result<Metric, Damage> {
    let parsed = text.strip_suffix("/s").and_then(unit_and_number);
    let parsed = parsed.filter(|(number, _)| number.value > 0.0);
    let (number, unit) =
        parsed.ok_or_else(|| line.damage(TOOL, "a rate such as `10.2 MByte/s`"))?;
    let right = if unit < MIB as f64 { "KiB/s" } else { "MiB/s" };
    Ok(byte_rate(
        id,
        number.value * unit,
        printed(TOOL, text, Some(right)),
    ))
}
