//! The API, asked as clients ask it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test may panic")]

mod answers;
mod bodies;
mod desk;
mod dumps;
mod export;
mod lists;
mod mine;
mod moderation;
mod network;
mod openapi;
mod owners;
mod pages;
mod rig;
mod sessions;
mod submissions;
mod upload;
mod withdrawal;
