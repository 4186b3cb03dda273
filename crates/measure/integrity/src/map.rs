//! The map of a record: made from the blocks that a test read, and judged again.

use cardmark_core::{
    BlockState, Errno, IntegrityTest, Record, StorageKind, SurfacePart, WritePattern,
};

use crate::verdict::{of_ignored, of_once_whole, of_part, of_reading};
use crate::{BLOCK_BYTES, Extent, Held, Span, StorageVerdict, Surface, judge};

/// Parts of an exact map at most; of more a coarse one is made.
const MOST_PARTS: usize = 8192;
/// Parts of a coarse map.
const COARSE_PARTS: u64 = 4096;
/// Bytes of a block.
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Map of the blocks that a test read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// The parts, by rising address.
    pub parts: Vec<SurfacePart>,
    /// Size of a cell, bytes: that of a block if the map is exact.
    pub cell_bytes: u64,
}

impl Map {
    /// Returns the map of these blocks: exact, unless it has too many parts for a record.
    pub fn of(surface: &Surface) -> Self {
        let mut parts: Vec<SurfacePart> = Vec::new();
        for run in surface.runs() {
            let part = part_of(run);
            match parts.last_mut() {
                Some(last) if goes_on_in(last, &part) => last.size_bytes += part.size_bytes,
                _ => parts.push(part),
            }
        }
        if parts.len() > MOST_PARTS {
            return coarse(&parts, surface.blocks_count() * BLOCK);
        }
        Self {
            parts,
            cell_bytes: BLOCK,
        }
    }
}

/// Returns the verdict that follows from the exact map of a record. `None` without one, or if its parts do not cover the
/// tested size one after the other in whole blocks.
pub fn derive_again(record: &Record) -> Option<StorageVerdict> {
    let integrity = record.integrity.as_ref()?;
    if integrity.map_cell_bytes != Some(BLOCK) {
        return None;
    }
    let surface = surface_of(&record.surface)?;
    if surface.blocks_count() * BLOCK != integrity.size_bytes {
        return None;
    }
    if integrity.test == IntegrityTest::Read {
        return Some(of_reading(&surface));
    }
    // What came back when good blocks were written again is not in the map.
    if integrity.kind == StorageKind::IgnoresWrites && surface.bad_blocks_count() > 0 {
        return Some(of_ignored(&surface));
    }
    let verdict = judge(&surface);
    let is_by_address = matches!(integrity.pattern, None | Some(WritePattern::Sequential));
    if integrity.from_bytes.is_some() || !is_by_address {
        return Some(of_part(verdict, &surface));
    }
    let first_bad = integrity.milestones.first();
    let was_whole = match integrity.test {
        IntegrityTest::Verify => integrity.discarded_bytes.is_some_and(|bytes| bytes > 0),
        IntegrityTest::Endure | IntegrityTest::Retention => {
            first_bad.is_none_or(|first| first.cycles_count > 1)
        }
        IntegrityTest::Probe
        | IntegrityTest::Read
        | IntegrityTest::PowerCut
        | IntegrityTest::Other(_) => return None,
    };
    Some(match was_whole {
        true => of_once_whole(verdict, &surface),
        false => verdict,
    })
}

fn part_of(run: &Extent) -> SurfacePart {
    let start = run.span.start;
    let state = match run.held {
        Held::Good => BlockState::Good,
        Held::Changed => BlockState::Changed,
        Held::Other { block, .. } if block != start => BlockState::Overwritten,
        Held::Other { .. } | Held::Foreign => BlockState::Lost,
        Held::Unreadable { .. } => BlockState::Unreadable,
        Held::Refused { .. } => BlockState::Refused,
    };
    let written_to_bytes = match run.held {
        Held::Other { block, .. } => Some(block * BLOCK),
        _ => None,
    };
    SurfacePart {
        start_bytes: run.span.offset_bytes(),
        size_bytes: run.span.bytes(),
        state,
        written_to_bytes,
    }
}

fn goes_on_in(last: &SurfacePart, next: &SurfacePart) -> bool {
    let is_next = match (last.written_to_bytes, next.written_to_bytes) {
        (Some(address), Some(next)) => address + last.size_bytes == next,
        (address, next) => address == next,
    };
    last.state == next.state && is_next
}

fn coarse(parts: &[SurfacePart], size_bytes: u64) -> Map {
    let cell_bytes = (size_bytes / COARSE_PARTS).div_ceil(BLOCK).max(1) * BLOCK;
    let mut cells: Vec<SurfacePart> = (0..size_bytes.div_ceil(cell_bytes))
        .map(|index| SurfacePart {
            start_bytes: index * cell_bytes,
            size_bytes: cell_bytes.min(size_bytes - index * cell_bytes),
            state: BlockState::Good,
            written_to_bytes: None,
        })
        .collect();
    for part in parts {
        let end = part.start_bytes + part.size_bytes;
        let first = usize::try_from(part.start_bytes / cell_bytes).unwrap_or(usize::MAX);
        for cell in cells.iter_mut().skip(first) {
            if cell.start_bytes >= end {
                break;
            }
            cell.state = cell.state.max(part.state);
        }
    }
    Map {
        parts: cells,
        cell_bytes,
    }
}

/// Returns the blocks of an exact map, from the first on. Error numbers and cycles are not in it; no verdict depends on
/// them.
fn surface_of(parts: &[SurfacePart]) -> Option<Surface> {
    let mut surface = Surface::default();
    let mut end_bytes = 0_u64;
    for part in parts {
        if part.start_bytes != end_bytes {
            return None;
        }
        end_bytes = end_bytes.checked_add(part.size_bytes)?;
        let span = Span::new(blocks(part.start_bytes)?, blocks(part.size_bytes)?);
        surface.push(Extent::new(span, held(part)?));
    }
    Some(surface)
}

fn blocks(bytes: u64) -> Option<u64> {
    bytes.is_multiple_of(BLOCK).then_some(bytes / BLOCK)
}

fn held(part: &SurfacePart) -> Option<Held> {
    let other = |address: u64| {
        let block = blocks(address)?;
        Some(Held::Other { block, round: 0 })
    };
    match (part.state, part.written_to_bytes) {
        (BlockState::Good, _) => Some(Held::Good),
        (BlockState::Changed, _) => Some(Held::Changed),
        (BlockState::Overwritten, Some(address)) if address != part.start_bytes => other(address),
        (BlockState::Lost, Some(address)) if address == part.start_bytes => other(address),
        (BlockState::Lost, None) => Some(Held::Foreign),
        (BlockState::Unreadable, _) => Some(Held::Unreadable { errno: Errno::IO }),
        (BlockState::Refused, _) => Some(Held::Refused { errno: Errno::IO }),
        (BlockState::Overwritten | BlockState::Lost | BlockState::Other(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_with_too_many_parts_is_made_coarse_and_hides_nothing() {
        let blocks = 4 * COARSE_PARTS * 8;
        let torn = |step: u64, held: Held| {
            let mut surface = Surface::default();
            for start in (0..blocks).step_by(2) {
                let held = if start % step == 0 { held } else { Held::Good };
                surface.push(Extent::new(Span::new(start, 1), held));
                surface.push(Extent::new(Span::new(start + 1, 1), Held::Good));
            }
            Map::of(&surface)
        };
        let exact = torn(400, Held::Changed);
        assert!(exact.parts.len() < MOST_PARTS);
        assert_eq!(exact.cell_bytes, BLOCK);
        let coarse = torn(2, Held::Foreign);
        assert_eq!(coarse.parts.len() as u64, COARSE_PARTS);
        assert!(
            coarse
                .parts
                .iter()
                .all(|part| part.state == BlockState::Lost)
        );
        let size: u64 = coarse.parts.iter().map(|part| part.size_bytes).sum();
        assert_eq!(size, blocks * BLOCK);
        assert!(coarse.cell_bytes > BLOCK);
    }
}
