//! Application workloads on a filesystem: transactions of `SQLite`, packages installed, lines of a log.
//!
//! [`Applications`] is a back end of the engine. Its operations are not blocks but whole steps of an
//! application ([`Procedure`]), so that rounds, looks, clock, journal and watch are the same as in every
//! other suite. Method: docs/METHODOLOGY.md, "Applications".
//!
//! [`Procedure`]: cardmark_core::Procedure

mod applications;
mod content;
mod database;
mod files;
mod folder;
mod leftovers;
mod log;
mod packages;
mod safety;

pub use applications::{Applications, CountersSource, Damage};
pub use folder::WorkFolder;
pub use leftovers::{Leftovers, clear_leftovers};
pub use safety::UnsafeDirectory;
