//! Steps of applications, and the files that they leave.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod folder;
mod strace;
mod support;
mod work;
