//! Sessions of moderators. The cookie holds a random token, the database only its hash. Other visitors get no cookie.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_share::{from_hexadecimal, to_hexadecimal, token_hash};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::random;
use crate::clock::now_ms;
use crate::http::page::PageRefusal;
use crate::http::problem::Refusal;
use crate::state::Site;

/// Time for which a browser keeps the cookie: that of a session.
const MOST_AGE_S: u32 = 12 * 3_600;

/// A moderator with a session that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct Moderator {
    pub(crate) account: String,
    session: [u8; 32],
}

impl FromRequestParts<Arc<Site>> for Moderator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        match signed_in(site, &parts.headers).await {
            Ok(Some(moderator)) => Ok(moderator),
            Ok(None) if parts.method == Method::GET => {
                let mut response = Redirect::to("/sign-in").into_response();
                let no_store = HeaderValue::from_static("no-store");
                response
                    .headers_mut()
                    .insert(header::CACHE_CONTROL, no_store);
                Err(response)
            }
            Ok(None) => Err(PageRefusal::from(signed_out()).into_response()),
            Err(refusal) => Err(PageRefusal::from(refusal).into_response()),
        }
    }
}

async fn signed_in(site: &Site, headers: &HeaderMap) -> Result<Option<Moderator>, Refusal> {
    let Some(session) = session(site, headers) else {
        return Ok(None);
    };
    let account = site.store.session(session, now_ms()).await?;
    Ok(account.map(|account| Moderator { account, session }))
}

fn signed_out() -> Refusal {
    let detail = "the session has ended; sign in, and send it again";
    Refusal::new(StatusCode::FORBIDDEN, "signed-out", "Signed out", detail)
}

impl Moderator {
    /// The token that a form of this session holds.
    pub(crate) fn form_token(&self, site: &Site) -> String {
        to_hexadecimal(&mac(site, self.session).finalize().into_bytes())
    }

    /// Refuses a form that was not made for this session.
    pub(crate) fn verify(&self, site: &Site, form_token: Option<String>) -> Result<(), Refusal> {
        let given: Option<[u8; 32]> = form_token.and_then(|text| from_hexadecimal(&text));
        let is_own =
            given.is_some_and(|given| mac(site, self.session).verify_slice(&given).is_ok());
        match is_own {
            true => Ok(()),
            false => Err(foreign(
                "the form is not one of this session; open it again",
            )),
        }
    }

    pub(crate) async fn sign_out(&self, site: &Site) -> Result<(), Refusal> {
        site.store.end_session(self.session).await?;
        Ok(())
    }
}

fn mac(site: &Site, session: [u8; 32]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&site.secret).expect("any length");
    mac.update(b"form of a session\n");
    mac.update(&session);
    mac
}

fn foreign(detail: &str) -> Refusal {
    let title = "The form is not accepted";
    Refusal::new(StatusCode::FORBIDDEN, "foreign-form", title, detail)
}

/// Refuses what a page of another site sends.
pub(crate) fn verify_origin(site: &Site, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let scheme = match site.config.behind_proxy {
        true => "https",
        false => "http",
    };
    match text(header::ORIGIN) {
        Some(origin) if origin == format!("{scheme}://{host}") => Ok(()),
        Some(_) => Err(foreign("a page of another site sent it")),
        None => Err(foreign(
            "the header Origin is missing: another browser is needed",
        )),
    }
}

/// Begins a session and returns its cookie. A session that the browser had ends: its token may be known to somebody else.
pub(crate) async fn begin(
    site: &Site,
    headers: &HeaderMap,
    account: &str,
) -> Result<HeaderValue, Refusal> {
    if let Some(before) = session(site, headers) {
        site.store.end_session(before).await?;
    }
    let token = random();
    let hash = token_hash(&token);
    if !site.store.begin_session(hash, account, now_ms()).await? {
        return Err(signed_out());
    }
    cookie(site, &to_hexadecimal(&token), MOST_AGE_S)
}

/// The cookie that removes that of a session.
pub(crate) fn no_cookie(site: &Site) -> Result<HeaderValue, Refusal> {
    cookie(site, "", 0)
}

/// A browser takes a cookie with the prefix `__Host-` only from the host itself, with TLS.
fn cookie_name(site: &Site) -> &'static str {
    match site.config.behind_proxy {
        true => "__Host-session",
        false => "session",
    }
}

fn cookie(site: &Site, value: &str, age_s: u32) -> Result<HeaderValue, Refusal> {
    let secure = if site.config.behind_proxy {
        "; Secure"
    } else {
        ""
    };
    let name = cookie_name(site);
    let text =
        format!("{name}={value}; Path=/; Max-Age={age_s}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).map_err(|_| Refusal::failed())
}

/// Hash of the token in the cookie.
fn session(site: &Site, headers: &HeaderMap) -> Option<[u8; 32]> {
    let name = cookie_name(site);
    let values = headers.get_all(header::COOKIE).iter();
    let cookies = values.filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|value| value.split(';'));
    let token = cookies.find_map(|cookie| cookie.trim().strip_prefix(name)?.strip_prefix('='))?;
    from_hexadecimal::<32>(token).map(|token| token_hash(&token))
}
