//! Storage that obeys a rule from addresses to places, with a cache and a fault. Nothing of it comes from the simulator or
//! from the code under test.

use std::collections::HashMap;

use cardmark_core::{Errno, Rng};
use cardmark_integrity::{
    Answer, Content, Direction, Extent, Held, Medium, Span, Surface, Trouble, Unit,
};

pub(super) const MEBI: u64 = 2048;
/// Time of an operation, and of each block, nanoseconds: 25 MB/s.
const OPERATION_NS: u64 = 500_000;
const BLOCK_NS: u64 = 20_000;

/// Storage behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Slot(u64),
    Nowhere,
}

/// Rule from addresses to storage.
#[derive(Clone, Debug)]
pub(super) enum Map {
    Whole,
    /// The first blocks exist.
    Limbo(u64),
    /// Repeats after this distance; of each repetition the first blocks exist.
    Repeats(u64, u64),
    /// From the first address on, addresses go to the beginning again, from an offset on.
    Wrapped(u64, u64),
    /// Addresses behind the second repeat the part between the two.
    Tail(u64, u64),
    /// Chunks of this size behind the first blocks go anywhere.
    Remapped {
        real: u64,
        chunk: u64,
        seed: u64,
        /// Some of them nowhere.
        is_lossy: bool,
    },
    /// These blocks have no storage.
    Dead(Vec<Span>),
    /// Every other stripe of this size has no storage.
    Striped(u64, u64),
    /// A share of the pages of 8 blocks (per 1,000) lies on the page of another address.
    Shared(u64, u64),
    /// Each of these parts has a rule of its own, from its first address to that of the next one.
    Parts(Vec<(u64, Part)>),
    /// The address above this number of bits is added without carry to the bits below it, from this bit on.
    Mixed {
        bits: u32,
        from: u32,
    },
    /// Each chunk lies on any of the chunks that exist, the first ones included.
    Table {
        pool: u64,
        chunk: u64,
        seed: u64,
    },
    /// Stripes of this size lie in turn on three chips. The second one has no storage.
    ThreeChips(u64),
    /// This bit of the address is always 0.
    StuckLine(u64),
    /// From this address on, the storage below it again, downwards and upwards in turn.
    Mirrored(u64),
    /// The first blocks exist, but for a share of the chunks of 128 blocks (per 1,000).
    Holes(u64, u64, u64),
}

/// Rule of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// From this place on.
    From(u64),
    /// From this place on, repeated after this number of blocks.
    Cycle(u64, u64),
    Missing,
}

/// What an address without storage returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    Nothing,
    LastWritten,
    Neighbour(u64),
}

/// Cache for addresses without storage, or for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    pub(super) blocks: u64,
    /// Slots are reused in turn, and an evicted address still returns its slot.
    pub(super) is_stale: bool,
    pub(super) is_for_all: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Fault {
    None,
    /// Ignores all writes after this number of blocks.
    IgnoresAfter(u64),
    /// Refuses them.
    RefusesAfter(u64),
    /// Loses a region after this time, nanoseconds.
    Forgets(Span, u64),
    /// Changes bits of one block of 128 after this time.
    Rots(u64),
    /// Has only this many blocks after that number was written.
    Shrinks(u64, u64),
    /// A write of less than 16 blocks destroys the other half of its 16.
    DestroysHalves,
    /// Loses every ninth write with others in flight.
    OnlyUnderLoad,
}

pub(super) struct Card {
    pub(super) all: u64,
    map: Map,
    empty: Empty,
    cache: Option<Cache>,
    fault: Fault,
    /// Content and time of its write, by slot.
    stored: HashMap<u64, (u64, Content, u64)>,
    cached: HashMap<u64, u64>,
    ring: Vec<Option<(u64, Content)>>,
    ring_owner: Vec<u64>,
    next: u64,
    last: Option<(u64, Content)>,
    pub(super) written: u64,
    now_ns: u64,
    operations: u64,
}

/// Truth about a card, blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    /// Blocks that exist.
    pub(super) exist: u64,
    /// Length of the beginning in which all exist, and no two addresses share one.
    pub(super) prefix: u64,
    /// The first address without storage.
    pub(super) first_lost: u64,
}

impl Card {
    pub(super) fn new(all: u64, map: Map) -> Self {
        Self {
            all,
            map,
            empty: Empty::Nothing,
            cache: None,
            fault: Fault::None,
            stored: HashMap::new(),
            cached: HashMap::new(),
            ring: Vec::new(),
            ring_owner: Vec::new(),
            next: 0,
            last: None,
            written: 0,
            now_ns: 0,
            operations: 0,
        }
    }

    pub(super) fn with(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    pub(super) fn returning(self, empty: Empty) -> Self {
        Self { empty, ..self }
    }

    pub(super) fn behind(mut self, cache: Cache) -> Self {
        let count = usize::try_from(cache.blocks).unwrap();
        self.ring = vec![None; count];
        self.ring_owner = vec![u64::MAX; count];
        self.cache = Some(cache);
        self
    }

    fn place(&self, block: u64) -> Place {
        use Place::{Nowhere, Slot};
        match &self.map {
            Map::Whole => Slot(block),
            Map::Limbo(real) if block < *real => Slot(block),
            Map::Limbo(_) => Nowhere,
            Map::Repeats(module, kept) if block % module < *kept => Slot(block % module),
            Map::Repeats(..) => Nowhere,
            Map::Wrapped(real, _) if block < *real => Slot(block),
            Map::Wrapped(real, offset) => Slot((block + offset) % real),
            Map::Tail(offset, _) if block < *offset => Slot(block),
            Map::Tail(offset, real) => Slot(offset + (block - offset) % (real - offset)),
            Map::Remapped { real, .. } if block < *real => Slot(block),
            Map::Remapped {
                real,
                chunk,
                seed,
                is_lossy,
            } => {
                let thirds = if *is_lossy { 4 } else { 3 };
                let pool = real / chunk * thirds / 3;
                let drawn = Rng::for_part(*seed, "chunk", block / chunk).below(pool);
                match drawn < real / chunk {
                    true => Slot(drawn * chunk + block % chunk),
                    false => Nowhere,
                }
            }
            Map::Dead(spans) => {
                let is_dead = |span: &Span| (span.start..span.end()).contains(&block);
                if spans.iter().any(is_dead) {
                    Nowhere
                } else {
                    Slot(block)
                }
            }
            Map::Striped(size, first) if (block / size) % 2 == *first => Nowhere,
            Map::Striped(..) => Slot(block),
            Map::Shared(permille, seed) => {
                let page = block / 8;
                let mut rng = Rng::for_part(*seed, "page", page);
                match rng.below(1000) < *permille {
                    true => Slot(rng.below(self.all / 8) * 8 + block % 8),
                    false => Slot(block),
                }
            }
            Map::Parts(parts) => {
                let (from, part) = *parts.iter().rfind(|part| part.0 <= block).unwrap();
                match part {
                    Part::From(start) => Slot(start + block - from),
                    Part::Cycle(start, count) => Slot(start + (block - from) % count),
                    Part::Missing => Nowhere,
                }
            }
            Map::Mixed { bits, from } => {
                let (high, low) = (block >> bits, block & ((1 << bits) - 1));
                Slot(low ^ ((high << from) & ((1 << bits) - 1)))
            }
            Map::Table { pool, chunk, seed } => {
                let drawn = Rng::for_part(*seed, "table", block / chunk).below(*pool);
                Slot(drawn * chunk + block % chunk)
            }
            Map::ThreeChips(size) if (block / size) % 3 == 1 => Nowhere,
            Map::ThreeChips(_) => Slot(block),
            Map::StuckLine(bit) => Slot(block & !(1 << bit)),
            Map::Mirrored(real) => match (block / real) % 2 {
                0 => Slot(block % real),
                _ => Slot(real - 1 - block % real),
            },
            Map::Holes(real, permille, seed) => {
                let drawn = Rng::for_part(*seed, "hole", block / 128).below(1000);
                match block < *real && drawn >= *permille {
                    true => Slot(block),
                    false => Nowhere,
                }
            }
        }
    }

    /// The truth about the card, from its rule.
    pub(super) fn truth(&self) -> Truth {
        let of = |exist: u64, prefix: u64, first_lost: u64| Truth {
            exist,
            prefix,
            first_lost,
        };
        let real = match self.fault {
            Fault::Shrinks(_, real) => real,
            Fault::Forgets(span, _) => return of(self.all - span.count, span.start, span.start),
            Fault::DestroysHalves => return of(self.all / 2, self.all / 2, self.all),
            _ => self.all,
        };
        let mut slots = vec![false; usize::try_from(self.all).unwrap()];
        let (mut exist, mut prefix, mut first_lost) = (0, real, real);
        for block in 0..real {
            match self.place(block) {
                Place::Slot(slot) if !slots[usize::try_from(slot).unwrap()] => {
                    slots[usize::try_from(slot).unwrap()] = true;
                    exist += 1;
                }
                Place::Slot(_) => prefix = prefix.min(block),
                Place::Nowhere => {
                    (prefix, first_lost) = (prefix.min(block), first_lost.min(block));
                }
            }
        }
        of(exist, prefix, first_lost)
    }

    fn store(&mut self, block: u64, content: Content) {
        let is_shrunk = matches!(self.fault, Fault::Shrinks(after, real) if self.written > after && block >= real);
        let place = match self.place(block) {
            Place::Slot(slot) if !is_shrunk => Place::Slot(slot),
            _ => Place::Nowhere,
        };
        if let Place::Slot(slot) = place {
            self.stored.insert(slot, (block, content, self.now_ns));
        }
        if let Some(cache) = self.cache
            && (place == Place::Nowhere || cache.is_for_all)
        {
            let slot = self.next % cache.blocks;
            let index = usize::try_from(slot).unwrap();
            let owner = self.ring_owner[index];
            if !cache.is_stale && self.cached.get(&owner) == Some(&slot) {
                self.cached.remove(&owner);
            }
            self.ring[index] = Some((block, content));
            self.ring_owner[index] = block;
            self.cached.insert(block, slot);
            self.next += 1;
        }
        self.last = Some((block, content));
    }

    fn held(&self, block: u64, expected: Content) -> Held {
        let cached = self.cached.get(&block);
        let cached = cached.and_then(|&slot| self.ring[usize::try_from(slot).unwrap()]);
        let mut is_rotten = false;
        let found = match (cached, self.place(block)) {
            (Some(found), _) => Some(found),
            (None, Place::Slot(slot)) => self.stored.get(&slot).and_then(|&(of, content, at)| {
                let age_ns = self.now_ns - at;
                is_rotten = matches!(self.fault, Fault::Rots(after) if age_ns > after && block % 128 == 77);
                let is_gone = matches!(&self.fault, Fault::Forgets(span, after)
                    if age_ns > *after && (span.start..span.end()).contains(&block))
                    || matches!(self.fault, Fault::Shrinks(after, real) if self.written > after && block >= real);
                (!is_gone).then_some((of, content))
            }),
            (None, Place::Nowhere) => match self.empty {
                Empty::Nothing => None,
                Empty::LastWritten => self.last,
                Empty::Neighbour(real) => {
                    let slot = real - 8 + block % 8;
                    self.stored.get(&slot).map(|&(of, content, _)| (of, content))
                }
            },
        };
        match found {
            Some((of, content)) if content.seed != expected.seed || of > self.all => Held::Foreign,
            Some((of, content)) if of == block && content == expected => match is_rotten {
                true => Held::Changed,
                false => Held::Good,
            },
            Some((of, content)) => Held::Other {
                block: of,
                round: content.round,
            },
            None => Held::Foreign,
        }
    }
}

impl Medium for Card {
    fn blocks_count(&self) -> u64 {
        self.all
    }

    fn grain_blocks(&self) -> u64 {
        1
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let mut refused = Surface::default();
        self.operations += 1;
        for block in span.start..span.end() {
            self.written += 1;
            match self.fault {
                Fault::IgnoresAfter(after) if self.written > after => continue,
                Fault::RefusesAfter(after) if self.written > after => {
                    let held = Held::Refused { errno: Errno::IO };
                    refused.push(Extent::new(Span::new(block, 1), held));
                    continue;
                }
                _ => {}
            }
            self.store(block, content);
        }
        if matches!(self.fault, Fault::DestroysHalves) && span.count < 16 {
            let other = ((span.start / 8) ^ 1) * 8;
            for slot in other..other + 8 {
                self.stored.remove(&slot);
            }
        }
        let span_ns = OPERATION_NS + BLOCK_NS * span.count;
        self.now_ns += span_ns;
        Ok(Answer {
            span_ns,
            runs: refused.runs().to_vec(),
        })
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let mut surface = Surface::default();
        for block in span.start..span.end() {
            surface.push(Extent::new(Span::new(block, 1), self.held(block, content)));
        }
        let span_ns = OPERATION_NS + BLOCK_NS * span.count / 3;
        self.now_ns += span_ns;
        Ok(Answer {
            span_ns,
            runs: surface.runs().to_vec(),
        })
    }

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        let mut runs = Vec::new();
        let mut span_ns = 0;
        for (number, unit) in units.iter().enumerate() {
            let is_lost =
                matches!(self.fault, Fault::OnlyUnderLoad) && depth > 1 && number % 9 == 8;
            let answer = match direction {
                Direction::Write if is_lost => continue,
                Direction::Write => self.write(unit.span, unit.content),
                Direction::Read => self.read(unit.span, unit.content),
            }?;
            span_ns += answer.span_ns;
            runs.extend(answer.runs);
        }
        Ok(Answer {
            span_ns,
            runs: Surface::of(runs).runs().to_vec(),
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Ok(0)
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        self.now_ns += span_ns;
        Ok(())
    }
}
