//! Power cuts: does a card keep what it has acknowledged?

mod checking;
mod log_file;
mod simulated;
mod writing;

use std::path::PathBuf;
use std::time::Duration;

use cardmark_core::{Integrity, IntegrityTest, Record, StorageKind};
use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, CutOutcome, CutPlan, CutTotals, PLACE_BLOCKS};
use cardmark_sim::Model;

use crate::gate::refuse_used;
use crate::target::{Chosen, choose};
use crate::{CommandError, Exit, Session};

pub use checking::check_power_cut;
pub use writing::CutDone;

/// Folder of the file in the directory.
const FOLDER: &str = "cardmark-power-cut";

/// Request for the writes before a power cut.
pub struct CutRequest {
    /// Log of acknowledged writes; `-`: standard output.
    pub log: Option<PathBuf>,
    /// Size of the file, bytes.
    pub size_bytes: u64,
    /// Number of writes before each flush.
    pub batch: u32,
    /// Longest time of the writes.
    pub limit: Duration,
    /// Seed of places and content.
    pub seed: Option<u64>,
}

impl CutRequest {
    fn plan(&self, is_simulated: bool) -> CutPlan {
        let place_bytes = PLACE_BLOCKS * BLOCK_BYTES as u64;
        let places_count = u32::try_from(self.size_bytes / place_bytes).unwrap_or(u32::MAX);
        let seed = crate::seed(self.seed, is_simulated);
        CutPlan::new(seed, places_count, self.batch)
    }
}

/// Target of a power-cut test.
pub enum CutTarget {
    /// A simulated card.
    Simulated(Box<Model>),
    /// A directory on the card.
    Directory {
        /// Its path without symbolic links.
        path: PathBuf,
        /// Layers below.
        resolution: Box<Resolution>,
    },
}

impl CutTarget {
    /// Resolves the name of a target.
    ///
    /// # Errors
    /// If it does not exist, may not be used, or is no directory.
    pub fn named(name: &str) -> Result<Self, CommandError> {
        match choose(name)? {
            Chosen::Simulated(model) => Ok(Self::Simulated(model)),
            Chosen::Real { path, resolution } if path.is_dir() => {
                refuse_used(&path, &resolution)?;
                Ok(Self::Directory { path, resolution })
            }
            Chosen::Real { .. } => {
                let what = format!("`{name}` is a block device; this test needs a directory on it");
                Err(CommandError::new(Exit::Usage, what)
                    .hint("mount the card, and name a directory on it"))
            }
        }
    }
}

/// Writes until the power is cut. Of a simulated card, also cuts it and checks.
///
/// # Errors
/// If the target may not be written, or the log cannot be kept.
pub fn power_cut(
    session: &Session<'_>,
    name: &str,
    target: &CutTarget,
    request: &CutRequest,
) -> Result<CutDone, CommandError> {
    match target {
        CutTarget::Simulated(model) => {
            let result = simulated::simulated(session, model, &request.plan(true))?;
            Ok(CutDone::Tested(Box::new(result)))
        }
        CutTarget::Directory { path, resolution } => {
            writing::write(session, name, (path, resolution), request)
        }
    }
}

/// The record of a check, with the sums over all cuts in the log.
fn of_outcome(
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
    record.bytes_written = size_bytes + u64::from(outcome.acknowledged) * PLACE_BLOCKS * block;
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
fn exit_of(totals: &CutTotals) -> Exit {
    match totals.lost + totals.collateral {
        0 => Exit::Done,
        _ => Exit::Bad,
    }
}
