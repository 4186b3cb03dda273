//! The target of a command: its name, what lies below it, and what is known of it before anything is done to it.

pub(crate) mod choose;
pub mod describe;
pub(crate) mod head;
pub(crate) mod history;
