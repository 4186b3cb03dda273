//! Operations where the seed draws them.

use std::collections::HashMap;

use cardmark_core::{Offsets, Order, ReadShare, Record, StopReason, Trial, TrialDraws};

use super::discrepancy::{Discrepancy, DiscrepancyKind};

/// Draws of a whole record that are repeated at most; later trials are not checked.
const MOST_DRAWS_COUNT: u64 = 1 << 24;
/// Bits of a filter of offsets, as a power of two: 4 KiB.
const FILTER_BITS: u32 = 15;
/// Blocks of a span up to which the order of iozone is repeated.
const MOST_PERMUTED_BLOCKS_COUNT: u64 = 1 << 22;

/// Returns whether this version knows how the trial was measured.
pub(super) fn is_known(trial: &Trial) -> bool {
    trial.workload.is_known() && trial.workload.block_bytes > 0
}

/// Returns trials whose slowest operations, or whose number of reads, the seed does not draw, and the number of trials with random
/// places that were compared.
pub(super) fn drawn(record: &Record) -> (Vec<Discrepancy>, u64) {
    let seed = record.seed.as_ref();
    let Some(seed) = seed.and_then(|seed| u64::from_str_radix(seed, 16).ok()) else {
        return (Vec::new(), 0);
    };
    let mut draws = Draws {
        seed,
        compared_count: 0,
        left_count: MOST_DRAWS_COUNT,
        next_blocks: HashMap::new(),
    };
    let mut found = Vec::new();
    for trial in record.trials.iter().filter(|trial| is_known(trial)) {
        let what = outside(trial).or_else(|| draws.contradiction(trial));
        found.extend(what.map(|what| Discrepancy::of(DiscrepancyKind::Seed, trial, what)));
    }
    (found, draws.compared_count)
}

/// An operation outside the span, or not at a block.
fn outside(trial: &Trial) -> Option<String> {
    let workload = &trial.workload;
    let is_single = workload.manner.streams_count <= 1;
    let start_bytes = match is_single {
        true => workload.manner.start_bytes,
        false => 0,
    };
    let blocks_count = workload.blocks_count().max(1);
    let is_outside = |offset: &u64| {
        let bytes = offset.checked_sub(start_bytes);
        let place = bytes.filter(|bytes| bytes.is_multiple_of(workload.block_bytes));
        place.is_none_or(|bytes| bytes / workload.block_bytes >= blocks_count)
    };
    let mut offsets = trial.slices.iter().filter_map(|slice| slice.3);
    let offset = offsets.find(is_outside)?;
    Some(format!(
        "an operation at {offset} is at no block of its span"
    ))
}

/// Draws that are repeated.
struct Draws<'a> {
    seed: u64,
    /// Trials with random places that were compared.
    compared_count: u64,
    left_count: u64,
    /// Possible first blocks of the next trial of a sequential workload; absent if not known.
    next_blocks: HashMap<&'a str, Vec<u64>>,
}

/// The slowest operation of a slice: its offset, and the numbers of the draws that it can be.
struct Slowest {
    offset: u64,
    first: u64,
    end: u64,
}

impl<'a> Draws<'a> {
    fn contradiction(&mut self, trial: &'a Trial) -> Option<String> {
        let workload = &trial.workload;
        if workload.manner.streams_count > 1 {
            return None;
        }
        let known = self.next_blocks.remove(workload.id.as_str());
        let ramp_count = trial.untimed?.ramp_operations_count;
        let depth = u64::from(workload.queue_depth.max(1));
        let count = ramp_count
            .checked_add(trial.operations_count())?
            .checked_add(depth - 1)?;
        let is_too_large = workload.order == Order::Permuted
            && workload.blocks_count() > MOST_PERMUTED_BLOCKS_COUNT;
        if is_too_large || count > MOST_DRAWS_COUNT {
            return None;
        }
        let wanted = slowest(trial, ramp_count, depth);
        // After a trial that ended early nothing of its workload follows but a trial from the start.
        let mut starts = known.unwrap_or_default();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        if workload.order != Order::Sequential {
            starts.truncate(1);
        }
        let mut ends = Vec::new();
        for next_block in starts {
            self.left_count = self.left_count.checked_sub(count)?;
            let draws = TrialDraws {
                seed: self.seed,
                id: trial.id,
                round_index: trial.round_index,
                next_block,
            };
            if are_drawn(Offsets::new(workload, draws), &wanted, count, depth) {
                ends.push(next_block);
            }
        }
        let is_random = workload.order == Order::Random && !wanted.is_empty();
        self.compared_count += u64::from(is_random);
        if ends.is_empty() {
            return Some("its slowest operations are not where the seed puts them".to_owned());
        }
        self.keep_ends(trial, &ends);
        self.wrong_reads(trial, ramp_count)
    }

    /// Notes where the next trial can begin, if this one began at one of these blocks.
    fn keep_ends(&mut self, trial: &'a Trial, starts: &[u64]) {
        let workload = &trial.workload;
        if workload.order != Order::Sequential || trial.stopped_by != StopReason::Goal {
            return;
        }
        let lead = u64::from(workload.manner.lead_read);
        let untimed = (trial.untimed_bytes / workload.block_bytes).saturating_sub(lead);
        let submitted = trial.operations_count().saturating_add(untimed);
        let blocks_count = workload.blocks_count().max(1);
        let end = |start: &u64| start.saturating_add(submitted) % blocks_count;
        let ends = starts.iter().map(end).collect();
        self.next_blocks.insert(&trial.workload.id, ends);
    }

    /// The number of reads of a mixed workload follows from the seed if operations end in their order.
    fn wrong_reads(&mut self, trial: &Trial, ramp_count: u64) -> Option<String> {
        let workload = &trial.workload;
        let is_mixed = (1..100).contains(&workload.read_share_percent);
        if !is_mixed || workload.queue_depth != 1 {
            return None;
        }
        let count = trial.operations_count();
        self.left_count = self
            .left_count
            .checked_sub(ramp_count)?
            .checked_sub(count)?;
        let draws = TrialDraws {
            seed: self.seed,
            id: trial.id,
            ..TrialDraws::default()
        };
        let mut share = ReadShare::new(workload, draws);
        for _ in 0..ramp_count {
            share.next_is_read();
        }
        let drawn = (0..count).filter(|_| share.next_is_read()).count() as u64;
        let reads = trial.streams.first()?.read_operations_count;
        (drawn != reads).then(|| format!("{reads} operations read; the seed draws {drawn} of them"))
    }
}

/// Returns the slowest operations of a trial. Alone, operations end in the order of their draws; of several in flight
/// each can be any that was drawn before.
fn slowest(trial: &Trial, ramp_count: u64, depth: u64) -> Vec<Slowest> {
    let mut first = ramp_count;
    let mut all = Vec::new();
    for slice in &trial.slices {
        let end = first.saturating_add(slice.1);
        all.extend(slice.3.map(|offset| Slowest {
            offset,
            first: if depth == 1 { first } else { 0 },
            end: end.saturating_add(depth - 1),
        }));
        first = end;
    }
    all
}

/// Returns whether each of the operations is among its draws.
fn are_drawn(mut offsets: Offsets, wanted: &[Slowest], count: u64, depth: u64) -> bool {
    if depth == 1 {
        let mut drawn = 0;
        return wanted.iter().all(|one| {
            while drawn < one.first {
                offsets.next_offset();
                drawn += 1;
            }
            let mut is_there = false;
            while drawn < one.end.min(count) {
                is_there |= offsets.next_offset() == one.offset;
                drawn += 1;
            }
            is_there
        });
    }
    let unseen = wanted.iter().map(|one| (one.offset, u64::MAX));
    let mut places: HashMap<u64, u64> = unseen.collect();
    let filter = Filter::of(wanted);
    for number in 0..count {
        let offset = offsets.next_offset();
        if filter.may_hold(offset)
            && let Some(place) = places.get_mut(&offset)
        {
            *place = number.min(*place);
        }
    }
    let is_drawn = |one: &Slowest| places.get(&one.offset).is_some_and(|&at| at < one.end);
    wanted.iter().all(is_drawn)
}

/// A Bloom filter of wanted offsets with one hash: most draws need no search in a map.
struct Filter {
    words: Vec<u64>,
}

impl Filter {
    fn of(wanted: &[Slowest]) -> Self {
        let mut words = vec![0; 1 << FILTER_BITS >> 6];
        for one in wanted {
            let (word, bit) = Self::place(one.offset);
            words[word] |= bit;
        }
        Self { words }
    }

    fn may_hold(&self, offset: u64) -> bool {
        let (word, bit) = Self::place(offset);
        self.words[word] & bit != 0
    }

    /// Fibonacci hashing.
    fn place(offset: u64) -> (usize, u64) {
        let hash = offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FILTER_BITS);
        ((hash >> 6) as usize, 1 << (hash & 63))
    }
}
