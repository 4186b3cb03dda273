//! Common part of all requests: an id, a limit, a line in the log, and a count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::body::discard;
use crate::http::limits::ReadLimits;
use crate::http::metrics::Metrics;
use crate::http::peer::Clients;
use crate::http::problem::Refusal;

/// Header with the id of a request, for questions to the operator.
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// Paths that the operator's own programs ask.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

/// Limit and counters of all requests.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Distinguishes instances in ids of requests.
    pub(crate) instance: String,
    pub(crate) clients: Clients,
    pub(crate) reads: ReadLimits,
    pub(crate) metrics: Metrics,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(crate) async fn logged(
    State(requests): State<Arc<Requests>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{}-{number:x}", requests.instance);
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("none", MatchedPath::as_str)
        .to_owned();
    let mut response = match requests.limit(&request, &route, began) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            let (parts, body) = request.into_parts();
            discard(&parts.headers, body).await;
            refusal.into_response()
        }
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    requests
        .metrics
        .answered(counted(&method), &route, status, took);
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    tracing::info!(request_id = id, %method, route, status, micros, "answered");
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Method in the counts. A client can send any word as its method, and each would stay in memory.
fn counted(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::DELETE
        | Method::OPTIONS
        | Method::PATCH
        | Method::CONNECT
        | Method::TRACE => method.as_str(),
        _ => "other",
    }
}

impl Requests {
    /// All requests of an address block have one limit, so that those that are refused cost their sender too. What is stored has
    /// limits of its own beside it.
    fn limit(&self, request: &Request, route: &str, now: Instant) -> Result<(), Refusal> {
        if UNLIMITED.contains(&route) {
            return Ok(());
        }
        let block = self
            .clients
            .block_of(request.extensions(), request.headers());
        self.reads.take(block, now).map_err(Refusal::limited)
    }
}
