//! The site's state and its routes.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};
use cardmark_site_store::SiteStore;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use uuid::Uuid;

use crate::body::BodyMemory;
use crate::config::Config;
use crate::limits::ReadLimits;
use crate::logged::logged;
use crate::metrics::Metrics;
use crate::problem::Refusal;
use crate::{compare, lists, openapi, operation, published, records, seeds, submit};

/// Submissions that are checked or wait for it.
const MOST_CHECKING: usize = 64;

/// Seeds for one address block, at once and per second.
const SEEDS_AT_ONCE: u32 = 60;
const SEEDS_PER_S: f64 = 1.0 / 60.0;

/// State of the site.
#[derive(Debug)]
pub struct Site {
    pub(crate) store: SiteStore,
    pub(crate) config: Config,
    /// Text that addresses are hashed with.
    pub(crate) secret: Vec<u8>,
    /// Distinguishes instances in ids of requests.
    pub(crate) instance: String,
    pub(crate) bodies: BodyMemory,
    /// Places for submissions that are checked or wait for it.
    pub(crate) checking: Arc<Semaphore>,
    /// Processors for checking.
    pub(crate) processors: Arc<Semaphore>,
    pub(crate) reads: ReadLimits,
    pub(crate) seeds: ReadLimits,
    pub(crate) metrics: Metrics,
}

impl Site {
    /// Creates the state over an open database.
    #[must_use]
    pub fn new(store: SiteStore, config: Config) -> Self {
        let random = Uuid::new_v4().simple().to_string();
        let secret = config
            .secret
            .clone()
            .unwrap_or_else(|| Uuid::new_v4().simple().to_string() + &random);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            store,
            secret: secret.into_bytes(),
            instance: random[..6].to_owned(),
            bodies: BodyMemory::default(),
            checking: Arc::new(Semaphore::new(MOST_CHECKING)),
            processors: Arc::new(Semaphore::new(processors)),
            reads: ReadLimits::new(config.reads_at_once, f64::from(config.reads_per_s.max(1))),
            seeds: ReadLimits::new(SEEDS_AT_ONCE, SEEDS_PER_S),
            metrics: Metrics::default(),
            config,
        }
    }
}

/// Returns the routes of the site.
pub fn router(site: Arc<Site>) -> Router {
    let reading = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD])
        .expose_headers([
            header::ETAG,
            header::RETRY_AFTER,
            HeaderName::from_static("request-id"),
        ]);
    let safe = |name, value| {
        SetResponseHeaderLayer::overriding(name, header::HeaderValue::from_static(value))
    };
    Router::new()
        .nest("/api/v1", api())
        .route("/", get(openapi::index))
        .route("/schema/{name}", get(openapi::schema))
        .route("/problems/{kind}", get(openapi::problem))
        .route("/health", get(operation::health))
        .route("/ready", get(operation::ready))
        .route("/metrics", get(operation::metrics))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(reading)
        .layer(safe(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(safe(
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ))
        .layer(safe(header::REFERRER_POLICY, "no-referrer"))
        .layer(from_fn_with_state(Arc::clone(&site), logged))
        .with_state(site)
}

fn api() -> Router<Arc<Site>> {
    Router::new()
        .route("/records", post(submit::submit).get(lists::search))
        .route(
            "/records/{id}",
            get(records::record).delete(records::withdraw),
        )
        .route("/records/{id}/document", get(records::document))
        .route("/records/{id}/state", get(records::state))
        .route("/records/{id}/rank", get(compare::rank))
        .route("/records/{id}/statement", put(records::amend))
        .route("/products", get(lists::products))
        .route("/products/{key}", get(lists::product))
        .route("/boards", get(lists::boards))
        .route("/contexts", get(lists::contexts))
        .route("/rankings", get(lists::ranking))
        .route("/changes", get(lists::changes))
        .route("/compare", get(compare::compare))
        .route("/published", get(published::published))
        .route("/seeds", post(seeds::issue))
        .route("/checks", get(lists::checks))
        .route("/openapi.json", get(openapi::openapi))
}

async fn unknown() -> Refusal {
    let detail = "there is nothing at this path; /api/v1/openapi.json lists what there is";
    Refusal::new(
        StatusCode::NOT_FOUND,
        "unknown-path",
        "Nothing here",
        detail,
    )
}

async fn not_allowed() -> Refusal {
    let detail = "the path exists, but not with this method; /api/v1/openapi.json lists both";
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "The method is not allowed here",
        detail,
    )
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    tracing::error!("a request panicked");
    axum::response::IntoResponse::into_response(Refusal::failed())
}
