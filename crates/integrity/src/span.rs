//! Stretches of blocks.

use serde::{Deserialize, Serialize};

use crate::BLOCK_BYTES;

/// So many blocks from a block on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first block.
    pub start: u64,
    /// How many.
    pub count: u64,
}

impl Span {
    /// So many blocks from that one on.
    #[must_use]
    pub fn new(start: u64, count: u64) -> Self {
        Self { start, count }
    }

    /// The blocks from one up to before another.
    #[must_use]
    pub fn between(start: u64, end: u64) -> Self {
        Self {
            start,
            count: end.saturating_sub(start),
        }
    }

    /// The block behind the last one.
    #[must_use]
    pub fn end(self) -> u64 {
        self.start + self.count
    }

    /// Size, bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.count * BLOCK_BYTES as u64
    }

    /// Where it begins, bytes.
    #[must_use]
    pub fn offset_bytes(self) -> u64 {
        self.start * BLOCK_BYTES as u64
    }

    /// Consecutive parts of at most so many blocks.
    pub fn parts(self, most: u64) -> impl Iterator<Item = Self> {
        let most = most.max(1);
        (0..self.count.div_ceil(most)).map(move |index| {
            let start = self.start + index * most;
            Self::between(start, self.end().min(start + most))
        })
    }
}
