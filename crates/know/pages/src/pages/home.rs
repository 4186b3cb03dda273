//! The first page.

use std::sync::Arc;

use cardmark_catalog::{Use, uses};
use cardmark_judge::{Day, Figure};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;

use crate::addresses;
use crate::frame::{Field, Form, Page, Section, sentence};
use crate::pages::{answers, choice, published_charts, runs};
use crate::queries::Queries;
use crate::shared::published;
use crate::views::search::SearchQuery;

/// Products of a use.
const FEW: usize = 3;
/// Newest runs on the first page.
const NEWEST: u32 = 10;

/// The first page of a site. `origin` is the scheme and host under which it is read.
///
/// # Errors
/// If a query has no answer.
pub async fn home<Q: Queries>(queries: &Q, origin: &str) -> Result<Page, Q::Error> {
    let today = queries.today();
    let count = queries.runs_count().await?;
    let newest = queries.search(SearchQuery::last(NEWEST)).await?.records;
    let figures = queries.figures().await?;
    let answered = move || {
        let answer = answers::on_board(&figures, None, today);
        let heading = Block::Heading("What to buy".to_owned());
        let uses = std::iter::once(heading).chain(to_buy(&figures, today));
        let chart = published_charts::well_known().map(Block::Chart);
        (answer, uses.collect::<Vec<Block>>(), chart)
    };
    let (answer, uses, chart) = queries.work(answered).await?;
    let mut runs_of_all = vec![Block::Text(format!(
        "{} of memory cards and other small storage that single-board computers boot from, shared by the people who measured them.",
        count_of(count, "run", "runs")
    ))];
    if !newest.is_empty() {
        runs_of_all.push(runs::table("Newest runs".to_owned(), newest, false));
    }
    let about = "Measured speed of microSD cards, with the conditions and checks of every run.";
    let page = Page::new("Which card for my board?", about, uses)
        .form(choice::form(None, None, ""))
        .answered(answer, chart.into_iter().collect())
        .card(search())
        .card(fakes())
        .card(comparison())
        .card(others(origin));
    Ok(page.section(Section::new("Shared runs", runs_of_all).link("All runs", "/runs")))
}

fn search() -> Section {
    let fields = vec![Field::text("q", "Part of its name", None)];
    Section::new("Is this card good?", Vec::new()).form(Form::asking("/products", "Search", fields))
}

fn comparison() -> Section {
    let fields = vec![
        Field::text("base", "One card", None),
        Field::text("other", "Another", None),
    ];
    Section::new("This one or that one?", Vec::new())
        .form(Form::asking("/compare", "Compare", fields))
}

fn fakes() -> Section {
    let text = "Fakes hold less than they report. This finds most in seconds:";
    let blocks = vec![
        Block::Text(text.to_owned()),
        Block::Command("cardmark probe /dev/DEVICE".to_owned()),
    ];
    Section::new("Is mine real?", blocks)
}

fn others(origin: &str) -> Section {
    let text = "Measure and share it; the page of the run shows both:";
    let blocks = vec![
        Block::Text(text.to_owned()),
        Block::Command(format!("cardmark submit --new --server {origin}")),
    ];
    Section::new("Is mine as fast as others'?", blocks)
}

/// The first page of a computer's own runs. `unreadable` are reasons for which some cannot be shown; `attention` is the sentence about
/// cards that need it.
///
/// # Errors
/// If a query has no answer.
pub async fn personal<Q: Queries>(
    queries: &Q,
    unreadable: Vec<String>,
    attention: Option<String>,
) -> Result<Page, Q::Error> {
    let runs_count = queries.runs_count().await?;
    let newest = queries.search(SearchQuery::last(NEWEST)).await?.records;
    let simulated = queries.search(SearchQuery {
        simulated: Some(true),
        ..SearchQuery::last(NEWEST)
    });
    let simulated = simulated.await?.records;
    let mut blocks = vec![Block::Text(format!(
        "{} of this computer. Only your browser can open this page, and nothing is sent.",
        count_of(runs_count, "run", "runs")
    ))];
    blocks.extend(attention.map(|text| Block::Text(sentence(&text))));
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
    blocks.extend(to_buy(&published(), queries.today()));
    Ok(Page::new("Your runs", "The runs of this computer.", blocks))
}

/// The first products of each use.
fn to_buy(figures: &Arc<Vec<Figure>>, today: Day) -> [Block; 2] {
    [choice::origin(figures), first_of_each_use(figures, today)]
}

fn first_of_each_use(figures: &Arc<Vec<Figure>>, today: Day) -> Block {
    let row = |one: &'static Use| {
        let names = choice::first(figures, one, today, FEW);
        let names = match names.is_empty() {
            true => "cannot tell".to_owned(),
            false => names.join(", "),
        };
        Row::new(vec![one.title.clone(), names]).linked(addresses::choice(one))
    };
    Block::Table {
        caption: "First those known to be sold, then by age".to_owned(),
        table: Table {
            columns: vec![Column::left("use"), Column::left("products")],
            rows: uses().iter().map(row).collect(),
        },
    }
}
