//! Protection of the personal instance from other computers and other sites.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::host::name_of;
use crate::http::page::{PageRefusal, no_page};
use crate::http::problem::Refusal;
use crate::state::Site;

/// Beginnings of the paths of pages about sharing.
const ABOUT_SHARING: [&str; 7] = [
    "/audit",
    "/data",
    "/feed",
    "/moderation",
    "/sign-",
    "/submission",
    "/upload",
];

/// Lets only this computer's browser read the personal instance: a page of another site could otherwise ask it under a name that
/// leads here (DNS rebinding). Nothing can be changed.
pub(crate) async fn guarded(
    State(site): State<Arc<Site>>,
    request: Request,
    next: Next,
) -> Response {
    if site.mine.is_none() {
        return next.run(request).await;
    }
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = name_of(host).map(str::to_ascii_lowercase);
    if !name.is_some_and(|name| ["localhost", "127.0.0.1", "[::1]"].contains(&name.as_str())) {
        let detail = "the personal instance answers under localhost only";
        return refused("other-host", detail).into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail =
            "the personal instance shows the runs of this computer; nothing can be sent to it";
        return refused("personal", detail).into_response();
    }
    let path = request.uri().path();
    let mut response = match ABOUT_SHARING.iter().any(|begin| path.starts_with(begin)) {
        true => PageRefusal::from(no_page()).into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    // Pages of other sites must not read it, and the next run is to be seen at once.
    headers.remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn refused(kind: &str, detail: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, kind, "Not here", detail)
}
