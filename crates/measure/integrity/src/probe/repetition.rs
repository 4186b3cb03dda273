//! Detects whether addresses repeat, and after how many blocks.
//!
//! Sentinels are placed 1 MiB apart in an area at the beginning. If addresses repeat, the area appears again
//! further up, and any stretch of 1 MiB in it has a sentinel. One stretch is therefore read in every distance
//! that is as long as the area, and one at the end.

use super::field::{Field, MEBI_BLOCKS};
use crate::{Medium, Span, Trouble};

/// Cost of a stretch, in sentinels.
const STRETCH_COST: u64 = 9;
/// Places that are kept above a lost one, beside which is read.
const BESIDE_COUNT: usize = 4;
/// Blocks whose repetitions determine the module: several, because single ones may be bad.
const WITNESSES: [u64; 3] = [0, 64, 512];

impl<M: Medium> Field<'_, M> {
    /// Writes the sentinels of the area at the beginning, 1 MiB apart.
    pub(super) fn write_dense_sentinels(&mut self) -> Result<(), Trouble> {
        let area = dense_blocks(self.all_blocks).min(self.all_blocks);
        let count = area.div_ceil(MEBI_BLOCKS);
        let starts: Vec<u64> = (0..count).map(|index| index * MEBI_BLOCKS).collect();
        let content = self.fresh();
        self.write_sentinels(&starts, content)?;
        self.flush()
    }

    /// Reads the places at which the first sentinels would reappear if addresses repeated after a power of two,
    /// which is the usual case.
    pub(super) fn look_at_powers_of_two(&mut self) -> Result<(), Trouble> {
        let first = self.witnesses();
        for module in (0..u64::BITS).map(|bit| 1 << bit) {
            let is_inside = |start: u64| start + module + self.grain() <= self.all_blocks;
            if module < MEBI_BLOCKS || self.shift.is_some() || !is_inside(first[0]) {
                continue;
            }
            self.read(Span::new(first[0] + module, self.grain()))?;
        }
        Ok(())
    }

    /// Returns the blocks whose repetitions determine the module.
    pub(super) fn witnesses(&self) -> [u64; 3] {
        WITNESSES.map(|block| self.aligned(block))
    }

    /// Reads the stretches in which the dense sentinels would reappear: 1 MiB in every distance that is as long
    /// as their area, at the end, and on both sides of some places that are kept above a lost one, until one of them holds
    /// displaced content. Of a repetition that is kept in part, only such places show that it exists.
    pub(super) fn look_for_repetition(&mut self) -> Result<(), Trouble> {
        let distance = dense_blocks(self.all_blocks);
        let stretch = MEBI_BLOCKS.min(self.all_blocks);
        let last = self.aligned(self.all_blocks - stretch);
        let every = (1..).map(|index| self.aligned(index * distance));
        let starts: Vec<u64> = every
            .take_while(|&start| start < last)
            .chain([last])
            .chain(self.beside_kept(stretch))
            .collect();
        for start in starts {
            if self.regular_shift().is_some() {
                break;
            }
            self.read(Span::new(start, stretch))?;
        }
        Ok(())
    }

    /// Returns the stretches on both sides of the highest places that are kept above a lost one.
    fn beside_kept(&self, stretch: u64) -> Vec<u64> {
        let last = self.aligned(self.all_blocks - stretch);
        let lost = self.evidence.lowest_lost().unwrap_or(u64::MAX);
        let kept = self.evidence.kept();
        let above = kept.into_iter().rev().take_while(|&place| place > lost);
        let sides = |place: u64| [place.saturating_sub(stretch), place];
        let starts = above.take(BESIDE_COUNT).flat_map(sides);
        starts.map(|start| self.aligned(start).min(last)).collect()
    }

    /// Returns the number of blocks after which addresses repeat, if `shift` is a multiple of that: the least
    /// divisor of it at which data written at the beginning reappears.
    pub(super) fn module(&mut self, shift: u64, displaced_blocks: u64) -> Result<u64, Trouble> {
        let witnesses = self.witnesses();
        let content = self.fresh();
        self.write_sentinels(&witnesses, content)?;
        self.flush()?;
        self.displace(displaced_blocks, &witnesses)?;
        for module in parts(shift, self.grain()) {
            for witness in witnesses {
                self.shift = None;
                self.read(Span::new(witness + module, self.grain()))?;
                if self.shift == Some(module) {
                    return Ok(module);
                }
            }
        }
        self.shift = Some(shift);
        Ok(shift)
    }
}

/// Returns the length of the area of the dense sentinels of storage of this size, blocks: the sentinels cost as much as the
/// stretches.
pub(super) fn dense_blocks(all_blocks: u64) -> u64 {
    let mebis = all_blocks / MEBI_BLOCKS;
    ((mebis * STRETCH_COST).isqrt() * MEBI_BLOCKS).clamp(MEBI_BLOCKS, all_blocks.max(MEBI_BLOCKS))
}

/// The whole parts of `shift` of at least 1 MiB, from the least on, that are multiples of `grain`.
fn parts(shift: u64, grain: u64) -> Vec<u64> {
    let most = shift / MEBI_BLOCKS;
    let whole = (2..=most)
        .rev()
        .filter(|part| shift.is_multiple_of(part * grain));
    whole.map(|part| shift / part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_rise_and_are_whole_grains() {
        assert_eq!(
            parts(8 * MEBI_BLOCKS, 8),
            [1, 2, 4].map(|part| part * MEBI_BLOCKS)
        );
        assert!(parts(6 * MEBI_BLOCKS + 6, 8).is_empty());
        assert!(parts(MEBI_BLOCKS, 1).is_empty());
    }
}
