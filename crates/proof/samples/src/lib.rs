//! Records for tests: the corpus of each method, runs of simulated cards, and documents of later versions.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a sample that cannot be made fails the test"
)]

mod corpus;
mod later;
mod reader;
mod simulated;

pub use corpus::{Kept, corpus, document, folder, record};
pub use later::{FIELD, Later, WORD, full_record, later_records, later_statements};
pub use reader::in_a_reader;
pub use simulated::{Model, simulated};
