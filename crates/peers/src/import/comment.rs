//! Figures that somebody typed.

use cardmark_core::{KIB, Metric, Printed};

use super::item::{Item, byte_rate, doubtful, size};
use super::text::{fact, typed_number, typed_unit};
use super::tools::{operations, record_name, test_name};
use crate::{CommentDoubt, CommentFigure, CommentRate, CommentReading, IozoneTest, read_comment};

/// The tools whose figures people type.
const TOOLS: [&str; 3] = ["hdparm", "dd", "iozone"];
/// Tools that take a line of a comment for a damaged one of theirs.
const EAGER: [&str; 2] = ["f3", "fio"];

/// Whether typed figures may stand beside this item: there is no figure of another tool.
pub(super) fn may_be_beside(item: &Item) -> bool {
    TOOLS.contains(&item.tool) || (item.metrics.is_empty() && EAGER.contains(&item.tool))
}

/// The figures, in order.
pub(super) fn items(text: &str, lines: &[&str]) -> Vec<Item> {
    let mut readings = read_comment(text).unwrap_or_default();
    let mut items: Vec<Item> = Vec::new();
    for reading in &mut readings {
        let is_first = items.last().is_none_or(|item| item.first() != reading.line);
        let line = lines.get(reading.line.saturating_sub(1)).copied();
        if reading.rate.is_err() && !line.is_some_and(|line| is_apart(line, &reading.number)) {
            // Part of an address, perhaps: nothing is said of it.
            reading.number.clear();
        }
        let mut item = item(reading);
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

fn item(reading: &CommentReading) -> Item {
    let tool = match reading.figure {
        CommentFigure::Hdparm => "hdparm",
        CommentFigure::Dd => "dd",
        CommentFigure::Iozone(_) => "iozone",
    };
    let id = id(reading);
    let mut item = Item::new(tool, reading.line);
    item.said = Some(said(reading));
    if !reading.is_test_told {
        let detail = "taken for the random test: nothing else in the text is called random";
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

fn id(reading: &CommentReading) -> String {
    match reading.figure {
        CommentFigure::Hdparm => "hdparm_t".to_owned(),
        CommentFigure::Dd => "dd_write".to_owned(),
        CommentFigure::Iozone(test) => {
            let record = reading.record_bytes.unwrap_or(4 * KIB);
            format!("iozone_{}{}", test_name(test), record_name(record, true))
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
