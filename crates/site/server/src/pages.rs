//! Pages for people. They show what the API answers, with the charts and tables of the program's reports. A script sorts tables;
//! no page needs it.

pub(crate) mod frame;

mod about;
pub(crate) mod addresses;
mod audit;
mod boards;
mod circumstances;
mod compare;
mod desk;
mod feed;
mod figures;
mod history;
mod home;
mod moderation;
mod parts;
mod pictures;
mod product;
mod published;
mod ranking;
mod run;
mod runs;
mod sign_in;
mod submission;
mod under_way;
pub(crate) mod understood;
mod upload;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Extension, Router};

use crate::state::Site;
use crate::suited::KeptSuited;

/// Returns the routes of all pages.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::home))
        .route("/for/{use}", get(home::recommended))
        .route("/products", get(product::products))
        .route("/products/{key}", get(product::product))
        .route("/products/{key}/badge.svg", get(pictures::product_badge))
        .route(
            "/products/{key}/preview.png",
            get(pictures::product_preview),
        )
        .route("/rankings", get(ranking::ranking))
        .route("/rankings/circumstances", get(circumstances::circumstances))
        .route("/runs", get(runs::runs))
        .route("/runs/{id}", get(run::run))
        .route("/runs/{id}/badge.svg", get(pictures::run_badge))
        .route("/runs/{id}/preview.png", get(pictures::run_preview))
        .route("/compare", get(compare::compare))
        .route("/boards", get(boards::boards))
        .route("/boards/{board}", get(boards::board))
        .route("/published", get(published::list))
        .route("/published/{id}", get(published::publication))
        .route("/checks", get(about::checks))
        .route("/data", get(about::data))
        .route("/data/dumps/{name}/{*path}", get(crate::dumps::file))
        .route("/feed.atom", get(feed::feed))
        .route("/upload", get(upload::form).post(upload::understood))
        .route("/upload/send", post(upload::send))
        .route(
            "/submission",
            get(submission::form).post(submission::change),
        )
        .route("/submission/answer", post(submission::answer))
        .route("/under-way", get(under_way::under_way))
        .route("/history", get(history::cards))
        .route("/history/{card}", get(history::card))
        .route("/audit", get(audit::acts))
        .route("/audit/{number}", get(audit::act))
        .route("/sign-in", get(sign_in::form).post(sign_in::enter))
        .route("/sign-out", post(sign_in::leave))
        .merge(moderation::routes())
        .route("/style.css", get(frame::style))
        .route("/script.js", get(frame::script))
        .route("/icon.svg", get(frame::icon))
        .layer(Extension(Arc::<KeptSuited>::default()))
}
