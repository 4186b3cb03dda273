//! What applications do to a filesystem: transactions of `SQLite`, packages installed, lines of a log.
//!
//! [`Applications`] is a back end of the engine whose operations are not blocks but whole steps of an
//! application ([`Procedure`]), so that rounds, looks, clock, journal and watch are those of every other
//! suite. Method: docs/METHODOLOGY.md, "Applications".
//!
//! [`Procedure`]: cardmark_core::Procedure

mod applications;
mod content;
mod database;
mod folder;
mod log;
mod packages;

pub use applications::{Applications, CountersSource, Damage};
pub use folder::{Leftovers, WorkFolder, clear_leftovers};
