//! The order in which blocks are visited.

use cardmark_core::{Order, Rng, Workload, spread_start};

use crate::permutation::permutation;

use crate::context::TrialContext;

/// Draws the offsets of a trial.
pub(crate) struct Offsets {
    order: Order,
    blocks_count: u64,
    block_bytes: u64,
    /// Start of the span in bytes.
    start_bytes: u64,
    /// Next block of a sequential workload.
    pub(crate) next_block: u64,
    /// All blocks in permuted order; empty for other orders.
    permuted: Vec<u32>,
    rng: Rng,
}

impl Offsets {
    pub(crate) fn new(workload: &Workload, context: TrialContext) -> Self {
        let blocks_count = workload.blocks_count().max(1);
        let is_permuted = workload.order == Order::Permuted;
        Self {
            order: workload.order,
            blocks_count,
            block_bytes: workload.block_bytes,
            start_bytes: workload.manner.start_bytes,
            next_block: match workload.order {
                Order::Permuted => 0,
                Order::Spread => spread_start(workload, context.round_index),
                Order::Sequential | Order::Random | Order::Other(_) => {
                    context.next_block % blocks_count
                }
            },
            permuted: if is_permuted {
                permutation(u32::try_from(blocks_count).unwrap_or(u32::MAX))
            } else {
                Vec::new()
            },
            rng: Rng::for_part(context.seed, &workload.id, u64::from(context.id)),
        }
    }

    /// Returns the next offset in bytes.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
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
    pub(crate) fn at(&self, place: u64) -> u64 {
        let permuted = usize::try_from(place)
            .ok()
            .and_then(|place| self.permuted.get(place));
        permuted.map_or(place, |&block| u64::from(block))
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
