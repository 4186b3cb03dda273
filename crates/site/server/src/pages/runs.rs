//! Search of runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::amount;
use cardmark_site_store::{Head, State as RunState};

use super::addresses;
use super::frame::{Field, Form, Page, PageRefusal};
use crate::answers::{day_of, state_name};
use crate::lists::{SearchQuery, in_place};
use crate::parameters::{Parameters, cursor_text};
use crate::problem::Refusal;
use crate::state::Site;

pub(super) async fn runs(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<SearchQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let form = form(&query);
    let parameters = query.parameters()?;
    let search = in_place(&site, query.search()?).await?;
    let page = site.store.search(&search).await?;
    let cursor = page.next.map(cursor_text);
    let next = cursor.map(|cursor| {
        let given = parameters
            .iter()
            .map(|(name, value)| (name.as_str(), Some(value.as_str())));
        let all: Vec<(&str, Option<&str>)> =
            given.chain([("cursor", Some(cursor.as_str()))]).collect();
        addresses::with("/runs", &all)
    });
    let blocks = match (page.heads.is_empty(), next.is_some()) {
        (true, false) => vec![Block::Text("No run meets these conditions.".to_owned())],
        (true, true) => vec![Block::Text(
            "No run among those that this page tested; the next page goes on.".to_owned(),
        )],
        (false, _) => vec![table(
            match site.mine {
                Some(_) => "Runs, those stored last first",
                None => "Runs, the last arrivals first",
            }
            .to_owned(),
            page.heads,
            site.mine.is_some(),
        )],
    };
    let page = Page::new("Runs", "Runs by product, board and figures.", blocks);
    let page = match search.is_simulated {
        true => page.link("Runs on storage", "/runs"),
        false => page.link("Runs on simulated cards", "/runs?simulated=true"),
    };
    Ok(page.form(form).next(next).answer(&headers))
}

fn form(query: &SearchQuery) -> Form {
    let named = |values: &[(&str, &str)]| -> Vec<(String, String)> {
        let all = values.iter();
        all.map(|(value, name)| ((*value).to_owned(), (*name).to_owned()))
            .collect()
    };
    Form::asking(
        "/runs",
        "Search",
        vec![
            Field::text("product", "Product", query.product.as_deref()),
            Field::text("board", "Board", query.board.as_deref()),
            Field::text("suite", "Suite", query.suite.as_deref()),
            Field::date("from", "From", query.from.as_deref()),
            Field::date("to", "To", query.to.as_deref()),
            Field::choice(
                "simulated",
                "Storage",
                query
                    .simulated
                    .map(|yes| if yes { "true" } else { "false" }),
                named(&[("", "real"), ("true", "simulated")]),
            ),
        ],
    )
}

/// A table of runs, each with a link to its page. In the personal instance nothing was received or shared: it has the day of a run instead.
pub(super) fn table(caption: String, heads: Vec<Head>, is_mine: bool) -> Block {
    let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let row = |head: Head| {
        let name = head.product_name.or(head.model);
        let name = name.unwrap_or_else(|| "storage of unknown name".to_owned());
        let mut cells = vec![
            name,
            head.size_bytes.map_or_else(|| "–".to_owned(), amount),
            known(head.board),
            known(head.suite),
            known(head.bus),
        ];
        match is_mine {
            true => cells.extend([
                known(head.day),
                match head.state {
                    RunState::Quarantined => "failed".to_owned(),
                    _ => "–".to_owned(),
                },
            ]),
            false => cells.extend([day_of(head.received_ms), state_name(head.state).to_owned()]),
        }
        Row::new(cells)
            .valued(vec![None, head.size_bytes.map(|bytes| bytes as f64)])
            .linked(addresses::run(head.id))
    };
    let mut columns = vec!["storage", "size", "board", "suite", "bus"];
    columns.extend(match is_mine {
        true => ["day", "checks"].as_slice(),
        false => &["received", "state"],
    });
    let column = |title: &str| match title {
        "size" => Column::right(title),
        _ => Column::left(title),
    };
    Block::Table {
        caption,
        table: Table {
            columns: columns.into_iter().map(column).collect(),
            rows: heads.into_iter().map(row).collect(),
        },
    }
}
