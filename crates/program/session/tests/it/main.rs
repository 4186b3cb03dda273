//! Jobs without the program: refusals, undo, resumption, on loop devices and simulated cards. Nothing here starts the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod card;
mod classes;
mod lending;
mod refusals;
mod resumption;
mod unknown;
mod world;
