//! Pages of moderators. Each needs a session, and is kept by no cache.

mod act;
mod names;
mod queue;
mod switches;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use cardmark_report::document::Block;

use super::addresses;
use super::audit::table;
use super::frame::{Field, Form, Page, PageRefusal, Section};
use super::parts::Parts;
use crate::moderation::api::{ActsQuery, page as page_of_acts};
use crate::moderation::session::{Moderator, verify_origin};
use crate::moderation::words;
use crate::parameters::Parameters;
use crate::problem::Refusal;
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

/// Reads a form of a moderator's own page.
pub(super) async fn sent(
    site: &Arc<Site>,
    moderator: &Moderator,
    block: [u8; 16],
    headers: &HeaderMap,
    body: Body,
) -> Result<Parts, Refusal> {
    verify_origin(site, headers)?;
    let mut parts = Parts::receive(site, block, headers, body).await?;
    moderator.verify(site, parts.line("token")?)?;
    Ok(parts)
}

/// A page of a moderator, and what its forms need.
struct Desk<'a> {
    site: &'a Site,
    moderator: &'a Moderator,
    /// Address of the page, to which a decision leads back.
    address: String,
}

impl Desk<'_> {
    fn page(&self, title: &str, mut blocks: Vec<Block>) -> Page {
        blocks.insert(
            0,
            Block::Text(format!("Signed in as {}.", self.moderator.account)),
        );
        Page::new(title, "For moderators.", blocks)
            .link("Waiting", "/moderation")
            .link("Decided", "/moderation?decided=true")
            .link("Products", "/moderation/products")
            .link("Switches", "/moderation/switches")
            .link("Undo", "/moderation/acts")
            .last(Form::sending("/sign-out", "Sign out", vec![self.token()]))
    }

    fn token(&self) -> Field {
        Field::hidden("token", &self.moderator.form_token(self.site))
    }

    /// A form for an act with a reason.
    fn form(&self, button: &'static str, mut fields: Vec<Field>) -> Form {
        fields.extend([
            Field::text("reason", "Reason, for everybody to read", None),
            Field::hidden("back", &self.address),
            self.token(),
        ]);
        Form::sending("/moderation/act", button, fields)
    }
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
    Ok(page.next(next).answer_once(axum::http::StatusCode::OK))
}
