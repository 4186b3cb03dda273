//! Stretches of blocks.

use serde::{Deserialize, Serialize};

/// Size of a block, bytes: the sector of SD cards.
pub const BLOCK_BYTES: usize = 512;

/// Consecutive blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first block.
    pub start: u64,
    /// Number of blocks.
    pub count: u64,
}

impl Span {
    /// Creates a span of `count` blocks from `start` on.
    pub fn new(start: u64, count: u64) -> Self {
        Self { start, count }
    }

    /// The blocks from one up to before another.
    pub fn between(start: u64, end: u64) -> Self {
        Self {
            start,
            count: end.saturating_sub(start),
        }
    }

    /// The block behind the last one.
    pub fn end(self) -> u64 {
        self.start + self.count
    }

    /// Size, bytes.
    pub fn bytes(self) -> u64 {
        self.count * BLOCK_BYTES as u64
    }

    /// Returns its start in bytes.
    pub fn offset_bytes(self) -> u64 {
        self.start * BLOCK_BYTES as u64
    }

    /// Splits it into consecutive parts of at most `most` blocks.
    pub fn parts(self, most: u64) -> impl Iterator<Item = Self> {
        let most = most.max(1);
        (0..self.count.div_ceil(most)).map(move |index| {
            let start = self.start + index * most;
            Self::between(start, self.end().min(start + most))
        })
    }
}
