//! Pages about runs, products and rankings, the same for a site and for a computer's own runs.
//!
//! A page is a function from [`Queries`] to a [`frame::Page`]. It reads no file, no clock and no network, and does not know where its
//! data are; whoever implements the queries does.

pub mod addresses;
pub mod assets;
pub mod frame;
pub mod pages;
pub mod places;
mod queries;
pub mod shared;
pub mod views;

pub use queries::{Queries, bad_request, not_found, wrong_cursor};
