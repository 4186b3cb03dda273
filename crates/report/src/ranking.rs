//! Places in a ranking, with bars.

use cardmark_core::OriginKind;
use cardmark_judge::Ranking;
use cardmark_stats::RankingRow;

use crate::layout::{bar, joined, painted, wrap};
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

/// The rankings as a text of lines at most `width` columns wide. Unless `all` places are wanted, only the first
/// ones and the neighbours of the requested one are shown.
#[must_use]
pub fn rankings(rankings: &[Ranking], all: bool, width: usize, style: Style) -> String {
    let block = |ranking: &Ranking| {
        let mut lines = painted(&[title(ranking)], width, style, Tone::Heading);
        lines.extend(table(ranking, all, width, style));
        lines
    };
    let mut blocks: Vec<Vec<String>> = rankings.iter().map(block).collect();
    blocks.push(painted(&legend(rankings), width, style, Tone::Dim));
    joined(&blocks)
}

fn title(ranking: &Ranking) -> String {
    let name = clean(workload_name(&ranking.metric));
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
fn numbers(place: &RankingRow, index: usize) -> String {
    place_text(place.places.unwrap_or([index + 1, index + 1]))
}

/// Legend of the places.
fn legend(rankings: &[Ranking]) -> Vec<String> {
    let is_shared = |place: &RankingRow| place.places.is_some_and(|[first, last]| first < last);
    let is_unknown = |ranking: &&Ranking| {
        ranking.places.len() > 1 && ranking.places.iter().any(|place| place.places.is_none())
    };
    let mut lines = Vec::new();
    if rankings
        .iter()
        .any(|ranking| ranking.places.iter().any(is_shared))
    {
        let shared = "2–5: repeats of one card differ by as much as the figures in these places do; more runs \
                      narrow the range.";
        lines.push(shared.to_owned());
    }
    let unknown = rankings.iter().filter(is_unknown);
    let names: Vec<&str> = unknown
        .map(|ranking| workload_name(&ranking.metric))
        .collect();
    if !names.is_empty() {
        let of = match rankings {
            [_] => "this metric".to_owned(),
            _ => clean(&names.join(", ")),
        };
        lines.push(format!(
            "No repeats of {of} were published, so neighbours may be equal."
        ));
    }
    lines
}

/// The places that are shown, by index.
fn shown(ranking: &Ranking, all: bool) -> Vec<usize> {
    let count = ranking.places.len();
    if all {
        return (0..count).collect();
    }
    let asked = ranking.places.iter().position(|place| place.is_asked);
    let near = |index: usize| asked.is_none_or(|asked| index.abs_diff(asked) <= NEIGHBOURS);
    (0..count)
        .filter(|index| *index < TOP || near(*index))
        .collect()
}

fn table(ranking: &Ranking, all: bool, width: usize, style: Style) -> Vec<String> {
    let mut rows = Vec::new();
    let mut places = Vec::new();
    let mut before = None;
    for index in shown(ranking, all) {
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
fn below(ranking: &Ranking, place: &RankingRow, width: usize, style: Style) -> Vec<String> {
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
fn row(ranking: &Ranking, index: usize) -> Row {
    let place = &ranking.places[index];
    let most = ranking.places.first().map_or(0.0, |place| place.value);
    let (mark, tone) = match place.is_asked {
        true => (MARK, Tone::Heading),
        false => ("", Tone::Plain),
    };
    let (number, name) = (numbers(place, index), clean(&place.name));
    let value = value(&ranking.metric, ranking.quantity, place.value);
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

fn remarks(ranking: &Ranking, place: &RankingRow) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(publication) = &place.publication {
        remarks.push(clean(publication));
    } else if place.origin != OriginKind::Measured {
        remarks.push(origin_word(&place.origin).to_owned());
    }
    remarks.extend(place.conditions.iter().map(|condition| clean(condition)));
    if place.cards_count > 1 {
        let value = |rate: f64| value(&ranking.metric, ranking.quantity, rate);
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
