//! Figures of publications: beside shared ones, never mixed with them.

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_pages::views::published::Published;

use crate::api::responses::Read;
use crate::http::parameters::Parameters;
use crate::http::problem::Refusal;
use crate::http::reply::{Reply, json};

/// No parameters.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Lists the figures of publications that the catalogue has.
#[utoipa::path(
    get, path = "/api/v1/published", tag = "read",
    responses(
        (status = 200, description = "All figures", body = Published),
        Read,
    )
)]
pub(crate) async fn published(
    _: Parameters<Nothing>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    static ANSWER: LazyLock<Option<Reply>> = LazyLock::new(|| json(&Published::all()).ok());
    let answer = ANSWER.as_ref().ok_or_else(Refusal::failed)?;
    Ok(answer.answer(&headers))
}
