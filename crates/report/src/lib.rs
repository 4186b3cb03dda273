//! Records as text for people and tables for programs. Pure: strings out, nothing is printed.

mod agreement;
mod anatomy;
pub mod chart;
mod comparison;
mod csv;
pub mod document;
mod history;
mod identity;
mod integrity;
mod layout;
mod list;
mod names;
mod prepared;
mod ranking;
mod recommendation;
mod stalls;
mod style;
mod summary;
mod survey;
mod table;
pub mod text;

pub use agreement::{Agreement, AgreementRow, agreement_table};
pub use comparison::{Comparison, Counts, comparison};
pub use csv::{csv, csv_heading, csv_rows};
pub use history::{CardHistory, HistoryGroup, card_history};
pub use identity::{device_line, identity};
pub use layout::wrap;
pub use list::{RunLine, headline, list_table};
pub use names::workload_name;
pub use prepared::fill_words;
pub use ranking::{Ranking, ranking};
pub use recommendation::{Choice, Recommended, recommendation};
pub use style::Style;
pub use summary::terminal;
pub use survey::survey;
