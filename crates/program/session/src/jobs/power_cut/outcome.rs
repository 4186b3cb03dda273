//! Record and exit of a check.

use cardmark_core::{Integrity, IntegrityTest, Record, StorageKind};
use cardmark_integrity::{BLOCK_BYTES, CutOutcome, CutPlan, CutTotals, PLACE_BLOCKS};

use crate::error::Exit;

/// The record of a check, with the sums over all cuts in the log.
pub(super) fn of_outcome(
    mut record: Record,
    plan: &CutPlan,
    outcome: &CutOutcome,
    totals: &CutTotals,
) -> Record {
    let block = BLOCK_BYTES as u64;
    let size_bytes = plan.blocks_count() * block;
    let kind = match totals.lost + totals.collateral {
        0 => StorageKind::Durable,
        _ => StorageKind::LosesAcknowledged,
    };
    record.written_bytes = size_bytes + u64::from(outcome.acknowledged) * PLACE_BLOCKS * block;
    record.integrity = Some(Integrity {
        blocks: Some(outcome.blocks),
        cuts_count: Some(totals.cuts),
        acknowledged_count: Some(totals.acknowledged),
        lost_acknowledged_count: Some(totals.lost),
        collateral_count: Some(totals.collateral),
        ..Integrity::new(IntegrityTest::PowerCut, kind, size_bytes, size_bytes)
    });
    record
}

/// Returns the exit for a verdict.
pub(super) fn exit_of(totals: &CutTotals) -> Exit {
    match totals.lost + totals.collateral {
        0 => Exit::Done,
        _ => Exit::Bad,
    }
}
