//! Rows of records, and the numbers and summaries that change with them, collected in a batch of writes.

pub(crate) mod batch;
pub(crate) mod counting;
pub(crate) mod facets;
pub(crate) mod limits;
mod numbers;
pub(crate) mod record;
pub(crate) mod seeds;
pub(crate) mod submitters;
pub(crate) mod summaries;
pub(crate) mod totals;
