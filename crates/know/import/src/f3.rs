//! Output of f3write, f3read and f3probe, versions 7 to 10.
//!
//! Their KB, MB and GB are binary. Sizes are rounded to two decimals and stand with the exact count
//! in brackets; both must agree. Rates stand alone before version 10.

mod probe;
mod size;

use cardmark_core::{Finding, FindingKind, Metric, Quantity, Severity};

use crate::number::plain_number_and_unit;
use crate::reading::{Found, Reading, byte_rate, printed};
use crate::text::{Damage, Line};
use probe::Probing;
use size::{Size, TOOL, after_label, count, data_lost, unit_bytes};

/// Lines of what f3read found, above its rate.
const BLOCK_LINES: usize = 6;
/// Its sectors, whatever those of the device are.
const SECTOR_BYTES: u64 = 512;

/// Beginnings of its lines.
const LINES: [&str; 21] = [
    "F3 ",
    "Free space:",
    "Creating file ",
    "Validating file ",
    "Data OK:",
    "Data LOST:",
    "Corrupted:",
    "Slightly changed:",
    "Overwritten:",
    "WARNING: Not all ",
    "Good news: ",
    "Bad news: ",
    "f3fix ",
    "*Usable* size:",
    "=> Usable size:",
    "Announced size:",
    "Module:",
    "Approximate cache size:",
    "Physical block size:",
    "Probe time:",
    "Operation: total time",
];
/// Forms of its lines.
const FORMS: [&str; 34] = [
    "Average writing speed: {}",
    "Average reading speed: {}",
    "Average sequential write speed: {} {-} ({n} sector{-} / {t})",
    "Average sequential write speed: {}",
    "Average sequential read speed: {} {-} ({n} sector{-} / {t})",
    "Average sequential read speed: {}",
    "Free space: {n}",
    "Creating file {*} Avg: {n}",
    "Creating file {*}",
    "Validating file {*} Avg: {n}",
    "Validating file {*}",
    "Min: {n} {-}, Max: {n} {-}, {n} samples",
    "Data OK: {n} {-} ({} sector",
    "Data LOST: {n} {-} ({} sector",
    "Corrupted: {n} {-} ({n} sector",
    "Slightly changed: {n} {-} ({n} sector",
    "Overwritten: {n} {-} ({n} sector",
    "*Usable* size: {n} {-} ({} block",
    "=> Usable size: {n} {-} ({} block",
    "Announced size: {n} {-} ({} block",
    "Module: {n} {-} (2^{n} Byte",
    "Approximate cache size: {n} {-} ({n} block",
    "Physical block size: {n} {-} (2^{n} Byte",
    "Probe time: {t}",
    "{-}: {n} {-} ({n} block{-} / {t})",
    "Read: {t} / {n} = {t}",
    "Write: {t} / {n} = {t}",
    "Reset: {t} / {n} = {t}",
    "WARNING: Not all {*}",
    "Good news: {*}",
    "Bad news: {*}",
    "f3fix {*}",
    "F3 {*}",
    "Operation: total time{*}",
];
/// Lines of f3probe that begin with common words.
const OPERATIONS: [&str; 3] = ["Read:", "Write:", "Reset:"];

/// Reads the runs. A damaged line ends the run it is in.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut reading = F3Read::default();
    let mut probing = Probing::default();
    // Lines of a run that has no result yet.
    let mut open = Vec::new();
    for line in lines {
        let text = line.unquoted();
        if text.is_empty() {
            continue;
        }
        let damages = found.damages.len();
        let readings = found.readings.len();
        match write(*line, text) {
            Ok(write) => found.readings.extend(write),
            Err(damage) => found.damaged(damage),
        }
        if let Err(damage) = reading.read(*line, text, found) {
            reading.close(found);
            found.damaged(damage);
            reading = F3Read::default();
        }
        let is_probe = probing.is_open() && OPERATIONS.iter().any(|it| text.starts_with(it));
        match probing.read(*line, text) {
            Ok(probe) => found.readings.extend(probe),
            Err(damage) => {
                found.damaged(damage);
                probing = Probing::default();
            }
        }
        let is_damaged = found.damages.len() > damages;
        if !is_damaged && (is_of_f3(text) || is_probe) {
            open.push(*line);
        }
        if is_damaged {
            open.clear();
        } else if found.readings.len() > readings || is_missing_rate(text) {
            found.understand_all(&mut open, &FORMS);
        }
    }
    let (damages, readings) = (found.damages.len(), found.readings.len());
    if let Err(damage) = reading.end(found) {
        found.damaged(damage);
    }
    found.add_or_damaged(probing.end());
    if found.damages.len() == damages && found.readings.len() > readings {
        found.understand_all(&mut open, &FORMS);
    }
}

fn is_of_f3(text: &str) -> bool {
    let mut ends = WRITE_ENDS.iter().chain(&READ_ENDS);
    LINES.iter().any(|start| text.starts_with(start))
        || ends.any(|end| after_label(text, end).is_some())
        || text.starts_with("Min: ") && text.ends_with(" samples")
        // Speeds of f3probe, which are of a few blocks only.
        || text.contains(" blocks / ")
}

/// Returns whether a run ends here without a rate.
fn is_missing_rate(text: &str) -> bool {
    let mut ends = WRITE_ENDS.iter().chain(&READ_ENDS);
    ends.any(|end| match after_label(text, end) {
        Some(rest) => rest.is_empty() || rest == "NO DATA",
        None => false,
    })
}

/// Last lines of a run: up to version 9, from version 10 on, and of one that was too short.
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

/// The end of a run of f3write.
fn write(line: Line, text: &str) -> Result<Option<Reading>, Damage> {
    let Some(End { metric: Some(rate) }) = end(line, text, WRITE_ENDS, "f3_write")? else {
        return Ok(None);
    };
    Ok(Some(Reading::new(TOOL, line.number, vec![rate])))
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

/// Known parts of a run of f3read.
#[derive(Default)]
struct F3Read<'a> {
    /// Sectors of the lines so far.
    amounts: Vec<u64>,
    /// The last of these lines.
    line: Option<Line<'a>>,
    /// Result of the run, until its rate is known.
    open: Option<Reading>,
    is_partial: bool,
}

impl<'a> F3Read<'a> {
    fn read(&mut self, line: Line<'a>, text: &str, found: &mut Found) -> Result<(), Damage> {
        if let Some(End { metric }) = end(line, text, READ_ENDS, "f3_read")? {
            self.is_whole()?;
            let empty = metric
                .is_some()
                .then(|| Reading::new(TOOL, line.number, Vec::new()));
            if let Some(mut read) = self.open.take().or(empty) {
                read.line = line.number.saturating_sub(BLOCK_LINES).max(1);
                if let Some(metric) = metric {
                    read.metrics.insert(0, metric);
                }
                self.open = Some(read);
            }
            self.end(found)?;
        } else if text.starts_with("WARNING: Not all ") {
            self.is_partial = self.open.is_some();
        } else if text.starts_with("F3 read ") || text.starts_with("Validating file ") {
            self.end(found)?;
        } else {
            self.amount(line, text, found)?;
        }
        Ok(())
    }

    /// A line of what was found; the last of them completes it.
    fn amount(&mut self, line: Line<'a>, text: &str, found: &mut Found) -> Result<(), Damage> {
        let mut labels = AMOUNTS.iter().enumerate();
        let labelled = labels.find_map(|(place, label)| Some((place, after_label(text, label)?)));
        let Some((place, printed)) = labelled else {
            return Ok(());
        };
        // Labels of one word occur elsewhere too.
        if place > 1 && self.amounts.is_empty() {
            return Ok(());
        }
        if place != self.amounts.len() {
            return Err(line.damage(TOOL, AMOUNTS_EXPECTED));
        }
        let expected = "a size and in brackets the same in sectors: `1.02 GB (2131424 sectors)`";
        let sectors = sectors(printed).ok_or_else(|| line.damage(TOOL, expected))?;
        self.amounts.push(sectors);
        self.line = Some(line);
        self.close(found);
        let &[ok, lost, corrupted, changed, overwritten] = self.amounts.as_slice() else {
            return Ok(());
        };
        let parts = [corrupted, changed, overwritten];
        if parts.into_iter().try_fold(0u64, u64::checked_add) != Some(lost) {
            return Err(line.damage(TOOL, "lost sectors that are the sum of the three below"));
        }
        self.amounts.clear();
        let mut read = Reading::new(
            TOOL,
            line.number,
            vec![amount("f3_ok", ok), amount("f3_lost", lost)],
        );
        if lost > 0 {
            let all = ok.saturating_add(lost);
            let detail = format!(
                "f3read found {lost} sectors of 512 bytes lost of {all} read: {corrupted} corrupted, \
                 {changed} changed, {overwritten} overwritten by others"
            );
            read.findings.push(data_lost(detail));
        }
        self.open = Some(read);
        Ok(())
    }

    fn is_whole(&self) -> Result<(), Damage> {
        match self.line {
            Some(line) if !self.amounts.is_empty() => Err(line.damage(TOOL, AMOUNTS_EXPECTED)),
            _ => Ok(()),
        }
    }

    /// Adds the run, if there is one.
    fn close(&mut self, found: &mut Found) {
        let is_partial = std::mem::take(&mut self.is_partial);
        let Some(mut read) = self.open.take() else {
            return;
        };
        if is_partial {
            let detail =
                "f3read could not read all of its files: some were missing or ended in errors";
            let finding = Finding::new(FindingKind::IoError, Severity::Warning, detail);
            read.note(finding);
        }
        found.readings.push(read);
    }

    fn end(&mut self, found: &mut Found) -> Result<(), Damage> {
        self.close(found);
        self.is_whole()
    }
}

fn amount(id: &str, sectors: u64) -> Metric {
    Metric::new(id, Quantity::Size, (sectors as f64) * SECTOR_BYTES as f64)
}

/// Parses `1.02 GB (2131424 sectors)`.
fn sectors(text: &str) -> Option<u64> {
    let printed = Size::parse(text)?;
    let sectors = count(printed.exact, "sector")?;
    let bytes = sectors.checked_mul(SECTOR_BYTES)?;
    printed.is(bytes).then_some(sectors)
}

/// The end of a run; without a metric if f3 could not measure the rate.
struct End {
    metric: Option<Metric>,
}

fn end(line: Line, text: &str, ends: [&str; 3], id: &str) -> Result<Option<End>, Damage> {
    let [old, new, missing] = ends;
    let printed = after_label(text, old).or_else(|| after_label(text, new));
    if text.eq_ignore_ascii_case(missing) || printed == Some("NO DATA") {
        return Ok(Some(End { metric: None }));
    }
    let Some(printed) = printed else {
        return Ok(None);
    };
    let expected = "a rate such as `9.42 MB/s`, behind it perhaps `(62309312 sectors / 1:47:46)`";
    let rate = rate(id, printed).ok_or_else(|| line.damage(TOOL, expected))?;
    Ok(Some(End { metric: Some(rate) }))
}

fn rate(id: &str, text: &str) -> Option<Metric> {
    let shown = text
        .split_once('(')
        .map_or(text, |(shown, _)| shown.trim_end());
    let (number, unit) = plain_number_and_unit(shown)?;
    let bytes = unit_bytes(unit.strip_suffix("/s")?)?;
    let right = match unit {
        "KB/s" => Some("KiB/s"),
        "MB/s" => Some("MiB/s"),
        "GB/s" => Some("GiB/s"),
        "TB/s" => Some("TiB/s"),
        _ => None,
    };
    Some(byte_rate(
        id,
        number.value * bytes,
        printed(TOOL, shown, right),
    ))
}
