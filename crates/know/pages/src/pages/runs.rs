//! Search of runs.

use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::amount;

use crate::addresses;
use crate::frame::{Field, Form, Page};
use crate::queries::Queries;
use crate::views::run::{ListedRun, RunState};
use crate::views::search::SearchQuery;

/// A search of runs.
///
/// # Errors
/// If a query has no answer.
pub async fn runs<Q: Queries>(queries: &Q, query: SearchQuery) -> Result<Page, Q::Error> {
    let form = form(&query);
    let parameters = query.parameters();
    let is_simulated = query.simulated.unwrap_or(false);
    let found = queries.search(query).await?;
    let next = found.next.map(|cursor| {
        let given = parameters
            .iter()
            .map(|(name, value)| (*name, Some(value.as_str())));
        let all: Vec<(&str, Option<&str>)> =
            given.chain([("cursor", Some(cursor.as_str()))]).collect();
        addresses::with("/runs", &all)
    });
    let blocks = match (found.records.is_empty(), next.is_some()) {
        (true, false) => vec![Block::Text("No run meets these conditions.".to_owned())],
        (true, true) => vec![Block::Text(
            "No run among those that this page tested; the next page goes on.".to_owned(),
        )],
        (false, _) => vec![table(
            match queries.is_personal() {
                true => "Runs, those stored last first",
                false => "Runs, the last arrivals first",
            }
            .to_owned(),
            found.records,
            queries.is_personal(),
        )],
    };
    let page = Page::new("Runs", "Runs by product, board and figures.", blocks);
    let page = match is_simulated {
        true => page.link("Runs on storage", "/runs"),
        false => page.link("Runs on simulated cards", "/runs?simulated=true"),
    };
    Ok(page.form(form).next(next))
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

/// The state of a run that does not count, or a dash.
fn unusual(state: RunState) -> String {
    match state {
        RunState::Shared => "–".to_owned(),
        state => state.name().to_owned(),
    }
}

/// A table of runs, each with a link to its page. In the personal instance nothing was received or shared: it has the day of a run instead.
pub(super) fn table(caption: String, runs: Vec<ListedRun>, is_mine: bool) -> Block {
    let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let row = |run: ListedRun| {
        let mut cells = vec![
            run.storage_name().to_owned(),
            known(Some(run.result).filter(|result| !result.is_empty())),
            run.size_bytes.map_or_else(|| "–".to_owned(), amount),
            known(run.board),
            known(run.suite),
        ];
        match is_mine {
            true => cells.push(known(run.day)),
            false => cells.extend([run.received_on, unusual(run.state)]),
        }
        Row::new(cells)
            .valued(vec![None, None, run.size_bytes.map(|bytes| bytes as f64)])
            .linked(addresses::run(run.id))
    };
    let mut columns = vec![
        "storage",
        "result (read/write, random)",
        "size",
        "board",
        "suite",
    ];
    columns.extend(match is_mine {
        true => ["day"].as_slice(),
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
            rows: runs.into_iter().map(row).collect(),
        },
    }
}
