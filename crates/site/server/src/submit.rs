//! Submissions. They are read, checked and stored before the answer.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cardmark_core::documents_of;
use cardmark_share::{
    Accepted, Problem, TAG_HEADER, TOKEN_HASH_HEADER, card_key, derive, from_hexadecimal,
    read_submission, submitter_of,
};
use cardmark_site_data::packed;
use cardmark_site_store::{Bucket, Incoming, Put};
use sha2::{Digest, Sha256};
use utoipa::IntoParams;

use crate::answers::{accepted, day_of, now_ms};
use crate::body::{MOST_BODY, Received, discard};
use crate::peer::Block;
use crate::problem::Refusal;
use crate::shares::Share;
use crate::state::{MOST_CHECKING_OF_BLOCK, Site};

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

/// The sender, from the headers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sender {
    /// Pseudonym in place of the tag, which nothing keeps.
    pub(crate) submitter: Option<[u8; 16]>,
    pub(crate) token_hash: Option<[u8; 32]>,
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
        (status = 400, description = "The request cannot be understood", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "Another record has this id", body = Problem, content_type = "application/problem+json"),
        (status = 410, description = "The run was withdrawn", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Unknown encoding", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Not a record in its public form, with the places", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many submissions; see Retry-After", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The site is busy, or takes nothing in; see Retry-After", body = Problem, content_type = "application/problem+json"),
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
    site.metrics.submitted(outcome);
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
    let incoming = site.writers.run(check).await??;
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

/// A place among submissions that are checked or wait for it; fails if all are taken, or all of the address block.
pub(crate) fn place(site: &Site, block: [u8; 16]) -> Result<Share, Refusal> {
    let mut place = Share::of(&site.checking, block);
    match place.take(1, MOST_CHECKING_OF_BLOCK) {
        true => Ok(place),
        false => Err(Refusal::busy()),
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

pub(crate) fn limits(site: &Site, block: [u8; 16], submitter: Option<[u8; 16]>) -> Vec<Bucket> {
    let writes = site.config.writes;
    let of_address = Bucket {
        key: block,
        most: f64::from(writes.of_address),
        per_hour: f64::from(writes.of_address_per_hour),
    };
    let of_tag = submitter.map(|key| Bucket {
        key,
        most: f64::from(writes.of_tag),
        per_hour: f64::from(writes.of_tag_per_hour),
    });
    std::iter::once(of_address).chain(of_tag).collect()
}

/// Reads, checks and packs a submission; blocks.
pub(crate) fn incoming(
    received: Received,
    sender: Sender,
    limits: Vec<Bucket>,
) -> Result<Incoming, Refusal> {
    incoming_of(&received.unpack()?, sender, limits)
}

/// Reads, checks and packs a document; blocks.
pub(crate) fn incoming_of(
    text: &str,
    sender: Sender,
    limits: Vec<Bucket>,
) -> Result<Incoming, Refusal> {
    let submission =
        read_submission(text).map_err(|error| Refusal::not_a_submission(&error, text))?;
    let received_ms = now_ms();
    let derivation = derive(&submission, &day_of(received_ms));
    let (document, _) = documents_of(text);
    Ok(Incoming {
        packed: pack(text)?,
        digest: Sha256::digest(text.as_bytes()).into(),
        record_digest: Sha256::digest(document.as_bytes()).into(),
        card: card_key(&submission.record, sender.submitter.as_ref()),
        extract: derivation.extract,
        checks: derivation.checks,
        tag: sender.submitter,
        token_hash: sender.token_hash,
        revision: submission
            .statement
            .map_or(0, |statement| statement.revision),
        received_ms,
        limits,
    })
}

/// Packs a document for the database.
pub(crate) fn pack(text: &str) -> Result<Vec<u8>, Refusal> {
    packed(text).ok_or_else(Refusal::failed)
}
