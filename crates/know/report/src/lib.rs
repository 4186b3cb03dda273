//! Records as text for people and tables for programs. Pure: strings out, nothing is printed.

mod again;
mod agreement;
mod anatomy;
mod answer;
mod block_sizes;
pub mod chart;
mod circumstances;
mod comparison;
mod csv;
pub mod document;
mod findings;
mod history;
mod identity;
mod integrity;
mod layout;
mod list;
mod names;
mod power_cut;
mod prepared;
mod ranking;
mod reading;
mod recommendation;
mod shading;
mod shifts;
mod stalls;
mod stops;
mod style;
mod summary;
mod survey;
mod table;
pub mod text;
mod usable;
mod vocabulary;
mod workloads;

pub use again::RateAgain;
pub use agreement::agreement_table;
pub use answer::{begin_with_answer, run_title};
pub use cardmark_stats::Agreement;
pub use circumstances::circumstances;
pub use comparison::{
    Comparison, Overview, comparison, comparison_blocks, comparison_json, overview,
};
pub use csv::{csv, csv_heading, csv_rows};
pub use history::{MOST_RUNS, card_history, card_name, history_blocks};
pub use identity::{device_line, identity};
pub use layout::wrap;
pub use list::{RunLine, headline, list_table, method_of, name_table, result_of};
pub use names::workload_name;
pub use prepared::fill_words;
pub use ranking::{RankableMetric, place_line, rankable_metrics, rankings};
pub use recommendation::{Recommended, endurance, left_by_filters, recommendation};
pub use style::Style;
pub use summary::{Beside, terminal, terminal_with};
pub use survey::{survey, survey_charts, survey_title};
pub use usable::{UsablePart, usable_part};
pub use vocabulary::vocabulary;
