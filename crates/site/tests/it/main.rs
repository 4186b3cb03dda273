//! The API, asked as clients ask it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod bodies;
mod lists;
mod mine;
mod network;
mod openapi;
mod owners;
mod packs;
mod packs_rig;
mod pages;
mod rig;
mod submissions;
mod upload;
