//! What the tools really printed, read, printed again, and damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod damaged;
mod pastes;
mod printed;
mod real;
mod round_trip;

/// A file of what a tool printed.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../fixtures/", $name))
    };
}
pub(crate) use fixture;
