//! Answer of the owner of a quarantined run, for moderators.

use axum::http::StatusCode;
use cardmark_core::visible;
use cardmark_site_store::{Answered, Bucket, Head, OwnersAnswer};
use uuid::Uuid;

use crate::clock::now_ms;
use crate::http::problem::Refusal;
use crate::state::Site;

/// Most characters of an answer.
pub(crate) const MOST_CHARACTERS: usize = 2_000;

/// Stores an answer of the owner, whose token has this hash.
pub(crate) async fn store_answer(
    site: &Site,
    id: Uuid,
    token: [u8; 32],
    text: &str,
    limits: Vec<Bucket>,
) -> Result<Box<Head>, Refusal> {
    let answer = OwnersAnswer {
        text: readable(text)?,
        at_ms: now_ms(),
    };
    match site.store.answer(id, token, answer, limits).await? {
        Answered::Now(head) => Ok(head),
        Answered::NotQuarantined => Err(Refusal::new(
            StatusCode::CONFLICT,
            "not-quarantined",
            "The run is not quarantined",
            "only the owner of a quarantined run can answer: there is nothing to decide about this one",
        )),
        Answered::Forbidden => Err(Refusal::forbidden()),
        Answered::Unknown => Err(Refusal::unknown_run()),
        Answered::Gone => Err(Refusal::withdrawn()),
        Answered::Limited(limit) => Err(Refusal::limited(limit)),
        Answered::ReadOnly => Err(Refusal::read_only()),
    }
}

/// The text of an answer, without characters that change how others are shown.
fn readable(text: &str) -> Result<String, Refusal> {
    let text = visible(text.trim()).into_owned();
    match text.chars().count() {
        1..=MOST_CHARACTERS => Ok(text),
        count => Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "not-an-answer",
            "The text is no answer",
            format!("it has {count} characters; 1 to {MOST_CHARACTERS} are possible"),
        )),
    }
}
