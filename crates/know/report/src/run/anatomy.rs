//! Inside of a card, as text.

use cardmark_core::{Anatomy, Record, UnitSource, UnitStep};

use crate::text::layout::{bar, painted, wrap};
use crate::text::style::{Style, Tone};
use crate::text::table::{Column, Row, Table};
use crate::text::{count_of, figure, latency, percent, size};

/// Widest bar, columns.
const BAR_COLUMNS: usize = 20;

/// Sentences, and both pictures.
pub(crate) fn blocks(record: &Record, width: usize, style: Style) -> Vec<Vec<String>> {
    let Some(found) = &record.anatomy else {
        return Vec::new();
    };
    let lines = sentences(found)
        .flat_map(|text| wrap(&text, width, 2))
        .collect();
    vec![
        lines,
        boundary_picture(found, width, style),
        turns_picture(found, width, style),
    ]
}

/// Findings in sentences.
pub(crate) fn sentences(found: &Anatomy) -> impl Iterator<Item = String> {
    [Some(boundary(found)), open(found)].into_iter().flatten()
}

fn boundary(found: &Anatomy) -> String {
    let (Some(bytes), Some(more_ns)) = (found.boundary_bytes, found.boundary_more_ns) else {
        let sizes = || found.boundaries.iter().map(|time| time.size_bytes);
        let (Some(least), Some(most)) = (sizes().min(), sizes().max()) else {
            return "too small to look for boundaries.".to_owned();
        };
        return format!(
            "no boundaries: reads across multiples of {} to {} take no longer than others.",
            size(least),
            size(most)
        );
    };
    let share = percent(more_ns as f64 / found.read_ns.max(1) as f64);
    format!(
        "erase blocks look {} large: reads across a boundary take {} ({share}) longer.",
        size(bytes),
        latency(more_ns as f64)
    )
}

fn open(found: &Anatomy) -> Option<String> {
    let open = found.open_units?;
    let source: &str = match &found.unit_source {
        UnitSource::Asked => "as asked",
        UnitSource::Measured => "as found",
        UnitSource::Registers => "according to its registers",
        UnitSource::Assumed => "assumed",
        UnitSource::Other(word) => word,
    };
    let unit = format!("units of {} ({source})", size(found.unit_bytes));
    let least = open.min_count;
    let Some(most) = open.max_count else {
        return Some(format!("at least {least} {unit} can be written in turn."));
    };
    let step = UnitStep::of(open, &found.turns)?;
    let units_count = found
        .turns
        .iter()
        .map(|time| time.units_count)
        .find(|&count| count > most)?;
    let count = match least == most {
        true => least.to_string(),
        false => format!("{least} to {most}"),
    };
    let end = match step.is_cliff() {
        true => "more cannot be kept open",
        false => "a soft step, no cliff",
    };
    Some(format!(
        "{count} {unit} can be written in turn: with {units_count} a write of {} takes {} instead of {}, {} times \
         as long: {end}.",
        size(found.write_bytes),
        latency(step.after_ns as f64),
        latency(step.before_ns as f64),
        figure(step.factor())
    ))
}

fn boundary_picture(found: &Anatomy, width: usize, style: Style) -> Vec<String> {
    // Of chance alone no picture is made.
    if found.boundary_bytes.is_none() {
        return Vec::new();
    }
    let more_ns = |more_ns: i64| more_ns.max(0) as f64;
    let rows = found.boundaries.iter().map(|time| {
        let shown = format!("{} µs", figure(time.more_ns as f64 / 1e3));
        (size(time.size_bytes), shown, more_ns(time.more_ns))
    });
    picture(
        "reads across multiples of a size take longer by",
        rows.collect(),
        width,
        style,
    )
}

fn turns_picture(found: &Anatomy, width: usize, style: Style) -> Vec<String> {
    let rows = found.turns.iter().map(|time| {
        let name = count_of(time.units_count, "unit", "units");
        let span_ns = time.write_ns as f64;
        (name, latency(span_ns), span_ns)
    });
    let title = format!(
        "a write of {} in turn with others takes",
        size(found.write_bytes)
    );
    picture(&title, rows.collect(), width, style)
}

/// Names, figures and bars below a title; nothing of nothing.
fn picture(
    title: &str,
    rows: Vec<(String, String, f64)>,
    width: usize,
    style: Style,
) -> Vec<String> {
    let most = rows.iter().map(|row| row.2).fold(0.0, f64::max);
    if rows.is_empty() {
        return Vec::new();
    }
    let row = |(name, value, length): (String, String, f64)| {
        let share = if most > 0.0 { length / most } else { 0.0 };
        let stacked = format!("{name}: {value}");
        Row::new(vec![name, value, bar(share, BAR_COLUMNS)]).stacked(vec![stacked])
    };
    let table = Table {
        columns: vec![
            Column::right(""),
            Column::right(""),
            Column::left("").priority(1),
        ],
        rows: rows.into_iter().map(row).collect(),
    };
    let title = painted(&[title], width, style, Tone::Dim);
    [title, table.lines(width, style)].concat()
}
