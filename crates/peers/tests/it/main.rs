//! What the tools really printed, read, printed again, and damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agnostics;
mod comment;
mod damaged;
mod f3;
mod fio_text;
mod harm;
mod import;
mod kdiskmark;
mod mutated;
mod pastes;
mod pibenchmarks;
mod printed;
mod real;
mod round_trip;
mod said;

/// A file of what a tool printed.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/", $name))
    };
}
pub(crate) use fixture;
