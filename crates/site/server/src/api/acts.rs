//! Acts as data.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_share::Problem;
use cardmark_site_store::Act;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::responses::{Asked, Read};
use crate::http::parameters::{Key, Parameters};
use crate::http::problem::Refusal;
use crate::http::reply::json_answer;
use crate::moderation::acts::{ActsQuery, found, page};
use crate::moderation::words;
use crate::state::Site;

/// An act of a moderator.
#[derive(Debug, Serialize, ToSchema)]
struct ActView {
    /// Its number, in the order of time.
    number: i64,
    /// Time, such as `2026-11-25T10:00:00Z`.
    at: String,
    /// Account of the moderator.
    account: String,
    /// `hold`, `release`, `accept`, `merge`, `split`, `switch_on`, `switch_off` or `undo`.
    kind: Value,
    /// Target: a record, a submitter's tag, products, a switch, or the act that is undone.
    target: Value,
    /// Its reason.
    reason: String,
    /// Number of the act that undoes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_by: Option<i64>,
    /// False while runs are left to which it is not applied yet.
    is_applied: bool,
}

/// A page of acts of moderators, the last first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActsPage {
    acts: Vec<ActView>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists acts of moderators.
#[utoipa::path(
    get, path = "/api/v1/acts", tag = "read", params(ActsQuery),
    responses(
        (status = 200, description = "A page", body = ActsPage),
        Asked, Read,
    )
)]
pub(crate) async fn acts(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<ActsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (acts, next) = page(&site, query).await?;
    let acts = acts.iter().map(view).collect::<Result<_, _>>()?;
    Ok(json_answer(&headers, &ActsPage { acts, next }))
}

/// One act of a moderator.
#[utoipa::path(
    get, path = "/api/v1/acts/{number}", tag = "read",
    params(("number" = i64, Path, description = "Number of the act")),
    responses(
        (status = 200, description = "The act", body = ActView),
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        Read,
    )
)]
pub(crate) async fn act(
    State(site): State<Arc<Site>>,
    number: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let act = found(&site, number).await?;
    Ok(json_answer(&headers, &view(&act)?))
}

fn view(act: &Act) -> Result<ActView, Refusal> {
    let mut deed = serde_json::to_value(&act.deed).map_err(|_| Refusal::failed())?;
    Ok(ActView {
        number: act.number,
        at: words::time(act.at_ms),
        account: act.account.clone(),
        kind: deed["kind"].take(),
        target: deed["target"].take(),
        reason: act.reason.clone(),
        undone_by: act.undone_by,
        is_applied: act.is_applied,
    })
}
