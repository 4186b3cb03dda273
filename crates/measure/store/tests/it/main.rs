//! The journal and the store, seen from outside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod builder;
mod damage;
mod growth;
mod journal;
mod preparations;
mod processes;
mod reading;
mod refusals;
mod selection;
mod store;
mod submissions;
mod versions;
