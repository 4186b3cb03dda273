//! The original tools and ours on the same target, one after the other, until it is known how
//! they compare.

mod commands;
mod contest;
mod original;
mod pairs;

pub(crate) use contest::{Contest, contests};
pub(crate) use original::{Place, Workshop, find_program};
pub(crate) use pairs::{Pairs, Rival};
