//! Data of pages, which the API of a site returns as JSON.

pub mod board;
pub mod product;
pub mod published;
pub mod ranking;
pub mod run;
pub mod search;
