//! Acts of moderators, for everybody.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_pages::addresses;
use cardmark_pages::frame::Page;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_site_store::{Act, Decisions, Deed};

use crate::http::page::{PageRefusal, shown};
use crate::http::parameters::{Key, Parameters};
use crate::http::problem::Refusal;
use crate::moderation::acts::{ActsQuery, found, page};
use crate::moderation::words;
use crate::state::Site;

pub(super) async fn acts(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<ActsQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let (acts, next) = page(&site, query).await?;
    let decisions = site.store.decisions().await?;
    let text = match acts.is_empty() {
        true => "No moderator has acted on this site.",
        false => {
            "Everything that moderators decide on this site, the last first. Each act can be undone, by an act that is listed too."
        }
    };
    let mut blocks = vec![Block::Text(text.to_owned())];
    if !acts.is_empty() {
        blocks.push(table("Acts", &acts, &decisions));
    }
    let next = next.map(|cursor| addresses::with("/audit", &[("cursor", Some(cursor.as_str()))]));
    let page = Page::new(
        "Acts of moderators",
        "Decisions of moderators, with their reasons.",
        blocks,
    );
    let page = page
        .link("Sign in", "/sign-in")
        .link("As data", "/api/v1/acts")
        .next(next);
    Ok(shown(&page, &headers))
}

/// Acts, each with a link to its page.
pub(super) fn table(caption: &str, acts: &[Act], decisions: &Decisions) -> Block {
    let row = |act: &Act| {
        let state = words::state(act, decisions.is_in_force(act.number));
        let cells = vec![
            format!("{}: {}", act.number, words::deed(&act.deed)),
            act.reason.clone(),
            format!("{}, {}; {state}", act.account, time(act)),
        ];
        Row::new(cells).linked(addresses::act(act.number))
    };
    Block::Table {
        caption: caption.to_owned(),
        table: Table {
            columns: ["decision", "reason", "moderator, time (UTC); state"]
                .map(Column::left)
                .to_vec(),
            rows: acts.iter().map(row).collect(),
        },
    }
}

fn time(act: &Act) -> String {
    words::time(act.at_ms).replace('T', " ").replace('Z', "")
}

pub(super) async fn act(
    State(site): State<Arc<Site>>,
    number: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let act = found(&site, number).await?;
    let decisions = site.store.decisions().await?;
    let is_in_force = decisions.is_in_force(act.number);
    let mut points = vec![
        format!("Decision: {}", words::deed(&act.deed)),
        format!("Reason: {}", act.reason),
        format!("Moderator: {}", act.account),
        format!("Time: {} (UTC)", time(&act)),
        format!("State: {}", words::state(&act, is_in_force)),
    ];
    if let Deed::Merge { product, .. } | Deed::Split { product, .. } = &act.deed {
        points.push(format!("Key of the product: {product}"));
    }
    points.extend(words::tag(&act.deed).map(|tag| format!("Tag of the submitter: {tag}")));
    let title = format!("Act {}: {}", act.number, words::deed(&act.deed));
    let mut page = Page::new(
        title,
        "A decision of a moderator.",
        vec![Block::List(points)],
    )
    .link("All acts", "/audit")
    .link("As data", format!("/api/v1/acts/{}", act.number));
    if let Some((name, address)) = words::address(&act.deed) {
        page = page.link(name, address);
    }
    if let Some(number) = act.undone_by {
        page = page.link(format!("Undone by act {number}"), addresses::act(number));
    }
    Ok(shown(&page, &headers))
}
