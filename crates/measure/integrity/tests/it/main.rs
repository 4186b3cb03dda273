//! Verify, probe and endure on simulated cards, whose truth is known.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod anatomy;
mod endure;
mod errors;
mod interrupted;
mod loaded;
mod map;
mod odd;
mod part;
mod power;
mod power_cut;
mod probe;
mod reading;
mod support;
mod verify;
