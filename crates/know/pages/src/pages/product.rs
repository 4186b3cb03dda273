//! Products: a list, and a page for each.

use std::collections::BTreeMap;

use cardmark_catalog::{Class, class};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{count_of, value};
use cardmark_report::workload_name;
use cardmark_share::context_key;

use crate::addresses;
use crate::frame::{Field, Form, Page};
use crate::pages::figures;
use crate::queries::Queries;
use crate::views::product::{ProductEntry, ProductView, ProductsQuery, SummaryView};
use crate::views::published::{PublishedFigure, quantity};

/// Contexts that are shown; the others are folded away.
const SHOWN: usize = 2;
/// Charts of the distribution over cards.
const CHARTS: usize = 2;

/// The list of products.
///
/// # Errors
/// If a query has no answer.
pub async fn products<Q: Queries>(queries: &Q, query: ProductsQuery) -> Result<Page, Q::Error> {
    let asked = query.q.clone();
    let page = queries.products(query).await?;
    let row = |entry: &ProductEntry| {
        let cells = vec![
            entry.name.clone(),
            entry.cards_count.to_string(),
            entry.runs_count.to_string(),
            entry.fakes_count.to_string(),
        ];
        Row::new(cells).linked(addresses::product(&entry.key))
    };
    let blocks = match page.products.is_empty() {
        true => vec![Block::Text(
            "There is no run of a product of such a name yet.".to_owned(),
        )],
        false => vec![Block::Table {
            caption: "Products with runs".to_owned(),
            table: Table {
                columns: vec![
                    Column::left("product"),
                    Column::right("cards"),
                    Column::right("runs"),
                    Column::right("failed tests of capacity"),
                ],
                rows: page.products.iter().map(row).collect(),
            },
        }],
    };
    let next = page.next.map(|cursor| {
        let parameters = [("q", asked.as_deref()), ("cursor", Some(cursor.as_str()))];
        addresses::with("/products", &parameters)
    });
    let form = Form::asking(
        "/products",
        "Search",
        vec![Field::text("q", "Beginning of the name", asked.as_deref())],
    );
    let about = "Memory cards and other storage with runs of them.";
    Ok(Page::new("Products", about, blocks).form(form).next(next))
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
    let mut blocks = vec![Block::Text(counted(&view))];
    if view.accepted_by.is_some() {
        blocks.push(Block::Text("A moderator confirmed the name.".to_owned()));
    }
    // On a later page the circumstances with the most submitters are missing, and the rest stands on the first.
    let is_first = cursor.is_none();
    if is_first {
        blocks.extend(claims(&view));
    }
    blocks.extend(summaries(&view));
    if is_first {
        blocks.extend(published(&view.published));
    }
    let key = view.entry.key.clone();
    let about = format!("{}: measured speed, {}", view.entry.name, counted(&view));
    let path = addresses::product(&key);
    let next = view.next.as_deref();
    let next = next.map(|cursor| addresses::with(&path, &[("cursor", Some(cursor))]));
    if next.is_some() {
        blocks.push(Block::Text(
            "Figures with fewer submitters are on the next page.".to_owned(),
        ));
    }
    let mut page = Page::new(view.entry.name, about, blocks)
        .link(
            "Runs",
            addresses::with("/runs", &[("product", Some(key.as_str()))]),
        )
        .link("As data", format!("/api/v1{path}"))
        .next(next);
    if !queries.is_personal() {
        page = page
            .pictured(origin, &path)
            .link("Badge", addresses::badge(&path));
    }
    if let Some(number) = view.accepted_by {
        page = page.link("Confirmed name", addresses::act(number));
    }
    Ok(page)
}

fn counted(view: &ProductView) -> String {
    let entry = &view.entry;
    if entry.runs_count == 0 {
        return "There is no run of it yet.".to_owned();
    }
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut text = format!(
        "{} of {}.",
        count_of(number(entry.runs_count), "run", "runs"),
        count_of(number(entry.cards_count), "card", "cards"),
    );
    if entry.fakes_count > 0 {
        text += &format!(
            " {} failed a test of capacity.",
            count_of(number(entry.fakes_count), "card", "cards")
        );
    }
    text
}

/// Classes on the package, and beside each rate that they promise the median of the shared runs.
fn claims(view: &ProductView) -> Option<Block> {
    let known = view.claims.iter().filter_map(|claim| class(claim));
    let rows: Vec<Row> = known.flat_map(|class| promises(class, view)).collect();
    (!rows.is_empty()).then(|| Block::Details {
        title: "Classes on its package: promised and measured".to_owned(),
        blocks: vec![
            Block::Table {
                caption: "Medians of runs, in the circumstances with the most submitters".to_owned(),
                table: Table {
                    columns: vec![
                        Column::left("promise"),
                        Column::right("at least"),
                        Column::right("measured"),
                        Column::right("95 % interval"),
                        Column::right("cards"),
                    ],
                    rows,
                },
            },
            Block::Text(
                "A class is tested by a procedure of its own (cardmark run --suite app-class); rates of other suites are no verdict on it."
                    .to_owned(),
            ),
        ],
    })
}

/// A row for each rate that a class promises.
fn promises(class: &Class, view: &ProductView) -> Vec<Row> {
    let rates = [
        ("seq_write_1m", Some(class.least_write_bytes_per_s)),
        ("rand_read_4k", class.least_read_operations_per_s),
        ("rand_write_4k", class.least_write_operations_per_s),
    ];
    let row = |(metric, least): (&str, Option<u64>)| {
        let least = least? as f64;
        let of_metric = view.summaries.iter().filter(|one| one.metric == metric);
        let measured = of_metric.max_by_key(|one| one.submitters_count);
        let dash = || "–".to_owned();
        let cells = vec![
            format!("{}, {}", class.id, workload_name(metric)),
            value(metric, quantity(metric), least),
            measured.map_or_else(dash, |one| figures::shown(one, one.median)),
            measured.map_or_else(dash, figures::interval),
            measured.map_or_else(dash, |one| one.cards_count.to_string()),
        ];
        let values = vec![None, Some(least), measured.map(|one| one.median)];
        Some(Row::new(cells).valued(values))
    };
    rates.into_iter().filter_map(row).collect()
}

/// Figures by context, those with the most cards first.
fn summaries(view: &ProductView) -> Vec<Block> {
    let mut contexts = BTreeMap::<&BTreeMap<String, String>, Vec<&SummaryView>>::new();
    for summary in &view.summaries {
        contexts.entry(&summary.context).or_default().push(summary);
    }
    let mut contexts: Vec<_> = contexts.into_iter().collect();
    let cards = |rows: &[&SummaryView]| rows.iter().map(|row| row.cards_count).max();
    contexts.sort_by_key(|(_, rows)| std::cmp::Reverse(cards(rows)));
    let block = |(context, mut rows): (&BTreeMap<String, String>, Vec<&SummaryView>)| {
        rows.sort_by(|one, next| one.metric.cmp(&next.metric));
        let rows = figures::offered_first(rows, |row| row.metric.as_str());
        let rows = rows.into_iter().map(|row| {
            (
                workload_name(&row.metric).to_owned(),
                Some(ranking_of(row)),
                row,
            )
        });
        figures::table(figures::circumstances(context), rows)
    };
    let by_cards: Vec<&SummaryView> = contexts.iter().flat_map(|(_, rows)| rows.clone()).collect();
    let curve = |metric: &&str| figures::distribution(metric, &by_cards);
    let charts = figures::OFFERED.iter().filter_map(curve).take(CHARTS);
    let charts: Vec<Block> = charts.map(Block::Chart).collect();
    let folded = contexts.split_off(contexts.len().min(SHOWN));
    let mut blocks: Vec<Block> = contexts.into_iter().map(block).collect();
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading("Runs".to_owned()));
        blocks.push(Block::Text(MEANING.to_owned()));
        blocks.extend(charts);
    }
    if !folded.is_empty() {
        blocks.push(Block::Details {
            title: match view.next.is_some() {
                true => "Other circumstances".to_owned(),
                false => format!("Other circumstances: {}", folded.len()),
            },
            blocks: folded.into_iter().map(block).collect(),
        });
    }
    blocks
}

/// The ranking that a figure has a place in, or else the one with the most products.
fn ranking_of(row: &SummaryView) -> String {
    match row.is_ranked {
        true => addresses::ranking(&row.metric, &context_key(&row.context).to_string()),
        false => addresses::with("/rankings", &[("metric", Some(row.metric.as_str()))]),
    }
}

const MEANING: &str = "Each submitter has one voice: the median of the cards, at most five, each with the median of its runs. \
                       An interval needs six submitters, a place in the rankings three.";

fn published(all: &[PublishedFigure]) -> Vec<Block> {
    if all.is_empty() {
        return Vec::new();
    }
    let row = |figure: &PublishedFigure| {
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
        let cells = vec![
            workload_name(&figure.metric).to_owned(),
            value(&figure.metric, figure.quantity, figure.value),
            known(&figure.board),
            known(&figure.setting),
            figure.publication.clone(),
        ];
        Row::new(cells)
            .valued(vec![None, Some(figure.value)])
            .linked(format!("/published/{}", figure.publication))
    };
    vec![
        Block::Heading("Published figures".to_owned()),
        Block::Text(
            "Other people's measurements, with their methods; never mixed with runs of cardmark."
                .to_owned(),
        ),
        Block::Table {
            caption: "Published figures".to_owned(),
            table: Table {
                columns: vec![
                    Column::left(""),
                    Column::right("figure"),
                    Column::left("board"),
                    Column::left("setting"),
                    Column::left("publication"),
                ],
                rows: all.iter().map(row).collect(),
            },
        },
    ]
}
