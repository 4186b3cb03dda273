//! Pages for people. `cardmark-pages` draws those about runs, products and boards; those of the site itself (data, acts, forms) are drawn
//! here.

mod about;
mod assets;
mod audit;
mod desk;
mod dump;
mod moderation;
mod parts;
mod read;
mod runs;
mod sign_in;
mod submission;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Site;

/// Returns the routes of all pages.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(read::home))
        .route("/for", get(read::wanted))
        .route("/for/{use}", get(read::recommended))
        .route("/products", get(read::products))
        .route("/products/{key}", get(read::product))
        .route("/products/{key}/badge.svg", get(runs::product_badge))
        .route("/products/{key}/preview.png", get(runs::product_preview))
        .route("/rankings", get(read::ranking))
        .route("/rankings/circumstances", get(read::circumstances))
        .route("/runs", get(runs::runs))
        .route("/runs/{id}", get(runs::run))
        .route("/runs/{id}/badge.svg", get(runs::run_badge))
        .route("/runs/{id}/preview.png", get(runs::run_preview))
        .route("/compare", get(runs::compare))
        .route("/boards", get(read::boards))
        .route("/boards/{board}", get(read::board))
        .route("/published", get(read::publications))
        .route("/published/{id}", get(read::publication))
        .route("/checks", get(about::checks))
        .route("/data", get(about::data))
        .route("/data/dumps/{name}/{*path}", get(dump::file))
        .route("/feed.atom", get(read::feed))
        .route("/upload", get(upload::form).post(upload::understood))
        .route("/upload/send", post(upload::send))
        .route(
            "/submission",
            get(submission::form).post(submission::change),
        )
        .route("/submission/answer", post(submission::answer))
        .route("/audit", get(audit::acts))
        .route("/audit/{number}", get(audit::act))
        .route("/sign-in", get(sign_in::form).post(sign_in::enter))
        .route("/sign-out", post(sign_in::leave))
        .merge(moderation::routes())
        .route("/style.css", get(assets::style))
        .route("/script.js", get(assets::script))
        .route("/icon.svg", get(assets::icon))
}
