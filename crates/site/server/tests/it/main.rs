//! The API, asked as clients ask it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod answers;
mod bodies;
#[allow(dead_code, reason = "tests of the store use the rest")]
#[path = "../../../store/tests/it/site.rs"]
mod database;
mod desk;
mod dumps;
mod export;
mod lists;
mod many;
mod moderation;
mod network;
mod openapi;
mod owners;
mod pages;
mod removal;
mod rig;
#[allow(dead_code, reason = "tests of the store use the rest")]
#[path = "../../../store/tests/it/samples.rs"]
mod samples;
mod sessions;
mod submissions;
mod upload;
mod withdrawal;
