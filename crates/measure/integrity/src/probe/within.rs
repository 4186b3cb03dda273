//! Examination of the storage below some address: whether all of it is kept, and no two addresses share it.
//!
//! Sharing shows only if one of the two places is written and the other one is read afterwards. Pieces that were moved as a
//! whole keep their offset: places on one lattice meet each other. Other distances show in stretches that are read and are
//! as long as the lattice is wide.

use cardmark_core::Rng;

use super::evidence::Found;
use super::field::{Field, MEBI_BLOCKS};
use super::repetition::dense_blocks;
use crate::{Medium, Span, Trouble};

/// Effort of an examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// Places written, as a multiple of the square root of the size in MiB. The same number is read.
    factor: u64,
    /// Limits of that number.
    least_places: u64,
    most_places: u64,
    /// Stretches of 1 MiB that are read, at least.
    stretches: u64,
    /// Extents of 1 MiB that are written as a whole, at most.
    extents: u64,
}

/// Effort for a geometry that explains all that was observed.
pub(super) const USUAL: Effort = Effort {
    factor: 8,
    least_places: 256,
    most_places: 2048,
    stretches: 64,
    extents: 0,
};
/// Effort for an upper bound, if no geometry explains the storage.
pub(super) const THOROUGH: Effort = Effort {
    factor: 16,
    least_places: 512,
    most_places: 4096,
    stretches: 256,
    extents: 128,
};
/// Least distance of two places of a lattice, blocks (64 KiB).
const LEAST_PITCH: u64 = 128;

/// Places at equal distances, a power of two of at most 1 MiB.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    first: u64,
    pitch: u64,
    count: u64,
}

impl Lattice {
    /// A lattice of at least twice as many places as are drawn from it, if there is room.
    fn new(end: u64, drawn_count: u64, rng: &mut Rng) -> Self {
        let mut pitch = MEBI_BLOCKS;
        while pitch > LEAST_PITCH && end / pitch < 2 * drawn_count {
            pitch /= 2;
        }
        Self {
            first: rng.below(pitch),
            pitch,
            count: end / pitch,
        }
    }

    /// Draws places, spread over all of it.
    fn draw(self, count: u64, rng: &mut Rng) -> impl Iterator<Item = u64> {
        let drawn = strata(self.count, count, rng);
        drawn.into_iter().map(move |number| self.place(number))
    }

    /// The places from that block on, 1 MiB apart.
    fn from(self, block: u64) -> impl Iterator<Item = u64> {
        let numbers = block / self.pitch..self.count;
        let step = MEBI_BLOCKS / self.pitch;
        numbers
            .step_by(usize::try_from(step).unwrap_or(1))
            .map(move |number| self.place(number))
    }

    fn place(self, number: u64) -> u64 {
        self.first + number * self.pitch
    }
}

impl<M: Medium> Field<'_, M> {
    /// Examines the first `end` blocks: writes extents, places spread over them, and one in each MiB of an area at their
    /// end, displaces a cache of `displaced_blocks`, and reads all of these, other places, and stretches. What is found
    /// becomes evidence.
    pub(super) fn examine(
        &mut self,
        end: u64,
        effort: Effort,
        displaced_blocks: u64,
    ) -> Result<(), Trouble> {
        let end = self.aligned(end);
        let mut rng = self.rng(&format!("within {}", self.rounds()));
        let mebis = end.div_ceil(MEBI_BLOCKS);
        let count = (effort.factor * mebis.isqrt()).clamp(effort.least_places, effort.most_places);
        let lattice = Lattice::new(end, count, &mut rng);
        let last = lattice.from(end.saturating_sub(dense_blocks(end)));
        let starts = self.grains_below(end, lattice.draw(count, &mut rng).chain(last));
        let others = self.grains_below(end, lattice.draw(count, &mut rng));
        let most = effort.extents.min(self.affordable(displaced_blocks));
        let extents = self.mebis_below(end, most, &mut rng);
        self.write_and_read(&starts, &extents, displaced_blocks)?;
        for start in others {
            self.read(Span::new(start, self.grain()))?;
        }
        // Two for each length of the area: one of them holds a place of it, if it appears there again.
        let least = 2 * end.div_ceil(dense_blocks(end));
        for stretch in self.mebis_below(end, effort.stretches.max(least), &mut rng) {
            self.read(stretch)?;
        }
        Ok(())
    }

    /// Writes places and extents, `displaced_blocks` after them, and reads them.
    fn write_and_read(
        &mut self,
        starts: &[u64],
        extents: &[Span],
        displaced_blocks: u64,
    ) -> Result<(), Trouble> {
        let content = self.fresh();
        self.announce(extents)?;
        for &extent in extents {
            self.write_as(extent, content)?;
        }
        self.write_sentinels(starts, content)?;
        // Storage that does not exist may return the last block that was written: none of these.
        self.write_as(Span::new(0, self.grain()), content)?;
        self.flush()?;
        let places = starts.iter().map(|&start| Span::new(start, self.grain()));
        let mut left_out: Vec<Span> = places.chain(extents.iter().copied()).collect();
        left_out.sort_unstable_by_key(|span| span.start);
        self.displace_past(displaced_blocks, &left_out)?;
        self.read_sentinels(starts, content, (displaced_blocks, None))?;
        for &extent in extents {
            for run in self.read_as(extent, content)? {
                self.note(run.span.start, Found::of(&[run]), displaced_blocks);
            }
        }
        Ok(())
    }

    /// Number of extents that may still be written, if half of what is left is kept back.
    fn affordable(&self, displaced_blocks: u64) -> u64 {
        self.left_blocks().saturating_sub(displaced_blocks) / 2 / MEBI_BLOCKS
    }

    /// The grains of these places that lie below `end`, by rising address, each once.
    fn grains_below(&self, end: u64, places: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut starts: Vec<u64> = places.map(|place| self.aligned(place)).collect();
        starts.retain(|start| start + self.grain() <= end);
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Extents of 1 MiB below `end`, spread over it; all if there are no more than `count`.
    fn mebis_below(&self, end: u64, count: u64, rng: &mut Rng) -> Vec<Span> {
        let drawn = strata(end.div_ceil(MEBI_BLOCKS), count, rng);
        let mebi = |number: u64| {
            let start = self.aligned(number * MEBI_BLOCKS);
            Span::between(start, end.min(start + MEBI_BLOCKS))
        };
        drawn.into_iter().map(mebi).collect()
    }
}

/// Draws one of each of `count` equal strata of the numbers below `total`.
pub(super) fn strata(total: u64, count: u64, rng: &mut Rng) -> Vec<u64> {
    let count = count.min(total);
    let begin = |index: u64| {
        let begin = u128::from(total) * u128::from(index) / u128::from(count);
        u64::try_from(begin).unwrap_or(total)
    };
    (0..count)
        .map(|index| {
            let (from, to) = (begin(index), begin(index + 1));
            from + rng.below(to - from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lattice_keeps_its_offset_and_gets_denser_on_small_storage() {
        let mut rng = Rng::for_part(1, "lattice", 0);
        for (mebis, pitch) in [(1, 128), (40, 128), (160, 512), (100_000, MEBI_BLOCKS)] {
            let lattice = Lattice::new(mebis * MEBI_BLOCKS, 256, &mut rng);
            assert_eq!(lattice.pitch, pitch, "{mebis}");
            let end = lattice.place(lattice.count - 1);
            assert!(end < mebis * MEBI_BLOCKS && lattice.first < pitch);
            let mut drawn = lattice.draw(256, &mut rng);
            assert!(drawn.all(|place| place % pitch == lattice.first));
        }
    }

    #[test]
    fn each_stratum_gives_one_number() {
        let mut rng = Rng::for_part(1, "strata", 0);
        let drawn = strata(1000, 10, &mut rng);
        let hundreds: Vec<u64> = drawn.iter().map(|number| number / 100).collect();
        assert_eq!(hundreds, (0..10).collect::<Vec<u64>>());
        assert_eq!(strata(3, 10, &mut rng), [0, 1, 2]);
        assert!(strata(0, 10, &mut rng).is_empty());
    }
}
