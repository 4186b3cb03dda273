//! Content to write: the payload of all suites, returned in pieces.

use cardmark_core::{PAYLOAD_POOL_BYTES, fill_payload, stamp_payload};

/// Incompressible bytes from a seed; all pieces differ.
pub(crate) struct Content {
    pool: Vec<u8>,
    at: usize,
    pieces_count: u64,
}

impl Content {
    pub(crate) fn new(seed: u64) -> Self {
        let mut pool = vec![0; PAYLOAD_POOL_BYTES];
        fill_payload(seed, &mut pool);
        Self {
            pool,
            at: 0,
            pieces_count: 0,
        }
    }

    /// Returns the next piece; at most as long as the pool.
    pub(crate) fn next(&mut self, bytes: usize) -> &[u8] {
        let bytes = bytes.min(self.pool.len());
        if self.at + bytes > self.pool.len() {
            self.at = 0;
        }
        let start = self.at;
        self.at += bytes;
        self.pieces_count += 1;
        let piece = &mut self.pool[start..start + bytes];
        stamp_payload(piece, start as u64, self.pieces_count);
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_piece_is_like_another_and_a_seed_means_the_same() {
        let (mut content, mut same, mut other) =
            (Content::new(7), Content::new(7), Content::new(8));
        let mut seen = BTreeSet::new();
        // More than the pool contains.
        for index in 0..100_000 {
            let piece = content.next(128).to_vec();
            assert_eq!(piece, same.next(128));
            assert_ne!(piece, other.next(128));
            assert!(seen.insert(piece), "piece {index}");
        }
    }
}
