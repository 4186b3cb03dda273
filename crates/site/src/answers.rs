//! Answers about records.

use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use cardmark_core::name_of;
use cardmark_share::{
    Accepted, Check, Level, STATE_QUARANTINED, STATE_SHARED, STATE_WITHDRAWN, to_hexadecimal,
};
use cardmark_site_store::{Head, State};
use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

/// Time for which an answer may be shown again without asking, so that a withdrawal is seen soon.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// A record in a list.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Listed {
    /// Id of the run.
    pub(crate) id: Uuid,
    /// `shared` or `quarantined`.
    pub(crate) state: &'static str,
    /// Level of checking.
    pub(crate) level: Level,
    /// Day on which it arrived.
    pub(crate) received_on: String,
    /// Day of the run, as the board's clock had it.
    pub(crate) day: Option<String>,
    /// Key of the product on this site.
    pub(crate) product: Option<String>,
    /// Name of the product.
    pub(crate) product_name: Option<String>,
    /// Model that the device reports.
    pub(crate) model: Option<String>,
    /// Model of the board.
    pub(crate) board: Option<String>,
    /// Suite and version, or the test of storage.
    pub(crate) suite: Option<String>,
    /// Bus between reader and card.
    pub(crate) bus: Option<String>,
    /// Size of the device, bytes.
    pub(crate) size_bytes: Option<u64>,
    /// Result of a test of all blocks, such as `good` or `limbo`.
    pub(crate) storage: Option<String>,
    /// Number of the act of a moderator that decides the state; absent if the checks do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<i64>,
}

impl From<Head> for Listed {
    fn from(head: Head) -> Self {
        Self {
            id: head.id,
            state: state_name(head.state),
            level: head.level,
            received_on: day_of(head.received_ms),
            day: head.day,
            product: head.product,
            product_name: head.product_name,
            model: head.model,
            board: head.board,
            suite: head.suite,
            bus: head.bus,
            size_bytes: head.size_bytes,
            storage: head.storage,
            decided_by: head.decided_by,
        }
    }
}

/// The answer to a submission.
pub(crate) fn accepted(head: &Head) -> Accepted {
    Accepted {
        id: head.id,
        state: state_name(head.state).to_owned(),
        level: name_of(&head.level),
        received_on: day_of(head.received_ms),
        revision: head.revision,
        path: format!("/runs/{}", head.id),
        checks: head.checks.clone(),
        decided_by: head.decided_by,
    }
}

/// The answer about a run that was withdrawn.
pub(crate) fn withdrawn(id: Uuid) -> Accepted {
    Accepted {
        id,
        state: STATE_WITHDRAWN.to_owned(),
        level: String::new(),
        received_on: String::new(),
        revision: 0,
        path: format!("/runs/{id}"),
        checks: Vec::<Check>::new(),
        decided_by: None,
    }
}

pub(crate) fn state_name(state: State) -> &'static str {
    match state {
        State::Shared => STATE_SHARED,
        State::Quarantined => STATE_QUARANTINED,
        State::Withdrawn => STATE_WITHDRAWN,
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The day of a time, in UTC, such as `2026-11-25`.
pub(crate) fn day_of(ms: i64) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_string().get(..10).unwrap_or_default().to_owned()
}

/// An answer that may be kept for a minute, with its tag; 304 without a body if the client has it.
pub(crate) fn kept(headers: &HeaderMap, answer: &impl Serialize) -> Response {
    let body = serde_json::to_string(answer).unwrap_or_default();
    tagged(headers, "application/json", body.into_bytes(), None)
}

/// Bytes of a type. `encoding` names how they are packed.
pub(crate) fn tagged(
    headers: &HeaderMap,
    kind: &'static str,
    body: Vec<u8>,
    encoding: Option<&'static str>,
) -> Response {
    let digest = Sha256::digest(&body);
    let tag = format!("\"{}\"", to_hexadecimal(&digest[..12]));
    let has_it = headers.get_all(IF_NONE_MATCH).iter().any(|value| {
        let known = value.to_str().unwrap_or_default().split(',').map(str::trim);
        known
            .map(|known| known.trim_start_matches("W/"))
            .any(|known| known == tag || known == "*")
    });
    let mut response = match has_it {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            let mut response = body.into_response();
            let headers = response.headers_mut();
            headers.insert("content-type", HeaderValue::from_static(kind));
            if let Some(encoding) = encoding {
                headers.insert("content-encoding", HeaderValue::from_static(encoding));
            }
            response
        }
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, KEPT);
    headers.insert("vary", HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_in_utc() {
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(1_795_564_799_999), "2026-11-24");
        assert_eq!(day_of(1_795_564_800_000), "2026-11-25");
        assert_eq!(day_of(i64::MAX), "1970-01-01");
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let first = kept(&HeaderMap::new(), &"text");
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].clone();
        let mut asked = HeaderMap::new();
        asked.insert(
            IF_NONE_MATCH,
            format!("\"other\", W/{}", tag.to_str().unwrap())
                .parse()
                .unwrap(),
        );
        assert_eq!(kept(&asked, &"text").status(), StatusCode::NOT_MODIFIED);
        assert_eq!(kept(&asked, &"changed").status(), StatusCode::OK);
    }
}
