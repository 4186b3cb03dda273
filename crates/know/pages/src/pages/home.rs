//! The first page.

use std::sync::Arc;

use cardmark_catalog::{Use, uses};
use cardmark_judge::{Day, Figure};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;

use crate::addresses;
use crate::frame::{Field, Form, Page};
use crate::pages::{choice, runs};
use crate::queries::Queries;
use crate::shared::published;
use crate::views::search::SearchQuery;

/// Products of a use.
const FEW: usize = 3;
/// Newest runs on the first page.
const NEWEST: u32 = 10;

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
    let (figures, today) = (queries.figures().await?, queries.today());
    blocks.extend(queries.work(move || to_buy(&figures, today)).await?);
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
