//! Writes: storing, changing and loading records, and moderation.

pub(crate) mod access;
pub(crate) mod acts;
pub(crate) mod answers;
pub(crate) mod apply;
pub(crate) mod change;
pub(crate) mod load;
pub(crate) mod put;
pub(crate) mod reweigh;
