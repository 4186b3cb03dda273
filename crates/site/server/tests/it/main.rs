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
mod desk;
mod dumps;
mod export;
mod history;
mod lists;
mod many;
mod mine;
mod moderation;
mod network;
mod openapi;
mod owners;
mod packs;
mod packs_rig;
mod pages;
mod removal;
mod rig;
mod sessions;
mod submissions;
mod upload;
mod withdrawal;
