//! Dumps of both databases, imported into both, and derived again.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::too_many_lines,
    reason = "tests"
)]

mod damaged;
mod derived;
mod round_trip;
mod samples;
#[path = "../../../store/tests/it/site.rs"]
mod site;
mod withdrawal;

use crate::site::{with_postgres, with_sqlite};

macro_rules! on_both {
    ($($module:ident: $($name:ident),+;)+) => {
        mod on_sqlite {
            use super::*;
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                with_sqlite(crate::$module::$name).await;
            })+)+
        }

        mod on_postgres {
            use super::*;
            $($(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                with_postgres(crate::$module::$name).await;
            })+)+
        }
    };
}

on_both! {
    round_trip: a_dump_makes_the_same_site, an_empty_site_has_a_dump;
    damaged: a_damaged_dump_changes_nothing;
    derived: documents_derived_again_have_the_rows_of_the_site;
    withdrawal: a_withdrawn_run_is_in_no_row_and_no_dump;
}
