//! Boards: a list, and a page for each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cardmark_catalog::{BoardFacts, board as board_of_model, boards as catalogue};
use cardmark_judge::{Day, Figure, published_rankings};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::{board_facts, plain_name};

use crate::addresses;
use crate::frame::{Field, Form, Page, Section};
use crate::pages::{answers, choice, figures, published_charts, runs};
use crate::places::possible;
use crate::queries::{Queries, not_found};
use crate::views::board::BoardEntry;
use crate::views::product::SummaryView;
use crate::views::ranking::{ContextEntry, MOST_CONTEXTS, RankedEntry};
use crate::views::run::{ListedRun, RunState};
use crate::views::search::{SearchPage, SearchQuery};

const BOARDS: u32 = 100;
/// Runs of a board that its page counts, the last arrivals.
const COUNTED: u32 = 100;
/// Places of a ranking among which the best are looked for.
const PLACES: u32 = 100;
/// Runs and products of a board that its page shows.
const SHOWN: usize = 20;

/// The list of boards: on its first page those of the catalogue, and then those with runs.
///
/// # Errors
/// If a query has no answer.
pub async fn boards<Q: Queries>(queries: &Q, cursor: Option<String>) -> Result<Page, Q::Error> {
    let is_first = cursor.is_none();
    let found = queries.boards(cursor, BOARDS).await?;
    let next = found
        .next
        .map(|cursor| addresses::with("/boards", &[("cursor", Some(cursor.as_str()))]));
    let row = |one: &BoardEntry| {
        let cells = vec![one.model.clone(), one.runs_count.to_string()];
        Row::new(cells).linked(addresses::board(&one.model))
    };
    let mut blocks: Vec<Block> = is_first.then(known).into_iter().collect();
    if !found.boards.is_empty() {
        blocks.push(Block::Table {
            caption: "With runs, as the boards name themselves".to_owned(),
            table: Table {
                columns: vec![Column::left("board"), Column::right("runs")],
                rows: found.boards.iter().map(row).collect(),
            },
        });
    }
    let page = Page::new("Boards", "Computers on which cards were measured.", blocks);
    Ok(page.next(next))
}

/// The boards of the catalogue with the rate of their slots and the number of cards that others measured on them.
fn known() -> Block {
    let row = |board: &BoardFacts| {
        let slot = board.most_slot_bytes_per_s() / 1_000_000;
        let count = cards_on(board);
        let cells = vec![
            board.name.clone(),
            format!("{slot} MB/s"),
            match count {
                0 => "–".to_owned(),
                count => count.to_string(),
            },
        ];
        Row::new(cells)
            .valued(vec![None, Some(slot as f64), Some(count as f64)])
            .linked(addresses::board(&board.name))
    };
    Block::Table {
        caption: "Maximum rate of the card slot, and cards with published figures on the board"
            .to_owned(),
        table: Table {
            columns: vec![
                Column::left("board"),
                Column::right("card slot"),
                Column::right("cards"),
            ],
            rows: catalogue().iter().map(row).collect(),
        },
    }
}

/// Number of cards with published figures on a board.
fn cards_on(board: &BoardFacts) -> usize {
    /// Products by id of the board.
    static CARDS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
        let mut cards = BTreeMap::<&str, BTreeSet<&str>>::new();
        for one in published_rankings() {
            if let Some(facts) = board_of_model(&one.board) {
                let here = cards.entry(&facts.id).or_default();
                here.extend(one.places.iter().map(|place| place.product.id.as_str()));
            }
        }
        cards
    });
    CARDS.get(board.id.as_str()).map_or(0, BTreeSet::len)
}

/// The board of this name or model in the catalogue.
fn facts_of(board: &str) -> Option<&'static BoardFacts> {
    let mut named = catalogue().iter();
    let short = |known: &&BoardFacts| {
        let rest = known.name.strip_prefix(board);
        rest.is_some_and(|rest| rest.starts_with(" Model"))
    };
    named
        .find(|known| known.name == board)
        .or_else(|| board_of_model(board))
        .or_else(|| catalogue().iter().find(short))
}

/// A board by its name in the catalogue, or by its model.
///
/// # Errors
/// If the catalogue does not have it and there is no run on it, or a query has no answer.
pub async fn board<Q: Queries>(queries: &Q, board: String) -> Result<Page, Q::Error> {
    let found = queries.search(SearchQuery {
        board: Some(board.clone()),
        ..SearchQuery::last(COUNTED)
    });
    let found = found.await?;
    let facts = facts_of(&board);
    if found.records.is_empty() && facts.is_none() {
        let detail =
            "no board of this name is known here, and there is no run on one; /boards lists all";
        return Err(not_found("No such board", detail).into());
    }
    let today = queries.today();
    let rated = choice::figures_of(queries).await?;
    let named = board.clone();
    let known = move || {
        facts_of(&named).map_or_else(Default::default, |facts| known_of(facts, &rated, today))
    };
    let (answer, beside) = queries.work(known).await?;
    let blocks = match found.records.is_empty() {
        true => Vec::new(),
        false => shared(queries, &board, found).await?,
    };
    let about = match facts {
        Some(_) => format!("Which memory card for a {board}, and how fast cards are on it."),
        None => format!("Memory cards that were measured on {board}."),
    };
    let address = addresses::with("/runs", &[("board", Some(board.as_str()))]);
    let page = Page::new(board, about, blocks).link("All runs on it", address);
    let page = page.answered(answer, beside);
    Ok(match facts {
        Some(facts) => page.card(other_uses(facts)),
        None => page,
    })
}

/// The form that asks for the cards for another use on a board.
fn other_uses(facts: &BoardFacts) -> Section {
    let fields = vec![
        Field::hidden("board", &facts.name),
        choice::use_field("Used for", None),
    ];
    Section::new("Which card for another use?", Vec::new())
        .form(Form::asking("/for", "Show", fields))
}

/// The best cards on a board and what it can do, by publications and the catalogue; and the chart of its cards.
fn known_of(
    facts: &'static BoardFacts,
    rated: &Arc<Vec<Figure>>,
    today: Day,
) -> (Vec<Block>, Vec<Block>) {
    let mut blocks = answers::on_board(rated, Some(facts.name.as_str()), today);
    blocks.extend(limits(facts));
    let chart = published_charts::on_board(&facts.id).map(Block::Chart);
    (blocks, chart.into_iter().collect())
}

/// What the board itself can do.
fn limits(facts: &BoardFacts) -> Vec<Block> {
    let lists = board_facts(facts).into_iter();
    lists
        .flat_map(|(heading, facts)| [Block::Heading(heading.to_owned()), Block::List(facts)])
        .collect()
}

/// The best products, the usual ones, and the last runs.
async fn shared<Q: Queries>(
    queries: &Q,
    board: &str,
    found: SearchPage,
) -> Result<Vec<Block>, Q::Error> {
    let (mut records, is_all) = (found.records, found.next.is_none());
    let runs = count_of(records.len(), "run", "runs");
    let runs = match is_all {
        true => runs,
        false => format!("the last {runs}"),
    };
    let mut blocks = Vec::new();
    if !queries.is_personal() {
        blocks.push(Block::Heading("Best known figures".to_owned()));
        blocks.extend(best(queries, board).await?);
    }
    blocks.push(Block::Heading("Products".to_owned()));
    blocks.push(products(&records, &runs));
    blocks.push(Block::Heading("Runs".to_owned()));
    let caption = match records.len() > SHOWN {
        true => format!("The last {SHOWN} runs"),
        false => "Runs, the last arrivals first".to_owned(),
    };
    records.truncate(SHOWN);
    blocks.push(runs::table(caption, records, queries.is_personal()));
    Ok(blocks)
}

/// Products of runs that count, with their numbers of runs, those with the most first.
fn products(records: &[ListedRun], runs: &str) -> Block {
    let shared: Vec<&ListedRun> = records
        .iter()
        .filter(|run| run.state == RunState::Shared)
        .collect();
    let counted = match shared.len() == records.len() {
        true => runs.to_owned(),
        false => format!("the {} that count of {runs}", shared.len()),
    };
    // The same product is spelt in several ways.
    let mut counts = BTreeMap::<&str, (&str, usize)>::new();
    for run in shared {
        if let (Some(name), Some(key)) = (&run.product_name, &run.product) {
            counts.entry(key).or_insert((name, 0)).1 += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    if counts.is_empty() {
        return Block::Text(format!(
            "No product is named among {counted} on this board."
        ));
    }
    counts.sort_by_key(|(_, (_, count))| std::cmp::Reverse(*count));
    let caption = match counts.len() > SHOWN {
        true => format!("{SHOWN} of {} products among {counted}", counts.len()),
        false => format!("Products among {counted}"),
    };
    let row = |(key, (name, count)): &(&str, (&str, usize))| {
        Row::new(vec![(*name).to_owned(), count.to_string()]).linked(addresses::product(key))
    };
    Block::Table {
        caption,
        table: Table {
            columns: vec![Column::left("product"), Column::right("runs")],
            rows: counts.iter().take(SHOWN).map(row).collect(),
        },
    }
}

/// The best product in each figure, in the circumstances on this board in which most products are ranked.
async fn best<Q: Queries>(queries: &Q, board: &str) -> Result<Vec<Block>, Q::Error> {
    let mut rows = Vec::new();
    for metric in figures::OFFERED {
        let contexts = queries
            .contexts(metric, None, MOST_CONTEXTS)
            .await?
            .contexts;
        let is_here = |one: &&ContextEntry| one.context.get("board").is_some_and(|it| it == board);
        if let Some(context) = contexts.iter().find(is_here) {
            rows.extend(best_of(queries, metric, context).await?);
        }
    }
    if rows.is_empty() {
        return Ok(vec![Block::Text(format!(
            "No ranking on this board is among the {MOST_CONTEXTS} with the most products of each figure."
        ))]);
    }
    let columns = [
        Column::left("figure"),
        Column::left("best product"),
        Column::right("median"),
        Column::right("95 % interval"),
        Column::right("products"),
        Column::left("circumstances"),
    ];
    Ok(vec![Block::Table {
        caption: "The circumstances in which most products are ranked, for each figure; each row leads to its ranking".to_owned(),
        table: Table {
            columns: columns.into(),
            rows,
        },
    }])
}

async fn best_of<Q: Queries>(
    queries: &Q,
    metric: &str,
    ranked: &ContextEntry,
) -> Result<Option<Row>, Q::Error> {
    let ranking = queries
        .ranking(metric, ranked.key, None, PLACES)
        .await?
        .places;
    let listed: Vec<&SummaryView> = ranking.iter().map(|one| &one.summary).collect();
    let possible = possible(&listed);
    let is_first = |(_, place): &(&RankedEntry, &[usize; 2])| place[0] == 1;
    let first = ranking.iter().zip(&possible).filter(is_first);
    let names: Vec<&str> = first.map(|(one, _)| one.name.as_str()).collect();
    let mut context = ranked.context.clone();
    context.remove("board");
    let row = |first: &RankedEntry| {
        let summary = &first.summary;
        let (median, interval) = match names.len() {
            1 => (
                figures::shown(summary, summary.median),
                figures::interval(summary),
            ),
            _ => ("–".to_owned(), "–".to_owned()),
        };
        Row::new(vec![
            plain_name(metric),
            best_names(&names),
            median,
            interval,
            ranked.products_count.to_string(),
            figures::circumstances(&context),
        ])
        .valued(vec![
            None,
            None,
            Some(summary.median).filter(|_| names.len() == 1),
        ])
        .linked(addresses::ranking(metric, &ranked.key.to_string()))
    };
    Ok(ranking.first().map(row))
}

/// The best product, or those among which none is clearly the best.
fn best_names(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_owned(),
        [first, second] => format!("no clear best of {first} and {second}"),
        [first, second, more @ ..] => {
            format!("no clear best of {first}, {second} and {} more", more.len())
        }
        [] => String::new(),
    }
}
