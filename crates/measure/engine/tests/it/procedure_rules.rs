//! The rules of workloads that are an application's.

use cardmark_core::{
    DatabaseJournal, Flush, Manner, Order, Procedure, Suite, TargetNeed, Workload,
};

use crate::suite_rules::Rule;

/// Page sizes that `SQLite` knows, bytes.
const PAGE_BYTES: std::ops::RangeInclusive<u32> = 512..=65_536;

/// Rules for workloads, with or without an application's procedure.
pub(crate) fn procedure_rules(workload: &Workload, suite: &Suite) -> Vec<Rule> {
    let wants_files = suite.needs == TargetNeed::Filesystem;
    let Some(procedure) = &workload.procedure else {
        return vec![(!wants_files, "a suite on files has procedures only")];
    };
    let blocks = workload.blocks_count();
    let is_plain = workload.queue_depth == 1
        && workload.read_share_percent == 0
        && workload.flush == Flush::EachOperation
        && workload.manner == Manner::default()
        && workload.stop.most_bytes.is_none();
    let own = match procedure {
        Procedure::Transaction {
            journal,
            page_bytes,
            rows_count,
            checkpoint_pages_count,
            ..
        } => {
            let is_wal = *journal == DatabaseJournal::Wal;
            workload.order == Order::Random
                && blocks == u64::from(*rows_count)
                && workload.block_bytes.is_multiple_of(2)
                && page_bytes.is_power_of_two()
                && PAGE_BYTES.contains(page_bytes)
                && checkpoint_pages_count.is_some() == is_wal
        }
        Procedure::Install {
            packages_count,
            file_sizes_bytes,
        } => {
            let bytes: u64 = file_sizes_bytes.iter().map(|&size| u64::from(size)).sum();
            workload.order == Order::Sequential
                && bytes == workload.block_bytes
                && blocks == u64::from(*packages_count)
        }
        Procedure::Append => workload.order == Order::Sequential,
        Procedure::Other(_) => false,
    };
    vec![
        (wants_files, "a procedure needs files"),
        (
            is_plain && (1..=1 << 30).contains(&workload.block_bytes),
            "a procedure makes one durable write at a time",
        ),
        (own, "block, span and order are not those of the procedure"),
    ]
}
