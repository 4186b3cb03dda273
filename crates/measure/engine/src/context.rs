//! Context of a trial.

use cardmark_core::TrialDraws;

/// Context of a trial in addition to its workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialContext {
    /// Number of the trial in the run.
    pub id: u32,
    /// The round, from 0.
    pub round_index: u32,
    /// True if it lays out the file.
    pub layout: bool,
    /// Start of the run on the engine's clock, nanoseconds.
    pub run_started_ns: u64,
    /// Seed of the run.
    pub seed: u64,
    /// First block of a sequential workload.
    pub next_block: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

impl TrialContext {
    /// Returns the inputs of the trial's draws.
    pub(crate) fn draws(&self) -> TrialDraws {
        TrialDraws {
            seed: self.seed,
            id: self.id,
            round_index: self.round_index,
            next_block: self.next_block,
        }
    }
}
