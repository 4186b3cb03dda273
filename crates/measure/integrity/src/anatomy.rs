//! Derives the internal structure of a card from the timing of reads and writes, after flashbench's idea.
//!
//! *Boundaries.* A read across the boundary of two erase blocks or allocation units often takes longer than one
//! inside a single block. Reads are therefore made across, and on both sides of, places that are odd multiples
//! of a size and no multiples of three times it: the effect of a smaller size then never counts for a larger
//! one. Sizes are powers of two, and three times powers of two, which cards with three bits a cell have.
//!
//! *Open units.* A card can keep only a few units open for writing; with one more, each write makes it copy a
//! unit. A rising number of units is therefore written in turn, a little each time, until a write takes much
//! longer.

mod boundary;
#[cfg(test)]
mod real_cards;
mod turns;

use cardmark_core::{Anatomy, UnitSource};

use crate::{BLOCK_BYTES, Medium, Trouble};
use boundary::{Across, found_boundary};
use turns::{InTurn, LEAST_UNIT_BLOCKS, WRITE_BLOCKS, found_open};

/// Assumed size of a unit if nothing is known, blocks: 4 MiB.
const ASSUMED_BLOCKS: u64 = 8192;

/// Request for an anatomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnatomyRequest {
    /// Seed of places and content.
    pub seed: u64,
    /// True if units are written, too.
    pub with_writes: bool,
    /// Requested size of a unit, blocks.
    pub asked_blocks: Option<u64>,
    /// Size of a unit according to the card's registers, blocks.
    pub registers_blocks: Option<u64>,
}

/// Progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    /// True once it writes.
    pub is_writing: bool,
    /// Reads and writes that are done.
    pub done_count: u64,
    /// Total number of steps, as far as it is known.
    pub wanted_count: u64,
}

/// Determines the internal structure of a card. Also returns the number of blocks written.
///
/// # Errors
/// If the test cannot continue.
pub fn anatomy(
    medium: &mut impl Medium,
    request: &AnatomyRequest,
    tell: &mut dyn FnMut(Looked),
) -> Result<(Anatomy, u64), Trouble> {
    let blocks_count = medium.blocks_count();
    let across = Across::measure(medium, request.seed, &mut |done_count, wanted_count| {
        tell(Looked {
            is_writing: false,
            done_count,
            wanted_count,
        });
    })?;
    let boundary = found_boundary(&across.boundaries);
    let measured = boundary.map(|(size_bytes, _)| size_bytes / BLOCK_BYTES as u64);
    let grain = medium.grain_blocks();
    let is_unit = |&blocks: &u64| blocks >= LEAST_UNIT_BLOCKS && blocks.is_multiple_of(grain);
    let known = [
        (request.asked_blocks, UnitSource::Asked),
        (measured, UnitSource::Measured),
        (request.registers_blocks, UnitSource::Registers),
    ];
    let (unit_blocks, unit_source) = known
        .into_iter()
        .find_map(|(blocks, source)| Some((blocks.filter(is_unit)?, source)))
        .unwrap_or((ASSUMED_BLOCKS, UnitSource::Assumed));
    let written = match request.with_writes {
        true => turns::measure(medium, unit_blocks, request.seed, &mut |done, wanted| {
            tell(Looked {
                is_writing: true,
                done_count: done,
                wanted_count: wanted,
            });
        })?,
        false => InTurn {
            turns: Vec::new(),
            written_blocks: 0,
        },
    };
    let InTurn {
        turns,
        written_blocks,
    } = written;
    let found = Anatomy {
        size_bytes: bytes(blocks_count),
        read_bytes: bytes(across.read_blocks),
        read_ns: across.read_ns,
        boundary_bytes: boundary.map(|(size_bytes, _)| size_bytes),
        boundary_more_ns: boundary.map(|(_, more_ns)| more_ns),
        boundaries: across.boundaries,
        unit_bytes: bytes(unit_blocks),
        unit_source,
        write_bytes: bytes(WRITE_BLOCKS),
        open_units: found_open(&turns),
        turns,
    };
    Ok((found, written_blocks))
}

/// The least size of a unit that can be requested, bytes.
pub const LEAST_UNIT_BYTES: u64 = LEAST_UNIT_BLOCKS * BLOCK_BYTES as u64;

/// Returns the maximum number of bytes written.
pub fn anatomy_bytes(blocks_count: u64, request: &AnatomyRequest) -> u64 {
    match request.with_writes {
        true => bytes(turns::wanted_blocks(blocks_count)),
        false => 0,
    }
}

fn bytes(blocks: u64) -> u64 {
    blocks * BLOCK_BYTES as u64
}
