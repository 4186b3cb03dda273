//! The report of H2testw, versions 1.3 and 1.4, in English and German.
//!
//! Its KByte, MByte and GByte are binary: 3.9 GByte are 8,252,480 sectors of 512 bytes. A report ends with
//! the rate of reading.

use cardmark_core::{Finding, FindingKind, MIB, Metric, Quantity, Severity};

use crate::number::{plain_number_and_unit, power};
use crate::reading::{Found, Reading, byte_rate, printed};
use crate::text::{Damage, Line};

const TOOL: &str = "H2testw";
const SECTOR_BYTES: f64 = 512.0;

/// Beginnings of further lines of a report.
const LINES: [&str; 9] = [
    "Warning: Only ",
    "Test finished without errors",
    "The media is likely to be defective",
    "You can now delete the test files",
    "Details:",
    "First error at offset:",
    "Expected: 0x",
    "Found: 0x",
    "H2testw v",
];
/// Ends of the lines that divide lost sectors by their kind, before the number of sectors.
const KINDS: [&str; 4] = [
    " overwritten ",
    " slightly changed ",
    " corrupted ",
    " aliased memory ",
];
/// Labels of the rates, and their metrics.
const RATES: [(&str, &str); 4] = [
    ("Writing speed:", "h2testw_write"),
    ("Reading speed:", "h2testw_read"),
    ("Schreibrate:", "h2testw_write"),
    ("Leserate:", "h2testw_read"),
];

/// Reads the reports. A damaged line costs its whole report.
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
            Err(damage) => found.damaged_report(damage, &mut report.is_damaged),
        }
    }
    report.end(found);
}

/// Known parts of a report.
#[derive(Default)]
struct Report<'a> {
    lines: Vec<Line<'a>>,
    metrics: Vec<Metric>,
    lost_sectors: u64,
    is_damaged: bool,
}

impl Report<'_> {
    fn has(&self, id: &str) -> bool {
        self.metrics.iter().any(|metric| metric.id == id)
    }

    /// Returns whether this line belongs to the next report. The version stands below the rates.
    fn is_over(&self, text: &str) -> bool {
        let begins = LINES[..3].iter().any(|begin| text.starts_with(begin));
        let again = RATES
            .iter()
            .any(|(label, id)| text.starts_with(label) && self.has(id));
        begins && !self.metrics.is_empty()
            || again
            || self.has("h2testw_read") && amount(text).is_some()
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
        if let Some((id, size, sectors)) = amount(text) {
            let sectors = sectors
                .strip_suffix(" sectors)")
                .and_then(|it| it.parse::<u64>().ok());
            let printed = unit_and_number(size);
            let agreeing = sectors.filter(|&sectors| {
                let bytes = sectors as f64 * SECTOR_BYTES;
                // Cut or rounded, by version.
                printed.is_some_and(|(number, unit)| number.agrees(bytes / unit, number.half_step))
            });
            let expected =
                "a size and in brackets the same in sectors: `3.9 GByte OK (8252480 sectors)`";
            let sectors = agreeing.ok_or_else(|| line.damage(TOOL, expected))?;
            if id == "h2testw_lost" {
                self.lost_sectors = sectors;
            }
            let bytes = sectors as f64 * SECTOR_BYTES;
            self.metrics.push(Metric::new(id, Quantity::Size, bytes));
            return Ok(true);
        }
        let is_kind = text.ends_with(" sectors)") && KINDS.iter().any(|kind| text.contains(kind));
        Ok(is_kind || LINES.iter().any(|begin| text.starts_with(begin)))
    }

    /// Adds the report, if it is whole.
    fn end(mut self, found: &mut Found) {
        let Some(first) = self.lines.first().filter(|_| !self.metrics.is_empty()) else {
            return;
        };
        if self.is_damaged {
            return;
        }
        let mut reading = Reading::new(TOOL, first.number, self.metrics);
        if self.lost_sectors > 0 {
            let detail = format!(
                "H2testw found {} sectors of 512 bytes lost",
                self.lost_sectors
            );
            let finding = Finding::new(FindingKind::DataLost, Severity::Warning, detail);
            reading.note(finding);
        }
        found.understand_all(&mut self.lines);
        found.add(reading);
    }
}

/// Metric, size and the rest of `3.9 GByte OK (8252480 sectors)`.
fn amount(text: &str) -> Option<(&'static str, &str, &str)> {
    let split = |word: &str| {
        text.split_once(word)
            .filter(|(size, _)| size.ends_with("Byte"))
    };
    let ok = split(" OK (").map(|(size, rest)| ("h2testw_ok", size, rest));
    ok.or_else(|| split(" DATA LOST (").map(|(size, rest)| ("h2testw_lost", size, rest)))
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
