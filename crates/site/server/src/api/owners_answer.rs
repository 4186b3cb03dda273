//! Answer of the owner of a quarantined run, for moderators.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use cardmark_share::{Accepted, Problem};

use crate::api::accepted::accepted;
use crate::api::responses::{OfRun, Owned, Sent, Written};
use crate::http::parameters::RunId;
use crate::http::peer::Block;
use crate::http::problem::Refusal;
use crate::state::Site;
use crate::submissions::incoming::limits;
use crate::submissions::owner::{permitted, token_hash};
use crate::submissions::owners_answer::{MOST_CHARACTERS, store_answer};

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
        (status = 409, description = "The run is not quarantined", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Empty, or too long", body = Problem, content_type = "application/problem+json"),
        Sent, Owned, Written, OfRun,
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
