//! The first page.

use std::sync::Arc;

use cardmark_catalog::{Use, boards, uses};
use cardmark_judge::{Day, Figure};
use cardmark_report::capitalised;
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
        let mut blocks = answers::on_board(&figures, None, today);
        blocks.push(Block::Heading("What to buy".to_owned()));
        blocks.extend(to_buy(&figures, today));
        (blocks, published_charts::well_known().map(Block::Chart))
    };
    let (blocks, chart) = queries.work(answered).await?;
    let mut runs_of_all = vec![Block::Text(format!(
        "Measurements of memory cards and other small storage that single-board computers boot from, shared by the people who made them: {count} \
         runs. Share yours:"
    ))];
    runs_of_all.push(Block::Command(format!(
        "cardmark submit --new --server {origin}"
    )));
    if !newest.is_empty() {
        runs_of_all.push(runs::table("Newest runs".to_owned(), newest, false));
    }
    let about = "Measured speed of microSD cards, with the conditions and checks of every run.";
    let page = Page::new("Which card for my board?", about, blocks).form(asked());
    let mut page = page.section(search()).section(comparison());
    if let Some(chart) = chart {
        let cards = Section::new("Cards compared", vec![chart]);
        page = page.section(
            cards
                .link("All boards", "/boards")
                .link("All tables", "/published"),
        );
    }
    Ok(page.section(Section::new("Shared runs", runs_of_all).link("All runs", "/runs")))
}

/// The question for a card: for which board, and for what.
fn asked() -> Form {
    let named = |name: &String| (name.clone(), name.clone());
    let any = (String::new(), "any board".to_owned());
    let boards = boards().iter().map(|board| named(&board.name));
    Form::asking(
        "/for",
        "Show",
        vec![
            Field::choice(
                "board",
                "Which card for my",
                None,
                std::iter::once(any).chain(boards).collect(),
            ),
            use_field("to use for", Some(answers::FIRST_USE)),
        ],
    )
}

/// The field for a use.
pub(super) fn use_field(label: &'static str, chosen: Option<&str>) -> Field {
    let uses = uses().iter();
    let uses = uses.map(|one| (one.id.clone(), capitalised(&one.title)));
    Field::choice("use", label, chosen, uses.collect())
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
