//! Figures that somebody typed.

use cardmark_core::{Metric, Printed};

use super::item::{Item, byte_rate, doubtful, size};
use super::text::{fact, typed_number, typed_unit};
use super::tools::{UNSIZED, USUAL_RECORD_BYTES, operations, record_name, test_name};
use crate::{CommentDoubt, CommentFigure, CommentRate, CommentReading, IozoneTest, read_comment};

/// The tools whose figures people type.
const TOOLS: [&str; 3] = ["hdparm", "dd", "iozone"];
/// Tools that take a line of a comment for a damaged one of theirs.
const EAGER: [&str; 2] = ["f3", "fio"];
/// Units that sizes of records have.
const SIZES: [&str; 6] = ["k", "kb", "kib", "m", "mb", "mib"];

/// Whether typed figures may stand beside this item: there is no figure of another tool.
pub(super) fn may_be_beside(item: &Item) -> bool {
    TOOLS.contains(&item.tool) || (item.metrics.is_empty() && EAGER.contains(&item.tool))
}

/// The figures, in order.
pub(super) fn items(text: &str, lines: &[&str]) -> Vec<Item> {
    let mut readings = read_comment(text).unwrap_or_default();
    let is_usual = is_of_script(&readings);
    let mut items: Vec<Item> = Vec::new();
    for reading in &mut readings {
        let is_first = items.last().is_none_or(|item| item.first() != reading.line);
        let line = lines.get(reading.line.saturating_sub(1)).copied();
        if reading.rate.is_err() && !line.is_some_and(|line| is_apart(line, &reading.number)) {
            // Part of an address, perhaps: nothing is said of it.
            reading.number.clear();
        }
        let is_usual = is_usual && !line.is_some_and(tells_other_size);
        let mut item = item(reading, is_usual);
        if let Some(name) = line
            .filter(|_| is_first)
            .and_then(|line| row_name(line, reading))
        {
            item.named = Some(name);
        }
        items.push(item);
    }
    items
}

/// Whether a number is nowhere in a line a part of something else, such as `2001:db8::1`.
fn is_apart(line: &str, number: &str) -> bool {
    let mut places = line.match_indices(number);
    places.all(|(at, _)| {
        let before = line[..at].chars().last();
        let behind = line[at + number.len()..].chars().next();
        let is_open = before.is_none_or(|c| c.is_whitespace() || "=:-–—|~*`(".contains(c));
        let is_close =
            behind.is_none_or(|c| c.is_alphanumeric() || c.is_whitespace() || ",;)|*`".contains(c));
        is_open && is_close
    })
}

/// The words before the figures in a row of a table: what was measured, or anything else. Alone,
/// such a row has no figures, as their names stand in the heading.
fn row_name(line: &str, reading: &CommentReading) -> Option<String> {
    if read_comment(line).is_ok() {
        return None;
    }
    let (name, _) = line.split_once(&reading.number)?;
    let name = fact(name)?;
    let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != ')' && c != '+');
    let has_letters = name.chars().any(char::is_alphabetic);
    has_letters.then(|| name.to_owned())
}

/// Whether the figures are those of the well-known script, whose records have 4 KiB: one of its
/// other tools is there, iozone's columns as it has them, or a record of that size and of no other.
fn is_of_script(readings: &[CommentReading]) -> bool {
    let mut sizes = readings.iter().filter_map(|reading| reading.record_bytes);
    let is_of_script = |reading: &CommentReading| match reading.figure {
        CommentFigure::Hdparm | CommentFigure::Dd => true,
        CommentFigure::Iozone(IozoneTest::Rewrite | IozoneTest::Reread) => true,
        CommentFigure::Iozone(_) => reading.record_bytes.is_some(),
    };
    sizes.all(|bytes| bytes == USUAL_RECORD_BYTES) && readings.iter().any(is_of_script)
}

/// Whether a line has a size of KiB or MiB that is not 4 KiB: `(1 MiB records)`, `bs=64k`.
fn tells_other_size(line: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || "()[]=:;,".contains(c);
    let words: Vec<&str> = line.split(is_between).filter(|it| !it.is_empty()).collect();
    (0..words.len()).any(|at| {
        let (number, unit) = words[at].split_at(words[at].len() - unit_length(words[at]));
        let unit = match unit {
            "" => words.get(at + 1).copied().unwrap_or_default(),
            unit => unit,
        };
        let is_size = SIZES.iter().any(|size| unit.eq_ignore_ascii_case(size));
        let is_usual = number == "4" && unit.starts_with(['k', 'K']);
        is_size && number.parse::<u64>().is_ok() && !is_usual
    })
}

/// Bytes of the letters that a word ends in.
fn unit_length(word: &str) -> usize {
    let letters = word.bytes().rev().take_while(u8::is_ascii_alphabetic);
    letters.count()
}

fn item(reading: &CommentReading, is_usual: bool) -> Item {
    let tool = match reading.figure {
        CommentFigure::Hdparm => "hdparm",
        CommentFigure::Dd => "dd",
        CommentFigure::Iozone(_) => "iozone",
    };
    let id = id(reading, is_usual);
    let mut item = Item::new(tool, reading.line);
    item.said = Some(said(reading));
    if !reading.is_test_told {
        let detail = "taken for the random test: nothing else in the text is called random";
        item.findings.push(doubtful(detail).on(&id));
    }
    if reading.record_bytes.is_none() && tool == "iozone" {
        let detail = match is_usual {
            true => {
                "taken for records of 4 KiB, as the usual script has them: their size is not said"
            }
            false => {
                "the size of its records is not said: write `4k` before it where that is 4 KiB"
            }
        };
        item.findings.push(doubtful(detail).on(&id));
    }
    match reading.rate {
        Ok(rate) => {
            let metric = metric(reading, &id, tool, rate);
            item.put_between(metric, rate.least_bytes_per_s, rate.most_bytes_per_s);
        }
        Err(doubt) => item.findings = vec![not_understood(reading, &id, doubt)],
    }
    item
}

/// Where the record size is neither told nor that of the usual script, the id says so.
fn id(reading: &CommentReading, is_usual: bool) -> String {
    match reading.figure {
        CommentFigure::Hdparm => "hdparm_t".to_owned(),
        CommentFigure::Dd => "dd_write".to_owned(),
        CommentFigure::Iozone(test) => {
            let usual = is_usual.then_some(USUAL_RECORD_BYTES);
            let record = reading.record_bytes.or(usual);
            let record = record.map_or(UNSIZED.to_owned(), |bytes| record_name(bytes, true));
            format!("iozone_{}{record}", test_name(test))
        }
    }
}

/// Number and unit as typed; none where that is no figure but a number of another kind.
fn text(reading: &CommentReading) -> Option<String> {
    let number = typed_number(&reading.number)?;
    Some(match reading.unit.as_deref().and_then(typed_unit) {
        Some(unit) => format!("{number} {unit}"),
        None => number.to_owned(),
    })
}

/// Label, number and unit: nothing else of the line is kept, as it may say anything.
fn said(reading: &CommentReading) -> String {
    let label = match reading.figure {
        CommentFigure::Hdparm => "hdparm".to_owned(),
        CommentFigure::Dd => "dd".to_owned(),
        CommentFigure::Iozone(test) => {
            let name = match (test, reading.is_test_told) {
                (IozoneTest::RandomRead, false) => "read",
                (IozoneTest::RandomWrite, false) => "write",
                (test, _) => test_name(test),
            };
            let record = reading.record_bytes.map(size);
            let words = [record.as_deref(), Some(name)];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            words.join(" ").replace('_', " ")
        }
    };
    match text(reading) {
        Some(figure) => format!("{label} {figure}"),
        None => label,
    }
}

fn metric(reading: &CommentReading, id: &str, tool: &str, rate: CommentRate) -> Metric {
    let middle = 0.5 * (rate.least_bytes_per_s + rate.most_bytes_per_s);
    let value = reading.number.replace(',', ".").parse().ok();
    let printed = value.zip(text(reading)).map(|(value, text)| Printed {
        tool: tool.to_owned(),
        text,
        value,
        meaning: right_unit(reading, rate).map(|right| format!("{} {right}", reading.number)),
    });
    Metric {
        operations_per_s: operations(middle, reading.record_bytes),
        ..byte_rate(id, middle, printed)
    }
}

/// The unit that is meant where it is certain and not what stands there: those of hdparm and iozone
/// are binary.
fn right_unit(reading: &CommentReading, rate: CommentRate) -> Option<&'static str> {
    let is_certain = rate.least_bytes_per_s >= rate.most_bytes_per_s;
    if reading.figure == CommentFigure::Dd || !is_certain {
        return None;
    }
    // iozone's table has no unit of its own.
    let unit = reading.unit.as_deref().unwrap_or("k");
    if unit.contains(['i', 'I']) {
        return None;
    }
    match unit.chars().next()? {
        'k' | 'K' => Some("KiB/s"),
        'M' => Some("MiB/s"),
        _ => None,
    }
}

fn not_understood(
    reading: &CommentReading,
    id: &str,
    doubt: CommentDoubt,
) -> cardmark_core::Finding {
    let why = match (doubt, reading.figure) {
        (CommentDoubt::NoUnit, _) => "it has no unit",
        (
            CommentDoubt::UnknownUnit,
            CommentFigure::Iozone(IozoneTest::RandomRead | IozoneTest::RandomWrite),
        ) => "its unit is not one that figures of iozone have",
        (CommentDoubt::UnknownUnit, _) => "its unit is not one of that tool",
        (CommentDoubt::Digits, _) => "its comma or point may part thousands or decimals",
    };
    let what = text(reading).map_or("a number".to_owned(), |text| format!("`{text}`"));
    doubtful(format!("{what} is left out: {why}")).on(id)
}
