//! Two sides beside each other: what differs, by how much, and where the sides are not alike.

use cardmark_core::{Quantity, Record};
use cardmark_judge::{Compared, Counts, Queues, outcome_of};
use cardmark_stats::{Basis, Claim, Conclusion, Difference, StallDifference};
use serde_json::json;

use crate::answer::AnswerBlock;
use crate::document::Block;
use crate::runs::circumstances::circumstances;
use crate::text::layout::{joined, painted, points, wrap};
use crate::text::names::workload_name;
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Row, Table};
use crate::text::{MISSING, count_of, figure, p_value, value};

mod answer;
mod endurance;
mod names;
mod order;

use answer::BETWEEN_STALLS;
pub use answer::{Place, Versus, answer_of_comparison, places_of_comparison};
pub use endurance::EnduranceOfBoth;
pub use names::side_names;
pub use order::order_of_sides;

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

impl<'a> Comparison<'a> {
    fn of(versus: &Versus<'a>, place: &Place<'a>) -> Self {
        Self {
            base: versus.names[0],
            other: versus.names[1],
            results: place.results,
            repeat: versus.repeat,
            across: versus.across,
        }
    }

    /// Returns the answer to a comparison in one place.
    fn answer(&self) -> AnswerBlock {
        answer_of_comparison(&Versus {
            names: [self.base, self.other],
            places: vec![Place {
                name: "",
                results: self.results,
                queues: Queues::Any,
            }],
            repeat: self.repeat,
            across: self.across,
            aside: "",
            endurance: None,
        })
    }
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
    let [base, other] = side_names(names, [&sides[0], &sides[1]]);
    let comparison = Comparison {
        base: &base,
        other: &other,
        results,
        repeat: None,
        across,
    };
    json!({
        "base": side(0),
        "other": side(1),
        "answer": comparison.answer().json(),
        "claim": results.claim,
        "differences": results.differences,
        "stalls": results.stalls,
        "with_stalls": results.with_stalls,
        "context": results.context,
        "across": across,
        "left_out": results.left_out,
    })
}

/// The answer as a text of lines at most `width` columns wide; with everything that it rests on if `all` is wanted.
pub fn comparison(versus: &Versus<'_>, all: bool, width: usize, style: Style) -> String {
    let mut block = answer_of_comparison(versus);
    if !all {
        shorten(&mut block);
        let answer = block.lines(width, style);
        let has_more = versus
            .places
            .iter()
            .any(|place| !place.results.differences.is_empty());
        let hint = "`--all` shows all metrics, circumstances and the method";
        let hint = has_more.then(|| painted(&[hint], width, style, Tone::Dim));
        return joined(&[[answer, hint.unwrap_or_default()].concat()]);
    }
    let mut blocks = vec![block.lines(width, style)];
    if versus.places.len() > 1 {
        blocks.push(points(&places_of_comparison(versus), width));
    }
    for place in &versus.places {
        blocks.extend(details(
            &Comparison::of(versus, place),
            place.name,
            width,
            style,
        ));
    }
    joined(&blocks)
}

/// Lines of an answer at [`USUAL_WIDTH`], without that on `--all`.
const MOST_LINES: usize = 9;
/// Columns of a usual terminal.
const USUAL_WIDTH: usize = 80;
/// Rates that stay in every answer.
const LEAST_FIGURES: usize = 4;

/// Drops what matters least until the answer has [`MOST_LINES`].
fn shorten(block: &mut AnswerBlock) {
    while block.lines(USUAL_WIDTH, Style::Plain).len() > MOST_LINES {
        if block.open.len() > 2 {
            block.open.pop();
        } else if block.more.len() > 1 {
            block.more.pop();
        } else if block.figures.len() > LEAST_FIGURES {
            block.figures.pop();
        } else if block.open.len() > 1 {
            block.open.pop();
        } else if block.next.take().is_none()
            && block.more.pop().is_none()
            && (block.figures.len() < 2 || block.figures.pop().is_none())
        {
            break;
        }
    }
}

/// All metrics, circumstances and notes.
fn details(
    comparison: &Comparison<'_>,
    place: &str,
    width: usize,
    style: Style,
) -> Vec<Vec<String>> {
    let heading = match place {
        "" => heading(comparison),
        place => format!("{}, {}", heading(comparison), clean(place)),
    };
    let table = table(comparison.results);
    let shows_p = table.fit(width).is_some_and(|fitted| fitted.has(P));
    let context = context_lines(comparison, width);
    let context = match context.is_empty() {
        true => context,
        false => [painted(&[CONTEXT_TITLE], width, style, Tone::Dim), context].concat(),
    };
    vec![
        painted(&[heading], width, style, Tone::Heading),
        points(&clauses(comparison), width),
        table.lines(width, style),
        context,
        painted(&notes(comparison, shows_p), width, style, Tone::Dim),
    ]
}

/// Width of lines that a page breaks by itself.
const UNBROKEN: usize = 1 << 16;

/// The comparison as content of a page: the answer, then what it rests on.
pub fn comparison_blocks(comparison: &Comparison<'_>) -> Vec<Block> {
    let mut blocks = comparison.answer().blocks();
    let list = |texts: Vec<String>| (!texts.is_empty()).then_some(Block::List(texts));
    blocks.extend(list(clauses(comparison)));
    let table = table(comparison.results);
    if !table.rows.is_empty() {
        let caption = heading(comparison);
        blocks.push(Block::Table { caption, table });
    }
    let context = context_lines(comparison, UNBROKEN);
    if !context.is_empty() {
        blocks.push(Block::Text(CONTEXT_TITLE.to_owned()));
        blocks.push(Block::List(context));
    }
    blocks.push(Block::List(notes(comparison, true)));
    blocks
}

/// Title of the circumstances.
const CONTEXT_TITLE: &str = "context, where it is not known to be the same:";

fn heading(comparison: &Comparison<'_>) -> String {
    let [base, other] = comparison.results.counts.map(runs_and_cards);
    format!(
        "{} ({other}) against {} ({base})",
        clean(comparison.other),
        clean(comparison.base)
    )
}

fn runs_and_cards(counts: Counts) -> String {
    let runs = count_of(counts.runs, "run", "runs");
    match counts.cards {
        0 | 1 => runs,
        cards => format!("{runs} of {cards} cards"),
    }
}

/// Results in words that the table does not show: stalls, and what would decide about undecided metrics.
fn clauses(comparison: &Comparison<'_>) -> Vec<String> {
    let stalls = comparison.results.stalls.iter();
    let mut clauses: Vec<String> = stalls.filter_map(stall_clause).collect();
    let differences = comparison.results.differences.iter();
    let is_open =
        |one: &&Difference| one.outcome == Conclusion::Undecided && one.basis != Basis::Listed;
    let undecided: Vec<&Difference> = differences.filter(is_open).collect();
    if !undecided.is_empty() {
        clauses.extend(undecided_clauses(comparison, &undecided));
    }
    clauses
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
            "too few runs to decide: {}{}",
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

/// The ends of the ratio's interval; a dash where there is none.
fn interval(difference: &Difference) -> String {
    difference.low.zip(difference.high).map_or_else(
        || MISSING.to_owned(),
        |(low, high)| format!("{}–{}", figure(low), figure(high)),
    )
}

/// Index of the column of probabilities.
const P: usize = 5;

fn table(results: &Compared) -> Table {
    if results.differences.is_empty() {
        return Table::default();
    }
    let row = |difference: &Difference| {
        let name = workload_name(&difference.metric);
        let name = match results.with_stalls.contains_key(&difference.metric) {
            true => format!("{name} {BETWEEN_STALLS}"),
            false => name.to_owned(),
        };
        row(name, difference)
    };
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
        rows: results.differences.iter().map(row).collect(),
    }
}

fn row(name: String, difference: &Difference) -> Row {
    let value = |rate: f64| value(&difference.metric, difference.quantity, rate);
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
        word,
    ])
    .stacked(vec![name, below])
}

fn word(difference: &Difference) -> String {
    let word = outcome_word(difference);
    let is_small = outcome_of(difference) == Conclusion::Same;
    match difference.outcome {
        Conclusion::Higher | Conclusion::Lower if is_small => format!("{word}, within 10 %"),
        _ => word.to_owned(),
    }
}

fn outcome_word(difference: &Difference) -> &'static str {
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
fn context_lines(comparison: &Comparison<'_>, width: usize) -> Vec<String> {
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
    lines
}

fn notes(comparison: &Comparison<'_>, shows_p: bool) -> Vec<String> {
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
    notes
}
