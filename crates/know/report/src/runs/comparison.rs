//! Two sides beside each other: what differs, by how much, and where the sides are not alike.

use cardmark_core::{Quantity, Record};
use cardmark_judge::{Compared, Counts};
use cardmark_stats::{Basis, Claim, Conclusion, Difference, StallDifference};
use serde_json::json;

use crate::document::Block;
use crate::runs::circumstances::circumstances;
use crate::text::layout::{joined, painted, points, wrap};
use crate::text::names::{plain_name, workload_name};
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Row, Table};
use crate::text::{MISSING, count_of, figure, p_value, value};

/// A comparison with its results.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Name of the base.
    pub base: &'a str,
    /// Name of the other side.
    pub other: &'a str,
    /// The results.
    pub results: &'a Compared,
    /// The command that makes one more run of a side that has one only.
    pub repeat: Option<&'a str>,
    /// Names of the context that were allowed to differ.
    pub across: &'a [String],
}

/// The comparison of a side with the base as JSON. `across` names what was allowed to differ.
pub fn comparison_json(
    names: [&str; 2],
    sides: &[Vec<&Record>; 2],
    results: &Compared,
    across: &[String],
) -> serde_json::Value {
    let side = |index: usize| {
        let runs: Vec<String> = sides[index]
            .iter()
            .map(|record| record.id.to_string())
            .collect();
        json!({ "name": names[index], "runs": runs })
    };
    json!({
        "base": side(0),
        "other": side(1),
        "claim": results.claim,
        "differences": results.differences,
        "stalls": results.stalls,
        "context": results.context,
        "across": across,
        "left_out": results.left_out,
    })
}

/// The comparison as a text of lines at most `width` columns wide.
pub fn comparison(comparison: &Comparison<'_>, width: usize, style: Style) -> String {
    let table = table(&comparison.results.differences);
    let shows_p = table.fit(width).is_some_and(|fitted| fitted.has(P));
    let blocks = [
        heading(comparison, width, style),
        sentences(comparison, width),
        table.lines(width, style),
        context_lines(comparison, width, style),
        notes(comparison, shows_p, width, style),
    ];
    joined(&blocks)
}

/// Width of lines that a page breaks by itself.
const UNBROKEN: usize = 1 << 16;

/// The comparison as content of a page.
pub fn comparison_blocks(comparison: &Comparison<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Text(sentences(comparison, UNBROKEN).join(" "))];
    let table = table(&comparison.results.differences);
    if !table.rows.is_empty() {
        let caption = heading(comparison, UNBROKEN, Style::Plain).join(" ");
        blocks.push(Block::Table { caption, table });
    }
    let context = context_lines(comparison, UNBROKEN, Style::Plain);
    if let Some((title, rows)) = context.split_first() {
        blocks.push(Block::Text(title.clone()));
        blocks.push(Block::List(rows.to_vec()));
    }
    blocks.push(Block::List(notes(comparison, true, UNBROKEN, Style::Plain)));
    blocks
}

/// Ratio below which two rates are close.
const CLOSE_RATIO: f64 = 1.1;

/// Comparison of two products in several places.
#[derive(Clone, Debug)]
pub struct Overview<'a> {
    /// Name of the base.
    pub base: &'a str,
    /// Name of the other side.
    pub other: &'a str,
    /// Each place with its results.
    pub places: &'a [(String, &'a Compared)],
    /// True if all figures come from publications.
    pub is_published: bool,
}

/// The answer in a sentence, and the ratios of several places in short, as a text of lines at most `width` columns
/// wide.
pub fn overview(of: &Overview<'_>, width: usize, style: Style) -> String {
    let (base, other, count) = (clean(of.base), clean(of.other), of.places.len());
    let ratios = ratios_of(of);
    let answer = painted(&[answer(of, &ratios)], width, style, Tone::Heading);
    if count < 2 {
        return joined(&[answer]);
    }
    let title = format!("{other} against {base}, in the {count} places where both were measured");
    let lines: Vec<String> = ratios
        .iter()
        .map(|(id, ratios)| ratio_line(id, ratios))
        .collect();
    let places: Vec<String> = of.places.iter().map(|(place, _)| clean(place)).collect();
    joined(&[
        answer,
        wrap(&title, width, 0),
        points(&lines, width),
        [vec!["Places:".to_owned()], points(&places, width)].concat(),
    ])
}

/// The ratios of each rate, one of each place.
fn ratios_of<'a>(of: &Overview<'a>) -> Vec<(&'a str, Vec<f64>)> {
    let mut ratios: Vec<(&str, Vec<f64>)> = Vec::new();
    let differences = of.places.iter().flat_map(|(_, found)| &found.differences);
    for difference in differences.filter(|one| one.quantity.is_rate()) {
        let known = ratios.iter_mut().find(|(id, _)| *id == difference.metric);
        match known {
            Some((_, ratios)) => ratios.push(difference.ratio),
            None => ratios.push((&difference.metric, vec![difference.ratio])),
        }
    }
    ratios
}

/// The rates in which each side has the higher figures: `Higher figures: Extreme in dd write (1.85×); Evo+ in random write
/// (1.57×).` It compares figures, not cards: intervals and probabilities follow below.
fn answer(of: &Overview<'_>, ratios: &[(&str, Vec<f64>)]) -> String {
    let (mut other, mut base, mut close) = (Vec::new(), Vec::new(), Vec::new());
    for (id, ratios) in ratios {
        let name = clean(&plain_name(id));
        let mean = geometric_mean(ratios);
        if mean < CLOSE_RATIO && mean * CLOSE_RATIO > 1.0 {
            close.push(name);
        } else if mean >= 1.0 {
            other.push(format!("{name} ({}×)", figure(mean)));
        } else {
            base.push(format!("{name} ({}×)", figure(1.0 / mean)));
        }
    }
    let side = |name: &str, names: &[String]| {
        let name = clean(name);
        (!names.is_empty()).then(|| format!("{name} in {}", names.join(", ")))
    };
    let sides = [side(of.other, &other), side(of.base, &base)];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    let figures = match of.is_published {
        true => "published figures",
        false => "figures",
    };
    if sides.is_empty() {
        return format!("All {figures} are less than 10 % apart.");
    }
    let mut sentence = format!("Higher {figures}: {}", sides.join("; "));
    if !close.is_empty() {
        sentence += &format!("; less than 10 % apart: {}", close.join(", "));
    }
    sentence + "."
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    let logarithms: f64 = ratios.iter().map(|ratio| libm::log(*ratio)).sum();
    libm::exp(logarithms / ratios.len() as f64)
}

/// `random write (iozone): 0.68 times as fast (0.63 to 0.77), slower in 5 of 5`.
fn ratio_line(id: &str, ratios: &[f64]) -> String {
    let count = ratios.len();
    let mean = geometric_mean(ratios);
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let range = match count {
        1 => String::new(),
        _ => format!(" ({} to {})", figure(least), figure(most)),
    };
    let is_close = least * CLOSE_RATIO >= 1.0 && most <= CLOSE_RATIO;
    let agreeing = |is_so: fn(&&f64) -> bool| ratios.iter().filter(is_so).count();
    let words = match mean >= 1.0 {
        _ if is_close => "less than 10 % apart".to_owned(),
        true => format!("faster in {} of {count}", agreeing(|ratio| **ratio > 1.0)),
        false => format!("slower in {} of {count}", agreeing(|ratio| **ratio < 1.0)),
    };
    let name = clean(&plain_name(id));
    format!("{name}: {} times as fast{range}, {words}", figure(mean))
}

fn heading(comparison: &Comparison<'_>, width: usize, style: Style) -> Vec<String> {
    let [base, other] = comparison.results.counts.map(runs_and_cards);
    let text = format!(
        "{} ({other}) against {} ({base})",
        clean(comparison.other),
        clean(comparison.base)
    );
    painted(&[text], width, style, Tone::Heading)
}

fn runs_and_cards(counts: Counts) -> String {
    let runs = count_of(counts.runs, "run", "runs");
    match counts.cards {
        0 | 1 => runs,
        cards => format!("{runs} of {cards} cards"),
    }
}

/// Results in words: faster, slower, equal, and undecided metrics.
fn sentences(comparison: &Comparison<'_>, width: usize) -> Vec<String> {
    let of = |outcome: Conclusion| {
        let found = comparison.results.differences.iter();
        found.filter(move |difference| difference.outcome == outcome)
    };
    let told = |outcome: Conclusion| -> Vec<String> { of(outcome).map(clause).collect() };
    let mut clauses = told(Conclusion::Higher);
    clauses.extend(told(Conclusion::Lower));
    let names = |outcome: Conclusion| -> Vec<&str> {
        of(outcome).map(|d| workload_name(&d.metric)).collect()
    };
    let same = names(Conclusion::Same);
    if !same.is_empty() {
        clauses.push(format!(
            "the same within 10 %, each by its own 95 % CI: {}",
            same.join(", ")
        ));
    }
    clauses.extend(comparison.results.stalls.iter().filter_map(stall_clause));
    let undecided: Vec<&Difference> = of(Conclusion::Undecided)
        .filter(|difference| difference.basis != Basis::Listed)
        .collect();
    if !undecided.is_empty() {
        clauses.extend(undecided_clauses(comparison, &undecided));
    }
    let mut lines = points(&clauses, width);
    if comparison.results.differences.is_empty() {
        lines.push("no metric is there on both sides".to_owned());
    }
    lines
}

/// Metrics without a decision, and what would decide about them.
fn undecided_clauses(comparison: &Comparison<'_>, undecided: &[&Difference]) -> Vec<String> {
    let of = |basis: Basis| undecided.iter().filter(move |one| one.basis == basis);
    let names =
        |basis: Basis| -> Vec<&str> { of(basis).map(|one| workload_name(&one.metric)).collect() };
    let runs = |basis: Basis| {
        let needed = of(basis).filter_map(|one| one.runs_needed);
        let (least, most) = needed.clone().min().zip(needed.max())?;
        Some(match least == most {
            true => format!("{most}"),
            false => format!("{least} to {most}"),
        })
    };
    let mut clauses = Vec::new();
    let close = names(Basis::PublishedRepeats);
    if !close.is_empty() {
        let needed = runs(Basis::PublishedRepeats);
        let needed = needed.map(|runs| format!("; about {runs} runs a side would decide 15 %"));
        clauses.push(format!(
            "too close for one run each: {}{}",
            close.join(", "),
            needed.unwrap_or_default()
        ));
    }
    let open = [names(Basis::Runs), names(Basis::None)].concat();
    if !open.is_empty() {
        clauses.push(format!("not decided: {}", open.join(", ")));
    }
    if let Some(runs) = runs(Basis::Runs) {
        clauses.push(format!(
            "to decide these takes about {runs} runs a side, for the difference seen or 10 % where it is smaller"
        ));
    }
    if open.len() + close.len() > names(Basis::Runs).len() {
        clauses.push(match comparison.repeat {
            Some(command) => format!("another run: `{}`", clean(command)),
            None => "measure again to decide".to_owned(),
        });
    }
    clauses
}

/// `more stalls in random write 4 KiB: 12 a minute, was 1.5`.
fn stall_clause(difference: &StallDifference) -> Option<String> {
    let word = match difference.outcome {
        Conclusion::Higher => "more",
        Conclusion::Lower => "fewer",
        Conclusion::Same | Conclusion::Undecided => return None,
    };
    Some(format!(
        "{word} stalls over 100 ms in {}: {} a minute against {}",
        workload_name(&difference.metric),
        figure(difference.other_per_minute),
        figure(difference.base_per_minute)
    ))
}

/// `faster random write 4 KiB: 4.20× as fast (95 % CI 3.85–4.58)`. It is always the ratio of the
/// table, also below 1: "4× faster" can be read as five times the rate, and percent for small
/// differences would be a second scale. A latency is `as long`.
fn clause(difference: &Difference) -> String {
    let compared = if difference.quantity == Quantity::Span {
        "long"
    } else {
        "fast"
    };
    let evidence = match difference.basis {
        Basis::PublishedRepeats => "one run each; repeats of other cards differ less".to_owned(),
        _ => format!("95 % CI {}", interval(difference)),
    };
    format!(
        "{} {}: {}× as {compared} ({evidence})",
        word(difference),
        workload_name(&difference.metric),
        figure(difference.ratio),
    )
}

/// The ends of the ratio's interval; a dash where there is none.
fn interval(difference: &Difference) -> String {
    difference.low.zip(difference.high).map_or_else(
        || MISSING.to_owned(),
        |(low, high)| format!("{}–{}", figure(low), figure(high)),
    )
}

/// Index of the column of probabilities.
const P: usize = 5;

fn table(differences: &[Difference]) -> Table {
    if differences.is_empty() {
        return Table::default();
    }
    Table {
        columns: vec![
            Column::left(""),
            Column::right("base").priority(3),
            Column::right("other").priority(3),
            Column::right("ratio"),
            Column::right("95 % CI").priority(2),
            Column::right("p").priority(1),
            Column::left(""),
        ],
        rows: differences.iter().map(row).collect(),
    }
}

fn row(difference: &Difference) -> Row {
    let value = |rate: f64| value(&difference.metric, difference.quantity, rate);
    let name = workload_name(&difference.metric).to_owned();
    let (ratio, interval, word) = (
        figure(difference.ratio),
        interval(difference),
        word(difference),
    );
    let below = format!("{ratio} ({interval}), {word}");
    let probability = difference.adjusted_p_value.map(probability);
    Row::new(vec![
        name.clone(),
        value(difference.base_value),
        value(difference.other_value),
        ratio,
        interval,
        probability.unwrap_or_else(|| MISSING.to_owned()),
        word.to_owned(),
    ])
    .stacked(vec![name, below])
}

fn word(difference: &Difference) -> &'static str {
    let is_span = difference.quantity == Quantity::Span;
    match difference.outcome {
        Conclusion::Higher if is_span => "longer",
        Conclusion::Lower if is_span => "shorter",
        Conclusion::Higher => "faster",
        Conclusion::Lower => "slower",
        Conclusion::Same => "same",
        Conclusion::Undecided if difference.basis == Basis::Listed => MISSING,
        Conclusion::Undecided => "undecided",
    }
}

fn probability(of: f64) -> String {
    match p_value(of) {
        ('=', number) => number,
        (sign, number) => format!("{sign} {number}"),
    }
}

/// Circumstances that differ between the sides, or may differ.
fn context_lines(comparison: &Comparison<'_>, width: usize, style: Style) -> Vec<String> {
    let told = comparison
        .results
        .context
        .iter()
        .filter(|row| row.differs() || (row.must_match && row.is_unknown()));
    let (known, unknown): (Vec<_>, Vec<_>) = told.partition(|row| row.is_known());
    let mut lines: Vec<String> = known
        .into_iter()
        .flat_map(|row| {
            let sides = circumstances(row).into_iter().map(|side| side.join(", "));
            let sides: Vec<String> = sides.collect();
            wrap(&format!("{}: {}", row.name, sides.join(" | ")), width, 2)
        })
        .collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|row| row.name.as_str()).collect();
        lines.extend(wrap(
            &format!("unknown on both sides: {}", names.join(", ")),
            width,
            2,
        ));
    }
    if lines.is_empty() {
        return lines;
    }
    let title = "context, where it is not known to be the same:";
    [painted(&[title], width, style, Tone::Dim), lines].concat()
}

fn notes(comparison: &Comparison<'_>, shows_p: bool, width: usize, style: Style) -> Vec<String> {
    let claim = match comparison.results.claim {
        Claim::Runs => "this is about these runs: a claim about the cards needs three runs of each",
        Claim::Cards => {
            "this is about these cards: a claim about the products needs two cards of each"
        }
        Claim::Products => "this is about these products, as far as these cards stand for them",
        Claim::Matched => {
            "this is about what the change does to these products: each is compared with the same \
             product, not always the same card, and the ratio is the mean over them"
        }
    };
    let mut notes = vec![claim.to_owned()];
    if !comparison.results.left_out.is_empty() {
        let names: Vec<String> = comparison
            .results
            .left_out
            .iter()
            .map(|name| clean(name))
            .collect();
        notes.push(format!("left out, not on both sides: {}", names.join(", ")));
    }
    let is_by_repeats = |one: &Difference| one.basis == Basis::PublishedRepeats;
    if comparison.results.differences.iter().any(is_by_repeats) {
        notes.push(
            "one run on a side decides only if 99 of 100 published pairs of repeats differ less; it shows that these \
             runs differ, not why"
                .to_owned(),
        );
    }
    let has_p = comparison
        .results
        .differences
        .iter()
        .any(|d| d.p_value.is_some());
    if shows_p && has_p {
        notes.push(
            "p: how probable such a difference would be by chance, corrected for the number of \
             metrics (Holm)"
                .to_owned(),
        );
    }
    if !comparison.results.differences.is_empty() {
        notes.push("`cardmark explain comparison` describes the method".to_owned());
    }
    if !comparison.across.is_empty() {
        notes.push(format!("compared across {}", comparison.across.join(", ")));
    }
    painted(&notes, width, style, Tone::Dim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_names_the_side_with_the_higher_figure_of_each_rate() {
        let of = |is_published| Overview {
            base: "Evo+",
            other: "Extreme",
            places: &[],
            is_published,
        };
        let ratios = vec![
            ("dd_write", vec![1.5, 2.0]),
            ("iozone_random_write", vec![0.5]),
            ("hdparm_t", vec![1.02]),
        ];
        let [write, random, read] = ["dd_write", "iozone_random_write", "hdparm_t"].map(plain_name);
        assert_eq!(
            answer(&of(true), &ratios),
            format!(
                "Higher published figures: Extreme in {write} (1.73×); Evo+ in {random} (2.00×); less than 10 % \
                 apart: {read}."
            )
        );
        assert_eq!(
            answer(&of(false), &ratios[2..]),
            "All figures are less than 10 % apart."
        );
    }
}
