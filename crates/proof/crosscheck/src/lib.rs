//! The original tools and ours on the same target, one after the other, until it is known how
//! they compare.

mod bench;
mod commands;
mod contest;
mod original;
mod pairs;

pub use bench::{CrosscheckRequest, Crosschecked, crosscheck};
