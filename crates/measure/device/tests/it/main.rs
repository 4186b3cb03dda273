//! Real back ends on real files: system calls, alignment, short reads, fall-backs (rig S1).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod blocks;
mod contract;
mod device;
mod fill;
mod manners;
mod support;
mod target;
mod wide;
