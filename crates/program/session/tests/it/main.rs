//! Jobs without the program: runs, refusals, undo, resumption, on directories, loop devices and simulated cards. Nothing here starts the program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod applications;
mod card;
mod classes;
mod devices;
mod directories;
mod folders;
mod integrity;
mod lending;
mod power_cut;
mod prepare;
mod refusals;
mod resumption;
mod run;
mod simulated;
mod stopping;
mod turns;
mod undo;
mod unknown;
mod watch;
mod world;
