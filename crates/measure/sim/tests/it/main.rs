//! Simulated cards against their analytic truth and against published behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "helpers of tests stand outside the tests, and their numbers are small"
)]

mod behaviour;
mod classes;
mod ftl;
mod old_tools;
mod online;
mod position;
mod support;
mod sustained;
mod truth;
mod zoo;
