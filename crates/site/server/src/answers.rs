//! Answers about records.

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use cardmark_core::name_of;
use cardmark_share::{Accepted, Check, Level, STATE_QUARANTINED, STATE_SHARED, STATE_WITHDRAWN};
pub(crate) use cardmark_site_data::day_of;
use cardmark_site_store::{Head, State};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::kept::Kept;
use crate::problem::Refusal;

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

/// Number of the present minute: what is kept for a minute is as old as what caches may keep.
pub(crate) fn this_minute() -> i64 {
    now_ms() / 60_000
}

/// JSON that caches of others may keep for a minute, with its tag; 304 without a body if the client has it.
pub(crate) fn kept(headers: &HeaderMap, answer: &impl Serialize) -> Response {
    match json(answer) {
        Ok(kept) => kept.answer(headers),
        Err(refusal) => refusal.into_response(),
    }
}

/// An answer as JSON.
pub(crate) fn json(answer: &impl Serialize) -> Result<Kept, Refusal> {
    let text = serde_json::to_string(answer).map_err(|_| Refusal::failed())?;
    Ok(Kept::new("application/json", text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use axum::http::StatusCode;
    use axum::http::header::{ETAG, IF_NONE_MATCH};

    use super::*;

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

    #[test]
    fn what_cannot_be_written_as_json_is_a_failure() {
        // A key of an object is a text.
        let unwritable = BTreeMap::from([((1, 2), 3)]);
        let answer = kept(&HeaderMap::new(), &unwritable);
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
