//! Boards.

use serde::Serialize;

/// A board.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BoardEntry {
    /// Model, as the records have it.
    pub model: String,
    /// Runs that count.
    pub runs_count: u64,
}

/// A page of boards.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BoardsPage {
    /// The boards, by model.
    pub boards: Vec<BoardEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
