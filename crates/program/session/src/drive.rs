//! The course of a long job: steps, watch, turns with other processes, journal, messages.

pub(crate) mod announced;
pub(crate) mod in_turns;
pub(crate) mod job;
pub(crate) mod keeper;
pub(crate) mod session;
pub(crate) mod traces;
pub(crate) mod turn;
pub(crate) mod watch;
