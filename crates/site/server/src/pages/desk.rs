//! Common parts of the pages of moderators.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderMap;
use cardmark_pages::frame::{Field, Form, Page};
use cardmark_report::document::Block;

use crate::http::problem::Refusal;
use crate::moderation::session::{Moderator, verify_origin};
use crate::pages::parts::Parts;
use crate::state::Site;

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
pub(super) struct Desk<'a> {
    pub(super) site: &'a Site,
    pub(super) moderator: &'a Moderator,
    /// Address of the page, to which a decision leads back.
    pub(super) address: String,
}

impl Desk<'_> {
    pub(super) fn page(&self, title: &str, mut blocks: Vec<Block>) -> Page {
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

    pub(super) fn token(&self) -> Field {
        Field::hidden("token", &self.moderator.form_token(self.site))
    }

    /// A form for an act with a reason.
    pub(super) fn form(&self, button: &'static str, mut fields: Vec<Field>) -> Form {
        fields.extend([
            Field::text("reason", "Reason, for everybody to read", None),
            Field::hidden("back", &self.address),
            self.token(),
        ]);
        Form::sending("/moderation/act", button, fields)
    }
}
