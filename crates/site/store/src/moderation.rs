//! Moderation: acts, what follows from them, accounts, answers.

pub(crate) mod access;
pub(crate) mod acts;
pub(crate) mod answers;
pub(crate) mod apply;
pub(crate) mod decisions;
mod desk;
mod queue;
pub(crate) mod types;
