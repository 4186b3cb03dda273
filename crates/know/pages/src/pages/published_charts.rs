//! Charts of cards by published figures, measured by one method on one board.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cardmark_catalog::{Equivalents, board as facts_of, publications};
use cardmark_judge::{PublishedPlace, PublishedRanking, published_rankings};
use cardmark_report::chart::{Bar, Bars, Chart, Dot, Group, Heading, Mark, Strip};
use cardmark_report::text::{figure, in_unit, on_boards, place_text, unit};
use cardmark_report::{capitalised, class_marks};

use crate::views::published::figures_count;

/// Patterns by which cards are shown, those that decide most first.
const PATTERNS: [&str; 8] = [
    "random_write",
    "random_write_q32",
    "random_write_q64",
    "random_read",
    "random_read_q32",
    "random_read_q64",
    "sequential_write",
    "sequential_read",
];
/// Fewest products of a chart.
const LEAST: usize = 3;
/// Bars of a chart.
const MOST_BARS: usize = 20;
/// Bars of the chart of well-known cards.
const WELL_KNOWN: usize = 8;

fn rank(ranking: &PublishedRanking) -> usize {
    let mut patterns = PATTERNS.iter();
    let found = patterns.position(|pattern| *pattern == ranking.pattern.id);
    found.unwrap_or(PATTERNS.len())
}

/// The rankings with enough products, those in the rates that decide most first, then those of most products.
fn rankings() -> Vec<&'static PublishedRanking> {
    let all = published_rankings().iter();
    let mut all: Vec<&PublishedRanking> = all.filter(|one| one.places.len() >= LEAST).collect();
    all.sort_by_key(|one| (rank(one), Reverse(one.places.len())));
    all
}

/// Operations in plain words: `random writes, 32 at once`.
fn operations(pattern: &Equivalents) -> String {
    let (kind, depth) = match pattern.id.rsplit_once("_q") {
        Some((kind, depth)) => (kind, format!(", {depth} at once")),
        None => (pattern.id.as_str(), String::new()),
    };
    format!("{}s{depth}", kind.replace('_', " "))
}

/// Id of a metric of the pattern, for its unit.
fn metric_of(pattern: &Equivalents) -> &str {
    pattern
        .methods
        .first()
        .map_or("", |one| one.metric.as_str())
}

fn shown(pattern: &Equivalents, value: f64) -> f64 {
    in_unit(pattern.quantity, value)
}

/// A rate of a ranking with its unit.
fn rate(pattern: &Equivalents, value: f64) -> String {
    let unit = unit(metric_of(pattern), pattern.quantity);
    format!("{} {unit}", figure(shown(pattern, value)))
}

fn axis(pattern: &Equivalents) -> String {
    let unit = unit(metric_of(pattern), pattern.quantity);
    format!("{}, {unit}; higher is better", pattern.name)
}

fn marks(pattern: &Equivalents) -> Vec<Mark> {
    class_marks(metric_of(pattern), pattern.quantity)
}

fn on(board: &str) -> String {
    on_boards([Some(board)].into_iter())
}

fn heading(ranking: &PublishedRanking, title: String) -> Heading {
    let authors: BTreeSet<&str> = publications()
        .iter()
        .filter(|one| ranking.publications.contains(&one.id))
        .map(|one| one.author.as_str())
        .collect();
    let authors: Vec<&str> = authors.into_iter().collect();
    let (operations, on) = (operations(ranking.pattern), on(&ranking.board));
    let count = ranking.places.len();
    Heading {
        name: format!("{}-published", ranking.pattern.id.replace('_', "-")),
        subtitle: format!("{count} cards, {operations} {on}, by {}", ranking.method),
        footer: format!("Published by {}", authors.join("; ")),
        about: match (ranking.places.first(), ranking.places.last()) {
            (Some(first), Some(last)) => format!(
                "{count} cards, from {} with {} to {} with {}",
                first.product.name(),
                rate(ranking.pattern, first.value),
                last.product.name(),
                rate(ranking.pattern, last.value)
            ),
            _ => String::new(),
        },
        title,
    }
}

/// All cards of a ranking as dots, of which those with these ids are named.
fn strip(ranking: &PublishedRanking, named: &[&str], title: String) -> Chart {
    let dot = |one: &PublishedPlace| Dot {
        name: one.product.name(),
        value: shown(ranking.pattern, one.value),
        is_named: named.contains(&one.product.id.as_str()),
    };
    Chart::Strip(Strip {
        heading: heading(ranking, title),
        axis: axis(ranking.pattern),
        dots: ranking.places.iter().map(dot).collect(),
        marks: marks(ranking.pattern),
    })
}

/// The place of a product among the cards with which it was measured most; `None` if it was measured with too few.
pub(super) fn place_of(product_id: &str) -> Option<Chart> {
    let all = rankings().into_iter();
    let mut found = all.filter_map(|one| Some((one, one.of(product_id)?)));
    let (ranking, place) = found.next()?;
    let title = format!(
        "{}: place {} of {} in {}",
        place.product.name(),
        place_text(place.places),
        ranking.places.len(),
        operations(ranking.pattern)
    );
    Some(strip(ranking, &[product_id], title))
}

fn bars(ranking: &PublishedRanking, shown_places: &[&PublishedPlace], title: String) -> Chart {
    let group = |one: &&PublishedPlace| Group {
        name: one.product.name(),
        bars: vec![Bar {
            value: shown(ranking.pattern, one.value),
            ends: None,
            series: 0,
            label: String::new(),
        }],
    };
    Chart::Bars(Bars {
        heading: heading(ranking, title),
        axis: axis(ranking.pattern),
        series: Vec::new(),
        groups: shown_places.iter().map(group).collect(),
        marks: marks(ranking.pattern),
    })
}

/// The cards of a ranking, the best first.
fn best(ranking: &PublishedRanking) -> Chart {
    let first: Vec<&PublishedPlace> = ranking.places.iter().take(MOST_BARS).collect();
    let (operations, on) = (operations(ranking.pattern), on(&ranking.board));
    let may_be_first = ranking.places.iter().filter(|one| one.places[0] == 1);
    let title = match (may_be_first.count(), first.first()) {
        (1, Some(only)) => format!(
            "{} is the fastest in {operations} {on}",
            only.product.name()
        ),
        (count, _) => format!("{count} cards may be the fastest in {operations} {on}"),
    };
    bars(ranking, &first, title)
}

/// Chart of the cards on a board of the catalogue by the rate that decides most; `None` if too few were measured on it.
pub(super) fn on_board(board_id: &str) -> Option<Chart> {
    let is_here = |one: &&PublishedRanking| {
        let facts = facts_of(&one.board);
        facts.is_some_and(|facts| facts.id == board_id)
    };
    rankings().into_iter().find(is_here).map(best)
}

/// Chart of the cards by published figures of a metric; `None` if too few were measured.
pub(super) fn of_metric(metric: &str) -> Option<Chart> {
    let is_of = |one: &&PublishedRanking| one.pattern.method_of(metric).is_some();
    rankings().into_iter().find(is_of).map(best)
}

/// Chart of the cards with the most published figures, on the board on which most were measured.
pub(super) fn well_known() -> Option<Chart> {
    let ranking = rankings().into_iter().next()?;
    let mut known: Vec<&PublishedPlace> = ranking.places.iter().collect();
    known.sort_by_key(|one| Reverse(figures_count(&one.product.id)));
    known.truncate(WELL_KNOWN);
    known.sort_by(|a, b| b.value.total_cmp(&a.value));
    let (first, last) = (known.first()?, known.last()?);
    let title = format!(
        "{} {}: the fastest of these cards is {} × as fast as the slowest",
        capitalised(&operations(ranking.pattern)),
        on(&ranking.board),
        figure(first.value / last.value)
    );
    Some(bars(ranking, &known, title))
}

/// A product in a ranking.
type Measured<'a> = (&'a PublishedRanking, &'a PublishedPlace);

/// Chart of one product on each board by the rate that decides most; `None` if it was measured on fewer than two by one method.
pub(super) fn on_each_board(product_id: &str) -> Option<Chart> {
    let mut measured: Vec<Measured<'_>> = published_rankings()
        .iter()
        .filter_map(|one| Some((one, one.of(product_id)?)))
        .collect();
    measured.sort_by_key(|(one, _)| (rank(one), one.method));
    let alike = |a: &Measured<'_>, b: &Measured<'_>| {
        (&a.0.pattern.id, a.0.method) == (&b.0.pattern.id, b.0.method)
    };
    let mut chunks = measured.chunk_by(alike);
    let boards = chunks.find(|chunk| chunk.len() > 1)?;
    let (ranking, place) = boards.first()?;
    let mut sorted = boards.to_vec();
    sorted.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let (best, worst) = (sorted.first()?, sorted.last()?);
    let group = |(one, place): &Measured<'_>| Group {
        name: one.board.clone(),
        bars: vec![Bar {
            value: shown(one.pattern, place.value),
            ends: None,
            series: 0,
            label: String::new(),
        }],
    };
    let title = format!(
        "{} × the {} on the {} as on the {}",
        figure(best.1.value / worst.1.value),
        operations(ranking.pattern),
        best.0.board,
        worst.0.board
    );
    let name = place.product.name();
    Some(Chart::Bars(Bars {
        heading: Heading {
            name: "on-each-board".to_owned(),
            subtitle: format!("{name}, by {}", ranking.method),
            about: format!("{name} on {} boards", sorted.len()),
            ..heading(ranking, title)
        },
        axis: axis(ranking.pattern),
        series: Vec::new(),
        groups: sorted.iter().map(group).collect(),
        marks: marks(ranking.pattern),
    }))
}

/// Rates of a product with their boards, those that decide most first: name and figure.
pub(super) fn rates_of(product_id: &str) -> Vec<(String, String)> {
    let mut all: Vec<&PublishedRanking> = published_rankings().iter().collect();
    all.sort_by_key(|one| (rank(one), Reverse(one.places.len())));
    let rate = |one: &&PublishedRanking| {
        let place = one.of(product_id)?;
        let figure = format!("{}, {}", rate(one.pattern, place.value), one.board);
        Some((capitalised(&operations(one.pattern)), figure))
    };
    all.iter().filter_map(rate).collect()
}

/// Least and most published rate of a product in these patterns, in the slots of boards; `None` without one.
pub(super) fn range(product_id: &str, patterns: &[&str]) -> Option<String> {
    let of_pattern = published_rankings()
        .iter()
        .filter(|one| patterns.contains(&one.pattern.id.as_str()));
    let found: Vec<(&Equivalents, f64)> = of_pattern
        .filter_map(|one| Some((one.pattern, one.of(product_id)?.value)))
        .collect();
    let values = || found.iter().map(|(_, value)| *value);
    let (pattern, _) = found.first()?;
    let (least, most) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    Some(match least < most {
        true => format!(
            "{} to {}",
            figure(shown(pattern, least)),
            rate(pattern, most)
        ),
        false => rate(pattern, most),
    })
}
