//! Cards that need attention, in words: how many, and for each what to do and why.

use std::collections::BTreeMap;

use cardmark_catalog::use_of;
use cardmark_core::{CAPACITY_RULE, FindingKind, IntegrityTest, Quantity, Record, StorageKind};
use cardmark_judge::{
    Advice, Attention, CardRuns, Fit, Ground, NamedBy, Outlier, Reason, Shortfall, role_of,
    storage_kind,
};
use serde_json::{Value, json};

use crate::answer::{AnswerBlock, Weight};
use crate::document::{Block, Column, Row, Table};
use crate::runs::shifts::date_of;
use crate::text::SHORT_ID;
use crate::text::layout::{painted, wrap};
use crate::text::names::{capitalised, workload_name};
use crate::text::style::{Style, Tone, clean, columns};
use crate::text::{amount, count_of, figure, in_unit, percent};

/// Columns between a name and its text.
const GAP: usize = 2;

/// Returns the number of boards, or cards, that need attention as a sentence, and what was not tested. Boards are counted if all
/// have names of their own. Cards that are no longer in use do not count.
#[must_use]
pub fn answer_of_attention(cards: &[CardRuns<'_>], rows: &[Attention<'_>]) -> AnswerBlock {
    let all_count = cards.len();
    let cards: Vec<&CardRuns<'_>> = cards.iter().filter(|card| !card.is_retired).collect();
    let are_boards = cards.iter().all(|card| card.named_by == NamedBy::Host);
    let noun = if are_boards {
        ["board", "boards"]
    } else {
        ["card", "cards"]
    };
    let all = match are_boards {
        true => by_board(cards.iter().map(|card| (*card, ()))).len(),
        false => cards.len(),
    };
    let advice: Vec<Advice> = match are_boards {
        true => by_board(rows.iter().map(|row| (&row.card, row.advice)))
            .into_values()
            .collect(),
        false => rows.iter().map(|row| row.advice).collect(),
    };
    let count = |of: Advice| advice.iter().filter(|one| **one == of).count();
    let parts = [(Advice::Replace, "to replace"), (Advice::Watch, "to watch")];
    let parts = parts.map(|(of, words)| (count(of), words));
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let [one, many] = noun;
    let sentence = match (advice.as_slice(), all) {
        ([], 0) => "No card is in use".to_owned(),
        ([], 1) => format!("The {one} needs no attention"),
        ([], _) => format!("None of {all} {many} needs attention"),
        ([Advice::Replace], 1) => format!("The {one} needs attention: replace the card"),
        ([Advice::Watch], 1) => format!("The {one} needs attention: watch it"),
        ([_], _) => format!("1 of {all} {many} needs attention: {}", parts.join(", ")),
        (few, _) => {
            let parts = parts.join(", ");
            format!("{} of {all} {many} need attention: {parts}", few.len())
        }
    };
    AnswerBlock {
        weight: match count(Advice::Replace) {
            0 if advice.is_empty() => Weight::Plain,
            0 => Weight::Warning,
            _ => Weight::Error,
        },
        sentence,
        open: not_tested(&cards)
            .into_iter()
            .chain(left_out(all_count - cards.len()))
            .collect(),
        ..AnswerBlock::default()
    }
}

/// The first of these values of each board, which is the worst one of rows in their order.
fn by_board<'a, T>(of: impl Iterator<Item = (&'a CardRuns<'a>, T)>) -> BTreeMap<&'a str, T> {
    let mut boards = BTreeMap::new();
    for (card, value) in of {
        boards.entry(card.board.as_str()).or_insert(value);
    }
    boards
}

/// Cards that do not count.
fn left_out(count: usize) -> Option<String> {
    let cards = count_of(count, "card", "cards");
    (count > 0).then(|| {
        format!(
            "Left out: {cards} no longer in use (label `status=retired`, or a later card of the same name)"
        )
    })
}

/// Fakes are found by tests of the capacity only.
fn not_tested(cards: &[&CardRuns<'_>]) -> Option<String> {
    let is_tested = |card: &&&CardRuns<'_>| card.runs.iter().any(|run| shows_capacity(run));
    let untested = cards.len() - cards.iter().filter(is_tested).count();
    let of = match cards.len() {
        1 => "the card".to_owned(),
        2 if untested == 2 => "both cards".to_owned(),
        all if all == untested => format!("all {all} cards"),
        all => format!("{untested} of {all} cards"),
    };
    (untested > 0).then(|| {
        format!("Capacity not tested: {of}; only `cardmark probe` and `verify` find fakes")
    })
}

/// Returns whether a run tested all of a known device by writing and reading.
fn shows_capacity(run: &Record) -> bool {
    use IntegrityTest::{Endure, Probe, Retention, Verify};
    let kind = storage_kind(run);
    run.integrity.as_ref().is_some_and(|found| {
        matches!(found.test, Probe | Verify | Endure | Retention)
            && found.from_bytes.is_none()
            && !matches!(
                kind,
                Some(StorageKind::Unfinished | StorageKind::UnknownDevice)
            )
    })
}

/// Returns the answer, a line for each of the first `most` cards, the board first, and what was not tested; at most `width` columns
/// wide.
#[must_use]
pub fn attention_list(
    cards: &[CardRuns<'_>],
    rows: &[Attention<'_>],
    most: usize,
    width: usize,
    style: Style,
) -> String {
    let answer = answer_of_attention(cards, rows);
    let head = AnswerBlock {
        open: Vec::new(),
        ..answer.clone()
    };
    let left_out = rows.len().saturating_sub(most);
    let left_out = (left_out > 0).then(|| format!("{left_out} more: `--limit {}`", rows.len()));
    let listed: Vec<(String, String)> = rows
        .iter()
        .take(most)
        .map(|row| {
            let about = format!("{}: {} ({})", advice(row.advice), reasons(row), whose(row));
            (clean(&row.card.board), about)
        })
        .collect();
    let mut lines = head.lines(width, style);
    lines.extend(beside(&listed, width));
    let notes: Vec<String> = left_out.into_iter().chain(answer.open).collect();
    lines.extend(painted(&notes, width, style, Tone::Dim));
    lines.join("\n") + "\n"
}

/// Names with their texts beside them, or below where the names are long.
fn beside(rows: &[(String, String)], width: usize) -> Vec<String> {
    let widest = rows.iter().map(|(name, _)| columns(name)).max();
    let names_width = widest.unwrap_or_default() + GAP;
    if names_width > width / 3 {
        let below = rows.iter().flat_map(|(name, text)| {
            let mut lines = wrap(name, width, GAP);
            let indent = " ".repeat(GAP);
            let text = wrap(text, width.saturating_sub(GAP), 0).into_iter();
            lines.extend(text.map(|line| format!("{indent}{line}")));
            lines
        });
        return below.collect();
    }
    let lines = rows.iter().flat_map(|(name, text)| {
        let names = std::iter::once(name.as_str()).chain(std::iter::repeat(""));
        let lines = wrap(text, width.saturating_sub(names_width), 0);
        let pairs = lines.into_iter().zip(names);
        pairs
            .map(|(line, name)| {
                let space = " ".repeat(names_width.saturating_sub(columns(name)));
                format!("{name}{space}{line}")
            })
            .collect::<Vec<_>>()
    });
    lines.collect()
}

/// Returns the same for a report or a page: the answer, and a table whose rows lead to the `address` of the run with the worst reason.
#[must_use]
pub fn attention_blocks(
    cards: &[CardRuns<'_>],
    rows: &[Attention<'_>],
    address: impl Fn(&Record) -> Option<String>,
) -> Vec<Block> {
    let titles = ["Board", "Do", "Why", "Card", "Run"].map(Column::left);
    let row = |row: &Attention<'_>| {
        let (board, why) = (clean(&row.card.board), capitalised(&reasons(row)));
        let what = advice(row.advice).to_owned();
        let cells = Row::new(vec![board, what, why, card_name(row), run_of(row)]);
        match row.worst().and_then(|ground| address(ground.run)) {
            Some(address) => cells.linked(address),
            None => cells,
        }
    };
    let table = Block::Table {
        caption: "Cards that need attention, the worst first".to_owned(),
        table: Table {
            columns: titles.to_vec(),
            rows: rows.iter().map(row).collect(),
        },
    };
    let mut blocks = answer_of_attention(cards, rows).blocks();
    blocks.push(table);
    blocks
}

/// Returns a card that needs attention for programs.
#[must_use]
pub fn attention_json(row: &Attention<'_>) -> Value {
    let ground = |ground: &Ground<'_>| {
        let mut value = json!(ground.reason);
        value["run"] = json!(ground.run.id.to_string());
        value["at"] = json!(ground.run.started_at);
        value["text"] = json!(reason(&ground.reason));
        value
    };
    json!({
        "board": row.card.board,
        "sample": row.card.sample,
        "card": row.card.id,
        "name": row.card.name,
        "runs": row.card.runs.len(),
        "advice": row.advice,
        "reasons": row.grounds.iter().map(ground).collect::<Vec<_>>(),
    })
}

/// What to do, in a word.
fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::Replace => "replace",
        Advice::Watch => "watch",
    }
}

pub(crate) fn reasons(row: &Attention<'_>) -> String {
    let reasons = row.grounds.iter().map(|ground| reason(&ground.reason));
    reasons.collect::<Vec<_>>().join("; ")
}

/// The card, its id unless the owner named it, and the run that shows the worst reason.
fn whose(row: &Attention<'_>) -> String {
    format!("{}, run {}", card_name(row), run_of(row))
}

fn card_name(row: &Attention<'_>) -> String {
    let card = &row.card;
    let id = card
        .id
        .filter(|_| card.named_by != NamedBy::Sample && card.sample.is_none());
    let parts = [
        card.sample.map(clean),
        Some(clean(&card.name)),
        id.map(|id| format!("card {}", clean(id))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn run_of(row: &Attention<'_>) -> String {
    let id = row.worst().map(|ground| ground.run.id.to_string());
    id.unwrap_or_default().chars().take(SHORT_ID).collect()
}

/// A reason as a clause.
pub(crate) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Fake {
            real_bytes: Some(real),
            size_bytes: Some(size),
        } => {
            format!("fake: {} of {} keep data", amount(*real), amount(*size))
        }
        Reason::Fake { .. } => "fake: it holds less than it reports".to_owned(),
        Reason::LostData { found } => lost(*found).to_owned(),
        Reason::MayLoseOnPowerCut => "may lose data at a power cut".to_owned(),
        Reason::ReadOnly => "read-only: it accepts no writes".to_owned(),
        Reason::WornOut => "worn out".to_owned(),
        Reason::Wearing { used_percent } => {
            format!("{used_percent} % of its rated life is used")
        }
        Reason::Failing { finding } => match finding {
            FindingKind::Vanished => "disappeared during a run".to_owned(),
            FindingKind::NoAnswer => "stopped answering".to_owned(),
            _ => "reads or writes failed".to_owned(),
        },
        Reason::FarBelowProduct(outlier) => far_below(outlier),
        Reason::Falling {
            metric,
            change_ratio,
            since_days,
        } => {
            let since = since_days.map(|day| format!(" since {}", date_of(day)));
            let (name, change) = (rate_name(metric), percent(-change_ratio));
            format!("{name} fell by {change}{}", since.unwrap_or_default())
        }
        Reason::TooSlow(shortfall) if shortfall.fit == Fit::Poor => too_slow("too slow", shortfall),
        Reason::TooSlow(shortfall) => too_slow("somewhat slow", shortfall),
        Reason::AtTheLimit(shortfall) => too_slow("just about fast enough", shortfall),
        Reason::FailsClaim { rule } if rule == CAPACITY_RULE => {
            "smaller than its label says".to_owned()
        }
        Reason::FailsClaim { rule } => format!("does not meet {}", clean(rule)),
    }
}

fn lost(found: Option<StorageKind>) -> &'static str {
    match found {
        Some(StorageKind::LosesAcknowledged) => "lost data at a power cut that it had confirmed",
        Some(StorageKind::Dead) => "keeps no data",
        Some(_) => "damaged: it lost data in a test",
        None => "lost data that a run had written",
    }
}

fn too_slow(degree: &str, shortfall: &Shortfall) -> String {
    let title = use_of(&shortfall.use_id).map_or(shortfall.use_id.as_str(), |known| &known.title);
    let rate = rate(shortfall.quantity, shortfall.value, &shortfall.plain);
    let asked = number(in_unit(shortfall.quantity, shortfall.asked));
    let asked = match &shortfall.class {
        Some(class) => format!("{class} asks for {asked}"),
        None => format!("needs {asked}"),
    };
    format!("{degree} for {title}: {rate} ({asked})")
}

fn far_below(outlier: &Outlier) -> String {
    let name = rate_name(&outlier.metric);
    let rate = rate(outlier.quantity, outlier.value, name);
    let usual = number(in_unit(outlier.quantity, outlier.usual));
    match outlier.others_count {
        1 => format!("far below another card of its kind: {rate}; the other has {usual}"),
        count => format!("far below {count} cards of its kind: {rate}; they have {usual}"),
    }
}

/// `49 random writes/s`, `9.00 MB/s in sequential writes`.
fn rate(quantity: Quantity, value: f64, operations: &str) -> String {
    let number = number(in_unit(quantity, value));
    match quantity {
        Quantity::ByteRate => format!("{number} MB/s in {operations}"),
        _ => format!("{number} {operations}/s"),
    }
}

/// A rate for a sentence: whole from 10 on.
fn number(value: f64) -> String {
    match value {
        10.0..1000.0 => format!("{value:.0}"),
        _ => figure(value),
    }
}

fn rate_name(metric: &str) -> &str {
    role_of(metric).map_or_else(|| workload_name(metric), |role| role.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_clauses() {
        let shortfall = Shortfall {
            use_id: "boot".to_owned(),
            fit: Fit::Poor,
            plain: "random writes".to_owned(),
            quantity: Quantity::OperationRate,
            value: 49.2,
            asked: 500.0,
            class: Some("A1".to_owned()),
        };
        let outlier = Outlier {
            metric: "seq_write_1m".to_owned(),
            quantity: Quantity::ByteRate,
            value: 4e6,
            usual: 23e6,
            others_count: 4,
        };
        let fake = Reason::Fake {
            real_bytes: Some(1_780_000_000),
            size_bytes: Some(32_500_000_000),
        };
        for (known, text) in [
            (fake, "fake: 1.78 GB of 32.5 GB keep data"),
            (
                Reason::TooSlow(shortfall),
                "too slow for boot and desktop: 49 random writes/s (A1 asks for 500)",
            ),
            (
                Reason::FarBelowProduct(outlier),
                "far below 4 cards of its kind: 4.00 MB/s in sequential writes; they have 23",
            ),
            (
                Reason::Falling {
                    metric: "rand_write_4k".to_owned(),
                    change_ratio: -0.4,
                    since_days: Some(20_513.4),
                },
                "random writes fell by 40 % since 2026-03-01",
            ),
        ] {
            assert_eq!(reason(&known), text);
        }
    }
}
