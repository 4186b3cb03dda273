//! Tests of the public functions against known truth: tables, sorted vectors, simulation.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "helpers of tests"
)]

mod accounting;
mod again;
mod compare;
mod course;
mod coverage;
mod figures;
mod growing;
mod histogram;
mod history;
mod lasting;
mod parts;
mod places;
mod printed;
mod settle;
mod shift;
mod stops;
mod support;
mod table;
mod windows;
