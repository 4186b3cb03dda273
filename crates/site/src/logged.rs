//! Common part of all requests: an id, a limit for reading, a line in the log, and a count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::peer::{Peer, block_hash, client};
use crate::problem::Refusal;
use crate::state::Site;

/// Header with the id of a request, for questions to the operator.
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// Paths that the operator's own programs ask.
const UNLIMITED: [&str; 3] = ["/health", "/ready", "/metrics"];

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(crate) async fn logged(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{}-{number:x}", site.instance);
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("none", MatchedPath::as_str)
        .to_owned();
    let mut response = match read_limit(&site, &request, &method, &route, began) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    site.metrics.answered(method.as_str(), &route, status, took);
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    tracing::info!(request_id = id, %method, route, status, micros, "answered");
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Submissions and seeds have limits of their own.
fn read_limit(
    site: &Site,
    request: &Request,
    method: &Method,
    route: &str,
    now: Instant,
) -> Result<(), Refusal> {
    if *method == Method::POST || UNLIMITED.contains(&route) {
        return Ok(());
    }
    let peer = request.extensions().get::<Peer>().copied();
    let address = client(peer, request.headers(), site.config.behind_proxy);
    let block = block_hash(&site.secret, address);
    site.reads.take(block, now).map_err(Refusal::limited)
}
