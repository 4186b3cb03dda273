//! One record: what was received, what was derived, and its owner's changes.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_pages::views::run::ListedRun;
use cardmark_share::{Accepted, Check, Problem};
use cardmark_site_store::{Amended, Amendment, Found, Head, Withdrawn};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::accepted::{accepted, withdrawn};
use crate::api::responses::{OfRun, Owned, Read, Sent, Written};
use crate::http::parameters::RunId;
use crate::http::peer::Block;
use crate::http::problem::Refusal;
use crate::http::reply::{A_MINUTE, BodyForm, Encoding, Reply, json, tag_of};
use crate::queries::documents::unpack;
use crate::queries::runs::{derived_record, head, listed, stored};
use crate::state::Site;
use crate::submissions::amendment::amendment;
use crate::submissions::incoming::{limits, newcomers};
use crate::submissions::owner::{permitted, token_hash};

/// Largest statement, bytes.
const MOST_STATEMENT: usize = 64 << 10;
/// Media type of a record and its statement.
const DOCUMENT_TYPE: &str = "application/x-ndjson";

/// A record and what was derived from it.
#[derive(Debug, Serialize, ToSchema)]
struct RecordView {
    #[serde(flatten)]
    listed: ListedRun,
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
    let answer = site.replies.get(&path, &head, view(&site, &head)).await?;
    Ok(answer.answer(&headers))
}

async fn view(site: &Arc<Site>, head: &Head) -> Result<Reply, Refusal> {
    let record = derived_record(site, head.id).await?;
    let value = |value: Result<Value, serde_json::Error>| value.map_err(|_| Refusal::failed());
    let view = RecordView {
        checks: head.checks.clone(),
        revision: head.revision,
        stated: value(serde_json::to_value(&record.labels))?,
        metrics: value(serde_json::to_value(&record.metrics))?,
        findings: value(serde_json::to_value(&record.findings))?,
        verdicts: value(serde_json::to_value(
            cardmark_judge::upheld(&record).as_deref(),
        ))?,
        listed: listed(head.clone()),
    };
    json(&view)
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
    let form = |encoding| BodyForm {
        kind: DOCUMENT_TYPE,
        tag: &tag,
        encoding,
    };
    if Encoding::asked(&headers) == Encoding::Zstd {
        return Ok(form(Encoding::Zstd).answer(&headers, stored.packed.into(), A_MINUTE));
    }
    let packed = stored.packed;
    let text = site.readers.run(move || unpack(&packed)).await??;
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
        (status = 409, description = "A later statement counts", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Not a statement on this run", body = Problem, content_type = "application/problem+json"),
        Sent, Owned, Written, OfRun,
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
    let amendment = Amendment {
        newcomers: Some(newcomers(&site, block)),
        ..site.writers.run(check).await??
    };
    match site.store.amend(id, token, amendment).await? {
        Amended::Now(head) => {
            site.replies.forget(&id.to_string());
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
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        Owned, Written,
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
            site.replies.forget(&id.to_string());
            Ok(Json(withdrawn(id)))
        }
        Withdrawn::Forbidden => Err(Refusal::forbidden()),
        Withdrawn::Unknown => Err(Refusal::unknown_run()),
    }
}
