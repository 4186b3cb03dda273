//! Determines the real capacity from a small part of the blocks.
//!
//! 1. *Sentinels*: single blocks, spread over all of it, are written and read, and the probe checks whether the
//!    first ones reappear at powers of two. Most fakes are detected here.
//! 2. *Repetition*: more sentinels are written at the beginning, 1 MiB apart, so that any stretch of 1 MiB
//!    holds one of them if addresses repeat, after whatever step. A few such stretches are read.
//! 3. *Samples*: extents of 1 MiB at random places of all the storage are written, then others spread
//!    between them, more than the largest cache that is to be excluded holds. Meanwhile single blocks
//!    that were written before are read, each once, to see whether the cache has evicted them.
//! 4. All samples are read, and the stretches of 2 are read a second time.
//!
//! If blocks near the end prove lost, the boundary is searched between the last block that is kept and the
//! first that is not, dozens of places at a time, each time followed by the bytes that the cache holds.
//!
//! The same seed checks the same places: an interrupted probe starts over, and arrives at the same result.

mod boundary;
mod field;
mod power;
mod repetition;
mod samples;

use cardmark_core::StorageKind;

use crate::{Medium, Trouble};
use field::Field;
pub use field::{Probe, Progress, Stage};
use samples::Plan;

/// Request for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// Anything.
    pub seed: u64,
    /// The largest write cache to be excluded, blocks.
    pub cache_blocks: u64,
}

/// Number of bytes that a probe writes if the storage is whole, single blocks not counted.
#[must_use]
pub fn wanted_bytes(blocks_count: u64, request: &ProbeRequest) -> u64 {
    Plan::of(blocks_count, request.cache_blocks).written_blocks() * crate::BLOCK_BYTES as u64
}

/// Probes storage. The written blocks remain.
///
/// # Errors
/// If the test cannot continue.
pub fn probe<M: Medium>(
    medium: &mut M,
    request: &ProbeRequest,
    tell: &mut dyn FnMut(Progress),
) -> Result<Probe, Trouble> {
    let grain = medium.grain_blocks().max(1);
    let plan = Plan::of(medium.blocks_count() / grain * grain, request.cache_blocks);
    let mut field = Field::new(medium, request.seed, plan.moved_blocks(), tell);
    field.stage(Stage::Sentinels);
    let sentinels = field.first_sentinels()?;
    if sentinels.iter().all(|sentinel| sentinel.is_refused) {
        field.look_once_more()?;
        return Ok(field.found(StorageKind::ReadOnly, field.all_blocks));
    }
    field.look_at_powers_of_two()?;
    if let Some(shift) = field.shift {
        return repeating(&mut field, shift, 0);
    }
    let is_searched = boundary::is_all_below_kept(&sentinels);
    if is_searched && let Some(found) = missing(&mut field, &sentinels, 0)? {
        return Ok(found);
    }
    field.stage(Stage::Repetition);
    field.write_dense_sentinels()?;
    field.look_for_repetition()?;
    if let Some(shift) = field.shift {
        return repeating(&mut field, shift, 0);
    }
    if !is_searched
        && boundary::is_tail_lost(&sentinels)
        && let Some(found) = missing(&mut field, &sentinels, 0)?
    {
        return Ok(found);
    }
    honest_so_far(&mut field, &plan)
}

/// Addresses repeat, after `shift` blocks or a part of that.
fn repeating<M: Medium>(
    field: &mut Field<'_, M>,
    shift: u64,
    displaced_blocks: u64,
) -> Result<Probe, Trouble> {
    field.stage(Stage::Boundary);
    let module = field.module(shift, displaced_blocks)?;
    let sentinels = field.spread_sentinels(module, displaced_blocks, Some(module))?;
    let boundary = field.boundary(&sentinels, module, displaced_blocks, Some(module))?;
    let real = boundary.real_blocks;
    let kind = if module - real < crate::verdict::LEAST_TAIL_BLOCKS {
        StorageKind::Wraparound
    } else {
        StorageKind::Chain
    };
    let real = if kind == StorageKind::Wraparound {
        module
    } else {
        real
    };
    Ok(Probe {
        wrap_blocks: Some(module),
        cache_blocks: (displaced_blocks > 0).then_some(displaced_blocks),
        ..field.found(kind, real)
    })
}

/// Searches the end of the storage, because data beyond some place is lost. `None`: places that are kept reach
/// to the end, and isolated spots had been mistaken for it.
fn missing<M: Medium>(
    field: &mut Field<'_, M>,
    sentinels: &[field::Sentinel],
    displaced_blocks: u64,
) -> Result<Option<Probe>, Trouble> {
    field.stage(Stage::Boundary);
    let end = field.all_blocks;
    let boundary = field.boundary(sentinels, end, displaced_blocks, None)?;
    if let Some(shift) = field.shift {
        return repeating(field, shift, displaced_blocks).map(Some);
    }
    let kind = match boundary.real_blocks {
        real if real == end => return Ok(None),
        0 => StorageKind::Dead,
        _ if boundary.is_silent => StorageKind::Limbo,
        _ => StorageKind::Damaged,
    };
    let is_hidden = displaced_blocks > 0 && kind != StorageKind::Damaged;
    Ok(Some(Probe {
        cache_blocks: is_hidden.then_some(displaced_blocks),
        ..field.found(kind, boundary.real_blocks)
    }))
}

/// Nothing is wrong unless a cache hides it, or only single spots are.
fn honest_so_far<M: Medium>(field: &mut Field<'_, M>, plan: &Plan) -> Result<Probe, Trouble> {
    if let Some((group, displaced_blocks)) = field.write_samples(plan)? {
        field.stage(Stage::Repetition);
        field.look_for_repetition()?;
        if let Some(shift) = field.shift {
            return repeating(field, shift, displaced_blocks);
        }
        let found = missing(field, &group, displaced_blocks)?;
        return Ok(found.unwrap_or_else(|| field.found(StorageKind::Damaged, field.all_blocks)));
    }
    field.stage(Stage::Reading);
    let (sampling, extents) = field.read_samples(plan)?;
    field.look_for_repetition()?;
    if let Some(shift) = field.shift {
        return repeating(field, shift, plan.displacing_blocks());
    }
    if boundary::is_tail_lost(&extents)
        && let Some(found) = missing(field, &extents, plan.displacing_blocks())?
    {
        return Ok(found);
    }
    let kind = if sampling.blocks.bad_count() == 0 && field.bad_sentinels_count == 0 {
        StorageKind::Confirmed
    } else {
        field.look_once_more()?;
        StorageKind::Damaged
    };
    Ok(Probe {
        excluded_cache_blocks: Some(plan.excluded_blocks()),
        sampling: Some(sampling),
        ..field.found(kind, field.all_blocks)
    })
}
