//! Places in a ranking, with bars.

use cardmark_core::{OriginKind, Quantity};
use cardmark_stats::Place;

use crate::layout::{bar, painted, wrap};
use crate::names::{origin_word, workload_name};
use crate::style::{Style, Tone, clean};
use crate::table::{Column, Cut, Row, Table};
use crate::text::{count_of, place_text, value};

/// Marks the place that was asked for.
const MARK: &str = "▶";
/// Widest bar, columns.
const BAR_WIDTH: usize = 20;
/// Places that are shown before and after the one that was asked for, and at the top.
const NEIGHBOURS: usize = 2;
const TOP: usize = 3;

/// Narrowest column of names.
const LEAST_NAME: usize = 4;
/// Index of the column of remarks.
const REMARKS: usize = 6;
/// Indentation of lines below a place.
const INDENT: usize = 4;

/// One metric's places.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    /// The metric.
    pub metric: &'a str,
    /// Name.
    pub quantity: Quantity,
    /// The places, the highest first.
    pub places: &'a [Place],
    /// True if all are shown, not only the first and the neighbours of the requested one.
    pub all: bool,
}

/// The ranking as a text of lines at most `width` columns wide.
#[must_use]
pub fn ranking(ranking: &Ranking<'_>, width: usize, style: Style) -> String {
    let mut lines = painted(&[title(ranking)], width, style, Tone::Heading);
    lines.extend(table(ranking, width, style));
    lines.extend(painted(remark(ranking).as_slice(), width, style, Tone::Dim));
    lines.join("\n") + "\n"
}

fn title(ranking: &Ranking<'_>) -> String {
    let name = clean(workload_name(ranking.metric));
    let count = ranking.places.len();
    match ranking.places.iter().position(|place| place.is_asked) {
        Some(index) => {
            let place = numbers(&ranking.places[index], index);
            format!("{name}: place {place} of {count}")
        }
        None => format!("{name}: {}", count_of(count, "place", "places")),
    }
}

/// The place, or the range of places that it may have.
fn numbers(place: &Place, index: usize) -> String {
    place_text(place.places.unwrap_or([index + 1, index + 1]))
}

/// Legend of the places.
fn remark(ranking: &Ranking<'_>) -> Option<&'static str> {
    let is_shared = |place: &Place| place.places.is_some_and(|[first, last]| first < last);
    if ranking.places.iter().any(is_shared) {
        return Some(
            "2–5: repeats of one card differ by as much as the figures in these places do; more runs \
             narrow the range.",
        );
    }
    let is_unknown = ranking.places.iter().any(|place| place.places.is_none());
    (is_unknown && ranking.places.len() > 1)
        .then_some("No repeats of this metric were published, so neighbours may be equal.")
}

/// The places that are shown, by index.
fn shown(ranking: &Ranking<'_>) -> Vec<usize> {
    let count = ranking.places.len();
    if ranking.all {
        return (0..count).collect();
    }
    let asked = ranking.places.iter().position(|place| place.is_asked);
    let near = |index: usize| asked.is_none_or(|asked| index.abs_diff(asked) <= NEIGHBOURS);
    (0..count)
        .filter(|index| *index < TOP || near(*index))
        .collect()
}

fn table(ranking: &Ranking<'_>, width: usize, style: Style) -> Vec<String> {
    let mut rows = Vec::new();
    let mut places = Vec::new();
    let mut before = None;
    for index in shown(ranking) {
        if before.is_some_and(|before| index > before + 1) {
            rows.push(Row::new(vec![String::new(), "…".to_owned()]));
            places.push(None);
        }
        rows.push(row(ranking, index));
        places.push(Some(&ranking.places[index]));
        before = Some(index);
    }
    let table = Table {
        columns: vec![
            Column::right(""),
            Column::left("").cut(Cut::Last(LEAST_NAME)),
            Column::right(""),
            Column::left("").priority(3),
            Column::left("").priority(2),
            Column::left("").priority(1),
            Column::left("").priority(1),
        ],
        rows,
    };
    let Some(fitted) = table.fit(width) else {
        return table.stacked(width, style);
    };
    let mut lines = Vec::new();
    for (line, place) in fitted.rows(style).zip(places) {
        lines.push(line);
        if let Some(place) = place.filter(|_| !fitted.has(REMARKS)) {
            lines.extend(below(ranking, place, width, style));
        }
    }
    lines
}

/// Details that do not fit beside a place.
fn below(ranking: &Ranking<'_>, place: &Place, width: usize, style: Style) -> Vec<String> {
    let board = place.board.as_deref().map(clean);
    let parts: Vec<String> = board.into_iter().chain(remarks(ranking, place)).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let lines = wrap(&parts.join("; "), width.saturating_sub(INDENT), 2);
    let indented = lines.iter().map(|line| " ".repeat(INDENT) + line);
    indented.map(|line| style.paint(Tone::Dim, &line)).collect()
}

/// Number, name, figure, the same in its source's words, bar, board, remarks.
fn row(ranking: &Ranking<'_>, index: usize) -> Row {
    let place = &ranking.places[index];
    let most = ranking.places.first().map_or(0.0, |place| place.value);
    let (mark, tone) = match place.is_asked {
        true => (MARK, Tone::Heading),
        false => ("", Tone::Plain),
    };
    let (number, name) = (numbers(place, index), clean(&place.name));
    let value = value(ranking.metric, ranking.quantity, place.value);
    let remarks = remarks(ranking, place).join("; ");
    let stacked = vec![format!("{mark}{number} {name}: {value}"), remarks.clone()];
    Row::new(vec![
        format!("{mark}{number}"),
        name,
        value,
        place.printed.as_deref().map(printed).unwrap_or_default(),
        bar(place.value / most, BAR_WIDTH),
        place.board.as_deref().map(clean).unwrap_or_default(),
        remarks,
    ])
    .stacked(stacked)
    .tone(tone)
}

/// The figure in the words of its source: its MB may be others than ours.
fn printed(text: &str) -> String {
    format!("({})", clean(text))
}

fn remarks(ranking: &Ranking<'_>, place: &Place) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(publication) = &place.publication {
        remarks.push(clean(publication));
    } else if place.origin != OriginKind::Measured {
        remarks.push(origin_word(place.origin).to_owned());
    }
    remarks.extend(place.conditions.iter().map(|condition| clean(condition)));
    if place.cards_count > 1 {
        let value = |rate: f64| value(ranking.metric, ranking.quantity, rate);
        remarks.push(format!(
            "{} cards, {} to {}",
            place.cards_count,
            value(place.least),
            value(place.most)
        ));
    } else if place.runs_count > 1 {
        remarks.push(format!("{} runs", place.runs_count));
    }
    if !place.differs.is_empty() {
        remarks.push(format!("other {}", place.differs.join(", ")));
    }
    remarks
}
