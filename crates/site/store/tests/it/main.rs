//! One contract for both databases.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

mod contract;
mod limits;
mod lists;
mod moderation;
mod postgres;
mod rebuild;
mod records;
mod samples;
mod seeds;
mod site;
mod speed;
mod sqlite;
mod upgrade;
mod voices;
