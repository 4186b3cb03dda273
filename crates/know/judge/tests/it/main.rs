//! Findings, verdicts and their order, with the public interface.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests stand outside the tests, and their numbers are small"
)]

mod advice;
mod attention;
mod classes;
mod comparison;
mod durable;
mod fleet;
mod forged;
mod history;
mod old_tools;
mod promises;
mod rankings;
mod registers;
mod simulated;
mod situations;
mod twenty;
mod watch;
