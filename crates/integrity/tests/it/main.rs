//! Verify, probe and endure on simulated cards, whose truth is known.

mod endure;
mod interrupted;
mod probe;
mod support;
mod verify;
