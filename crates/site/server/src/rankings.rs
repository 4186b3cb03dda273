//! Rankings of products, and the circumstances under which they are ranked.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_site_store::{RankedContext, RankedProduct};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answers::kept;
use crate::described::{Asked, Read};
use crate::lists::SummaryView;
use crate::parameters::{MOST_LIMIT, Parameters, limit, page_of, plain, wrong_cursor};
use crate::problem::Refusal;
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

/// Circumstances under which a metric was measured.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextEntry {
    /// Key, for `/api/v1/rankings`.
    key: String,
    /// The circumstances.
    context: BTreeMap<String, String>,
    /// Ranked products.
    products_count: u64,
}

/// A page of the contexts of a metric.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Contexts {
    /// Those with the most products first.
    contexts: Vec<ContextEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
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
    let metric = plain("metric", query.metric)?;
    let limit = limit(query.limit.or(Some(MOST_LIMIT)))?;
    let (found, next) = contexts_page(&site, &metric, query.cursor.as_deref(), limit).await?;
    let entry = |found: RankedContext| ContextEntry {
        key: found.key.to_string(),
        context: found.context,
        products_count: found.products_count,
    };
    let contexts = found.into_iter().map(entry).collect();
    Ok(kept(&headers, &Contexts { contexts, next }))
}

/// The contexts of a page, and the cursor of the next one.
pub(crate) async fn contexts_page(
    site: &Site,
    metric: &str,
    cursor: Option<&str>,
    limit: u32,
) -> Result<(Vec<RankedContext>, Option<String>), Refusal> {
    let after = cursor.map(context_cursor).transpose()?;
    let store = &site.store;
    let found = site.contexts.page(store, metric, after, limit + 1).await?;
    let cursor = |last: &RankedContext| format!("{}.{}", last.products_count, last.key);
    Ok(page_of(found.to_vec(), limit, cursor))
}

/// Reads a cursor of contexts: number of products, a full stop, the key.
fn context_cursor(text: &str) -> Result<(u64, i64), Refusal> {
    let parts = text
        .split_once('.')
        .and_then(|(count, key)| Some((count.parse().ok()?, key.parse().ok()?)));
    parts.ok_or_else(wrong_cursor)
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

/// A place in a ranking.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RankedEntry {
    /// Key of the product.
    pub(crate) key: String,
    /// Its name.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) summary: SummaryView,
    /// Order in the ranking: smaller is better.
    #[serde(skip)]
    place: f64,
}

/// A page of a ranking.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RankingView {
    /// Products with at least three submitters, the best first.
    pub(crate) places: Vec<RankedEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
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
    let metric = plain("metric", query.metric)?;
    let (cursor, limit) = (query.cursor.as_deref(), limit(query.limit)?);
    let view = ranked(&site, &metric, query.context, cursor, limit).await?;
    Ok(kept(&headers, &view))
}

/// The best places of a ranking.
pub(crate) async fn places(
    site: &Site,
    metric: &str,
    context: i64,
    limit: u32,
) -> Result<Vec<RankedEntry>, Refusal> {
    Ok(ranked(site, metric, context, None, limit).await?.places)
}

/// Reads a page of a ranking.
pub(crate) async fn ranked(
    site: &Site,
    metric: &str,
    context: i64,
    cursor: Option<&str>,
    limit: u32,
) -> Result<RankingView, Refusal> {
    let after = cursor.map(ranking_place).transpose()?;
    let rows = site
        .store
        .ranking(metric, context, after, limit + 1)
        .await?;
    let entry = |ranked: RankedProduct| {
        let summary = SummaryView::of(ranked.row)?;
        Some(RankedEntry {
            key: ranked.key,
            name: ranked.name,
            summary,
            place: ranked.place,
        })
    };
    let cursor = |last: &RankedEntry| format!("{:016x}.{}", last.place.to_bits(), last.key);
    let (places, next) = page_of(rows.into_iter().filter_map(entry).collect(), limit, cursor);
    Ok(RankingView { places, next })
}

/// Reads a cursor of a ranking: the bits of the place, a full stop, the product.
fn ranking_place(text: &str) -> Result<(f64, &str), Refusal> {
    let (bits, key) = text.split_once('.').ok_or_else(wrong_cursor)?;
    let bits = u64::from_str_radix(bits, 16).map_err(|_| wrong_cursor())?;
    Some((f64::from_bits(bits), key))
        .filter(|(place, _)| place.is_finite())
        .ok_or_else(wrong_cursor)
}
