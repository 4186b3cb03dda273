//! The routes of the site.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post, put};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::api::{
    acts, compare, health, lists, openapi, owners_answer, products, published, rankings, records,
    seeds, submit,
};
use crate::http::host::named;
use crate::http::problem::Refusal;
use crate::http::requests::logged;
use crate::pages;
use crate::state::Site;

/// What a page may load: its own style, script and pictures.
const POLICY: header::HeaderValue = header::HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

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
        .merge(pages::routes())
        .route("/schema/{name}", get(openapi::schema))
        .route("/problems/{kind}", get(openapi::problem))
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(reading)
        .layer(from_fn(named))
        .layer(safe(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // Badges have a policy of their own.
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            POLICY,
        ))
        // Not `no-referrer`: browsers would hide the origin of the site's own forms from it.
        .layer(safe(header::REFERRER_POLICY, "same-origin"))
        .layer(from_fn_with_state(Arc::clone(&site.requests), logged))
        .with_state(site)
}

fn api() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(openapi::index))
        .route("/records", post(submit::submit).get(lists::search))
        .route(
            "/records/{id}",
            get(records::record).delete(records::withdraw),
        )
        .route("/records/{id}/document", get(records::document))
        .route("/records/{id}/state", get(records::state))
        .route("/records/{id}/rank", get(compare::rank))
        .route("/records/{id}/statement", put(records::amend))
        .route("/records/{id}/answer", put(owners_answer::answer))
        .route("/products", get(products::products))
        .route("/products/{key}", get(products::product))
        .route("/boards", get(lists::boards))
        .route("/contexts", get(rankings::contexts))
        .route("/rankings", get(rankings::ranking))
        .route("/changes", get(lists::changes))
        .route("/acts", get(acts::acts))
        .route("/acts/{number}", get(acts::act))
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
