//! Runs of storage that is not known.

use cardmark_judge::UnknownStorage;

use crate::text::names::capitalised;
use crate::text::style::clean;

/// Reason why there is no verdict on the storage, and what to name instead.
pub(crate) fn text(unknown: &UnknownStorage) -> String {
    let reason = clean(&unknown.reason());
    format!("{}. {}", capitalised(&reason), unknown.advice())
}
