//! Parameters of paths and queries. Unknown names are errors: a mistyped filter must not show everything.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use cardmark_site_store::Cursor;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::http::problem::Refusal;

/// Longest query, bytes.
const MOST_QUERY: usize = 4_096;
/// Entries of a page, unless asked otherwise.
const USUAL_LIMIT: u32 = 20;
/// Most entries of a page.
pub(crate) const MOST_LIMIT: u32 = 100;

/// The id of a run in the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunId(pub(crate) Uuid);

/// The parameters of a query.
#[derive(Clone, Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

/// A name in the path.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for RunId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Refusal::unknown_run())?;
        // One spelling only, so that each record has one address.
        let id = Uuid::try_parse(&text)
            .ok()
            .filter(|id| id.to_string() == text);
        id.map(Self).ok_or_else(Refusal::unknown_run)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let found = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = found.map_err(|error| Refusal::bad_request(error.body_text()))?;
        Ok(Self(plain("the name", text)?))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        if parts
            .uri
            .query()
            .is_some_and(|query| query.len() > MOST_QUERY)
        {
            return Err(Refusal::bad_request("the query is too long"));
        }
        let found = Query::<T>::from_request_parts(parts, state).await;
        found
            .map(|Query(value)| Self(value))
            .map_err(|error| Refusal::bad_request(error.body_text()))
    }
}

/// A text without control characters, which no database column holds.
pub(crate) fn plain(name: &str, text: String) -> Result<String, Refusal> {
    match text.chars().any(char::is_control) {
        true => Err(Refusal::bad_request(format!(
            "{name} holds a control character"
        ))),
        false => Ok(text),
    }
}

/// [`plain`], of an optional text.
pub(crate) fn optional(name: &str, text: Option<String>) -> Result<Option<String>, Refusal> {
    text.map(|text| plain(name, text)).transpose()
}

/// The number of entries of a page.
pub(crate) fn limit(asked: Option<u32>) -> Result<u32, Refusal> {
    match asked.unwrap_or(USUAL_LIMIT) {
        limit @ 1..=MOST_LIMIT => Ok(limit),
        _ => Err(Refusal::bad_request(format!(
            "limit has to be from 1 to {MOST_LIMIT}"
        ))),
    }
}

/// Cuts entries to a page, if one more than `limit` was read because there are more; returns the cursor of the next page too.
pub(crate) fn page_of<T>(
    mut found: Vec<T>,
    limit: u32,
    cursor: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let is_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| is_more).map(cursor);
    (found, next)
}

/// Reads a cursor: milliseconds, a full stop, the id.
pub(crate) fn cursor(text: Option<&str>) -> Result<Option<Cursor>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    let parts = text
        .split_once('.')
        .and_then(|(ms, id)| Some((ms.parse().ok()?, id.parse().ok()?)));
    let (received_ms, id) = parts.ok_or_else(wrong_cursor)?;
    Ok(Some(Cursor { received_ms, id }))
}

pub(crate) fn wrong_cursor() -> Refusal {
    cardmark_pages::wrong_cursor().into()
}

/// Writes a cursor.
pub(crate) fn cursor_text(cursor: Cursor) -> String {
    format!("{}.{}", cursor.received_ms, cursor.id)
}
