//! Products: a list, and a page for each.

mod known;
mod shared;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_catalog::{Product, products as catalogue};
use cardmark_judge::{Day, Figure};
use cardmark_report::chart::Chart;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::{AnswerBlock, Weight};

use crate::addresses;
use crate::frame::{Field, Form, Page, Section};
use crate::pages::{answers, choice, published_charts};
use crate::queries::Queries;
use crate::views::product::{ProductEntry, ProductView, ProductsPage, ProductsQuery};
use crate::views::published::{KnownProduct, figures_count, known_products};

/// The list of products: those with runs, and those of the catalogue.
///
/// # Errors
/// If a query has no answer.
pub async fn products<Q: Queries>(queries: &Q, query: ProductsQuery) -> Result<Page, Q::Error> {
    let (asked, after) = (query.q.clone(), query.cursor.clone());
    let page = queries.products(query).await?;
    let known = known_beside(&page, asked.as_deref(), after.as_deref());
    let is_listed = |key: &String| page.products.iter().any(|entry| entry.key == *key);
    let keys: Vec<String> = known.iter().map(|one| one.key.clone()).collect();
    let keys: Vec<String> = keys.into_iter().filter(|key| !is_listed(key)).collect();
    let counted = match keys.is_empty() {
        true => Vec::new(),
        false => queries.products_of(keys).await?,
    };
    let mut entries = page.products;
    entries.extend(counted);
    for one in known {
        if entries.iter().all(|entry| entry.key != one.key) {
            entries.push(ProductEntry {
                key: one.key,
                name: one.name,
                ..ProductEntry::default()
            });
        }
    }
    entries.sort_by_cached_key(|entry| (entry.name.to_lowercase(), entry.key.clone()));
    let (figures, today) = (choice::figures_of(queries).await?, queries.today());
    let blocks = match (entries.is_empty(), &asked) {
        (true, Some(text)) => vec![Block::Text(format!(
            "No product called {text} is known here. A part of the name is enough, such as evo 64."
        ))],
        (true, None) => vec![Block::Text("No product is known here.".to_owned())],
        (false, _) => vec![
            queries
                .work(move || list(&entries, &figures, today))
                .await?,
        ],
    };
    let next = page.next.map(|cursor| {
        let parameters = [("q", asked.as_deref()), ("cursor", Some(cursor.as_str()))];
        addresses::with("/products", &parameters)
    });
    let form = search(asked.as_deref());
    let about = "Memory cards and other storage, with published figures and runs.";
    Ok(Page::new("Products", about, blocks).form(form).next(next))
}

/// The search for a product.
pub fn search(asked: Option<&str>) -> Form {
    let field = Field::text("q", "Part of its name, such as evo 64", asked);
    Form::asking("/products", "Search", vec![field])
}

/// Products of the catalogue that belong among those of a page.
fn known_beside(page: &ProductsPage, text: Option<&str>, after: Option<&str>) -> Vec<KnownProduct> {
    let place = |entry: &ProductEntry| (entry.name.to_lowercase(), entry.key.clone());
    let after = after.map(|key| {
        let known = catalogue().iter().find(|row| row.id == key);
        let name = known.map_or_else(|| key.trim_start_matches('~').to_owned(), Product::name);
        (name.to_lowercase(), key.to_owned())
    });
    // Behind the last one of the page, the next page has them.
    let last = page.next.as_ref().and(page.products.last()).map(place);
    let mut known = known_products(text);
    known.retain(|one| {
        let (name, key) = one.place();
        let own = (name, key.to_owned());
        after.as_ref().is_none_or(|after| own > *after)
            && last.as_ref().is_none_or(|last| own <= *last)
    });
    known
}

fn list(entries: &[ProductEntry], figures: &Arc<Vec<Figure>>, today: Day) -> Block {
    let count = |count: u64| match count {
        0 => "–".to_owned(),
        count => count.to_string(),
    };
    let row = |entry: &ProductEntry| {
        let figures_count = figures_count(&entry.key);
        let counts = [entry.cards_count, entry.runs_count, entry.fakes_count];
        let verdict = answers::verdict_on(figures, &entry.name, today);
        let writes = published_charts::range(&entry.key, &["random_write"]);
        let dash = || "–".to_owned();
        let mut cells = vec![
            entry.name.clone(),
            verdict.unwrap_or_else(dash),
            writes.unwrap_or_else(dash),
            count(figures_count as u64),
        ];
        cells.extend(counts.map(count));
        let values = counts.map(|count| Some(count as f64));
        let first = [None, None, None, Some(figures_count as f64)];
        let values = first.into_iter().chain(values);
        Row::new(cells)
            .valued(values.collect())
            .linked(addresses::product(&entry.key))
    };
    Block::Table {
        caption: "Products by name; random writes as published, on one board or several".to_owned(),
        table: Table {
            columns: vec![
                Column::left("product"),
                Column::left("boot and desktop"),
                Column::right("random writes"),
                Column::right("published figures"),
                Column::right("cards"),
                Column::right("runs"),
                Column::right("failed tests of capacity"),
            ],
            rows: entries.iter().map(row).collect(),
        },
    }
}

/// A product by key or name, with its figures after the cursor. `origin` is the scheme and host under which the page is read.
///
/// # Errors
/// If there is no such product, or a query has no answer.
pub async fn product<Q: Queries>(
    queries: &Q,
    name: &str,
    cursor: Option<&str>,
    origin: &str,
) -> Result<Page, Q::Error> {
    let view = queries.product(name, cursor).await?;
    let (today, is_first) = (queries.today(), cursor.is_none());
    let key = view.entry.key.clone();
    let path = addresses::product(&key);
    let next = view.next.as_deref();
    let next = next.map(|cursor| addresses::with(&path, &[("cursor", Some(cursor))]));
    let accepted_by = view.accepted_by;
    let rated = choice::figures_of(queries).await?;
    let is_personal = queries.is_personal();
    let draw = move || {
        let parts = content(&view, &rated, today, is_first, is_personal);
        Page::new(view.entry.name, parts.about, parts.rest).answered(parts.answer, parts.beside)
    };
    let page = queries.work(draw).await?;
    let mut page = page
        .link(
            "Runs",
            addresses::with("/runs", &[("product", Some(key.as_str()))]),
        )
        .link("As data", format!("/api/v1{path}"))
        .next(next);
    if !is_personal {
        page = page
            .pictured(origin, &path)
            .link("Badge", addresses::badge(&path));
    }
    if let Some(number) = accepted_by {
        page = page.link("Confirmed name", addresses::act(number));
    }
    Ok(match is_first {
        true => page.section(comparison(&key)),
        false => page,
    })
}

/// The form that compares the product with another one.
fn comparison(key: &str) -> Section {
    let fields = vec![
        Field::hidden("base", key),
        Field::text("other", "Compare with", None),
    ];
    Section::new("Compare it", Vec::new()).form(Form::asking("/compare", "Compare", fields))
}

/// Parts of the page of a product that follow from publications and the catalogue.
struct Published {
    place: Option<Chart>,
    boards: Vec<Block>,
    /// Behind the runs.
    last: Vec<Block>,
}

/// Returns these parts of a product of the catalogue, made once.
fn published(known: &'static Product) -> Arc<Published> {
    static PUBLISHED: Mutex<BTreeMap<&str, Arc<Published>>> = Mutex::new(BTreeMap::new());
    let key = known.id.as_str();
    let kept = || PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(parts) = kept().get(key) {
        return Arc::clone(parts);
    }
    let mut boards = Vec::new();
    if let Some(rates) = known::on_boards(key) {
        boards.push(Block::Heading("On each board".to_owned()));
        boards.extend(published_charts::on_each_board(key).map(Block::Chart));
        boards.push(rates);
    }
    let mut last = known::facts(known);
    last.extend(known::relatives(known));
    last.extend(known::sources(key));
    let parts = Arc::new(Published {
        place: published_charts::place_of(key),
        boards,
        last,
    });
    kept().insert(key, Arc::clone(&parts));
    parts
}

/// Parts of the page of a product.
#[derive(Default)]
struct Content {
    /// The answer in one sentence.
    about: String,
    answer: Vec<Block>,
    /// The chart beside the answer.
    beside: Vec<Block>,
    rest: Vec<Block>,
}

/// The content of the page of a product. On a later page the circumstances with the most submitters are missing, and all but the
/// summaries stands on the first.
fn content(
    view: &ProductView,
    rated: &Arc<Vec<Figure>>,
    today: Day,
    is_first: bool,
    is_personal: bool,
) -> Content {
    let entry = &view.entry;
    let answer = answer(view, rated, today);
    let about = format!("{}.", answer.sentence.replace('`', ""));
    if !is_first {
        let mut blocks = shared::summaries(view, is_personal);
        blocks.extend(more(view));
        return Content {
            about,
            rest: blocks,
            ..Content::default()
        };
    }
    let known = catalogue().iter().find(|row| row.id == entry.key);
    let known = known.map(published);
    let mut head = answer.blocks();
    head.push(Block::Text(shared::counted(view)));
    head.push(known::fakes(entry.fakes_count, entry.cards_count));
    if view.accepted_by.is_some() {
        head.push(Block::Text("A moderator confirmed the name.".to_owned()));
    }
    let place = known.iter().filter_map(|known| known.place.clone());
    let beside = place.map(Block::Chart).collect();
    let mut blocks = Vec::new();
    if let Some(uses) = answers::uses_of_product(rated, &entry.name, today) {
        blocks.push(Block::Heading("What it is good for".to_owned()));
        blocks.push(uses);
    }
    blocks.extend(known.iter().flat_map(|known| known.boards.clone()));
    blocks.extend(shared::claims(view));
    blocks.extend(shared::summaries(view, is_personal));
    blocks.extend(more(view));
    blocks.extend(known.iter().flat_map(|known| known.last.clone()));
    Content {
        about,
        answer: head,
        beside,
        rest: blocks,
    }
}

fn more(view: &ProductView) -> Option<Block> {
    let text = "Figures with fewer submitters are on the next page.";
    view.next.is_some().then(|| Block::Text(text.to_owned()))
}

/// Whether the product is good: as a recommendation judges, or else the rates of its runs.
fn answer(view: &ProductView, rated: &Arc<Vec<Figure>>, today: Day) -> AnswerBlock {
    let judged = answers::on_product(rated, &view.entry.name, today);
    let answer = judged.or_else(|| shared::answer(view));
    let answer = answer.unwrap_or_else(|| AnswerBlock {
        sentence: format!(
            "No rate of {} is known here yet: `cardmark run` measures it",
            view.entry.name
        ),
        ..AnswerBlock::default()
    });
    match shared::false_capacity(view) {
        None => answer,
        Some(warning) => AnswerBlock {
            weight: Weight::Warning,
            sentence: warning,
            more: std::iter::once(answer.sentence)
                .chain(answer.more)
                .collect(),
            ..answer
        },
    }
}
