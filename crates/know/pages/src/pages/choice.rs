//! Products for a use and a board.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_catalog::{Use, boards, endurance_promises, endurance_samples, use_of, uses};
use cardmark_judge::{
    Candidate, Choice, Day, DurableQuestion, Figure, Question, durable, recommend, tested_by_others,
};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::{DurableAnswer, Recommended, rate_cell};
use serde::Deserialize;

use crate::addresses;
use crate::frame::{Field, Form, Page};
use crate::queries::{Queries, bad_request, not_found};
use crate::shared::published;

/// Products of a table.
const MANY: usize = 30;

const FROM_PUBLISHED: &str =
    "From published figures only, in which products have few cards each: a hint, not a proof.";
const FROM_BOTH: &str = "From published figures, in which products have few cards each, and from shared runs of three submitters and more.";

/// A use on a board.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoicePageQuery {
    /// Name of the board in the catalogue; empty for any.
    #[serde(default)]
    pub board: String,
    /// Capacity of the card in GB; empty for any, or for the usual one where endurance decides.
    #[serde(default)]
    pub capacity: String,
}

/// Capacities of cards that pages offer, GB.
const CAPACITIES: [u64; 5] = [32, 64, 128, 256, 512];

/// A use, the name of a board, a capacity, and whether kinds of products are asked for.
type Asked = (&'static str, Option<&'static str>, Option<u64>, bool);

/// Choices of one day from the same figures.
struct Made {
    today: Day,
    figures: Arc<Vec<Figure>>,
    choices: BTreeMap<Asked, Arc<Choice>>,
}

static MADE: Mutex<Option<Made>> = Mutex::new(None);

/// Returns the choice for a use and a board of the catalogue, made once for these figures and this day. The kinds of the question are
/// the usual ones, or all.
pub(super) fn choice(
    figures: &Arc<Vec<Figure>>,
    question: &Question,
    board: Option<&'static str>,
) -> Arc<Choice> {
    let asked = (
        question.wanted.id.as_str(),
        board,
        question.wish.capacity_bytes,
        question.wish.kinds.is_some(),
    );
    let locked = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same =
        |made: &&mut Made| made.today == question.today && Arc::ptr_eq(&made.figures, figures);
    if let Some(choice) = locked()
        .as_mut()
        .filter(is_same)
        .and_then(|made| made.choices.get(&asked))
    {
        return Arc::clone(choice);
    }
    let choice = Arc::new(recommend(figures, question));
    let mut made = locked();
    if made.as_mut().filter(is_same).is_none() {
        *made = Some(Made {
            today: question.today,
            figures: Arc::clone(figures),
            choices: BTreeMap::new(),
        });
    }
    if let Some(made) = made.as_mut() {
        made.choices.insert(asked, Arc::clone(&choice));
    }
    choice
}

/// Origin of the figures, in a sentence.
pub(crate) fn origin(figures: &Arc<Vec<Figure>>) -> Block {
    let text = match Arc::ptr_eq(figures, &published()) {
        true => FROM_PUBLISHED,
        false => FROM_BOTH,
    };
    Block::Text(text.to_owned())
}

/// Names of the first products for a use on any board.
pub(crate) fn first(
    figures: &Arc<Vec<Figure>>,
    wanted: &'static Use,
    today: Day,
    most: usize,
) -> Vec<String> {
    if wanted.needs.is_empty() {
        let found = durable(
            endurance_promises(),
            &DurableQuestion::new(wanted, None, today),
        );
        let names = found.ordered.into_iter().map(|card| card.name);
        return names.take(most).collect();
    }
    let choice = choice(figures, &Question::new(wanted, None, today), None);
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
    let (board, capacity) = (board_called(&asked.board)?, capacity(&asked.capacity)?);
    let form = form(wanted, board, &asked.capacity);
    let title = format!("For {}", wanted.title);
    let capacity_bytes = capacity.map(|gigabytes| gigabytes * 1_000_000_000);
    if wanted.needs.is_empty() {
        let blocks = that_last(wanted, capacity_bytes, today);
        return Ok(Page::new(title, wanted.about.clone(), blocks).form(form));
    }
    let mut question = Question::new(wanted, board, today);
    question.wish.capacity_bytes = capacity_bytes;
    let figures = figures_of(queries).await?;
    let mut blocks = queries.work(answered(figures, question, board)).await?;
    blocks.push(Block::Text(wanted.about.clone()));
    blocks.push(Block::Text(format!(
        "Source of these needs: {}.",
        wanted.source
    )));
    Ok(Page::new(title, wanted.about.clone(), blocks).form(form))
}

/// The figures of a recommendation: those of a computer's own runs are not among them.
pub(super) async fn figures_of<Q: Queries>(queries: &Q) -> Result<Arc<Vec<Figure>>, Q::Error> {
    match queries.is_personal() {
        true => Ok(published()),
        false => queries.figures().await,
    }
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

/// The capacity in GB; `None` if none is asked for.
fn capacity(text: &str) -> Result<Option<u64>, cardmark_share::Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let known = CAPACITIES
        .into_iter()
        .find(|known| known.to_string() == text);
    let unknown = || bad_request(format!("capacity is none of {CAPACITIES:?}: `{text}`"));
    known.map(Some).ok_or_else(unknown)
}

fn form(wanted: &Use, board: Option<&str>, capacity: &str) -> Form {
    let any = |name: &str| (String::new(), name.to_owned());
    let names = boards().iter().map(|board| board.name.clone());
    let boards = std::iter::once(any("any board")).chain(names.map(|name| (name.clone(), name)));
    let sizes = CAPACITIES.map(|size| (size.to_string(), format!("{size} GB")));
    let (least, usual) = match wanted.needs.is_empty() {
        true => ("Capacity", "usual capacity"),
        false => ("Capacity at least", "any capacity"),
    };
    let sizes = std::iter::once(any(usual)).chain(sizes);
    let capacity = Field::choice("capacity", least, Some(capacity), sizes.collect());
    // The board makes no difference to endurance.
    let board = (!wanted.needs.is_empty())
        .then(|| Field::choice("board", "Board", board, boards.collect()));
    let fields = board.into_iter().chain([capacity]);
    Form::asking(addresses::choice(wanted), "Show", fields.collect())
}

fn that_last(wanted: &Use, capacity_bytes: Option<u64>, today: Day) -> Vec<Block> {
    let question = DurableQuestion::new(wanted, capacity_bytes, today);
    let answer = DurableAnswer {
        wanted,
        question: &question,
        found: &durable(endurance_promises(), &question),
        tested: &tested_by_others(endurance_samples(), None),
        own: &[],
    };
    answer.blocks()
}

/// Draws the answer and its products.
fn answered(
    figures: Arc<Vec<Figure>>,
    question: Question,
    board: Option<&'static str>,
) -> impl FnOnce() -> Vec<Block> + Send + 'static {
    move || {
        let choice = choice(&figures, &question, board);
        let answer = Recommended {
            question: &question,
            choice: &choice,
        };
        let mut blocks: Vec<Block> = answer
            .answer()
            .blocks()
            .into_iter()
            .map(of_a_page)
            .collect();
        blocks.push(products(&answer));
        blocks.push(origin(&figures));
        blocks
    }
}

/// A block without the option that is a page here.
pub(super) fn of_a_page(block: Block) -> Block {
    match block {
        Block::Text(text) => {
            Block::Text(text.replace("`--use endurance`", "the page of endurance"))
        }
        block => block,
    }
}

fn products(answer: &Recommended<'_>) -> Block {
    let choice = answer.choice;
    let row = |one: &Candidate| {
        let scarcest = one.scarcest();
        let limited = scarcest.map_or("", |met| met.plain.as_str());
        let board = scarcest.and_then(|met| met.board.clone());
        let cells = vec![
            one.product.clone(),
            board.unwrap_or_else(|| "–".to_owned()),
            limited.to_owned(),
            scarcest.map(rate_cell).unwrap_or_default(),
            answer.in_word(one),
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
        caption: format!("{count} that suit or may suit, with the rate that limits each"),
        table: Table {
            columns: vec![
                Column::left("product"),
                Column::left("measured on"),
                Column::left("limited by"),
                Column::right("rate"),
                Column::left("suitability"),
                Column::right("cards"),
            ],
            rows: all.into_iter().take(MANY).map(row).collect(),
        },
    }
}
