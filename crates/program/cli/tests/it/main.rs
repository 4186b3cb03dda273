//! The program as its users meet it: good and bad targets, faults, signals, crashes, its store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod applications;
mod beginner;
mod campaign;
mod classes;
mod clock;
mod common;
mod compare;
mod devices;
mod digests;
mod documents;
mod durable;
mod examples;
mod faults;
mod field_kit;
mod fleet;
mod history;
mod hostile;
mod import;
mod info;
mod integrity;
mod job_kills;
mod kills;
mod monitoring;
mod old_tools;
mod open;
mod paths;
mod pictures;
mod power_cut;
mod prepare;
mod public_texts;
mod recommend;
mod refusals;
mod signals;
mod simulated;
mod statements;
mod store;
mod strace;
mod submit;
mod targets;
mod tmux;
mod traces;
mod undo;
mod unknown;
mod usage;
mod visits;
mod watch;
mod watch_units;
mod words;
