//! Request for a test of power cuts: target and extent of the writes.

use std::path::PathBuf;
use std::time::Duration;

use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, CutPlan, PLACE_BLOCKS};
use cardmark_sim::Model;

use crate::error::{CommandError, Exit};
use crate::gate::consent::refuse_used;
use crate::gate::file::Destination;
use crate::target::choose::{Chosen, choose};

/// Folder of the file in the directory.
pub(super) const FOLDER: &str = "cardmark-power-cut";

/// Request for the writes before a power cut.
pub struct CutRequest {
    /// Log of acknowledged writes.
    pub log: Option<Destination>,
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
    pub(super) fn plan(&self, is_simulated: bool) -> CutPlan {
        let place_bytes = PLACE_BLOCKS * BLOCK_BYTES as u64;
        let places_count = u32::try_from(self.size_bytes / place_bytes).unwrap_or(u32::MAX);
        let seed = crate::jobs::integrity::seed(self.seed, is_simulated);
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
