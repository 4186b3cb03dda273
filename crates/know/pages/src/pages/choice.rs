//! Products for a use and a board.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_catalog::{Use, boards, endurance_promises, endurance_samples, use_of, uses};
use cardmark_judge::{
    Candidate, Choice, Day, DurableQuestion, Question, durable, published_figures, recommend,
    tested_by_others,
};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{count_of, place_text};
use cardmark_report::{AnswerBlock, DurableAnswer, Recommended, share_of_enough, workload_name};
use serde::Deserialize;

use crate::addresses;
use crate::frame::{Field, Form, Page, sentence};
use crate::pages::figures;
use crate::places::{ListedProduct, possible};
use crate::queries::{Queries, bad_request, not_found};
use crate::views::suited::{Suited, SuitedProduct};

/// Products of a table.
const MANY: usize = 30;

pub(crate) const FROM_PUBLISHED: &str =
    "From published figures only, in which products have few cards each: a hint, not a proof.";
pub(crate) const NOT_ENOUGH: &str = "not enough runs yet";

/// A use on a board.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoicePageQuery {
    /// Name of the board in the catalogue; empty for any.
    #[serde(default)]
    pub board: String,
}

/// A use, and the name of a board.
type Asked = (&'static str, Option<&'static str>);

/// Choices from published figures, each of its day.
static CHOICES: Mutex<BTreeMap<Asked, (Day, Arc<Choice>)>> = Mutex::new(BTreeMap::new());

/// Returns the choice for a use and a board of the catalogue, made once a day.
fn choice(question: &Question, board: Option<&'static str>) -> Arc<Choice> {
    let asked = (question.wanted.id.as_str(), board);
    let choices = || CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = choices().get(&asked).cloned();
    if let Some((day, choice)) = known
        && day == question.today
    {
        return choice;
    }
    let choice = Arc::new(recommend(published_figures(), question));
    choices().insert(asked, (question.today, Arc::clone(&choice)));
    choice
}

/// Names of the first products for a use on any board.
pub(crate) fn first(wanted: &'static Use, today: Day, most: usize) -> Vec<String> {
    if wanted.needs.is_empty() {
        let found = durable(
            endurance_promises(),
            &DurableQuestion::new(wanted, None, today),
        );
        let names = found.ordered.into_iter().map(|card| card.name);
        return names.take(most).collect();
    }
    let choice = choice(&Question::new(wanted, None, today), None);
    let best = choice.best().iter().take(most);
    best.map(|one| one.product.clone()).collect()
}

/// Products for a use, by its id, on a board.
///
/// # Errors
/// If there is no such use or board, or a query has no answer.
pub async fn recommended<Q: Queries>(
    queries: &Q,
    name: &str,
    asked: &ChoicePageQuery,
) -> Result<Page, Q::Error> {
    let wanted = use_of(name).filter(|wanted| wanted.id == name);
    let wanted = wanted.ok_or_else(|| {
        let known: Vec<&str> = uses().iter().map(|one| one.id.as_str()).collect();
        not_found("No such use", format!("there is {}", known.join(", ")))
    })?;
    let today = queries.today();
    let board = board_called(&asked.board)?;
    let title = format!("For {}", wanted.title);
    if wanted.needs.is_empty() {
        let blocks = that_last(wanted, today).blocks();
        return Ok(Page::new(title, wanted.about.clone(), blocks));
    }
    let mut blocks = queries.work(by_published(wanted, board, today)).await?;
    if !queries.is_personal() {
        let by_use = queries.suited().await?;
        blocks.extend(by_shared(by_use.get(wanted.id.as_str())));
    }
    blocks.push(Block::Text(wanted.about.clone()));
    blocks.push(Block::Text(format!("What is enough: {}.", wanted.source)));
    Ok(Page::new(title, wanted.about.clone(), blocks).form(form(wanted, board)))
}

/// The name in the catalogue; `None` for any board.
fn board_called(name: &str) -> Result<Option<&'static str>, cardmark_share::Problem> {
    if name.is_empty() {
        return Ok(None);
    }
    let mut names = boards().iter().map(|board| board.name.as_str());
    let unknown = || bad_request(format!("no board in the catalogue is called `{name}`"));
    names
        .find(|known| *known == name)
        .map(Some)
        .ok_or_else(unknown)
}

fn form(wanted: &Use, board: Option<&str>) -> Form {
    let any = (String::new(), "any board".to_owned());
    let names = boards().iter().map(|board| board.name.clone());
    let boards = std::iter::once(any).chain(names.map(|name| (name.clone(), name)));
    Form::asking(
        addresses::choice(wanted),
        "Show",
        vec![Field::choice("board", "Board", board, boards.collect())],
    )
}

fn that_last(wanted: &Use, today: Day) -> AnswerBlock {
    let question = DurableQuestion::new(wanted, None, today);
    let answer = DurableAnswer {
        wanted,
        question: &question,
        found: &durable(endurance_promises(), &question),
        tested: &tested_by_others(endurance_samples(), None),
        own: &[],
    };
    AnswerBlock {
        next: Some(format!("cardmark recommend --use {} --all", wanted.id)),
        ..answer.block()
    }
}

/// Draws the answer and its products.
fn by_published(
    wanted: &'static Use,
    board: Option<&'static str>,
    today: Day,
) -> impl FnOnce() -> Vec<Block> + Send + 'static {
    move || {
        let question = Question::new(wanted, board, today);
        let choice = choice(&question, board);
        let answer = Recommended {
            question: &question,
            choice: &choice,
        };
        let mut blocks = answer.answer().blocks();
        blocks.push(products(&choice));
        blocks.push(Block::Text(FROM_PUBLISHED.to_owned()));
        blocks
    }
}

fn products(choice: &Choice) -> Block {
    let row = |one: &Candidate| {
        let scarcest = one.scarcest();
        let limited = scarcest.map_or("", |met| met.plain.as_str());
        let board = scarcest.and_then(|met| met.board.clone());
        let cells = vec![
            one.product.clone(),
            board.unwrap_or_else(|| "–".to_owned()),
            limited.to_owned(),
            scarcest.map(share_of_enough).unwrap_or_default(),
            one.counts()[1].to_string(),
        ];
        let row = Row::new(cells);
        // A product known by its label alone has no page.
        match one.counts() {
            [0, _] => row,
            _ => row.linked(addresses::product(&cardmark_share::product_key(
                &one.product,
            ))),
        }
    };
    let all: Vec<&Candidate> = choice.first.iter().chain(&choice.may_suit).collect();
    let count = count_of(all.len(), "product", "products");
    let count = match all.len() > MANY {
        true => format!("The first {MANY} of {count}"),
        false => count,
    };
    Block::Table {
        caption: format!(
            "{count} that suit or may suit; the rate that limits each, as a share of what is enough"
        ),
        table: Table {
            columns: vec![
                Column::left("product"),
                Column::left("measured on"),
                Column::left("limited by"),
                Column::right("of enough"),
                Column::right("cards"),
            ],
            rows: all.into_iter().take(MANY).map(row).collect(),
        },
    }
}

/// The products of a use by shared runs, with the figure that limits each.
fn by_shared(found: Option<&Suited>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Shared runs".to_owned())];
    let Some(found) = found else {
        blocks.push(Block::Text(sentence(NOT_ENOUGH)));
        return blocks;
    };
    blocks.push(Block::Text(format!(
        "{}.",
        figures::circumstances(&found.context)
    )));
    let places = places(found);
    let row = |(one, place): (&SuitedProduct, [usize; 2])| {
        let limiting = &one.suitability.limiting;
        let cells = vec![
            format!("{}. {}", place_text(place), one.name),
            workload_name(&limiting.metric).to_owned(),
            figures::shown(&one.limiting, one.limiting.median),
            figures::interval(&one.limiting),
            format!("{:.0} %", 100.0 * limiting.share()),
            one.limiting.submitters_count.to_string(),
        ];
        let values = vec![None, None, Some(one.limiting.median), one.limiting.low];
        Row::new(cells)
            .valued(values)
            .linked(addresses::product(&one.key))
    };
    blocks.push(Block::Table {
        caption: best_first(found.products.len()),
        table: Table {
            columns: vec![
                Column::left("product"),
                Column::left("limited by"),
                Column::right("median"),
                Column::right("95 % interval"),
                Column::right("of enough"),
                Column::right("submitters"),
            ],
            rows: found
                .products
                .iter()
                .zip(places)
                .take(MANY)
                .map(row)
                .collect(),
        },
    });
    blocks
}

/// Caption of a table of products, which has the first [`MANY`].
fn best_first(count: usize) -> String {
    let of = match count > MANY {
        true => format!("The best {MANY}"),
        false => "Best first".to_owned(),
    };
    format!(
        "{of}; the rate that limits a product, as a share of what is enough; 1–3: cannot be put in order, other cards or boards differ by that"
    )
}

/// First and last possible place of each product.
pub(crate) fn places(found: &Suited) -> Vec<[usize; 2]> {
    possible(&found.products.iter().map(listed).collect::<Vec<_>>())
}

fn listed(one: &SuitedProduct) -> ListedProduct<'_> {
    ListedProduct {
        value: one.suitability.limiting.share(),
        summary: &one.limiting,
    }
}
