//! Products.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_pages::views::product::{ProductView, ProductsPage, ProductsQuery};
use cardmark_pages::{Queries, addresses};
use cardmark_share::Problem;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::responses::{Asked, Read};
use crate::http::parameters::{Key, Parameters};
use crate::http::problem::Refusal;
use crate::http::reply::json_answer;
use crate::state::Site;

/// Lists products with shared runs.
#[utoipa::path(
    get, path = "/api/v1/products", tag = "read", params(ProductsQuery),
    responses(
        (status = 200, description = "A page", body = ProductsPage),
        Asked, Read,
    )
)]
pub(crate) async fn products(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<ProductsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    Ok(json_answer(&headers, &site.products(query).await?))
}

/// A part of the summaries of a product.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProductQuery {
    /// `next` of the answer before.
    #[param(pattern = "^[0-9]{1,18}\\.-?[0-9]{1,19}\\.[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub(crate) cursor: Option<String>,
}

/// A product by key or name.
#[utoipa::path(
    get, path = "/api/v1/products/{key}", tag = "read",
    params(
        ("key" = String, Path, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$", description = "Key or name of the product"),
        ProductQuery,
    ),
    responses(
        (status = 200, description = "The product", body = ProductView),
        (status = 307, description = "Its runs count under another product"),
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        Asked, Read,
    )
)]
pub(crate) async fn product(
    State(site): State<Arc<Site>>,
    Key(name): Key,
    Parameters(query): Parameters<ProductQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if let Some(key) = site.moved(&name).await? {
        let address = format!("/api/v1{}", addresses::product(&key));
        return Ok(Redirect::temporary(&address).into_response());
    }
    let view = site.product(&name, query.cursor.as_deref()).await?;
    Ok(json_answer(&headers, &view))
}
