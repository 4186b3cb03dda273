//! Records as documents: their context, their evidence, those of every method, and those of later versions.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod context;
mod corpus;
mod evidence;
mod growth;
