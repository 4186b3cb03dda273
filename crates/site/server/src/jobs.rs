//! Work that a site does by itself.

pub(crate) mod dumps;
pub(crate) mod upkeep;
