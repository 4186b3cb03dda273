//! What people and programs read.

#![allow(clippy::unwrap_used, reason = "tests")]

mod attention;
mod badge;
mod builder;
mod charts;
mod colour;
mod comparison;
mod csv;
mod damage;
mod document;
mod drawing;
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
mod width;
