//! Submissions. They are read, checked and stored before the answer.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cardmark_share::{
    Accepted, Problem, TAG_HEADER, TOKEN_HASH_HEADER, from_hexadecimal, submitter_of,
};
use cardmark_site_store::{Incoming, Put};
use utoipa::IntoParams;

use crate::api::accepted::accepted;
use crate::api::responses::{Sent, Written};
use crate::http::body::{MOST_BODY, discard};
use crate::http::peer::Block;
use crate::http::problem::Refusal;
use crate::state::Site;
use crate::submissions::incoming::{Sender, incoming, limits, newcomers, place};

/// Headers of a submission.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only a description")]
struct SenderHeaders {
    /// SHA-256 of the edit token, 64 hexadecimal digits.
    #[param(
        rename = "cardmark-token-hash",
        required = false,
        pattern = "^[0-9a-f]{64}$"
    )]
    token_hash: String,
    /// Submitter's tag, 32 hexadecimal digits.
    #[param(rename = "cardmark-tag", required = false, pattern = "^[0-9a-f]{32}$")]
    tag: String,
}

/// Takes a record in its public form and, in the next line, what its owner states of it. Packed with gzip or zstd, or
/// plain. The answer comes after all checks, and when the record is durable. Without an edit token the run can be neither
/// amended nor withdrawn; without a tag no summary counts it.
#[utoipa::path(
    post, path = "/api/v1/records", tag = "submit",
    request_body(content = String, content_type = "application/x-ndjson", description = "The record in one line, then the statement in one line"),
    params(SenderHeaders),
    responses(
        (status = 201, description = "Stored", body = Accepted),
        (status = 200, description = "The same record is stored already", body = Accepted),
        (status = 409, description = "Another record has this id", body = Problem, content_type = "application/problem+json"),
        (status = 410, description = "The run was withdrawn", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Not a record in its public form, with the places", body = Problem, content_type = "application/problem+json"),
        Sent, Written,
    )
)]
pub(crate) async fn submit(
    State(site): State<Arc<Site>>,
    Block(block): Block,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let answer = answer(&site, block, &headers, body).await;
    let (outcome, response) = match answer {
        Ok((outcome, response)) => (outcome, response),
        Err(refusal) => ("refused", refusal.into_response()),
    };
    site.requests.metrics.submitted(outcome);
    response
}

async fn answer(
    site: &Arc<Site>,
    block: [u8; 16],
    headers: &HeaderMap,
    body: Body,
) -> Result<(&'static str, Response), Refusal> {
    let sender = match sender(headers) {
        Ok(sender) => sender,
        Err(refusal) => {
            discard(headers, body).await;
            return Err(refusal);
        }
    };
    if site.store.is_read_only().await? {
        discard(headers, body).await;
        return Err(Refusal::read_only());
    }
    let limits = limits(site, block, sender.submitter);
    let received = site.bodies.receive(block, headers, body, MOST_BODY).await?;
    // After the body: a slow one holds no place.
    let place = place(site, block)?;
    let check = move || incoming(received, sender, limits);
    let incoming = Incoming {
        newcomers: Some(newcomers(site, block)),
        ..site.writers.run(check).await??
    };
    let put = site.store.put(incoming).await?;
    drop(place);
    match put {
        Put::New(head) => Ok((
            "stored",
            (StatusCode::CREATED, located(&accepted(&head))).into_response(),
        )),
        Put::Same(head) => Ok(("same", located(&accepted(&head)).into_response())),
        Put::Conflict => Err(Refusal::new(
            StatusCode::CONFLICT,
            "other-content",
            "Another record has this id",
            "a record never changes: another one with this id is stored already; a changed statement is sent to /api/v1/records/{id}/statement",
        )),
        Put::Gone => Err(Refusal::withdrawn()),
        Put::Limited(limit) => Err(Refusal::limited(limit)),
        Put::ReadOnly => Err(Refusal::read_only()),
    }
}

fn located(answer: &Accepted) -> impl IntoResponse {
    (
        [
            (header::LOCATION, answer.path.clone()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ],
        Json(answer.clone()),
    )
}

fn sender(headers: &HeaderMap) -> Result<Sender, Refusal> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let wrong = |name: &str, digits: usize| {
        Refusal::bad_request(format!(
            "the header {name} has to be {digits} small hexadecimal digits"
        ))
    };
    let tag =
        text(TAG_HEADER).map(|text| from_hexadecimal(text).ok_or_else(|| wrong(TAG_HEADER, 32)));
    let hash = text(TOKEN_HASH_HEADER)
        .map(|text| from_hexadecimal(text).ok_or_else(|| wrong(TOKEN_HASH_HEADER, 64)));
    Ok(Sender {
        submitter: tag.transpose()?.as_ref().map(submitter_of),
        token_hash: hash.transpose()?,
    })
}
