//! The registers of cards: known cards, properties of all bits, what a record may hold.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stand outside the tests"
)]

mod bits;
mod cards;
mod meanings;
mod privacy;
mod support;
