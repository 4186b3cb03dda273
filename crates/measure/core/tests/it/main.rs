//! The context of records.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside the tests"
)]

mod context;
