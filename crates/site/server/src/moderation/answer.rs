//! Answer of the owner of a quarantined run, for moderators.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cardmark_core::visible;
use cardmark_share::{Accepted, Problem};
use cardmark_site_store::{Answered, Bucket, Head, OwnersAnswer};
use uuid::Uuid;

use crate::answers::{accepted, now_ms};
use crate::described::OfRun;
use crate::parameters::RunId;
use crate::peer::Block;
use crate::problem::Refusal;
use crate::records::{permitted, token_hash};
use crate::state::Site;
use crate::submit::limits;

/// Most characters of an answer.
const MOST_CHARACTERS: usize = 2_000;
/// Largest body, bytes: characters have up to four.
const MOST_BODY: usize = 4 * MOST_CHARACTERS + (8 << 10);

/// Answers to a quarantine, for the site's moderators, who see it beside the failed checks. It replaces an earlier answer, is
/// shown to no others, and is deleted with the run.
#[utoipa::path(
    put, path = "/api/v1/records/{id}/answer", tag = "submit",
    params(("id" = Uuid, Path, description = "Id of the run")),
    request_body(content = String, content_type = "text/plain", description = "Up to 2,000 characters"),
    security(("edit_token" = [])),
    responses(
        (status = 200, description = "Stored", body = Accepted),
        (status = 400, description = "The request cannot be understood", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "No token", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "Another token", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "The run is not quarantined", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Unknown encoding", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Empty, or too long", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The site is busy, or takes nothing in", body = Problem, content_type = "application/problem+json"),
        OfRun,
    )
)]
pub(crate) async fn answer(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    Block(block): Block,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Accepted>, Refusal> {
    let token = token_hash(&headers)?;
    // The token first: nothing is read for strangers.
    let head = permitted(&site, id, token).await?;
    let received = site.bodies.receive(block, &headers, body, MOST_BODY);
    let received = received.await?;
    let limits = limits(&site, block, head.tag);
    let text = received.unpack()?;
    let head = store_answer(&site, id, token, &text, limits).await?;
    Ok(Json(accepted(&head)))
}

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
