//! The answer of rankings in a sentence.

use cardmark_judge::{Order, ROLES, Ranking, role_of};
use serde_json::{Value, json};

use super::{computers, numbers, possible_places};
use crate::answer::AnswerBlock;
use crate::text::names::{capitalised, role_name};
use crate::text::on_boards;
use crate::text::style::clean;

/// Rankings that the sentence is about, at most.
const MOST: usize = 4;
/// Names that share a first place, at most.
const MOST_FIRST: usize = 3;

/// Returns the answer of rankings: the places of the run that was asked for, else who is first, by the rates that people ask
/// for, or the first metrics if none of these is there. `None` without a ranking of several.
#[must_use]
pub fn answer_of_rankings(rankings: &[Ranking]) -> Option<AnswerBlock> {
    let is_ranked = |ranking: &&Ranking| ranking.places.len() > 1;
    let ranked: Vec<&Ranking> = rankings.iter().filter(is_ranked).collect();
    let of_roles = ROLES.iter().filter_map(|role| {
        let mut all = ranked.iter();
        all.find(|ranking| role.metrics.contains(&ranking.metric.as_str()))
    });
    let mut about: Vec<&Ranking> = of_roles.copied().collect();
    if about.is_empty() {
        about = ranked.into_iter().take(MOST).collect();
    }
    let first = about.first()?;
    let is_of_run = about.iter().any(|ranking| asked(ranking).is_some());
    let parts: Vec<String> = match is_of_run {
        true => about
            .iter()
            .filter_map(|ranking| place(ranking, first))
            .collect(),
        false => about
            .iter()
            .filter_map(|ranking| fastest(ranking, first))
            .collect(),
    };
    let sentence = capitalised(&parts.join("; "));
    Some(AnswerBlock {
        sentence,
        ..AnswerBlock::default()
    })
}

/// Returns rankings as JSON, each with its answer.
#[must_use]
pub fn rankings_json(rankings: &[Ranking]) -> Value {
    let value = |ranking: &Ranking| {
        let mut value = json!(ranking);
        let answer = answer_of_rankings(std::slice::from_ref(ranking));
        if let Some((object, answer)) = value.as_object_mut().zip(answer) {
            object.insert("answer".to_owned(), answer.json());
        }
        value
    };
    Value::Array(rankings.iter().map(value).collect())
}

fn asked(ranking: &Ranking) -> Option<usize> {
    ranking.places.iter().position(|place| place.is_asked)
}

/// `random writes: place 1–2 of 46 on a Raspberry Pi 4`; the boards only where they differ from those before.
fn place(ranking: &Ranking, first: &Ranking) -> Option<String> {
    let place = numbers(ranking, asked(ranking)?);
    let name = role_name(role_of(&ranking.metric), &ranking.metric);
    let count = ranking.places.len();
    let boards = boards(ranking, first);
    Some(match std::ptr::eq(ranking, first) {
        true => format!("{name}: place {place} of {count}{boards}"),
        false if name.contains(", ") => format!("{name}, {place} of {count}{boards}"),
        false => format!("{name} {place} of {count}{boards}"),
    })
}

/// `fastest in random writes: A or B, of 46 on a Raspberry Pi 4`.
fn fastest(ranking: &Ranking, first: &Ranking) -> Option<String> {
    let shares_first = |index: &usize| possible_places(ranking, *index)[0] == 1;
    let leaders = (0..ranking.places.len()).filter(shares_first);
    let mut leaders: Vec<String> = leaders
        .map(|index| clean(&ranking.places[index].name))
        .collect();
    leaders.dedup();
    let of = format!("of {}{}", ranking.places.len(), boards(ranking, first));
    let who = match leaders.as_slice() {
        [] => return None,
        [one] => format!("{one}, {of}"),
        [begin @ .., last] if leaders.len() <= MOST_FIRST => {
            format!("{} or {last}, {of}", begin.join(", "))
        }
        _ => format!("no clear order among the first {} {of}", leaders.len()),
    };
    let name = role_name(role_of(&ranking.metric), &ranking.metric);
    let word = match ranking.order {
        Order::HighestFirst => "fastest in",
        Order::LowestFirst => "shortest",
    };
    Some(match std::ptr::eq(ranking, first) {
        true => format!("{word} {name}: {who}"),
        false => format!("in {name}: {who}"),
    })
}

/// The boards in words, with a space before; empty if the first ranking has the same ones.
fn boards(ranking: &Ranking, first: &Ranking) -> String {
    let words = on_boards(computers(ranking));
    let is_known = !std::ptr::eq(ranking, first) && on_boards(computers(first)) == words;
    match is_known || words.is_empty() {
        true => String::new(),
        false => format!(" {words}"),
    }
}
