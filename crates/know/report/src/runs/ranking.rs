//! Places in a ranking, with bars.

mod answer;

pub use answer::{answer_of_rankings, rankings_json};

use cardmark_core::OriginKind;
use cardmark_judge::{Among, Order, Ranking};
use cardmark_stats::RankingRow;

use crate::text::layout::{bar, joined, painted, wrap};
use crate::text::names::{is_printed, origin_word, plain_name, workload_name};
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Cut, Row, Table};
use crate::text::{count_of, on_boards, percent, place_text, value};

/// Marks the place that was asked for.
const MARK: &str = "▶";
/// Widths of bars, columns: the first one with room.
const BAR_WIDTHS: [usize; 3] = [20, 12, 8];
/// Index of the column of names.
const NAME: usize = 1;
/// Index of the column of bars.
const BAR: usize = 4;
/// Places that are shown before and after the one that was asked for, and at the top.
const NEIGHBOURS: usize = 2;
const TOP: usize = 3;

/// Number of places from which a position without known repeats is shown.
const LONG_RANKING: usize = 100;

/// Narrowest column of names.
const LEAST_NAME: usize = 4;
/// Index of the column of remarks.
const REMARKS: usize = 6;
/// Indentation of lines below a place.
const INDENT: usize = 4;

/// The answer and the rankings as a text of lines at most `width` columns wide. Unless `all` places are wanted, only the first
/// ones and the neighbours of the requested one are shown. Figures of the requested run that stand alone have no place.
pub fn rankings(rankings: &[Ranking], all: bool, width: usize, style: Style) -> String {
    let block = |ranking: &&Ranking| {
        let mut lines = painted(&[title(ranking)], width, style, Tone::Heading);
        lines.extend(table(ranking, all, width, style));
        lines
    };
    let (alone, ranked): (Vec<&Ranking>, Vec<&Ranking>) =
        rankings.iter().partition(|ranking| ranking.is_alone());
    let answer = answer_of_rankings(rankings).filter(|_| ranked.len() > 1);
    let answer = answer.map(|answer| answer.lines(width, style));
    let mut blocks: Vec<Vec<String>> = answer.into_iter().collect();
    blocks.extend(ranked.iter().map(block));
    blocks.push(without_others(&alone, width));
    blocks.push(painted(&legend(&ranked), width, style, Tone::Dim));
    blocks.push(painted(&on_simulated(rankings), width, style, Tone::Dim));
    joined(&blocks)
}

/// A sentence on the published cards that a run beats, in one line.
pub fn place_line(among: &Among) -> String {
    let of = count_of(among.of, "published card", "published cards");
    let (pattern, boards) = (&among.pattern, boards_of(among));
    match among.faster_than {
        0 => format!("Not clearly faster than any of {of} at {pattern}{boards} · cardmark rank"),
        count => format!("Faster than {count} of {of} at {pattern}{boards} · cardmark rank"),
    }
}

/// The boards of the published cards in brackets.
fn boards_of(among: &Among) -> String {
    let others = &among.other_boards;
    let elsewhere_count = among.of - among.here_count;
    let here = among.board.as_deref().filter(|_| among.here_count > 0);
    match (here, others.as_slice()) {
        (Some(board), _) if elsewhere_count == 0 => {
            format!(", {}", on_boards([Some(board)].into_iter()))
        }
        (Some(board), _) => {
            let here = on_boards([Some(board)].into_iter());
            format!(
                " ({} {here}, {elsewhere_count} on other boards)",
                among.here_count
            )
        }
        (None, []) => " (on unknown boards)".to_owned(),
        (None, [only]) => format!(" ({})", on_boards([Some(only.as_str())].into_iter())),
        (None, [first, second]) => format!(" (on {first} and {second})"),
        (None, [first, second, more @ ..]) => {
            let more = count_of(more.len(), "other board", "other boards");
            format!(" (on {first}, {second} and {more})")
        }
    }
}

/// A metric by which results can be ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankableMetric {
    /// The metric.
    pub id: String,
    /// Order of its places.
    pub order: Order,
    /// Number of published figures.
    pub published_count: usize,
    /// Number of figures of stored runs.
    pub own_count: usize,
}

/// The metrics as a table of lines at most `width` columns wide.
pub fn rankable_metrics(metrics: &[RankableMetric], width: usize, style: Style) -> String {
    let row = |metric: &RankableMetric| {
        let order = match metric.order {
            Order::HighestFirst => "",
            Order::LowestFirst => ", shortest first",
        };
        let words = clean(&plain_name(&metric.id)) + order;
        let counts = [metric.published_count, metric.own_count];
        let [published, own] = counts.map(|count| count.to_string());
        let id = clean(&metric.id);
        let stacked = vec![
            id.clone(),
            format!("{words}: {published} published, {own} yours"),
        ];
        Row::new(vec![id, words, published, own]).stacked(stacked)
    };
    let table = Table {
        columns: vec![
            Column::left("metric"),
            Column::left("meaning").priority(1),
            Column::right("published"),
            Column::right("yours"),
        ],
        rows: metrics.iter().map(row).collect(),
    };
    let note = "`cardmark rank --metric METRIC` ranks the results: rates and scores with the highest first, times with the shortest. Latencies of your runs can be ranked too, by their id.";
    joined(&[
        table.lines(width, style),
        painted(&[note], width, style, Tone::Dim),
    ])
}

/// Figures of the requested run that nothing can be ranked with.
fn without_others(alone: &[&Ranking], width: usize) -> Vec<String> {
    let figures: Vec<String> = alone
        .iter()
        .filter_map(|ranking| {
            let place = ranking.places.first()?;
            let value = value(&ranking.metric, ranking.quantity, place.value);
            Some(format!(
                "{} ({value})",
                clean(workload_name(&ranking.metric))
            ))
        })
        .collect();
    if figures.is_empty() {
        return Vec::new();
    }
    let text = format!("No other results to rank with: {}.", figures.join(", "));
    wrap(&text, width, 2)
}

/// A note that simulated cards are kept apart, if there are any.
fn on_simulated(rankings: &[Ranking]) -> Vec<String> {
    let mut places = rankings.iter().flat_map(|ranking| &ranking.places);
    let is_of_simulated = places.all(|place| place.origin == OriginKind::Simulated);
    let left_out = rankings.iter().map(|ranking| ranking.simulated_count).max();
    match left_out.unwrap_or(0) {
        _ if is_of_simulated => {
            vec!["Simulated runs are not ranked with real cards, only with each other.".to_owned()]
        }
        0 => Vec::new(),
        count => {
            let runs = count_of(count, "simulated run", "simulated runs");
            vec![format!(
                "Left out: {runs}; only real cards are ranked here."
            )]
        }
    }
}

fn title(ranking: &Ranking) -> String {
    let name = clean(&named(&ranking.metric));
    let name = match ranking.order {
        Order::HighestFirst => name,
        Order::LowestFirst => format!("{name}, shortest first"),
    };
    let count = ranking.places.len();
    let boards = on_boards(computers(ranking));
    let named = match ranking.places.iter().position(|place| place.is_asked) {
        Some(index) => {
            let place = numbers(ranking, index);
            format!("{name}: place {place} of {count}")
        }
        None => format!("{name}: {}", count_of(count, "place", "places")),
    };
    format!("{named} {boards}").trim_end().to_owned()
}

fn computers(ranking: &Ranking) -> impl Iterator<Item = Option<&str>> {
    ranking.places.iter().map(|place| place.computer.as_deref())
}

/// True if figures of several boards, or of unknown ones, are ranked.
fn is_across_boards(ranking: &Ranking) -> bool {
    let mut computers = computers(ranking);
    let first = computers.next().flatten();
    first.is_none() || computers.any(|computer| computer != first)
}

/// The metric in words; times and scores with their id, by which they are named.
fn named(metric: &str) -> String {
    let (words, known) = (plain_name(metric), workload_name(metric));
    match is_printed(metric) {
        true => format!("{words} ({metric})"),
        false => known.to_owned(),
    }
}

/// The range of places that it may have, such as `1–3`.
fn numbers(ranking: &Ranking, index: usize) -> String {
    place_text(possible_places(ranking, index))
}

/// The first and the last place that it may have. Without published repeats this is any place, in a long ranking its position.
fn possible_places(ranking: &Ranking, index: usize) -> [usize; 2] {
    let count = ranking.places.len();
    let unknown = match count < LONG_RANKING {
        true => [1, count],
        false => [index + 1, index + 1],
    };
    ranking.places[index].places.unwrap_or(unknown)
}

/// The first range of places that is shown.
fn shared_place(ranking: &Ranking) -> Option<String> {
    let places = shown(ranking, false).into_iter();
    let mut ranges = places.filter_map(|index| ranking.places[index].places);
    ranges.find(|[first, last]| first < last).map(place_text)
}

/// Legend of the places.
fn legend(rankings: &[&Ranking]) -> Vec<String> {
    let is_unknown = |ranking: &&&Ranking| {
        ranking.places.len() > 1 && ranking.places.iter().any(|place| place.places.is_none())
    };
    let mut lines = Vec::new();
    if let Some(range) = rankings.iter().find_map(|ranking| shared_place(ranking)) {
        let is_across = rankings.iter().any(|ranking| is_across_boards(ranking));
        let reason = match is_across {
            true => "another card of the product, or another board, differs",
            false => "another card of the product differs",
        };
        lines.push(format!(
            "{range}: {reason} like the figures in these places; more cards narrow the range. `cardmark compare` \
             shows whether these cards themselves differ."
        ));
    }
    lines.extend(methods(rankings));
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

/// A note on figures of other methods.
fn methods(rankings: &[&Ranking]) -> Option<String> {
    let mut between: Vec<f64> = rankings
        .iter()
        .filter_map(|ranking| ranking.between_methods)
        .collect();
    between.sort_by(f64::total_cmp);
    let (least, most) = (percent(*between.first()?), percent(*between.last()?));
    let range = match least == most {
        true => most,
        false => format!("{} to {most}", least.trim_end_matches(" %")),
    };
    let mut tools: Vec<&str> = Vec::new();
    for place in rankings.iter().flat_map(|ranking| &ranking.places) {
        tools.extend(place.method.filter(|method| !tools.contains(method)));
    }
    Some(format!(
        "By {}: the same pattern, measured by another method. Methods may differ by {range} on one card (our \
         judgement), which the ranges allow for. `--exact` leaves them out.",
        tools.join(", ")
    ))
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
    let mut places: Vec<Option<usize>> = Vec::new();
    for index in shown(ranking, all) {
        let is_gap = matches!(places.last(), Some(Some(before)) if index > before + 1);
        places.extend(is_gap.then_some(None));
        places.push(Some(index));
    }
    let tables = BAR_WIDTHS.map(|bar_width| columns(ranking, &places, bar_width));
    let has_bars = |table: &&Table| table.fit(width).is_some_and(|fitted| fitted.has(BAR));
    let table = tables.iter().find(has_bars).unwrap_or(&tables[0]);
    let Some(fitted) = table.fit(width) else {
        return table.stacked(width, style);
    };
    let mut lines = Vec::new();
    for (line, index) in fitted.rows(style).zip(places) {
        lines.push(line);
        if let Some(index) = index.filter(|_| !fitted.has(REMARKS)) {
            let place = &ranking.places[index];
            let whole = Some(clean(&place.name)).filter(|name| fitted.cuts(NAME, name));
            lines.extend(below(ranking, place, whole, width, style));
        }
    }
    lines
}

/// The table of these places, with an ellipsis for each gap.
fn columns(ranking: &Ranking, places: &[Option<usize>], bar_width: usize) -> Table {
    let gap = || Row::new(vec![String::new(), "…".to_owned()]);
    let row =
        |place: &Option<usize>| place.map_or_else(gap, |index| row(ranking, index, bar_width));
    Table {
        columns: vec![
            Column::right(""),
            Column::left("").cut(Cut::Last(LEAST_NAME)),
            Column::right(""),
            Column::left("").priority(3),
            Column::left("").priority(2),
            Column::left("").priority(1),
            Column::left("").priority(1),
        ],
        rows: places.iter().map(row).collect(),
    }
}

/// Details that do not fit beside a place; its name too, if that was cut.
fn below(
    ranking: &Ranking,
    place: &RankingRow,
    name: Option<String>,
    width: usize,
    style: Style,
) -> Vec<String> {
    let board = place.board.as_deref().map(clean);
    let named = name.into_iter().chain(board);
    let parts: Vec<String> = named.chain(remarks(ranking, place)).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let lines = wrap(&parts.join("; "), width.saturating_sub(INDENT), 2);
    let indented = lines.iter().map(|line| " ".repeat(INDENT) + line);
    indented.map(|line| style.paint(Tone::Dim, &line)).collect()
}

/// Number, name, figure, the same in its source's words, bar, board, remarks.
fn row(ranking: &Ranking, index: usize, bar_width: usize) -> Row {
    let place = &ranking.places[index];
    let values = ranking.places.iter().map(|place| place.value);
    let most = values.fold(0.0, f64::max);
    let (mark, tone) = match place.is_asked {
        true => (MARK, Tone::Heading),
        false => ("", Tone::Plain),
    };
    let (number, name) = (numbers(ranking, index), clean(&place.name));
    let value = value(&ranking.metric, ranking.quantity, place.value);
    let remarks = remarks(ranking, place).join("; ");
    let stacked = vec![format!("{mark}{number} {name}: {value}"), remarks.clone()];
    Row::new(vec![
        format!("{mark}{number}"),
        name,
        value,
        place.printed.as_deref().map(printed).unwrap_or_default(),
        bar(place.value / most, bar_width),
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
    remarks.extend(place.method.map(|method| format!("by {method}")));
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
