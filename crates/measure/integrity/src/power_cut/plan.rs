//! Places and content of numbered writes.

use cardmark_core::mix;

use crate::{Content, Span};

/// Size of a write, blocks: 16 KiB, large enough to be torn.
pub const PLACE_BLOCKS: u64 = 32;
/// Largest number of a write: the content of a block has room for no more.
pub const MOST_WRITES: u32 = (1 << 23) - 1;

/// Places and content of the writes of one cycle. Write 0 is the preparation, which fills all places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPlan {
    seed: u64,
    places_count: u32,
    batch: u32,
    /// Distance between the places of two consecutive writes; it has no divisor in common with their count, so that
    /// every place is written once before any is written again.
    stride: u32,
}

impl CutPlan {
    /// Creates a plan of `places_count` places with a flush after each `batch` writes; both are at least 1.
    pub fn new(seed: u64, places_count: u32, batch: u32) -> Self {
        let places_count = places_count.max(1);
        let drawn = mix(seed) % u64::from(places_count);
        let mut stride = u32::try_from(drawn).unwrap_or(1).max(1);
        while greatest_common_divisor(stride, places_count) != 1 {
            stride = stride % places_count + 1;
        }
        Self {
            seed,
            places_count,
            batch: batch.max(1),
            stride,
        }
    }

    /// Returns the seed of the content.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of places.
    pub fn places_count(&self) -> u32 {
        self.places_count
    }

    /// Returns the number of writes before each flush.
    pub fn batch(&self) -> u32 {
        self.batch
    }

    /// Returns the size of the area, blocks.
    pub fn blocks_count(&self) -> u64 {
        u64::from(self.places_count) * PLACE_BLOCKS
    }

    /// Returns the place of a write; the first write has number 1.
    pub fn place(&self, number: u32) -> u32 {
        let steps = u64::from(number) * u64::from(self.stride);
        u32::try_from(steps % u64::from(self.places_count)).unwrap_or(0)
    }

    /// Returns the blocks of a place.
    pub fn span(&self, place: u32) -> Span {
        Span::new(u64::from(place) * PLACE_BLOCKS, PLACE_BLOCKS)
    }

    /// Returns the content of a write.
    pub fn content(&self, number: u32) -> Content {
        Content {
            seed: self.seed,
            round: number,
        }
    }

    /// Returns the last write to each place, if `last` was the last of all; 0 for places that only the preparation
    /// wrote.
    pub fn last_writes(&self, last: u32) -> Vec<u32> {
        let mut writes = vec![0; self.places_count as usize];
        let first = last.saturating_sub(self.places_count - 1).max(1);
        for number in first..=last {
            writes[self.place(number) as usize] = number;
        }
        writes
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_written_once_before_any_is_written_again() {
        for places_count in [1, 2, 3, 60, 64, 4096] {
            for seed in 0..20 {
                let plan = CutPlan::new(seed, places_count, 1);
                for first in [1, 7, places_count + 5] {
                    let numbers = first..first + places_count;
                    let mut places: Vec<u32> = numbers.map(|number| plan.place(number)).collect();
                    places.sort_unstable();
                    assert!(places.into_iter().eq(0..places_count));
                }
            }
        }
    }

    #[test]
    fn the_last_write_to_a_place_is_known() {
        let plan = CutPlan::new(3, 5, 1);
        assert_eq!(plan.last_writes(0), [0; 5]);
        let mut writes = plan.last_writes(3);
        writes.sort_unstable();
        assert_eq!(writes, [0, 0, 1, 2, 3]);
        let mut writes = plan.last_writes(13);
        assert!((9..=13).all(|number| writes[plan.place(number) as usize] == number));
        writes.sort_unstable();
        assert_eq!(writes, [9, 10, 11, 12, 13]);
    }
}
