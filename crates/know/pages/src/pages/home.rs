//! The first page, and what to buy for a use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_catalog::{Use, use_of, uses};
use cardmark_judge::{Candidate, Choice, Day, Question, published_figures, recommend};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{count_of, place_text};
use cardmark_report::{Recommended, workload_name};

use crate::addresses;
use crate::frame::{Field, Form, Page, sentence};
use crate::pages::{figures, runs};
use crate::places::{ListedProduct, possible};
use crate::queries::{Queries, not_found};
use crate::views::search::SearchQuery;
use crate::views::suited::{ByUse, Suited, SuitedProduct};

/// Products of a use on the first page, and on its own.
const FEW: usize = 3;
const MANY: usize = 30;
/// Newest runs on the first page.
const NEWEST: u32 = 10;

/// Choices from published figures, by use.
type Choices = BTreeMap<&'static str, Choice>;

/// Choices of a day.
static CHOICES: Mutex<Option<(Day, Arc<Choices>)>> = Mutex::new(None);

/// Returns the choices from published figures, made once a day.
fn choices(today: Day) -> Arc<Choices> {
    let mut kept = CHOICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = kept.as_ref().filter(|(day, _)| *day == today) {
        return Arc::clone(known);
    }
    let answered = uses().iter().filter(|one| !one.needs.is_empty());
    let choice = |one| {
        let choice = recommend(published_figures(), &Question::new(one, None, today));
        (one.id.as_str(), choice)
    };
    let found: Arc<Choices> = Arc::new(answered.map(choice).collect());
    *kept = Some((today, Arc::clone(&found)));
    found
}

/// The first page of a site.
///
/// # Errors
/// If a query has no answer.
pub async fn home<Q: Queries>(queries: &Q) -> Result<Page, Q::Error> {
    let count = queries.runs_count().await?;
    let newest = queries.search(SearchQuery::last(NEWEST)).await?.records;
    let mut blocks = vec![Block::Text(format!(
        "Measurements of memory cards and other small storage that single-board computers boot from, shared by the people who made them: {count} \
         runs."
    ))];
    blocks.push(Block::Text("Share yours:".to_owned()));
    blocks.push(Block::Command("cardmark submit --new".to_owned()));
    blocks.push(Block::Heading("What to buy".to_owned()));
    blocks.push(Block::Text(FROM_SHARED.to_owned()));
    let by_use = queries.suited().await?;
    blocks.push(shared_of_each_use(&by_use));
    blocks.push(Block::Text(FROM_PUBLISHED.to_owned()));
    blocks.push(first_of_each_use(queries.today()));
    blocks.push(Block::Heading("Newest runs".to_owned()));
    blocks.push(match newest.is_empty() {
        true => Block::Text("Nothing was shared yet.".to_owned()),
        false => runs::table("Newest runs".to_owned(), newest, false),
    });
    let about = "Measured speed of microSD cards, with the conditions and checks of every run.";
    Ok(
        Page::new("Which card is good?", about, blocks).form(Form::asking(
            "/products",
            "Search",
            vec![Field::text("q", "Product", None)],
        )),
    )
}

/// The first page of a computer's own runs. `unreadable` are reasons for which some cannot be shown.
///
/// # Errors
/// If a query has no answer.
pub async fn personal<Q: Queries>(queries: &Q, unreadable: Vec<String>) -> Result<Page, Q::Error> {
    let runs_count = queries.runs_count().await?;
    let newest = queries.search(SearchQuery::last(NEWEST)).await?.records;
    let simulated = queries.search(SearchQuery {
        simulated: Some(true),
        ..SearchQuery::last(NEWEST)
    });
    let simulated = simulated.await?.records;
    let mut blocks = vec![Block::Text(format!(
        "{} of this computer. Only its own browser sees this page, and nothing is sent.",
        count_of(runs_count, "run", "runs")
    ))];
    if !unreadable.is_empty() {
        blocks.push(Block::Text("Not everything can be shown:".to_owned()));
        blocks.push(Block::List(unreadable));
    }
    for (title, records) in [
        ("Last stored runs", newest),
        ("On simulated cards", simulated),
    ] {
        if !records.is_empty() {
            blocks.push(Block::Heading(title.to_owned()));
            blocks.push(runs::table(title.to_owned(), records, true));
        }
    }
    blocks.push(Block::Heading("What to buy".to_owned()));
    blocks.push(Block::Text(FROM_PUBLISHED.to_owned()));
    blocks.push(first_of_each_use(queries.today()));
    Ok(Page::new("Your runs", "The runs of this computer.", blocks))
}

const FROM_PUBLISHED: &str =
    "From published figures only, in which products have few cards each: a hint, not a proof.";

const FROM_SHARED: &str =
    "From shared runs, ranked under the same circumstances from three submitters on:";
const NOT_ENOUGH: &str = "not enough runs yet";

/// The best products of each use, by shared runs.
fn shared_of_each_use(suited: &ByUse) -> Block {
    let row = |one: &Use| {
        let few = |found: &Suited| {
            let listed = found.products.iter().map(listed);
            let places = possible(&listed.collect::<Vec<_>>());
            let products = found.products.iter().zip(places).take(FEW);
            let names: Vec<String> = products
                .map(|(product, place)| {
                    format!(
                        "{}. {} ({} submitters)",
                        place_text(place),
                        product.name,
                        product.limiting.submitters_count
                    )
                })
                .collect();
            names.join(", ")
        };
        let names = suited.get(one.id.as_str()).map(few);
        let cells = vec![
            one.title.clone(),
            names.unwrap_or_else(|| NOT_ENOUGH.to_owned()),
        ];
        Row::new(cells).linked(format!("/for/{}", one.id))
    };
    let answered = uses().iter().filter(|one| !one.needs.is_empty());
    Block::Table {
        caption:
            "From shared runs, best first; 1–3: cannot be put in order, other cards differ by that"
                .to_owned(),
        table: Table {
            columns: vec![Column::left("use"), Column::left("products")],
            rows: answered.map(row).collect(),
        },
    }
}

/// The products of a use by shared runs, with the figure that limits each.
fn shared(found: Option<&Suited>) -> Vec<Block> {
    let mut blocks = vec![Block::Heading("Shared runs".to_owned())];
    let Some(found) = found else {
        blocks.push(Block::Text(sentence(NOT_ENOUGH)));
        return blocks;
    };
    blocks.push(Block::Text(format!(
        "{}.",
        figures::circumstances(&found.context)
    )));
    let listed = found.products.iter().map(listed);
    let places = possible(&listed.collect::<Vec<_>>());
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

fn listed(one: &SuitedProduct) -> ListedProduct<'_> {
    ListedProduct {
        value: one.suitability.limiting.share(),
        summary: &one.limiting,
    }
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

fn first_of_each_use(today: Day) -> Block {
    let choices = choices(today);
    let row = |one: &Use| {
        let found = choices.get(one.id.as_str())?;
        let best = found.best().iter().take(FEW);
        let names: Vec<&str> = best.map(|one| one.product.as_str()).collect();
        let names = match names.is_empty() {
            true => "cannot tell".to_owned(),
            false => names.join(", "),
        };
        Some(Row::new(vec![one.title.clone(), names]).linked(format!("/for/{}", one.id)))
    };
    Block::Table {
        caption: "From published figures: first those known to be sold, then by age".to_owned(),
        table: Table {
            columns: vec![Column::left("use"), Column::left("products")],
            rows: uses().iter().filter_map(row).collect(),
        },
    }
}

/// Products for a use, by its id.
///
/// # Errors
/// If there is no such use, or a query has no answer.
pub async fn recommended<Q: Queries>(queries: &Q, name: &str) -> Result<Page, Q::Error> {
    let choices = choices(queries.today());
    let unknown = || {
        let known: Vec<&str> = choices.keys().copied().collect();
        not_found("No such use", format!("there is {}", known.join(", ")))
    };
    let wanted = use_of(name).filter(|wanted| wanted.id == name);
    let (wanted, choice) = wanted
        .and_then(|wanted| Some((wanted, choices.get(wanted.id.as_str())?)))
        .ok_or_else(unknown)?;
    let mut blocks = vec![Block::Text(wanted.about.clone())];
    if !queries.is_personal() {
        let by_use = queries.suited().await?;
        blocks.extend(shared(by_use.get(wanted.id.as_str())));
    }
    blocks.push(Block::Heading("Published figures".to_owned()));
    blocks.push(Block::Text(FROM_PUBLISHED.to_owned()));
    let answer = Recommended {
        question: &Question::new(wanted, None, queries.today()),
        choice,
    };
    blocks.extend(answer.answer().blocks());
    blocks.push(products(choice));
    blocks.push(Block::Text(format!("What is enough: {}.", wanted.source)));
    let title = format!("For {}", wanted.title);
    Ok(Page::new(title, wanted.about.clone(), blocks))
}

fn products(choice: &Choice) -> Block {
    let row = |one: &Candidate| {
        let scarcest = one.scarcest();
        let limited = scarcest.map_or("", |met| met.plain.as_str());
        let share = scarcest.map(|met| format!("{:.0} %", 100.0 * met.share()));
        let board = scarcest.and_then(|met| met.board.clone());
        let cells = vec![
            one.product.clone(),
            board.unwrap_or_else(|| "–".to_owned()),
            limited.to_owned(),
            share.unwrap_or_default(),
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
    Block::Table {
        caption: format!(
            "{} that suit or may suit; the rate that limits each, as a share of what is enough",
            count_of(all.len(), "product", "products")
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
