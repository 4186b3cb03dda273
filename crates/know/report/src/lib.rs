//! Records as text for people and tables for programs. Pure: strings out, nothing is printed.

mod answer;
pub mod chart;
pub mod document;
mod run;
mod runs;
pub mod text;

pub use answer::{AnswerBlock, KeyFigure, Weight};
pub use cardmark_stats::Agreement;
pub use run::again::RateAgain;
pub use run::answer::{answer_of_run, run_title};
pub use run::identity::{device_line, identity};
pub use run::prepared::fill_words;
pub use run::seller::{is_without_fault, seller_report, untested_promises};
pub use run::summary::{Beside, terminal, terminal_with};
pub use run::usable::{UsablePart, usable_part};
pub use run::watch::monitor::{
    ShownLook, gravity_of_looks, login_line, look_nagios, look_prometheus,
};
pub use run::watch::writers::answer_of_writers;
pub use run::watch::{answer_of_look, look_json};
pub use runs::agreement::agreement_table;
pub use runs::attention::{answer_of_attention, attention_blocks, attention_json, attention_list};
pub use runs::avoid::AvoidAnswer;
pub use runs::circumstances::circumstances;
pub use runs::comparison::{
    Comparison, EnduranceOfBoth, Place, Versus, answer_of_comparison, comparison,
    comparison_blocks, comparison_json, order_of_sides, places_of_comparison, side_names,
};
pub use runs::csv::{csv, csv_heading, csv_rows};
pub use runs::durable::DurableAnswer;
pub use runs::facts::{Facts, board_facts, product_facts};
pub use runs::fleet::{
    answer_of_fleet, fleet_blocks, fleet_groups, fleet_json, fleet_list, no_fleet,
};
pub use runs::history::{MOST_RUNS, answer_of_history, card_history, card_name, history_blocks};
pub use runs::list::{RunLine, headline, list_table, method_of, name_table, result_of};
pub use runs::ranking::{
    RankableMetric, answer_of_rankings, place_line, rankable_metrics, rankings, rankings_json,
};
pub use runs::recommendation::{Recommended, grade_words, rate_cell};
pub use runs::survey::{class_marks, setting_words, survey, survey_charts, survey_title};
pub use text::layout::wrap;
pub use text::names::{capitalised, plain_name, workload_name};
pub use text::style::Style;
pub use text::vocabulary::vocabulary;
