//! Positions of data on a card: everything in its place, unless its model defines faults. Blocks are those of
//! 512 bytes.
//!
//! Written data lies in *slots*: those of the flash from 0 on, and behind them those of a hidden cache, which
//! makes a fake card look genuine for a while. The storage of the content only needs the slots that hold it, be
//! it as bytes or by name.

mod data;
mod part;
mod ring;

use std::collections::BTreeSet;

use crate::Model;
use cardmark_core::{Rng, mix};
pub(crate) use data::FlashData;
use data::{BLOCK_BYTES, DamageKind};
pub use part::{BlockPlace, Part};
use ring::Ring;

/// Layout of a card's storage.
#[derive(Clone, Debug)]
pub struct Flash {
    data: FlashData,
    seed: u64,
    real: u64,
    module: Option<u64>,
    cache: Option<Ring>,
    written: u64,
    flips: Rng,
    /// Blocks that will be read before the next is flipped.
    until_flip: u64,
    rested_days: f64,
    /// Spots written since it rested last.
    renewed: BTreeSet<u64>,
    /// End of the last write, if there was one.
    last_end: Option<u64>,
    load: Rng,
}

/// Blocks behind a discard that are lost with it: 4 KiB.
const SPILLED_BLOCKS: u64 = 8;

impl Flash {
    /// That of a card of this model; the seed draws its bad spots.
    pub fn new(model: &Model, seed: u64) -> Self {
        let data = model.flash();
        let blocks = |bytes: u64| bytes / BLOCK_BYTES;
        let all = blocks(model.capacity_bytes());
        let real = data.real_bytes.map_or(all, blocks);
        let cache = data
            .hidden_cache
            .map(|cache| Ring::new(real, blocks(cache.bytes)));
        let mut flash = Self {
            data,
            seed: mix(seed ^ mix(0x0066_6c61_7368)),
            real,
            module: data.wrap_bytes.map(blocks),
            cache,
            written: 0,
            flips: Rng::for_part(seed, "sim flips", 0),
            until_flip: 0,
            rested_days: 0.0,
            renewed: BTreeSet::new(),
            last_end: None,
            load: Rng::for_part(seed, "sim load", 0),
        };
        flash.until_flip = flash.next_flip();
        flash
    }

    /// Returns the grain: reads and writes are multiples of this number of blocks.
    pub fn grain_blocks(&self) -> u64 {
        self.data.block_bytes / BLOCK_BYTES
    }

    /// Returns the number of slots.
    pub fn slots_count(&self) -> u64 {
        self.real + self.cache.as_ref().map_or(0, |cache| cache.size)
    }

    /// Accepts written blocks: returns their destinations, in the order of writing. Blocks may go to two
    /// places.
    pub fn write(&mut self, start: u64, count: u64) -> Vec<Part> {
        let is_jump = self
            .last_end
            .replace(start + count)
            .is_some_and(|end| end != start);
        if is_jump && self.happens(self.data.unmapped_share) {
            let place = BlockPlace::Nowhere;
            return vec![Part {
                start,
                count,
                place,
            }];
        }
        let taken = self
            .data
            .taken_bytes
            .map_or(u64::MAX, |bytes| bytes / BLOCK_BYTES);
        let left = taken.saturating_sub(self.written);
        self.written += count.min(left);
        let mut parts = self.places_of_writes(start, count.min(left));
        self.renew(&parts);
        if count > left {
            parts.push(Part {
                start: start + left,
                count: count - left,
                place: BlockPlace::Refused,
            });
        }
        let is_strict = self.data.hidden_cache.is_some_and(|cache| cache.strict);
        let Some(cache) = &mut self.cache else {
            return parts;
        };
        let cached: Vec<(u64, u64)> = if is_strict {
            // It does not hide damage, only missing flash.
            let missing = parts
                .iter()
                .filter(|part| part.place == BlockPlace::Nowhere);
            missing.map(|part| (part.start, part.count)).collect()
        } else {
            vec![(start, count.min(left))]
        };
        for (start, count) in cached {
            cache.write(start, count, &mut parts);
        }
        parts
    }

    /// Returns the source of blocks that are read, by rising address.
    pub fn read(&mut self, start: u64, count: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let found = self.cache.as_ref().map_or_else(
            || vec![(start, count, None)],
            |cache| cache.find(start, count),
        );
        for (start, count, slot) in found {
            match slot {
                Some(slot) => parts.push(Part {
                    start,
                    count,
                    place: BlockPlace::At(slot),
                }),
                None => self.places_of_reads(start, count, &mut parts),
            }
        }
        self.flip(&mut parts);
        parts
    }

    /// Returns whether a write with others in flight stores the data of the one before.
    pub fn crosses(&mut self) -> bool {
        self.happens(self.data.crossed_share)
    }

    /// Returns the number of blocks, from the first of these on, whose content goes if they are discarded.
    pub fn discards(&mut self, count: u64) -> u64 {
        match self.happens(self.data.spilled_share) {
            true => count + SPILLED_BLOCKS,
            false => count,
        }
    }

    /// Draws whether a fault of that probability happens; without the fault, nothing is drawn.
    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.load.unit() < share
    }

    /// Simulates a loss of power: data that only the hidden cache has is lost.
    pub fn lose_power(&mut self) {
        if let Some(cache) = &mut self.cache {
            *cache = Ring::new(cache.first, cache.size);
        }
    }

    /// Returns the flash's own addresses of these blocks: start, count, and the slot, if there is one.
    fn addresses(&self, start: u64, count: u64) -> Vec<(u64, u64, Option<u64>)> {
        let mut parts = Vec::new();
        let end = start + count;
        let mut at = start;
        while at < end {
            let inside = self.module.map_or(at, |module| at % module);
            let (room, slot) = if inside < self.real {
                (self.real - inside, Some(inside))
            } else {
                let room = self.module.map_or(u64::MAX, |module| module - inside);
                (room, None)
            };
            let room = room.min(self.module.map_or(u64::MAX, |module| module - inside));
            let count = room.min(end - at);
            parts.push((at, count, slot));
            at += count;
        }
        parts
    }

    /// Returns the destination of written blocks, ignoring the hidden cache.
    fn places_of_writes(&self, start: u64, count: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        self.places(start, count, &mut parts, |flash, slot| {
            if flash.keeps_nothing(slot) {
                BlockPlace::Nowhere
            } else {
                BlockPlace::At(slot)
            }
        });
        parts
    }

    /// Returns the source of blocks that are read, ignoring the hidden cache.
    fn places_of_reads(&self, start: u64, count: u64, parts: &mut Vec<Part>) {
        self.places(start, count, parts, |flash, slot| {
            match flash.damage_at(slot) {
                Some(DamageKind::Changed) => BlockPlace::Changed(slot),
                Some(DamageKind::Unreadable) => BlockPlace::Unreadable,
                Some(DamageKind::Lost) | None if flash.is_faded(slot) => BlockPlace::Changed(slot),
                Some(DamageKind::Lost) | None => BlockPlace::At(slot),
            }
        });
    }

    /// Returns the places of these blocks; `place` maps each slot.
    fn places(
        &self,
        start: u64,
        count: u64,
        parts: &mut Vec<Part>,
        place: impl Fn(&Self, u64) -> BlockPlace,
    ) {
        for (start, count, slot) in self.addresses(start, count) {
            match slot {
                Some(slot) => self.split(start, count, slot, parts, &place),
                None => parts.push(Part {
                    start,
                    count,
                    place: BlockPlace::Nowhere,
                }),
            }
        }
    }

    /// Cuts a stretch into its spots, and joins those of one kind again.
    fn split(
        &self,
        start: u64,
        count: u64,
        slot: u64,
        parts: &mut Vec<Part>,
        place: impl Fn(&Self, u64) -> BlockPlace,
    ) {
        let Some(spot) = self.spot_blocks() else {
            let place = BlockPlace::At(slot);
            parts.push(Part {
                start,
                count,
                place,
            });
            return;
        };
        let end = slot + count;
        let mut at = slot;
        while at < end {
            let next = (at / spot + 1).saturating_mul(spot).min(end);
            let part = Part {
                start: start + (at - slot),
                count: next - at,
                place: place(self, at),
            };
            match parts.last_mut() {
                Some(last) if goes_on(last, &part) => last.count += part.count,
                _ => parts.push(part),
            }
            at = next;
        }
    }

    /// Returns the least of the spots' sizes; `None` if there are no spots.
    fn spot_blocks(&self) -> Option<u64> {
        let damage = self.data.damage.map(|damage| damage.spot_bytes);
        let wear = self.data.wear.map(|wear| wear.spot_bytes);
        let fade = self.data.fade.map(|fade| fade.spot_bytes);
        let least = damage.into_iter().chain(wear).chain(fade).min();
        least.map(|bytes| (bytes / BLOCK_BYTES).max(1))
    }

    fn damage_at(&self, slot: u64) -> Option<DamageKind> {
        let damage = self.data.damage?;
        let spot = slot * BLOCK_BYTES / damage.spot_bytes;
        (unit(mix(self.seed ^ spot)) < damage.share).then_some(damage.kind)
    }

    fn keeps_nothing(&self, slot: u64) -> bool {
        self.damage_at(slot) == Some(DamageKind::Lost) || self.is_worn(slot)
    }

    fn is_worn(&self, slot: u64) -> bool {
        let Some(wear) = self.data.wear else {
            return false;
        };
        let spot = slot * BLOCK_BYTES / wear.spot_bytes;
        let lasts = wear.cycles * life(mix(!self.seed ^ spot), wear.deviation);
        self.written as f64 > lasts * self.real as f64
    }

    fn is_faded(&self, slot: u64) -> bool {
        let Some(fade) = self.data.fade else {
            return false;
        };
        let spot = slot * BLOCK_BYTES / fade.spot_bytes;
        let drawn = mix(self.seed ^ mix(spot));
        self.rested_days > fade.days * life(drawn, fade.deviation) && !self.renewed.contains(&spot)
    }

    /// Notes which spots were written since the card rested.
    fn renew(&mut self, parts: &[Part]) {
        let Some(fade) = self.data.fade.filter(|_| self.rested_days > 0.0) else {
            return;
        };
        for part in parts {
            if let BlockPlace::At(slot) = part.place {
                let spot = |slot: u64| slot * BLOCK_BYTES / fade.spot_bytes;
                self.renewed
                    .extend(spot(slot)..=spot(slot + part.count - 1));
            }
        }
    }

    /// The card lies about for so long, without power.
    pub fn rest(&mut self, days: f64) {
        self.lose_power();
        self.rested_days += days;
        self.renewed.clear();
    }

    /// Blocks that are read before the next one is flipped.
    fn next_flip(&mut self) -> u64 {
        if self.data.flipped_share <= 0.0 {
            return u64::MAX;
        }
        let drawn = libm::log(1.0 - self.flips.unit()) / libm::log(1.0 - self.data.flipped_share);
        whole(drawn)
    }

    fn flip(&mut self, parts: &mut Vec<Part>) {
        let mut index = 0;
        while index < parts.len() {
            let part = parts[index];
            if self.until_flip >= part.count {
                self.until_flip = self.until_flip.saturating_sub(part.count);
                index += 1;
                continue;
            }
            let before = self.until_flip;
            self.until_flip = self.next_flip();
            index += flip_one(parts, index, before);
        }
    }
}

/// Changes the block of a part at position `before`; returns the number of parts to skip to the rest.
fn flip_one(parts: &mut Vec<Part>, index: usize, before: u64) -> usize {
    let part = parts[index];
    let further = |place: BlockPlace, blocks: u64| match place {
        BlockPlace::At(slot) => BlockPlace::At(slot + blocks),
        BlockPlace::Changed(slot) => BlockPlace::Changed(slot + blocks),
        place => place,
    };
    let flipped = match further(part.place, before) {
        BlockPlace::At(slot) => BlockPlace::Changed(slot),
        place => place,
    };
    let of = |start: u64, count: u64, place: BlockPlace| Part {
        start: part.start + start,
        count,
        place,
    };
    let all = [
        of(0, before, part.place),
        of(before, 1, flipped),
        of(
            before + 1,
            part.count - before - 1,
            further(part.place, before + 1),
        ),
    ];
    let cut: Vec<Part> = all.into_iter().filter(|part| part.count > 0).collect();
    let passed = 1 + usize::from(before > 0);
    parts.splice(index..=index, cut);
    passed
}

/// Returns whether a part continues another.
fn goes_on(last: &Part, next: &Part) -> bool {
    let is_same = match (last.place, next.place) {
        (BlockPlace::At(a), BlockPlace::At(b))
        | (BlockPlace::Changed(a), BlockPlace::Changed(b)) => a + last.count == b,
        (a, b) => a == b,
    };
    is_same && last.start + last.count == next.start
}

/// Returns the life of a spot, as a multiple of the median one: the exponential of the sum of three uniform
/// numbers, scaled to a variance of one. It is bounded, so that no spot fails at once.
fn life(drawn: u64, deviation: f64) -> f64 {
    let sum = unit(drawn) + unit(mix(drawn)) + unit(mix(mix(drawn)));
    libm::exp(deviation * 2.0 * (sum - 1.5))
}

/// 0 to below 1.
fn unit(drawn: u64) -> f64 {
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is not negative; the cast saturates"
)]
fn whole(value: f64) -> u64 {
    value as u64
}
