//! Facts as data. Now: the suites. Pure: the data are part of the program.

mod suites;

pub use suites::{CatalogError, crosscheck_suite, parse_suite, suite, suite_names};
