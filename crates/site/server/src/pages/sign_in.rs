//! Signing in and out, for moderators.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_pages::frame::{Field, FieldKind, Form, Page};
use cardmark_report::document::Block;

use crate::http::page::{PageRefusal, shown};
use crate::http::peer::Block as AddressBlock;
use crate::http::problem::Refusal;
use crate::moderation::session::{Moderator, begin, no_cookie, verify_origin};
use crate::moderation::sign_in::{Typed, is_allowed};
use crate::pages::parts::Parts;
use crate::state::Site;

pub(super) async fn form(headers: HeaderMap) -> Response {
    let blocks = vec![Block::Text(
        "For moderators only. Sharing and withdrawing runs needs no account.".to_owned(),
    )];
    let page = Page::new("Sign in", "For moderators.", blocks).last(Form::sending(
        "/sign-in",
        "Sign in",
        vec![
            Field::text("name", "Name", None),
            Field::of(FieldKind::Secret, "password", "Password"),
            Field::text("code", "Code of the authenticator app", None),
        ],
    ));
    shown(&page, &headers)
}

pub(super) async fn enter(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    site.requests
        .reads
        .take(block, Instant::now())
        .map_err(Refusal::limited)?;
    verify_origin(&site, &headers)?;
    let mut parts = Parts::receive(&site, block, &headers, body).await?;
    let typed = Typed {
        name: parts.line("name")?.unwrap_or_default(),
        password: parts.text("password")?.unwrap_or_default(),
        code: parts.line("code")?.unwrap_or_default().replace(' ', ""),
    };
    let account = typed.name.clone();
    if !is_allowed(&site, block, typed).await? {
        let detail =
            "name, password or code is wrong; each code is accepted once, so wait for the next one";
        let title = "Not signed in";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "not-signed-in", title, detail).into());
    }
    let cookie = begin(&site, &headers, &account).await?;
    Ok(gone_to("/moderation", cookie))
}

pub(super) async fn leave(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    crate::pages::desk::sent(&site, &moderator, block, &headers, body).await?;
    moderator.sign_out(&site).await?;
    Ok(gone_to("/", no_cookie(&site)?))
}

fn gone_to(address: &str, cookie: HeaderValue) -> Response {
    let mut response = Redirect::to(address).into_response();
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, cookie);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
