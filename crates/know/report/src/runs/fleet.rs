//! The boards of a fleet in a table, the worst first.

use cardmark_core::Record;
use cardmark_judge::{Fleet, FleetBoard, FleetGroup, LEAST_BOARDS, LastDisk, MovedCard, Need};
use serde_json::{Value, json};

use crate::answer::{AnswerBlock, Weight};
use crate::document::{Block, Column, Row, Table};
use crate::run::watch::{day, event_clause};
use crate::runs::attention::{attention_json, reasons};
use crate::text::layout::painted;
use crate::text::names::{capitalised, listed};
use crate::text::style::{Style, Tone, clean};
use crate::text::table::Cut;
use crate::text::{MISSING, count_of, figure};

/// Columns to which a reason, and a product, are cut before columns are dropped.
const LEAST_REASON: usize = 18;
const LEAST_PRODUCT: usize = 10;
/// Cards in several boards that are named.
const MOST_MOVED: usize = 3;
const GIGABYTE: f64 = 1e9;

/// Returns the number of boards that need somebody as a sentence, and what is not known.
#[must_use]
pub fn answer_of_fleet(fleet: &Fleet<'_>) -> AnswerBlock {
    let all = fleet.boards.len();
    let count = |need: Need| {
        let boards = fleet.boards.iter();
        boards.filter(|board| board.need == Some(need)).count()
    };
    let parts = [
        (Need::Replace, "to replace"),
        (Need::BackUp, "to back up"),
        (Need::Watch, "to watch"),
        (Need::Silent, "silent"),
    ];
    let counts = parts.map(|(need, words)| (count(need), words));
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let needing: usize = counts.iter().map(|(count, _)| count).sum();
    let words = words.join(", ");
    let sentence = match (needing, all) {
        (0, 1) => "The board needs no attention".to_owned(),
        (0, _) => format!("None of {all} boards needs attention"),
        (1, 1) => format!("The board needs attention: {words}"),
        (1, _) => format!("1 of {all} boards needs attention: {words}"),
        _ => format!("{needing} of {all} boards need attention: {words}"),
    };
    let mut open: Vec<String> = fleet.moved.iter().take(MOST_MOVED).map(moved).collect();
    let left = fleet.moved.len().saturating_sub(MOST_MOVED);
    open.extend((left > 0).then(|| format!("{left} more cards were seen in several boards")));
    open.extend(not_watched(fleet));
    AnswerBlock {
        weight: match (needing, counts[0].0 + counts[1].0) {
            (0, _) => Weight::Plain,
            (_, 0) => Weight::Warning,
            _ => Weight::Error,
        },
        sentence,
        open,
        ..AnswerBlock::default()
    }
}

/// Returns how to begin without any board.
#[must_use]
pub fn no_fleet() -> AnswerBlock {
    AnswerBlock {
        sentence: "No board yet".to_owned(),
        more: vec![
            "On a board: `sudo cardmark watch`, then `sudo cardmark export --since 90d > pi-1.jsonl`"
                .to_owned(),
            "For many boards: docs/FLEET.md".to_owned(),
        ],
        next: Some("cardmark import --host pi-1 pi-1.jsonl".to_owned()),
        ..AnswerBlock::default()
    }
}

/// A card in several boards, with the last day in each.
fn moved(card: &MovedCard<'_>) -> String {
    let place = |(host, at_s): &(&str, Option<u64>)| match at_s {
        Some(at_s) => format!("{} ({})", clean(host), day(*at_s)),
        None => clean(host),
    };
    let places: Vec<String> = card.boards.iter().map(place).collect();
    let model = card.model.map(|model| format!(" ({})", clean(model)));
    format!(
        "Card {}{} was seen in {}",
        clean(card.id),
        model.unwrap_or_default(),
        listed(&places, "and")
    )
}

/// Boards without any look.
fn not_watched(fleet: &Fleet<'_>) -> Option<String> {
    let boards = fleet.boards.iter();
    let count = boards.filter(|board| board.looks.is_empty()).count();
    let boards = count_of(count, "board", "boards");
    (count > 0).then(|| format!("Not watched: {boards} without a look"))
}

/// Returns the answer and a table of the first `most` boards, at most `width` columns wide.
#[must_use]
pub fn fleet_list(fleet: &Fleet<'_>, most: usize, width: usize, style: Style) -> String {
    let answer = answer_of_fleet(fleet);
    let head = AnswerBlock {
        open: Vec::new(),
        ..answer.clone()
    };
    let mut lines = head.lines(width, style);
    lines.extend(table(&fleet.boards, most, |_| None).lines(width, style));
    let all = fleet.boards.len();
    let left = all.saturating_sub(most);
    let left = (left > 0).then(|| format!("{left} more: `--limit {all}`"));
    let notes: Vec<String> = left.into_iter().chain(answer.open).collect();
    lines.extend(painted(&notes, width, style, Tone::Dim));
    lines.join("\n") + "\n"
}

/// Returns the same for a page: the answer, and a table whose rows lead to the `address` of the run with the worst reason.
#[must_use]
pub fn fleet_blocks(fleet: &Fleet<'_>, address: impl Fn(&Record) -> Option<String>) -> Vec<Block> {
    if fleet.boards.is_empty() {
        return no_fleet().blocks();
    }
    let mut blocks = answer_of_fleet(fleet).blocks();
    blocks.push(Block::Table {
        caption: "Boards, the worst first".to_owned(),
        table: table(&fleet.boards, usize::MAX, address),
    });
    blocks
}

fn table(
    boards: &[FleetBoard<'_>],
    most: usize,
    address: impl Fn(&Record) -> Option<String>,
) -> Table {
    Table {
        columns: vec![
            Column::left("board"),
            Column::left("do"),
            Column::left("why").cut(Cut::First(LEAST_REASON)),
            Column::left("last look").priority(4),
            Column::right("life").priority(2),
            Column::right("GB/day").priority(3),
            Column::left("product")
                .priority(1)
                .cut(Cut::First(LEAST_PRODUCT)),
        ],
        rows: boards
            .iter()
            .take(most)
            .map(|board| {
                let worst = board.attention.first().and_then(|row| row.worst());
                let row = row(board);
                match worst.and_then(|ground| address(ground.run)) {
                    Some(address) => row.linked(address),
                    None => row,
                }
            })
            .collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn row(board: &FleetBoard<'_>) -> Row {
    let per_day = board.bytes_per_day().map(|bytes| bytes as f64 / GIGABYTE);
    let or_missing = |text: Option<String>| text.unwrap_or_else(|| MISSING.to_owned());
    let (host, what, why) = (clean(board.host), action(board.need), why(board));
    let looked = match (board.looked_s(), board.looks.is_empty()) {
        (Some(at_s), _) => day(at_s),
        (None, true) => "none".to_owned(),
        (None, false) => "no clock".to_owned(),
    };
    let life = or_missing(board.most_used().and_then(used));
    let written = or_missing(per_day.map(figure));
    let product = or_missing(board.product.as_deref().map(clean));
    let details = [
        format!("last look {looked}"),
        format!("{written} GB a day"),
        product.clone(),
    ];
    let stacked = vec![format!("{host}: {what}"), why.clone(), details.join(", ")];
    let values = vec![
        None,
        board.need.map(|need| f64::from(need as u8)),
        None,
        None,
        board
            .most_used()
            .and_then(|disk| disk.used_percent)
            .map(f64::from),
        per_day,
        None,
    ];
    Row::new(vec![
        host,
        what.to_owned(),
        why,
        looked,
        life,
        written,
        product,
    ])
    .stacked(stacked)
    .valued(values)
}

/// What to do, in a word or two.
fn action(need: Option<Need>) -> &'static str {
    match need {
        Some(Need::Replace) => "replace",
        Some(Need::BackUp) => "back up",
        Some(Need::Watch) => "watch",
        Some(Need::Silent) => "silent",
        None => MISSING,
    }
}

/// Events, reasons and silence, those of the need first.
fn why(board: &FleetBoard<'_>) -> String {
    let events = board.events.iter().map(|event| event_clause(event));
    let by_cards = board.attention.iter().map(reasons);
    let silence = board
        .silent_days
        .map(|days| format!("no look for {days} days"));
    let parts: Vec<String> = match board.need {
        Some(Need::Replace) => by_cards.chain(events).chain(silence).collect(),
        _ => events.chain(by_cards).chain(silence).collect(),
    };
    match parts.is_empty() {
        true => MISSING.to_owned(),
        false => capitalised(&parts.join("; ")),
    }
}

fn used(disk: &LastDisk) -> Option<String> {
    Some(match (disk.is_emmc, disk.used_percent?) {
        (true, 101..) => "> 100 %".to_owned(),
        (true, percent) => format!("≤ {percent} %"),
        (false, percent) => format!("{percent} %"),
    })
}

/// Returns the boards for programs.
#[must_use]
pub fn fleet_json(fleet: &Fleet<'_>) -> Value {
    let board = |board: &FleetBoard<'_>| {
        let event = |event: &&cardmark_judge::Event| {
            let mut value = json!(event);
            value["gravity"] = json!(event.kind.gravity());
            value["text"] = json!(event_clause(event));
            value
        };
        json!({
            "host": board.host,
            "need": board.need,
            "last_look_s": board.looked_s(),
            "silent_days": board.silent_days,
            "events": board.events.iter().map(event).collect::<Vec<_>>(),
            "attention": board.attention.iter().map(attention_json).collect::<Vec<_>>(),
            "used_percent": board.most_used().and_then(|disk| disk.used_percent),
            "written_bytes_per_day": board.bytes_per_day(),
            "product": board.product,
            "runs_count": board.runs.len(),
            "looks": board.looks,
        })
    };
    let moved = |card: &MovedCard<'_>| {
        let place = |(host, at_s): &(&str, Option<u64>)| json!({ "host": host, "last_s": at_s });
        json!({
            "card": card.id,
            "model": card.model,
            "boards": card.boards.iter().map(place).collect::<Vec<_>>(),
        })
    };
    let answer = match fleet.boards.is_empty() {
        true => no_fleet(),
        false => answer_of_fleet(fleet),
    };
    json!({
        "answer": answer.json(),
        "boards": fleet.boards.iter().map(board).collect::<Vec<_>>(),
        "cards_in_several_boards": fleet.moved.iter().map(moved).collect::<Vec<_>>(),
    })
}

/// Returns a table of groups of boards, at most `width` columns wide. `of` is what they have in common, such as `product`.
#[must_use]
pub fn fleet_groups(
    groups: &[FleetGroup],
    of: &str,
    most: usize,
    width: usize,
    style: Style,
) -> String {
    let row = |group: &FleetGroup| {
        let place = group
            .place
            .map_or(MISSING.to_owned(), |place| place.to_string());
        let name = group.name.as_deref().map_or("not known".to_owned(), clean);
        let share = format!("{} of {}", group.need_count, group.boards_count);
        let stacked = vec![
            format!("{place}  {name}"),
            format!("{share} need attention"),
        ];
        Row::new(vec![place, name, share]).stacked(stacked)
    };
    let table = Table {
        columns: vec![
            Column::right("place"),
            Column::left(clean(of)).cut(Cut::Last(LEAST_PRODUCT)),
            Column::right("need attention"),
        ],
        rows: groups.iter().take(most).map(row).collect(),
    };
    let mut lines = table.lines(width, style);
    let left = groups.len().saturating_sub(most);
    let left = (left > 0).then(|| format!("{left} more: `--limit {}`", groups.len()));
    let small = groups.iter().any(|group| group.place.is_none());
    let small =
        small.then(|| format!("Without a place: fewer than {LEAST_BOARDS} boards, or not known"));
    let notes: Vec<String> = left.into_iter().chain(small).collect();
    lines.extend(painted(&notes, width, style, Tone::Dim));
    lines.join("\n") + "\n"
}
