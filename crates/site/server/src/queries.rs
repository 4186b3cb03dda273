//! Queries of the API and the pages.

pub(crate) mod documents;
mod lists;
pub(crate) mod runs;
mod site;

pub(crate) use lists::conditions;
