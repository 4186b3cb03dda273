//! Geometries and failures that no simulated card of the library has, drawn by a seed. Nothing of them comes from the
//! simulator or from the code under test; the truth follows from the rule that a card obeys.
//!
//! `CARDMARK_SEEDS` is the number of cards of each kind; `benchmarks/fakes/geometries` sets it.

#![allow(clippy::print_stdout, reason = "the benchmark prints the rows")]

use std::collections::HashMap;

use cardmark_core::{Errno, Rng, StorageKind};
use cardmark_integrity::{
    Answer, Content, Direction, Extent, Held, Medium, ProbeRequest, Span, Surface, Trouble, Unit,
    Verify, most_bytes, probe,
};

use crate::support::content;

const MEBI: u64 = 2048;
/// Time of an operation, and of each block, nanoseconds: 25 MB/s.
const OPERATION_NS: u64 = 500_000;
const BLOCK_NS: u64 = 20_000;

/// Storage behind an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Slot(u64),
    Nowhere,
}

/// Rule from addresses to storage.
#[derive(Clone, Debug)]
enum Map {
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
    },
    /// These blocks have no storage.
    Dead(Vec<Span>),
    /// Every other stripe of this size has no storage.
    Striped(u64, u64),
    /// A share of the pages of 8 blocks (per 1,000) lies on the page of another address.
    Shared(u64, u64),
}

/// What an address without storage returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    Nothing,
    LastWritten,
    Neighbour(u64),
}

/// Cache for addresses without storage, or for all.
#[derive(Clone, Copy, Debug)]
struct Cache {
    blocks: u64,
    /// Slots are reused in turn, and an evicted address still returns its slot.
    is_stale: bool,
    is_for_all: bool,
}

#[derive(Clone, Debug)]
enum Fault {
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

struct Card {
    all: u64,
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
    written: u64,
    now_ns: u64,
    operations: u64,
}

impl Card {
    fn new(all: u64, map: Map) -> Self {
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

    fn with(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    fn returning(self, empty: Empty) -> Self {
        Self { empty, ..self }
    }

    fn behind(mut self, cache: Cache) -> Self {
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
            Map::Remapped { real, chunk, seed } => {
                let number = block / chunk;
                let drawn = Rng::for_part(*seed, "chunk", number).below(real / chunk * 4 / 3);
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
        }
    }

    /// Blocks that exist, and the length of the prefix in which no two addresses share one.
    fn truth(&self) -> (u64, u64) {
        let real = match self.fault {
            Fault::Shrinks(_, real) => real,
            Fault::Forgets(span, _) => return (self.all - span.count, span.start),
            Fault::DestroysHalves => return (self.all / 2, self.all / 2),
            _ => self.all,
        };
        let mut slots = vec![false; usize::try_from(self.all).unwrap()];
        let (mut count, mut prefix) = (0, None);
        for block in 0..real {
            match self.place(block) {
                Place::Slot(slot) if !slots[usize::try_from(slot).unwrap()] => {
                    slots[usize::try_from(slot).unwrap()] = true;
                    count += 1;
                }
                _ => prefix = prefix.or(Some(block)),
            }
        }
        (count, prefix.unwrap_or(real))
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

/// What a test must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Must {
    /// This kind, with the exact capacity.
    Be(StorageKind, u64),
    /// A bad one, with a capacity that exists, and half of the good prefix at least.
    BeBad,
    /// A bad one that is not called a fake.
    BeWorn,
    /// A bad one, if the test waits.
    BeBadLater,
    /// No fake.
    NotBeFake,
}

const KINDS: [&str; 27] = [
    "honest",
    "limbo, odd size",
    "limbo returning the last block",
    "limbo returning a neighbour",
    "limbo behind a cache for all",
    "limbo behind stale slots",
    "wrap, odd size",
    "chain, odd size",
    "wrap with an offset",
    "wrap behind a part that stays",
    "remap chain",
    "dead chip in the middle",
    "dead chip in the upper part",
    "dead chip in the lower part",
    "interleaved dead chip",
    "every other block dead",
    "shared pages",
    "ignores writes early",
    "ignores writes late",
    "refuses writes early",
    "refuses writes late",
    "forgets after seconds",
    "rots after seconds",
    "shrinks",
    "destroys halves of pages",
    "loses under load",
    "two dead chips",
];

/// A card of that kind, and what must be found.
fn card(kind: &str, seed: u64) -> (Card, Must) {
    let mut rng = Rng::for_part(seed, kind, 0);
    let all = 64 * MEBI + rng.below(32 * MEBI);
    let mut part = |from: u64, to: u64| all * from / 100 + rng.below(all * (to - from) / 100);
    let whole = |map: Map| Card::new(all, map);
    let limbo = |real: u64| (whole(Map::Limbo(real)), Must::Be(StorageKind::Limbo, real));
    let region = |start: u64, length: u64| Map::Dead(vec![Span::new(start, length)]);
    let bad = |map: Map| (whole(map), Must::BeBad);
    let faulty = |fault: Fault, must: Must| (whole(Map::Whole).with(fault), must);
    match kind {
        "honest" => (whole(Map::Whole), Must::Be(StorageKind::Confirmed, all)),
        "limbo, odd size" => limbo(part(3, 80)),
        "limbo returning the last block" => {
            let (card, must) = limbo(part(3, 80));
            (card.returning(Empty::LastWritten), must)
        }
        "limbo returning a neighbour" => {
            let real = part(3, 80);
            let (card, must) = limbo(real);
            (card.returning(Empty::Neighbour(real)), must)
        }
        "limbo behind a cache for all" | "limbo behind stale slots" => {
            let (card, must) = limbo(part(5, 45));
            let is_stale = kind.ends_with("slots");
            let cache = Cache {
                blocks: MEBI + part(0, 3),
                is_stale,
                is_for_all: !is_stale,
            };
            (card.behind(cache), must)
        }
        "wrap, odd size" => {
            let module = part(5, 45);
            (
                whole(Map::Repeats(module, module)),
                Must::Be(StorageKind::Wraparound, module),
            )
        }
        "chain, odd size" => {
            let module = part(20, 45);
            let kept = module / 3 + part(0, 4);
            (
                whole(Map::Repeats(module, kept)),
                Must::Be(StorageKind::Chain, kept),
            )
        }
        "wrap with an offset" => {
            let real = part(25, 60);
            bad(Map::Wrapped(real, real / 10 + part(0, 9)))
        }
        "wrap behind a part that stays" => {
            let real = part(25, 60);
            bad(Map::Tail(real / 3, real))
        }
        "remap chain" => {
            let chunk = MEBI / 2;
            bad(Map::Remapped {
                real: part(20, 50) / chunk * chunk,
                chunk,
                seed,
            })
        }
        "dead chip in the middle" => bad(region(part(30, 40), part(15, 30))),
        "dead chip in the upper part" => bad(region(part(50, 60), part(15, 38))),
        "dead chip in the lower part" => bad(region(part(5, 15), part(15, 30))),
        "two dead chips" => bad(Map::Dead(vec![
            Span::new(part(20, 30), part(10, 15)),
            Span::new(part(60, 75), all),
        ])),
        "interleaved dead chip" => bad(Map::Striped(8 << (part(0, 100) % 8), 1)),
        "every other block dead" => bad(Map::Striped(1, 1)),
        "shared pages" => bad(Map::Shared(80 + part(0, 100) % 100, seed)),
        "ignores writes early" => faulty(Fault::IgnoresAfter(200 + part(0, 1)), Must::BeWorn),
        "ignores writes late" => faulty(Fault::IgnoresAfter(part(10, 60)), Must::BeWorn),
        "refuses writes early" => faulty(Fault::RefusesAfter(200 + part(0, 1)), Must::BeWorn),
        "refuses writes late" => faulty(Fault::RefusesAfter(part(10, 60)), Must::BeWorn),
        "forgets after seconds" => {
            let span = Span::new(part(20, 60), part(20, 38));
            faulty(Fault::Forgets(span, 30_000_000_000), Must::BeBadLater)
        }
        "rots after seconds" => faulty(Fault::Rots(30_000_000_000), Must::BeBadLater),
        "shrinks" => faulty(Fault::Shrinks(part(5, 20), part(20, 50)), Must::BeBad),
        "destroys halves of pages" => faulty(Fault::DestroysHalves, Must::NotBeFake),
        _ => faulty(Fault::OnlyUnderLoad, Must::NotBeFake),
    }
}

/// Result of either test.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    kind: StorageKind,
    real: u64,
    is_irregular: bool,
}

/// Returns the reason for which a result is wrong; `None` if it is right.
fn fault(card: &Card, must: Must, found: Outcome, is_verify: bool) -> Option<&'static str> {
    use StorageKind::{Chain, Confirmed, Damaged, Limbo, Wraparound};
    let (exists, prefix) = card.truth();
    let is_fake = matches!(found.kind, Limbo | Wraparound | Chain);
    match must {
        Must::Be(kind, real) if (found.kind, found.real) == (kind, real) => None,
        Must::Be(..) => Some("not exact"),
        Must::NotBeFake => is_fake.then_some("called a fake"),
        _ if found.kind == Confirmed => Some("confirmed"),
        Must::BeWorn => is_fake.then_some("called a fake"),
        Must::BeBadLater if found.kind == Damaged && found.real == card.all => None,
        Must::BeBad | Must::BeBadLater if found.real > exists => Some("more than exists"),
        // A verify overwrites the prefix where addresses repeat.
        Must::BeBad if found.is_irregular && !is_verify && 2 * found.real < prefix => {
            Some("too little")
        }
        _ => None,
    }
}

fn probe_of(mut medium: Card, seed: u64, wait_ns: u64) -> (Card, Outcome, u64) {
    let request = ProbeRequest {
        seed,
        cache_blocks: 8 * MEBI,
        wait_ns,
    };
    let most = most_bytes(medium.all, &request) / 512;
    let found = probe(&mut medium, &request, &mut |_| ()).unwrap();
    assert!(medium.written <= most, "{} of {most}", medium.written);
    let result = Outcome {
        kind: found.kind,
        real: found.real_blocks,
        is_irregular: found.is_irregular,
    };
    (medium, result, found.written_blocks)
}

fn verify_of(mut medium: Card, seed: u64, wait_ns: u64) -> (Card, Outcome) {
    let mut verify = Verify::new(medium.all, content(seed)).waiting(wait_ns);
    while !verify.is_done() {
        verify.advance(&mut medium).unwrap();
    }
    let found = verify.verdict().unwrap();
    let result = Outcome {
        kind: found.kind,
        real: found.real_blocks,
        is_irregular: found.is_irregular,
    };
    (medium, result)
}

fn seeds() -> u64 {
    let asked = std::env::var("CARDMARK_SEEDS").ok();
    asked.map_or(2, |count| count.parse().unwrap())
}

#[test]
fn each_kind_is_called_what_it_is_or_bad_with_no_more_than_exists() {
    println!("| kind | cards | probe | verify | written by the probe, of the card | first fault |");
    println!("|---|---:|---:|---:|---:|---|");
    let mut is_right = true;
    let only = std::env::var("CARDMARK_KIND").ok();
    for kind in KINDS
        .iter()
        .filter(|kind| only.as_ref().is_none_or(|only| only == *kind))
    {
        let (mut probed, mut verified, mut written) = (0, 0, 0.0_f64);
        let mut first: Option<String> = None;
        for seed in 0..seeds() {
            let (of, must) = card(kind, seed);
            let wait_ns = match must {
                Must::BeBadLater => 31_000_000_000,
                _ => 0,
            };
            let (of, found, blocks) = probe_of(of, seed, wait_ns);
            written = written.max(blocks as f64 / of.all as f64);
            let wrong = fault(&of, must, found, false);
            probed += u64::from(wrong.is_none());
            let fresh = card(kind, seed).0;
            let (of, judged) = verify_of(fresh, seed, wait_ns);
            let wrong_too = fault(&of, must, judged, true);
            verified += u64::from(wrong_too.is_none());
            for (test, wrong, found) in [("probe", wrong, found), ("verify", wrong_too, judged)] {
                let (exists, prefix) = of.truth();
                first = first.or_else(|| {
                    let wrong = wrong?;
                    Some(format!(
                        "{test} {seed}: {wrong}: {found:?}; {must:?}, {exists} exist, prefix {prefix} of {}",
                        of.all
                    ))
                });
            }
        }
        is_right &= first.is_none();
        let first = first.unwrap_or_default();
        println!(
            "| {kind} | {} | {probed} | {verified} | {written:.2} | {first} |",
            seeds()
        );
    }
    assert!(is_right);
}

/// A worn card is named as one, whatever it was when the test began.
#[test]
fn a_card_that_ignores_or_refuses_writes_is_called_worn() {
    for (kind, expected) in [
        ("ignores writes early", StorageKind::IgnoresWrites),
        ("ignores writes late", StorageKind::IgnoresWrites),
        ("refuses writes late", StorageKind::ReadOnly),
    ] {
        for seed in 0..seeds() {
            let (_, found, _) = probe_of(card(kind, seed).0, seed, 0);
            assert_eq!(found.kind, expected, "{kind}, {seed}: {found:?}");
            let (_, found) = verify_of(card(kind, seed).0, seed, 0);
            assert_eq!(found.kind, expected, "{kind}, {seed}: {found:?}");
        }
    }
}
