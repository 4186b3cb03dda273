//! The disk test of YABS: fio with half reads and half writes, by block size.
//!
//! Its MB are 1,000 KiB: 904 operations of 4 KiB are printed as 3.61 MB.

use cardmark_core::KIB;

use crate::number::{Number, plain_number_and_unit, power, unit_bytes};
use crate::reading::{BYTE_RATE_BLOCK_BYTES, Found, Reading, printed, rate};
use crate::text::{Damage, Line};

const TOOL: &str = "YABS";

/// Rows, and the part of their ids.
const ROWS: [(&str, &str); 3] = [("Read", "read"), ("Write", "write"), ("Total", "total")];

/// Forms of its lines: two block sizes stand side by side.
const FORMS: [&str; 4] = [
    "fio Disk Speed Tests{*}",
    "Block Size{*}",
    "{-} | {} {-} ({n}) | {} {-} ({n})",
    "{-} | {} {-} ({n})",
];

/// Reads the tables.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut blocks: Vec<&str> = Vec::new();
    let mut frame = Vec::new();
    let mut is_open = false;
    for line in lines {
        let text = line.unquoted();
        if !text.contains('|') && !text.starts_with("fio Disk") {
            continue;
        }
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["Block Size", sizes @ ..] => {
                blocks = sizes.iter().filter_map(|cell| block(cell)).collect();
                is_open = blocks.len() == sizes.len() && !blocks.is_empty();
                frame.push(*line);
            }
            [name, figures @ ..] if is_open && ROWS.iter().any(|(row, _)| row == name) => {
                match row(*line, name, &blocks, figures) {
                    Ok(reading) => {
                        found.understand_all(&mut frame, &FORMS);
                        found.understand(*line, &FORMS);
                        found.add(reading);
                    }
                    Err(damage) => found.damaged(damage),
                }
            }
            _ if text.starts_with("fio Disk Speed Tests") => frame.push(*line),
            _ => {}
        }
    }
}

/// The block size of a heading such as `4k (IOPS)`.
fn block(cell: &str) -> Option<&str> {
    let (size, rest) = cell.split_once(char::is_whitespace)?;
    let is_size = size.ends_with(['k', 'm']) && block_bytes(size).is_some();
    (rest.trim() == "(IOPS)" && is_size).then_some(size)
}

fn block_bytes(size: &str) -> Option<f64> {
    let unit = if size.ends_with('m') { "MiB" } else { "KiB" };
    let number = Number::parse(size.trim_end_matches(['k', 'm']))?;
    Some(number.value * unit_bytes(unit)?)
}

fn row(line: Line, name: &str, blocks: &[&str], figures: &[&str]) -> Result<Reading, Damage> {
    let error = || line.damage(TOOL, "a rate and operations that agree: `3.61 MB/s (904)`");
    if figures.len() != blocks.len() {
        return Err(line.damage(TOOL, "as many figures as block sizes"));
    }
    let known = ROWS.iter().find(|(row, _)| *row == name);
    let direction = known.map_or("total", |(_, part)| part);
    let mut reading = Reading::new(TOOL, line.number, Vec::new());
    for (block, figure) in blocks.iter().zip(figures) {
        let (shown, operations) = figure.split_once('(').ok_or_else(error)?;
        let shown = shown.trim();
        let (number, unit) = plain_number_and_unit(shown).ok_or_else(error)?;
        let unit = unit.strip_suffix("/s").ok_or_else(error)?;
        let unit = power(1000.0, &["KB", "MB", "GB"], unit).ok_or_else(error)? * KIB as f64;
        let (operations, times) = operations_of(operations).ok_or_else(error)?;
        let block_bytes = block_bytes(block).ok_or_else(error)?;
        let bytes_per_s = number.value * unit;
        let shift = number.half_step * unit / block_bytes / times + CUT;
        if number.value <= 0.0 || !operations.agrees(bytes_per_s / block_bytes / times, shift) {
            return Err(error());
        }
        let is_small = block_bytes < BYTE_RATE_BLOCK_BYTES;
        let id = format!("yabs_mixed_{direction}_{block}");
        let right = match unit {
            unit if unit < 1e6 => "KiB/s",
            unit if unit < 1e9 => "× 1,000 KiB/s",
            _ => "× 1,000,000 KiB/s",
        };
        let printed = printed(TOOL, shown, Some(right));
        // The more precise of the two.
        let per_s = match operations.relative() < number.relative() {
            true => operations.value * times,
            false => bytes_per_s / block_bytes,
        };
        reading
            .metrics
            .push(rate(id, per_s, bytes_per_s, is_small, printed));
    }
    Ok(reading)
}

/// Operations are cut, of thousands to a tenth.
const CUT: f64 = 1.0;

/// Operations such as `904)` or `1.8k)`, and the thousands that they are in.
fn operations_of(text: &str) -> Option<(Number, f64)> {
    let text = text.trim().strip_suffix(')')?;
    match text.strip_suffix('k') {
        Some(thousands) => Some((Number::parse(thousands)?, 1000.0)),
        None => Some((Number::parse(text)?, 1.0)),
    }
}
