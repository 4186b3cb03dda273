//! Rankings of products, and the circumstances under which they are ranked.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_pages::Queries;
use cardmark_pages::views::ranking::{Contexts, RankingView};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::responses::{Asked, Read};
use crate::http::parameters::{MOST_LIMIT, Parameters, limit};
use crate::http::problem::Refusal;
use crate::http::reply::json_answer;
use crate::state::Site;

/// A metric, and a page of its contexts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ContextsQuery {
    /// Id of the metric, such as `rand_read_4k`.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    metric: String,
    /// `next` of the page before.
    #[param(pattern = "^[0-9]{1,18}\\.-?[0-9]{1,19}$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 100.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Lists the circumstances under which a metric was measured: figures of two of them are not ranked together.
#[utoipa::path(
    get, path = "/api/v1/contexts", tag = "read", params(ContextsQuery),
    responses(
        (status = 200, description = "The contexts", body = Contexts),
        Asked, Read,
    )
)]
pub(crate) async fn contexts(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<ContextsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let limit = limit(query.limit.or(Some(MOST_LIMIT)))?;
    let found = site.contexts(&query.metric, query.cursor.as_deref(), limit);
    Ok(json_answer(&headers, &found.await?))
}

/// A metric in a context.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RankingQuery {
    /// Id of the metric, such as `rand_read_4k`.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    metric: String,
    /// Key of the context.
    context: i64,
    /// `next` of the page before.
    #[param(pattern = "^[0-9a-f]{16}\\.[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    cursor: Option<String>,
    /// Places of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Ranks products in one metric under the same circumstances.
#[utoipa::path(
    get, path = "/api/v1/rankings", tag = "read", params(RankingQuery),
    responses(
        (status = 200, description = "The ranking", body = RankingView),
        Asked, Read,
    )
)]
pub(crate) async fn ranking(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<RankingQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (cursor, limit) = (query.cursor.as_deref(), limit(query.limit)?);
    let view = site.ranking(&query.metric, query.context, cursor, limit);
    Ok(json_answer(&headers, &view.await?))
}
