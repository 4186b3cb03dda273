//! Commands of the operator.

pub(crate) mod accounts;
pub(crate) mod data;
pub(crate) mod export;
pub(crate) mod removal;
pub(crate) mod serving;
