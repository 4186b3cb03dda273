//! Answers of `recommend` that rest on other facts than rates: cards that last, and cards to avoid.

use cardmark_catalog::{ProductKind, Use, endurance_promises, endurance_samples, lines};
use cardmark_core::clean;
use cardmark_judge::{
    AskedBoard, AvoidQuestion, Day, Durable, DurableQuestion, avoid, durable, endured,
    published_figures, tested_by_others,
};
use cardmark_report::{AvoidAnswer, DurableAnswer};
use serde_json::Value;

use crate::args::RecommendArguments;
use crate::error::{CommandError, Exit};
use crate::runs::{own_records, published_records};
use crate::terminal::print;

/// Kinds that are meant if none is named.
const MICROSD: [ProductKind; 1] = [ProductKind::Microsd];

/// Answers `--avoid`, and uses for which endurance decides; `None` for all other questions.
pub(super) fn answered(
    arguments: &RecommendArguments,
    wanted: &'static Use,
    today: Day,
) -> Result<Option<Exit>, CommandError> {
    if arguments.avoid {
        return to_avoid(arguments, wanted).map(Some);
    }
    match wanted.needs.is_empty() {
        true => that_lasts(arguments, wanted, today).map(Some),
        false => Ok(None),
    }
}

fn that_lasts(
    arguments: &RecommendArguments,
    wanted: &Use,
    today: Day,
) -> Result<Exit, CommandError> {
    let own = endured(&own_records()?);
    let question = DurableQuestion::new(wanted, arguments.capacity_bytes(), today);
    let mut found = durable(endurance_promises(), &question);
    if let [(name, cards), ..] = found.enter_prices(&arguments.prices).as_slice() {
        return Err(unclear_price(name, cards, &found));
    }
    if let Some(budget) = &arguments.budget {
        found.keep_within(budget);
    }
    let answer = DurableAnswer {
        wanted,
        question: &question,
        found: &found,
        tested: &tested_by_others(endurance_samples(), None),
        own: &own,
    };
    for unused in unused(arguments) {
        print::notice(&unused);
    }
    shown(arguments, &answer.json(), || {
        answer.text(arguments.all, print::width(), print::style())
    })
}

/// The error on a price that is of none of the cards, or of several.
fn unclear_price(name: &str, cards: &[String], found: &Durable<'_>) -> CommandError {
    let name = clean(name);
    let (what, names) = match cards {
        [] => (
            format!("no maker states the endurance of a card called `{name}`"),
            found.ordered.iter().map(|card| card.name.clone()).collect(),
        ),
        cards => (format!("`{name}` is several cards"), cards.to_vec()),
    };
    CommandError::new(Exit::Usage, what)
        .hint(format!("give the price of one of {}", names.join(", ")))
}

fn to_avoid(arguments: &RecommendArguments, wanted: &Use) -> Result<Exit, CommandError> {
    let mut records = own_records()?;
    records.extend(published_records());
    let named = arguments.board.as_deref();
    let figures = published_figures().iter();
    let measured = figures.filter_map(|figure| figure.subject.board.as_deref());
    let board = named.and_then(|name| AskedBoard::find(name, measured));
    if let Some(name) = named.filter(|_| board.is_none()) {
        print::notice(&format!(
            "no board called `{name}` is known; answered across boards"
        ));
    }
    let question = AvoidQuestion {
        wanted,
        board: board.as_ref(),
        kinds: arguments.kind.as_ref().map_or(&MICROSD, |kinds| &kinds.0),
    };
    let warned = avoid(endurance_samples(), lines(), &records, &question);
    let answer = AvoidAnswer {
        wanted,
        warned: &warned,
    };
    shown(arguments, &answer.json(), || {
        answer.text(arguments.all, print::width(), print::style())
    })
}

/// Arguments that make no difference to the endurance of a card, in words.
fn unused(arguments: &RecommendArguments) -> Vec<String> {
    let is_other = arguments
        .kind
        .as_ref()
        .is_some_and(|kinds| !kinds.0.is_empty() && !kinds.0.contains(&ProductKind::Microsd));
    let is_unpriced =
        arguments.prices.is_empty() && (arguments.by_value || arguments.budget.is_some());
    let texts = [
        (
            is_other,
            "figures of endurance are of microSD cards only; `--kind` is not used",
        ),
        (
            is_unpriced,
            "without a price, such as `--price \"PRO Endurance=20\"`, all cards are shown",
        ),
        (
            arguments.board.is_some(),
            "the board makes no difference to endurance",
        ),
    ];
    let used = texts.into_iter().filter(|(is_given, _)| *is_given);
    used.map(|(_, text)| text.to_owned()).collect()
}

fn shown(
    arguments: &RecommendArguments,
    data: &Value,
    text: impl Fn() -> String,
) -> Result<Exit, CommandError> {
    match arguments.json {
        true => print::data(&format!("{data:#}\n"))?,
        false => print::result(&text())?,
    }
    Ok(Exit::Done)
}
