//! One record: what was received, what was derived, and its owner's changes.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use cardmark_core::{Record, documents_of, parse_statement, visible};
use cardmark_share::{Accepted, Check, Problem, derive, hash_of_token_text, read_submission};
use cardmark_site_store::{Amended, Amendment, Bucket, Found, Head, StoredDocument, Withdrawn};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answers::{self, Listed, accepted, day_of, now_ms, withdrawn};
use crate::derived;
use crate::described::{OfRun, Read};
use crate::kept::{A_MINUTE, Encoding, Form, Kept, tag_of};
use crate::parameters::RunId;
use crate::peer::Block;
use crate::problem::Refusal;
use crate::state::Site;
use crate::submit::{limits, pack};

/// Largest statement, bytes.
const MOST_STATEMENT: usize = 64 << 10;
/// Media type of a record and its statement.
const DOCUMENT_TYPE: &str = "application/x-ndjson";

/// A record and what was derived from it.
#[derive(Debug, Serialize, ToSchema)]
struct RecordView {
    #[serde(flatten)]
    listed: Listed,
    /// Results of the checks.
    checks: Vec<Check>,
    /// Number of the owner's statement; 0 without any.
    revision: u64,
    /// Statement of the owner: product, claims, setting.
    stated: Value,
    /// Figures, as in the record's `metrics`; derived from its trials.
    metrics: Value,
    /// Findings, as in the record's `findings`.
    findings: Value,
    /// Verdicts, as in the record's `derived`.
    verdicts: Value,
}

/// Returns figures, findings, verdicts and checks of a record.
#[utoipa::path(
    get, path = "/api/v1/records/{id}", tag = "read",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, description = "The record", body = RecordView),
        OfRun, Read,
    )
)]
pub(crate) async fn record(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let head = head(&site, id).await?;
    let path = format!("/api/v1/records/{id}");
    let answer = site.answers.get(&path, &head, view(&site, &head)).await?;
    Ok(answer.answer(&headers))
}

async fn view(site: &Arc<Site>, head: &Head) -> Result<Kept, Refusal> {
    let record = derived_record(site, head.id).await?;
    let json = |value: Result<Value, serde_json::Error>| value.map_err(|_| Refusal::failed());
    let view = RecordView {
        checks: head.checks.clone(),
        revision: head.revision,
        stated: json(serde_json::to_value(&record.labels))?,
        metrics: json(serde_json::to_value(&record.metrics))?,
        findings: json(serde_json::to_value(&record.findings))?,
        verdicts: json(serde_json::to_value(
            cardmark_judge::upheld(&record).as_deref(),
        ))?,
        listed: head.clone().into(),
    };
    answers::json(&view)
}

/// The bytes as they were received; after an amendment with the new statement.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/document", tag = "read",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, description = "The record in one line, then the statement in one line", body = String, content_type = "application/x-ndjson"),
        OfRun, Read,
    )
)]
pub(crate) async fn document(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    head(&site, id).await?;
    let stored = stored(&site, id).await?;
    let tag = tag_of(&stored.digest);
    let form = |encoding| Form {
        kind: DOCUMENT_TYPE,
        tag: &tag,
        encoding,
    };
    if Encoding::asked(&headers) == Encoding::Zstd {
        return Ok(form(Encoding::Zstd).answer(&headers, stored.packed.into(), A_MINUTE));
    }
    let packed = stored.packed;
    let text = site.readers.run(move || derived::unpack(&packed)).await??;
    Ok(form(Encoding::Plain).answer(&headers, text.into(), A_MINUTE))
}

/// State of a run, as in the answer to its submission.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/state", tag = "submit",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, description = "The state", body = Accepted),
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn state(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
) -> Result<Json<Accepted>, Refusal> {
    match site.store.find(id).await? {
        Found::Here(head) => Ok(Json(accepted(&head))),
        Found::Withdrawn { .. } => Ok(Json(withdrawn(id))),
        Found::Unknown => Err(Refusal::unknown_run()),
    }
}

/// Replaces what the owner states of a run. A statement of an earlier revision changes nothing.
#[utoipa::path(
    put, path = "/api/v1/records/{id}/statement", tag = "submit",
    params(("id" = Uuid, Path, description = "Id of the run")),
    request_body(content = String, content_type = "application/json", description = "The statement"),
    security(("edit_token" = [])),
    responses(
        (status = 200, description = "It counts now", body = Accepted),
        (status = 400, description = "The request cannot be understood", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "No token", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "Another token", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body did not arrive in time", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "A later statement counts", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Unknown encoding", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Not a statement on this run", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The site is busy, or takes nothing in", body = Problem, content_type = "application/problem+json"),
        OfRun,
    )
)]
pub(crate) async fn amend(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    Block(block): Block,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Accepted>, Refusal> {
    let token = token_hash(&headers)?;
    // The token first: nothing is read for strangers.
    let head = permitted(&site, id, token).await?;
    let received = site
        .bodies
        .receive(block, &headers, body, MOST_STATEMENT)
        .await?;
    let stored = stored(&site, id).await?;
    let limits = limits(&site, block, head.tag);
    let check = move || amendment(id, &stored, &received.unpack()?, &head, limits);
    let amendment = site.writers.run(check).await??;
    match site.store.amend(id, token, amendment).await? {
        Amended::Now(head) => {
            site.answers.forget(&id.to_string());
            Ok(Json(accepted(&head)))
        }
        Amended::Older(revision) => Err(Refusal::new(
            StatusCode::CONFLICT,
            "older-statement",
            "A later statement counts",
            format!("statement {revision} counts; one with a higher revision replaces it"),
        )),
        Amended::Forbidden => Err(Refusal::forbidden()),
        Amended::Unknown => Err(Refusal::unknown_run()),
        Amended::Gone => Err(Refusal::withdrawn()),
        Amended::Limited(limit) => Err(Refusal::limited(limit)),
        Amended::ReadOnly => Err(Refusal::read_only()),
    }
}

/// Withdraws a run: its bytes and everything derived from them are deleted; id and state stay.
#[utoipa::path(
    delete, path = "/api/v1/records/{id}", tag = "submit",
    params(("id" = Uuid, Path, description = "Id of the run")),
    security(("edit_token" = [])),
    responses(
        (status = 200, description = "Withdrawn, now or before", body = Accepted),
        (status = 401, description = "No token", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "Another token", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The site is busy", body = Problem, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn withdraw(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<Json<Accepted>, Refusal> {
    let token = token_hash(&headers)?;
    match site.store.withdraw(id, token).await? {
        Withdrawn::Now => {
            site.answers.forget(&id.to_string());
            Ok(Json(withdrawn(id)))
        }
        Withdrawn::Forbidden => Err(Refusal::forbidden()),
        Withdrawn::Unknown => Err(Refusal::unknown_run()),
    }
}

pub(crate) async fn head(site: &Site, id: Uuid) -> Result<Head, Refusal> {
    match site.store.find(id).await? {
        Found::Here(head) => Ok(*head),
        Found::Withdrawn { .. } => Err(Refusal::withdrawn()),
        Found::Unknown => Err(Refusal::unknown_run()),
    }
}

pub(crate) async fn stored(site: &Site, id: Uuid) -> Result<StoredDocument, Refusal> {
    // Withdrawn since its head was read.
    site.store
        .document(id)
        .await?
        .ok_or_else(Refusal::withdrawn)
}

/// The record of a run with everything derived again.
pub(crate) async fn derived_record(site: &Site, id: Uuid) -> Result<Record, Refusal> {
    let stored = stored(site, id).await?;
    let derive = move || derived::record(&stored.packed);
    site.readers.run(derive).await?
}

pub(crate) async fn permitted(site: &Site, id: Uuid, token: [u8; 32]) -> Result<Head, Refusal> {
    let head = head(site, id).await?;
    match site.store.is_token(id, token).await? {
        true => Ok(head),
        false => Err(Refusal::forbidden()),
    }
}

/// The hash of the token in `Authorization: Bearer`.
pub(crate) fn token_hash(headers: &HeaderMap) -> Result<[u8; 32], Refusal> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or_else(Refusal::no_token)?;
    let (scheme, token) = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or_else(Refusal::no_token)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::no_token());
    }
    hash_of_token_text(token.trim()).ok_or_else(Refusal::forbidden)
}

/// The document with a new statement, and what follows from it.
pub(crate) fn amendment(
    id: Uuid,
    stored: &StoredDocument,
    statement: &str,
    head: &Head,
    limits: Vec<Bucket>,
) -> Result<Amendment, Refusal> {
    let not_one = |detail: String| {
        let title = "The document is not a statement on this run";
        Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "not-a-statement",
            title,
            detail,
        )
    };
    let parsed = parse_statement(statement).map_err(|error| not_one(error.to_string()))?;
    if parsed.record_id != id {
        return Err(not_one("it is on another run".to_owned()));
    }
    let text = derived::unpack(&stored.packed)?;
    let (record, _) = documents_of(&text);
    let line = serde_json::from_str::<Box<serde_json::value::RawValue>>(statement)
        .map_err(|error| not_one(error.to_string()))?;
    let document = format!("{record}\n{}\n", visible(&one_line(line.get())));
    let submission =
        read_submission(&document).map_err(|error| Refusal::not_a_submission(&error, &document))?;
    let derivation = derive(&submission, &day_of(head.received_ms));
    Ok(Amendment {
        packed: pack(&document)?,
        digest: Sha256::digest(document.as_bytes()).into(),
        revision: parsed.revision,
        extract: derivation.extract,
        checks: derivation.checks,
        at_ms: now_ms(),
        limits,
    })
}

/// JSON holds line feeds only between its tokens.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
