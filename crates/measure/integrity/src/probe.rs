//! Determines the real capacity from a small part of the blocks.
//!
//! 1. *Sentinels*: single blocks, spread over all of it, are written and read, and the probe checks whether the
//!    first ones reappear at powers of two. Most fakes are detected here.
//! 2. *Repetition*: more sentinels are written at the beginning, 1 MiB apart, so that any stretch of 1 MiB
//!    holds one of them if addresses repeat, after whatever step. A few such stretches are read.
//! 3. *Samples*: extents of 1 MiB at random places of all the storage are written, then others of the upper half,
//!    more than the largest cache that is to be excluded holds. Meanwhile single blocks that were written before are read,
//!    each once, to see whether the cache has evicted them, and others are written again, to see whether the storage
//!    still takes writes.
//! 4. All samples are read, and the stretches of 2 are read a second time.
//!
//! If blocks near the end prove lost, the boundary is searched between the last block that is kept and the
//! first that is not, dozens of places at a time, each time followed by the bytes that the cache holds.
//!
//! A geometry that was found so far is only a hypothesis. It becomes the result if it explains every observation, and then
//! fresh markers over all of the storage. Otherwise the storage is damaged and irregular, and the result is an upper bound.
//!
//! A probe never writes more than [`most_bytes`]. Then it ends with what it knows.
//!
//! The same seed checks the same places: an interrupted probe starts over, and arrives at the same result.

mod boundary;
mod check;
mod evidence;
mod field;
mod power;
mod repetition;
mod samples;
mod within;

use cardmark_core::StorageKind;

use crate::{BLOCK_BYTES, Medium, Trouble};
use evidence::Shape;
use field::Field;
pub use field::{Probe, Progress, Stage};
use samples::{Plan, Written};

/// Share of the blocks of all samples from which losses are more than single bad spots.
const IRREGULAR_SHARE: f64 = 0.05;

/// Request for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// Anything.
    pub seed: u64,
    /// The largest write cache to be excluded, blocks.
    pub cache_blocks: u64,
    /// Time without access before the last reading, nanoseconds.
    pub wait_ns: u64,
}

/// Number of bytes that a probe writes if the storage is whole, single blocks not counted.
pub fn wanted_bytes(blocks_count: u64, request: &ProbeRequest) -> u64 {
    Plan::of(blocks_count, request.cache_blocks).written_blocks() * BLOCK_BYTES as u64
}

/// Returns the cache to be excluded unless somebody asks for another, blocks: twice the largest one that a known fake has
/// (ADR 0019), and on small storage a part of it, where a probe would otherwise write more than it saves.
pub fn usual_cache_blocks(blocks_count: u64) -> u64 {
    let most = cardmark_core::ASSUMED_CACHE_BYTES / BLOCK_BYTES as u64;
    most.min(blocks_count / 32 * 9)
}

/// Number of bytes that a probe writes at most, whatever the storage does.
pub fn most_bytes(blocks_count: u64, request: &ProbeRequest) -> u64 {
    Plan::of(blocks_count, request.cache_blocks).most_blocks() * BLOCK_BYTES as u64
}

/// Number of bytes that a probe reads if the storage is whole, single blocks not counted.
pub fn read_bytes(blocks_count: u64, request: &ProbeRequest) -> u64 {
    let plan = Plan::of(blocks_count, request.cache_blocks);
    (plan.moved_blocks() - plan.written_blocks()) * BLOCK_BYTES as u64
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
    let amounts = (plan.moved_blocks(), plan.most_blocks());
    let mut field = Field::new(medium, request.seed, amounts, tell);
    match walk(&mut field, &plan, request) {
        Err(Trouble::Stopped) if field.is_spent() => {
            let known = field.with_margin(field.known_bound());
            Ok(irregular(&field, known))
        }
        walked => walked,
    }
}

fn walk<M: Medium>(
    field: &mut Field<'_, M>,
    plan: &Plan,
    request: &ProbeRequest,
) -> Result<Probe, Trouble> {
    field.stage(Stage::Sentinels);
    let sentinels = field.first_sentinels()?;
    if sentinels.iter().all(|sentinel| sentinel.is_refused) {
        field.look_once_more()?;
        return Ok(field.found(StorageKind::ReadOnly, field.all_blocks));
    }
    field.look_at_powers_of_two()?;
    if let Some(found) = repeating(field, 0)? {
        return Ok(found);
    }
    let is_searched = boundary::is_all_below_kept(&sentinels);
    let mut is_contradicted = field.ignores_shifts;
    if is_searched {
        match explained(field, &sentinels, 0)? {
            Outcome::Found(found) => return Ok(*found),
            Outcome::Contradicted => is_contradicted = true,
            Outcome::Nothing => {}
        }
    }
    field.stage(Stage::Repetition);
    field.write_dense_sentinels()?;
    field.look_for_repetition()?;
    if let Some(found) = repeating(field, 0)? {
        return Ok(found);
    }
    is_contradicted |= field.ignores_shifts;
    if (!is_searched || is_contradicted) && boundary::is_tail_lost(&sentinels) {
        match explained(field, &sentinels, 0)? {
            Outcome::Found(found) => return Ok(*found),
            Outcome::Contradicted => is_contradicted = true,
            Outcome::Nothing => {}
        }
    }
    match is_contradicted && !is_without_loss(field) {
        true => unexplained(field, plan, 0),
        false => honest_so_far(field, plan, request),
    }
}

/// Returns whether no place is known to be lost, or to share storage.
fn is_without_loss<M: Medium>(field: &Field<'_, M>) -> bool {
    field.known_bound() == field.all_blocks
}

/// Result of a search for the geometry.
enum Outcome {
    /// It explains everything.
    Found(Box<Probe>),
    /// None explains everything.
    Contradicted,
    /// Kept places reach to the end: isolated spots had been mistaken for it.
    Nothing,
}

/// Addresses seem to repeat: returns the result if that explains everything.
fn repeating<M: Medium>(
    field: &mut Field<'_, M>,
    displaced_blocks: u64,
) -> Result<Option<Probe>, Trouble> {
    let Some(shift) = field.regular_shift() else {
        return Ok(None);
    };
    field.stage(Stage::Boundary);
    let module = field.module(shift, displaced_blocks)?;
    if module >= crate::verdict::LEAST_TAIL_BLOCKS {
        let sentinels = field.spread_sentinels(module, displaced_blocks, Some(module))?;
        let boundary = field.boundary(&sentinels, module, displaced_blocks, Some(module))?;
        let is_whole = module - boundary.real_blocks < crate::verdict::LEAST_TAIL_BLOCKS;
        let kept_blocks = match is_whole {
            true => module,
            false => boundary.real_blocks,
        };
        let shape = Shape::Repeating {
            module,
            kept_blocks,
        };
        if kept_blocks > 0 && field.agrees(shape, displaced_blocks)? {
            let kind = match is_whole {
                true => StorageKind::Wraparound,
                false => StorageKind::Chain,
            };
            return Ok(Some(Probe {
                wrap_blocks: Some(module),
                cache_blocks: (displaced_blocks > 0).then_some(displaced_blocks),
                ..field.found(kind, kept_blocks)
            }));
        }
    }
    field.ignores_shifts = true;
    Ok(None)
}

/// Searches the end of the storage, because data beyond some place is lost, and checks the result.
fn explained<M: Medium>(
    field: &mut Field<'_, M>,
    sentinels: &[field::Sentinel],
    displaced_blocks: u64,
) -> Result<Outcome, Trouble> {
    if let Some(kind) = field.worn_kind()? {
        let found = field.found(kind, field.all_blocks);
        return Ok(Outcome::Found(Box::new(found)));
    }
    field.stage(Stage::Boundary);
    let end = field.all_blocks;
    let boundary = field.boundary(sentinels, end, displaced_blocks, None)?;
    if let Some(found) = repeating(field, displaced_blocks)? {
        return Ok(Outcome::Found(Box::new(found)));
    }
    let kind = match boundary.real_blocks {
        real if real == end => return Ok(Outcome::Nothing),
        0 => StorageKind::Dead,
        _ if boundary.is_silent => StorageKind::Limbo,
        _ => StorageKind::Damaged,
    };
    let shape = Shape::Prefix {
        real_blocks: boundary.real_blocks,
    };
    if !field.agrees(shape, displaced_blocks)? {
        return Ok(Outcome::Contradicted);
    }
    let is_hidden = displaced_blocks > 0 && kind != StorageKind::Damaged;
    Ok(Outcome::Found(Box::new(Probe {
        cache_blocks: is_hidden.then_some(displaced_blocks),
        ..field.found(kind, boundary.real_blocks)
    })))
}

/// No geometry explains what was kept and lost, behind a cache of `displaced_blocks` or, if that is 0, any that the plan
/// excludes.
fn unexplained<M: Medium>(
    field: &mut Field<'_, M>,
    plan: &Plan,
    displaced_blocks: u64,
) -> Result<Probe, Trouble> {
    if let Some(kind) = field.worn_kind()? {
        return Ok(field.found(kind, field.all_blocks));
    }
    let mut bound = field.bound(displaced_blocks)?;
    if displaced_blocks == 0 {
        bound = field.bound_behind(bound, plan.most_displaced())?;
    }
    Ok(irregular(field, field.with_margin(bound)))
}

fn irregular<M: Medium>(field: &Field<'_, M>, bound_blocks: u64) -> Probe {
    Probe {
        is_irregular: true,
        ..field.found(StorageKind::Damaged, bound_blocks)
    }
}

/// Nothing is wrong unless a cache hides it, or only single spots are.
fn honest_so_far<M: Medium>(
    field: &mut Field<'_, M>,
    plan: &Plan,
    request: &ProbeRequest,
) -> Result<Probe, Trouble> {
    match field.write_samples(plan)? {
        Written::All => {}
        Written::Worn(kind) => return Ok(field.found(kind, field.all_blocks)),
        Written::Lost(group, displaced_blocks) => {
            field.stage(Stage::Repetition);
            field.look_for_repetition()?;
            if let Some(found) = repeating(field, displaced_blocks)? {
                return Ok(found);
            }
            return match explained(field, &group, displaced_blocks)? {
                Outcome::Found(found) => Ok(*found),
                _ => unexplained(field, plan, displaced_blocks),
            };
        }
    }
    field.rest(request.wait_ns)?;
    field.stage(Stage::Reading);
    let (sampling, extents) = field.read_samples(plan)?;
    field.look_for_repetition()?;
    let displaced_blocks = plan.most_displaced();
    if let Some(found) = repeating(field, displaced_blocks)? {
        return Ok(found);
    }
    let mut is_irregular = field.ignores_shifts;
    if boundary::is_tail_lost(&extents) {
        match explained(field, &extents, displaced_blocks)? {
            Outcome::Found(found) => return Ok(*found),
            Outcome::Contradicted => is_irregular = true,
            Outcome::Nothing => {}
        }
    }
    if sampling.blocks.bad_count() == 0 && field.bad_sentinels_count == 0 && !is_irregular {
        return Ok(sampled(field, plan, sampling, StorageKind::Confirmed));
    }
    field.look_once_more()?;
    if let Some(kind) = field.worn_kind()? {
        return Ok(field.found(kind, field.all_blocks));
    }
    let blocks = &sampling.blocks;
    let lost_count = blocks.lost_count + blocks.overwritten_count + blocks.wrapped_count;
    let samples_blocks = blocks.good_count + blocks.bad_count();
    is_irregular |= lost_count as f64 >= IRREGULAR_SHARE * samples_blocks as f64;
    let damaged = sampled(field, plan, sampling, StorageKind::Damaged);
    if !is_irregular {
        return Ok(damaged);
    }
    let found = unexplained(field, plan, 0)?;
    Ok(Probe {
        excluded_cache_blocks: damaged.excluded_cache_blocks,
        sampling: damaged.sampling,
        ..found
    })
}

/// The result of samples of all of the storage.
fn sampled<M: Medium>(
    field: &Field<'_, M>,
    plan: &Plan,
    sampling: cardmark_core::Sampling,
    kind: StorageKind,
) -> Probe {
    Probe {
        excluded_cache_blocks: Some(plan.excluded_blocks()),
        sampling: Some(sampling),
        ..field.found(kind, field.all_blocks)
    }
}
