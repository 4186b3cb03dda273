//! State of the process, for the operator's programs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::http::problem::Refusal;
use crate::state::Site;

/// The process runs.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// The process can answer: its database does.
pub(crate) async fn ready(State(site): State<Arc<Site>>) -> Response {
    match site.store.is_ready().await {
        true => "ready\n".into_response(),
        false => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not answer\n",
        )
            .into_response(),
    }
}

/// Counters for Prometheus.
pub(crate) async fn metrics(State(site): State<Arc<Site>>) -> Result<Response, Refusal> {
    let counts = site.store.counts().await?;
    site.requests.metrics.stored(&counts);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([("content-type", kind)], site.requests.metrics.text()).into_response())
}
