//! The personal instance: the runs of local stores in the same pages, on this computer only.

pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod library;
pub(crate) mod under_way;
