//! Links of documents, and the commands in them that are no commands of our programs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cargo;
mod links;
mod programs;
mod releases;
