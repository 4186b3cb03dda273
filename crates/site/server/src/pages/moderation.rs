//! Pages of moderators. Each needs a session, and is kept by no cache.

mod act;
mod names;
mod queue;
mod switches;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use cardmark_pages::addresses;
use cardmark_pages::frame::{Field, Section};
use cardmark_report::document::Block;

use crate::http::page::{PageRefusal, shown_once};
use crate::http::parameters::Parameters;
use crate::http::problem::Refusal;
use crate::moderation::acts::{ActsQuery, page as page_of_acts};
use crate::moderation::session::Moderator;
use crate::moderation::words;
use crate::pages::audit::table;
use crate::pages::desk::Desk;
use crate::state::Site;

/// Returns the routes of moderators.
pub(super) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/moderation", get(queue::queue))
        .route("/moderation/runs/{id}", get(queue::run))
        .route("/moderation/products", get(names::products))
        .route("/moderation/switches", get(switches::switches))
        .route("/moderation/acts", get(acts))
        .route("/moderation/act", post(act::act))
}

/// Acts that can be undone.
async fn acts(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    query: Result<Parameters<ActsQuery>, Refusal>,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let (acts, next) = page_of_acts(&site, query).await?;
    let decisions = site.store.decisions().await?;
    let desk = Desk {
        site: &site,
        moderator: &moderator,
        address: "/moderation/acts".to_owned(),
    };
    let text =
        "Undoing brings back everything as it was. It is an act too, and can itself be undone.";
    let mut page = desk.page("Undo", vec![Block::Text(text.to_owned())]);
    for act in acts.iter().filter(|act| act.undone_by.is_none()) {
        let fields = vec![
            Field::hidden("kind", "undo"),
            Field::hidden("act", &act.number.to_string()),
        ];
        let caption = format!("Act {}", act.number);
        let blocks = vec![table(&caption, std::slice::from_ref(act), &decisions)];
        let title = format!("Act {}: {}", act.number, words::deed(&act.deed));
        page = page.section(Section::new(title, blocks).form(desk.form("Undo", fields)));
    }
    let next = next
        .map(|cursor| addresses::with("/moderation/acts", &[("cursor", Some(cursor.as_str()))]));
    Ok(shown_once(&page.next(next)))
}
