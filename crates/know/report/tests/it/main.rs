//! What people and programs read.

#![allow(clippy::unwrap_used, reason = "tests")]

mod answers;
mod attention;
mod badge;
mod builder;
mod charts;
mod claims;
mod colour;
mod comparison;
mod comparison_answer;
mod csv;
mod damage;
mod document;
mod drawing;
mod fleet;
mod history;
mod later;
mod list;
#[cfg(feature = "png")]
mod png;
mod ranking;
mod recommendation;
mod seller;
mod survey;
mod terminal;
mod unknown;
mod watch;
mod width;
