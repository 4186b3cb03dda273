//! What people and programs read.

#![allow(clippy::unwrap_used, reason = "tests")]

mod builder;
mod csv;
mod list;
mod terminal;
mod width;
