//! Facts as data: suites (`suites/*.toml`) and what is known of cards, boards, readers and words
//! (`facts/*.toml`). Pure: the data are part of the program.

mod boards;
mod classes;
mod explanations;
mod facts;
mod manufacturers;
mod quirks;
mod readers;
mod signs;
mod suites;

pub use boards::{BoardFacts, BoardPcie, board};
pub use classes::{Class, ClassFamily, Need, class, classes};
pub use explanations::{Explanation, explanation, explanations, nearest};
pub use manufacturers::{Manufacturer, manufacturer};
pub use quirks::{CardState, Kernel, Quirk, QuirkEffect, quirks};
pub use readers::{Bridge, BridgeKind, usb_bridge};
pub use signs::{Sign, SignInput, Weight, signs};
pub use suites::{CatalogError, crosscheck_suite, parse_suite, suite, suite_names};
