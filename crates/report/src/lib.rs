//! Records as text for people and tables for programs. Pure: strings out, nothing is printed.

mod comparison;
mod csv;
mod identity;
mod layout;
mod list;
mod names;
mod prepared;
mod style;
mod summary;
mod table;
pub mod text;

pub use comparison::{Comparison, ComparisonRow, comparison_table};
pub use csv::{csv, csv_heading, csv_rows};
pub use identity::{device_line, identity};
pub use layout::wrap;
pub use list::{RunLine, headline, list_table};
pub use names::workload_name;
pub use prepared::fill_words;
pub use style::Style;
pub use summary::terminal;
