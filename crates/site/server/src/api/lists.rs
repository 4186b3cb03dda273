//! Lists: search, boards, changes, checks. Each costs the same with any number of records.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_catalog::explanations;
use cardmark_pages::Queries;
use cardmark_pages::views::board::BoardsPage;
use cardmark_pages::views::search::{SearchPage, SearchQuery};
use cardmark_share::CheckName;
use cardmark_site_data::day_of;
use cardmark_site_store::{Change, ChangeKind};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::api::responses::{Asked, Read};
use crate::http::parameters::{Parameters, limit, wrong_cursor};
use crate::http::problem::Refusal;
use crate::http::reply::json_answer;
use crate::state::Site;

/// Searches records.
#[utoipa::path(
    get, path = "/api/v1/records", tag = "read", params(SearchQuery),
    responses(
        (status = 200, description = "A page", body = SearchPage),
        Asked, Read,
    )
)]
pub(crate) async fn search(
    State(site): State<Arc<Site>>,
    RawQuery(text): RawQuery,
    Parameters(query): Parameters<SearchQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    without_empty(text.as_deref().unwrap_or_default())?;
    Ok(json_answer(&headers, &site.search(query).await?))
}

/// Forms of pages send fields that are empty; to a program that does, a condition of its search is missing.
fn without_empty(query: &str) -> Result<(), Refusal> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let mut named = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    match named.find(|(_, value)| value.is_empty()) {
        Some((name, _)) => Err(Refusal::bad_request(format!(
            "{name} is empty; leave it out"
        ))),
        None => Ok(()),
    }
}

/// A page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BoardsQuery {
    /// `next` of the page before.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Lists boards on which runs were measured.
#[utoipa::path(
    get, path = "/api/v1/boards", tag = "read", params(BoardsQuery),
    responses(
        (status = 200, description = "A page", body = BoardsPage),
        Asked, Read,
    )
)]
pub(crate) async fn boards(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<BoardsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let boards = site.boards(query.cursor, limit(query.limit)?).await?;
    Ok(json_answer(&headers, &boards))
}

/// A change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeEntry {
    /// The record.
    id: Uuid,
    /// `arrived`, `amended` or `withdrawn`.
    kind: &'static str,
    /// Day of the change.
    on: String,
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangesPage {
    /// The changes, oldest first.
    changes: Vec<ChangeEntry>,
    /// Cursor after the last one: ask again with it, now or later.
    next: String,
}

/// A page of the changes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// `next` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Lists changes, oldest first, for those who keep a copy. Withdrawn records have to be deleted there too.
#[utoipa::path(
    get, path = "/api/v1/changes", tag = "read", params(ChangesQuery),
    responses(
        (status = 200, description = "A page", body = ChangesPage),
        Asked, Read,
    )
)]
pub(crate) async fn changes(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<ChangesQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let limit = limit(query.limit)?;
    let after = query
        .cursor
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| wrong_cursor())?;
    let after = after.unwrap_or_default();
    let rows = site.store.changes(after, limit).await?;
    let next = rows.last().map_or(after, |row| row.sequence).to_string();
    let entry = |change: Change| ChangeEntry {
        id: change.id,
        kind: match change.kind {
            ChangeKind::Arrived => "arrived",
            ChangeKind::Amended => "amended",
            ChangeKind::Withdrawn => "withdrawn",
        },
        on: day_of(change.at_ms),
    };
    let changes = rows.into_iter().map(entry).collect();
    Ok(json_answer(&headers, &ChangesPage { changes, next }))
}

/// A check, for people.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckEntry {
    /// Its name in answers.
    name: CheckName,
    /// Title.
    title: &'static str,
    /// Description, with the consequence of a failure.
    text: &'static str,
}

/// Explains the checks.
#[utoipa::path(
    get, path = "/api/v1/checks", tag = "read",
    responses(
        (status = 200, description = "All checks", body = Vec<CheckEntry>),
        Read,
    )
)]
pub(crate) async fn checks(headers: HeaderMap) -> Response {
    let entry = |name: CheckName| {
        let term = name.term();
        let found = explanations().iter().find(|row| row.id == term);
        found.map(|found| CheckEntry {
            name,
            title: &found.title,
            text: &found.text,
        })
    };
    let all: Vec<CheckEntry> = CheckName::ALL.into_iter().filter_map(entry).collect();
    json_answer(&headers, &all)
}
