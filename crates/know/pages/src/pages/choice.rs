//! Products for a use and a board.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_catalog::{Use, boards, endurance_promises, endurance_samples, product, use_of, uses};
use cardmark_judge::{
    Candidate, Choice, Day, DurableQuestion, Figure, Question, durable, recommend, tested_by_others,
};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{count_of, on_boards};
use cardmark_report::{DurableAnswer, Recommended, capitalised, rate_cell};
use cardmark_share::Problem;
use serde::Deserialize;

use crate::addresses;
use crate::frame::{Field, Form, Page, Section, sentence};
use crate::queries::{Queries, bad_request, not_found};
use crate::shared::published;

/// The use by which a card is judged first.
pub(super) const FIRST_USE: &str = "boot";

/// Products of a table.
const MANY: usize = 30;

const FROM_PUBLISHED: &str =
    "From published figures only, in which products have few cards each: a hint, not a proof.";
const FROM_BOTH: &str = "From published figures, in which products have few cards each, and from shared runs of three submitters and more.";

/// A use on a board.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoicePageQuery {
    /// The use, by a word that people have for it; empty if the path names it.
    #[serde(default, rename = "use")]
    pub wanted: String,
    /// Name of the board in the catalogue; empty for any.
    #[serde(default)]
    pub board: String,
    /// Capacity of the card in GB; empty for any, or for the usual one where endurance decides.
    #[serde(default)]
    pub capacity: String,
}

impl ChoicePageQuery {
    /// Returns the address of the page that a form asks for.
    ///
    /// # Errors
    /// If there is no such use.
    pub fn address(&self) -> Result<String, Problem> {
        let wanted = use_of(&self.wanted).ok_or_else(no_such_use)?;
        let parameters = [
            ("board", Some(self.board.as_str())),
            ("capacity", Some(self.capacity.as_str())),
        ];
        Ok(addresses::with(&addresses::choice(wanted), &parameters))
    }
}

fn no_such_use() -> Problem {
    let known: Vec<&str> = uses().iter().map(|one| one.id.as_str()).collect();
    not_found("No such use", format!("there is {}", known.join(", ")))
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
    let wanted = match asked.wanted.as_str() {
        "" => use_of(name).filter(|wanted| wanted.id == name),
        word => use_of(word),
    };
    let wanted = wanted.ok_or_else(no_such_use)?;
    let today = queries.today();
    let (board, capacity) = (board_called(&asked.board)?, capacity(&asked.capacity)?);
    // The board makes no difference to endurance.
    let board = board.filter(|_| !wanted.needs.is_empty());
    let title = match board {
        Some(_) => format!("{} {}", capitalised(&wanted.title), on_board(board)),
        None => format!("For {}", wanted.title),
    };
    let page = Page::new(title, sentence(&wanted.about), Vec::new()).form(form(
        Some(wanted),
        board,
        &asked.capacity,
    ));
    let capacity_bytes = capacity.map(|gigabytes| gigabytes * 1_000_000_000);
    if wanted.needs.is_empty() {
        let mut blocks = of_page(that_last(wanted, capacity_bytes, today));
        let rest = blocks.split_off(blocks.len().min(1));
        return Ok(page.answered(blocks, Vec::new()).more(rest));
    }
    let mut question = Question::new(wanted, board, today);
    question.wish.capacity_bytes = capacity_bytes;
    let figures = figures_of(queries).await?;
    let (answer, mut rest) = queries.work(answered(figures, question, board)).await?;
    rest.push(Block::Details {
        title: "What is enough".to_owned(),
        blocks: vec![
            Block::Text(format!(
                "{} is {}.",
                capitalised(&wanted.title),
                wanted.about
            )),
            Block::Text(format!("Source: {}.", wanted.source)),
        ],
    });
    let page = page.answered(answer, Vec::new()).more(rest);
    Ok(page.section(others(wanted, board)))
}

/// The board with its article: `on an Orange Pi 5`.
fn on_board(board: Option<&str>) -> String {
    on_boards(std::iter::once(board))
}

/// Links to the other uses on a board.
fn others(wanted: &Use, board: Option<&str>) -> Section {
    let others = uses().iter().filter(|other| other.id != wanted.id);
    let title = match board {
        Some(_) => format!("Other uses {}", on_board(board)),
        None => "Other uses".to_owned(),
    };
    others.fold(Section::new(title, Vec::new()), |section, other| {
        let address = addresses::choice_on(other, board.unwrap_or_default());
        section.link(capitalised(&other.title), address)
    })
}

/// The figures of a recommendation: those of a computer's own runs are not among them.
pub(super) async fn figures_of<Q: Queries>(queries: &Q) -> Result<Arc<Vec<Figure>>, Q::Error> {
    match queries.is_personal() {
        true => Ok(published()),
        false => queries.figures().await,
    }
}

/// The name in the catalogue; `None` for any board.
fn board_called(name: &str) -> Result<Option<&'static str>, Problem> {
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
fn capacity(text: &str) -> Result<Option<u64>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let known = CAPACITIES
        .into_iter()
        .find(|known| known.to_string() == text);
    let unknown = || bad_request(format!("capacity is none of {CAPACITIES:?}: `{text}`"));
    known.map(Some).ok_or_else(unknown)
}

/// The question for a card: for which board, for what, and of which size.
pub(super) fn form(wanted: Option<&Use>, board: Option<&str>, capacity: &str) -> Form {
    let chosen = wanted.map_or(FIRST_USE, |wanted| wanted.id.as_str());
    let lasts = wanted.is_some_and(|wanted| wanted.needs.is_empty());
    let any = |name: &str| (String::new(), name.to_owned());
    let names = boards().iter().map(|board| board.name.clone());
    let boards = std::iter::once(any("any board")).chain(names.map(|name| (name.clone(), name)));
    let sizes = CAPACITIES.map(|size| (size.to_string(), format!("{size} GB")));
    let (least, usual) = match lasts {
        true => ("Capacity", "usual capacity"),
        false => ("Capacity at least", "any capacity"),
    };
    let sizes = std::iter::once(any(usual)).chain(sizes);
    let capacity = Field::choice("capacity", least, Some(capacity), sizes.collect());
    let board = (!lasts).then(|| Field::choice("board", "Board", board, boards.collect()));
    let wanted = use_field("Used for", Some(chosen));
    let fields = board.into_iter().chain([wanted, capacity]);
    Form::asking("/for", "Show", fields.collect())
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
) -> impl FnOnce() -> (Vec<Block>, Vec<Block>) + Send + 'static {
    move || {
        let choice = choice(&figures, &question, board);
        let answer = Recommended {
            question: &question,
            choice: &choice,
        };
        let listed = vec![products(&answer), origin(&figures)];
        (of_page(answer.answer().blocks()), listed)
    }
}

/// The blocks of an answer for a page: an option of the program is a page here, and products lead to theirs.
pub(super) fn of_page(blocks: Vec<Block>) -> Vec<Block> {
    blocks.into_iter().map(block_of_page).collect()
}

fn block_of_page(block: Block) -> Block {
    match block {
        Block::Text(text) => {
            Block::Text(text.replace("`--use endurance`", "the page of endurance"))
        }
        Block::Answer { weight, blocks } => Block::Answer {
            weight,
            blocks: of_page(blocks),
        },
        Block::Table { caption, table } => Block::Table {
            caption,
            table: Table {
                rows: table.rows.into_iter().map(to_product).collect(),
                ..table
            },
        },
        block => block,
    }
}

/// The row with a link, if its name behind a place such as `1–3. ` is that of a product.
fn to_product(row: Row) -> Row {
    let name = row.cells.first().map_or("", String::as_str);
    let is_place = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '–');
    let name = match name.split_once(". ") {
        Some((place, name)) if is_place(place) => name,
        _ => name,
    };
    match product(name) {
        Some(known) => row.linked(addresses::product(&known.id)),
        None => row,
    }
}

/// The field for a use.
pub(super) fn use_field(label: &'static str, chosen: Option<&str>) -> Field {
    let uses = uses().iter();
    let uses = uses.map(|one| (one.id.clone(), capitalised(&one.title)));
    Field::choice("use", label, chosen, uses.collect())
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
