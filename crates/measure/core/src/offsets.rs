//! What a seed draws for a trial: the order in which blocks are visited, and the reads of a mixed workload.

use crate::permutation::permutation;
use crate::{Order, Rng, Workload, spread_start};

/// Inputs of the draws of a trial, beside its workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialDraws {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the trial in the run.
    pub id: u32,
    /// The round, from 0.
    pub round_index: u32,
    /// First block of a sequential workload.
    pub next_block: u64,
}

/// Draws the offsets of a trial.
#[derive(Debug)]
pub struct Offsets {
    order: Order,
    blocks_count: u64,
    block_bytes: u64,
    /// Start of the span in bytes.
    start_bytes: u64,
    /// Next block of a sequential workload.
    next_block: u64,
    /// All blocks in permuted order; empty for other orders.
    permuted: Vec<u32>,
    rng: Rng,
}

impl Offsets {
    /// Creates the draws of a trial. The order of iozone takes four bytes for each block of the span.
    pub fn new(workload: &Workload, trial: TrialDraws) -> Self {
        let blocks_count = workload.blocks_count().max(1);
        let is_permuted = workload.order == Order::Permuted;
        Self {
            order: workload.order,
            blocks_count,
            block_bytes: workload.block_bytes,
            start_bytes: workload.manner.start_bytes,
            next_block: match workload.order {
                Order::Permuted => 0,
                Order::Spread => spread_start(workload, trial.round_index),
                Order::Sequential | Order::Random | Order::Other(_) => {
                    trial.next_block % blocks_count
                }
            },
            permuted: if is_permuted {
                permutation(u32::try_from(blocks_count).unwrap_or(u32::MAX))
            } else {
                Vec::new()
            },
            rng: Rng::for_part(trial.seed, &workload.id, u64::from(trial.id)),
        }
    }

    /// Returns the next offset in bytes.
    #[inline(always)]
    pub fn next_offset(&mut self) -> u64 {
        let block = match self.order {
            Order::Random => self.rng.below(self.blocks_count),
            Order::Sequential | Order::Spread | Order::Other(_) => self.step(),
            Order::Permuted => {
                let step = self.step();
                self.at(step)
            }
        };
        self.start_bytes + block * self.block_bytes
    }

    /// Returns the block at position `place` of the sequential or permuted order.
    #[inline]
    pub fn at(&self, place: u64) -> u64 {
        let permuted = usize::try_from(place)
            .ok()
            .and_then(|place| self.permuted.get(place));
        permuted.map_or(place, |&block| u64::from(block))
    }

    /// Returns the next block of a sequential workload.
    pub fn next_block(&self) -> u64 {
        self.next_block
    }

    #[inline(always)]
    fn step(&mut self) -> u64 {
        let block = self.next_block;
        self.next_block = if block + 1 >= self.blocks_count {
            0
        } else {
            block + 1
        };
        block
    }
}

/// Draws which operations of a trial read.
#[derive(Debug)]
pub struct ReadShare {
    percent: u64,
    rng: Rng,
}

impl ReadShare {
    /// Creates the draws of a trial.
    pub fn new(workload: &Workload, trial: TrialDraws) -> Self {
        Self {
            percent: u64::from(workload.read_share_percent),
            rng: Rng::for_part(trial.seed, "read_share", u64::from(trial.id)),
        }
    }

    /// Returns true if the next operation reads. Only mixed workloads draw.
    #[inline(always)]
    pub fn next_is_read(&mut self) -> bool {
        self.percent == 100 || (self.percent > 0 && self.rng.below(100) < self.percent)
    }
}
