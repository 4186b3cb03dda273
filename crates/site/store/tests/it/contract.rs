//! Every test of the contract, over both databases.

use crate::site::{with_postgres, with_sqlite};

macro_rules! contract {
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

contract! {
    records: new_same_conflict_gone, a_record_is_found_as_it_was_put, one_of_equal_copies_wins,
        statements_replace_earlier_ones, a_withdrawn_record_leaves_its_id, strange_texts_are_kept_harmless,
        a_full_queue_refuses;
    limits: a_bucket_empties_and_fills, a_repeated_submission_costs_nothing, amendments_take_from_the_same_buckets, purging_keeps_what_is_in_use;
    seeds: seeds_fresh_used_expired_foreign;
    lists: pages_show_each_record_once, a_page_tests_a_limited_number_of_records, conditions_are_met, ranges_are_met, products_boards_rankings, cards_of_a_submitter_are_capped,
        summaries_are_read_in_parts, fakes_are_counted, changes_are_followed;
    rebuild: any_order_ends_in_the_same_rows, loaded_records_count_like_others, a_rebuild_repairs_rows, a_rebuild_takes_no_amendment_back;
    moderation: every_act_undone_restores_exactly, acts_are_undone_in_any_order, decisions_hold_for_future_records,
        switches_act_on_arrivals, a_killed_process_leaves_nothing_half_done, acts_and_arrivals_at_once, impossible_acts_are_refused, undoing_closes_no_circle,
        the_queue_has_what_waits, owners_answer_and_withdraw, accounts_and_sessions, accounts_are_added_beside_the_site;
    voices: a_flood_of_new_submitters_moves_no_median_out_of_the_middle, few_new_submitters_of_a_network_count_each_day,
        what_does_not_count_is_shared, a_submitter_leaves_nothing, weights_follow_age_and_activity;
    upgrade: the_next_version_changes_tables_under_traffic;
}
