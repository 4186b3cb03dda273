//! What applications do, and whether it is really there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod folder;
mod strace;
mod support;
mod work;
