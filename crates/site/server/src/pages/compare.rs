//! Comparison of runs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_core::Record;
use cardmark_report::document::Block;
use cardmark_report::{Comparison, comparison_blocks, run_title};
use serde::Deserialize;

use super::addresses;
use super::frame::{Field, Form, Page, PageRefusal};
use crate::compare::{Sides, compared_sides};
use crate::parameters::{Parameters, plain};
use crate::problem::Refusal;
use crate::state::Site;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    #[serde(default)]
    base: String,
    #[serde(default)]
    other: String,
    #[serde(default)]
    across: String,
}

pub(super) async fn compare(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<Query>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let form = form(&query);
    if query.base.is_empty() || query.other.is_empty() {
        let text = "Name the runs of both sides by their ids, several of a side with commas between them. The page of a run holds its id.";
        let page = Page::new("Compare", ABOUT, vec![Block::Text(text.to_owned())]);
        return Ok(page.form(form).answer(&headers));
    }
    let across = plain("across", query.across.clone())?;
    let [base, other] = [&query.base, &query.other].map(|ids| without_spaces(ids));
    let sides = Sides::of(&site, &base, &other).await?;
    let make = async {
        let (base, other) = sides.records(&site).await?;
        let compare = move || blocks(&base, &other, &across);
        let blocks = site.readers.run(compare).await??;
        let parameters = [
            ("base", Some(query.base.as_str())),
            ("other", Some(query.other.as_str())),
            ("across", Some(query.across.as_str())),
        ];
        let address = addresses::with("/api/v1/compare", &parameters);
        let page = Page::new("Compare", ABOUT, blocks).form(form);
        Ok::<_, Refusal>(page.link("As data", address).kept())
    };
    let (path, sources) = (sides.path("/compare"), (&query, &sides));
    let answer = site.answers.get(&path, &sources, make).await?;
    Ok(answer.answer(&headers))
}

const ABOUT: &str = "Runs beside each other: what differs, by how much, and how sure that is.";

fn without_spaces(ids: &str) -> String {
    ids.split_whitespace().collect()
}

fn blocks(base: &[Record], other: &[Record], across: &str) -> Result<Vec<Block>, Refusal> {
    let across: Vec<String> = across
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let sides = [base.iter().collect(), other.iter().collect()];
    let results = compared_sides(&sides, &[], &across)?;
    let name = |side: &[Record]| side.first().map(run_title).unwrap_or_default();
    let (base, other) = (name(base), name(other));
    let other = match base == other {
        true => format!("{other}, the other side"),
        false => other,
    };
    Ok(comparison_blocks(&Comparison {
        base: &base,
        other: &other,
        results: &results,
        across: &across,
        repeat: None,
    }))
}

fn form(query: &Query) -> Form {
    Form::asking(
        "/compare",
        "Compare",
        vec![
            Field::text("base", "Base (ids)", Some(query.base.as_str())),
            Field::text("other", "Other (ids)", Some(query.other.as_str())),
            Field::text(
                "across",
                "May differ, such as board",
                Some(query.across.as_str()),
            ),
        ],
    )
}
