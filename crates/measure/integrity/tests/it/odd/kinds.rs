//! Cards of each kind, drawn by a seed, and what a test must find.

use cardmark_core::{Rng, StorageKind};
use cardmark_integrity::Span;

use super::card::{Cache, Card, Empty, Fault, MEBI, Map, Part};

/// What a test must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Must {
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

/// Kinds of cards, and seeds of them that a version of the probe judged wrongly.
pub(super) const KINDS: [(&str, &[u64]); 42] = [
    ("honest", &[]),
    ("limbo, odd size", &[]),
    ("limbo returning the last block", &[]),
    ("limbo returning a neighbour", &[]),
    ("limbo behind a cache for all", &[]),
    ("limbo behind stale slots", &[]),
    ("wrap, odd size", &[]),
    ("wrap behind a cache for all", &[0]),
    ("chain, odd size", &[16, 21]),
    ("chain behind a cache for all", &[14]),
    ("wrap with an offset", &[9, 15]),
    ("wrap with a large offset", &[]),
    ("wrap with an offset behind a cache for all", &[21]),
    ("wrap behind a part that stays", &[]),
    ("two wraps", &[]),
    ("wrap in the middle", &[]),
    ("wrap in the middle, end missing", &[0, 7]),
    ("mirrored", &[0, 6, 19]),
    ("high bits mixed", &[]),
    ("pieces from a table", &[16, 20]),
    ("remap chain", &[23]),
    ("remap chain without losses", &[]),
    ("stuck address line", &[]),
    ("dead chip in the middle", &[]),
    ("dead chip in the upper part", &[]),
    ("dead chip in the lower part", &[]),
    ("two dead chips", &[]),
    ("interleaved dead chip", &[]),
    ("three chips in turn, one dead", &[]),
    ("every other block dead", &[]),
    ("end missing, holes before it", &[2, 4, 5, 6, 12]),
    ("shared pages", &[]),
    ("ignores writes early", &[]),
    ("ignores writes late", &[]),
    ("refuses writes early", &[]),
    ("refuses writes late", &[]),
    ("forgets after seconds", &[]),
    ("rots after seconds", &[]),
    ("shrinks", &[]),
    ("destroys halves of pages", &[]),
    ("loses under load", &[]),
    ("three chips, the middle one dead", &[]),
];

/// Time after which some cards lose data, nanoseconds.
const LATE_NS: u64 = 30_000_000_000;

/// Draws numbers, and parts of a card.
struct Draw {
    all: u64,
    seed: u64,
    rng: Rng,
}

impl Draw {
    /// Number of blocks between two shares of the card, in per cent.
    fn part(&mut self, from: u64, to: u64) -> u64 {
        self.all * from / 100 + self.rng.below(self.all * (to - from) / 100)
    }

    /// The same, and at most 60 MiB, which each probe writes.
    fn soon(&mut self, from: u64, to: u64) -> u64 {
        self.part(from, to).min(60 * MEBI)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.rng.below(end)
    }
}

/// A card of that kind, `scale` times as large as the smallest ones, and what must be found.
pub(super) fn card(kind: &str, seed: u64, scale: u64) -> (Card, Must) {
    let mut rng = Rng::for_part(seed, kind, 0);
    let all = (64 * MEBI + rng.below(32 * MEBI)) * scale;
    let mut draw = Draw { all, seed, rng };
    let whole = |map: Map| Card::new(all, map);
    if let Some(base) = kind.strip_suffix(" behind a cache for all") {
        let (map, must) = geometry(base, &mut draw);
        let cache = draw.cache(scale, false);
        // Its exact size is not found: the cache answers for the missing parts, which are small and many.
        let must = match base {
            "chain" => Must::BeBad,
            _ => must,
        };
        return (whole(map).behind(cache), must);
    }
    match kind {
        "limbo returning the last block" => {
            let (map, must) = geometry("limbo", &mut draw);
            (whole(map).returning(Empty::LastWritten), must)
        }
        "limbo returning a neighbour" => {
            let real = draw.part(3, 80);
            let must = Must::Be(StorageKind::Limbo, real);
            let card = whole(Map::Limbo(real)).returning(Empty::Neighbour(real));
            (card, must)
        }
        "limbo behind stale slots" => {
            let (map, must) = geometry("limbo, low", &mut draw);
            let cache = draw.cache(scale, true);
            (whole(map).behind(cache), must)
        }
        _ => match fault(kind, &mut draw) {
            Some((fault, must)) => (whole(Map::Whole).with(fault), must),
            None => {
                let (map, must) = geometry(kind, &mut draw);
                (whole(map), must)
            }
        },
    }
}

/// A fault of an otherwise honest card.
fn fault(kind: &str, draw: &mut Draw) -> Option<(Fault, Must)> {
    Some(match kind {
        "ignores writes early" => (Fault::IgnoresAfter(200 + draw.part(0, 1)), Must::BeWorn),
        "ignores writes late" => (Fault::IgnoresAfter(draw.soon(10, 60)), Must::BeWorn),
        "refuses writes early" => (Fault::RefusesAfter(200 + draw.part(0, 1)), Must::BeWorn),
        "refuses writes late" => (Fault::RefusesAfter(draw.soon(10, 60)), Must::BeWorn),
        "forgets after seconds" => {
            let span = Span::new(draw.part(20, 60), draw.part(20, 38));
            (Fault::Forgets(span, LATE_NS), Must::BeBadLater)
        }
        "rots after seconds" => (Fault::Rots(LATE_NS), Must::BeBadLater),
        "shrinks" => {
            let after = draw.soon(5, 20);
            (Fault::Shrinks(after, draw.part(20, 50)), Must::BeBad)
        }
        "destroys halves of pages" => (Fault::DestroysHalves, Must::NotBeFake),
        "loses under load" => (Fault::OnlyUnderLoad, Must::NotBeFake),
        _ => return None,
    })
}

/// The rule from addresses to storage.
fn geometry(kind: &str, draw: &mut Draw) -> (Map, Must) {
    let limbo = |real: u64| (Map::Limbo(real), Must::Be(StorageKind::Limbo, real));
    match kind {
        "honest" => (Map::Whole, Must::Be(StorageKind::Confirmed, draw.all)),
        "limbo" | "limbo, odd size" => limbo(draw.part(3, 80)),
        "limbo, low" => limbo(draw.part(5, 45)),
        "wrap" | "wrap, odd size" => {
            let module = draw.part(5, 45);
            (
                Map::Repeats(module, module),
                Must::Be(StorageKind::Wraparound, module),
            )
        }
        "chain" | "chain, odd size" => {
            let module = draw.part(20, 45);
            let kept = module / 3 + draw.part(0, 4);
            (
                Map::Repeats(module, kept),
                Must::Be(StorageKind::Chain, kept),
            )
        }
        _ => {
            let map = dead(kind, draw).or_else(|| shared(kind, draw));
            (map.unwrap(), Must::BeBad)
        }
    }
}

/// Rules by which some addresses have no storage, and no two the same.
fn dead(kind: &str, draw: &mut Draw) -> Option<Map> {
    let one = |start: u64, count: u64| Map::Dead(vec![Span::new(start, count)]);
    Some(match kind {
        "dead chip in the middle" => one(draw.part(30, 40), draw.part(15, 30)),
        "dead chip in the upper part" => one(draw.part(50, 60), draw.part(15, 38)),
        "dead chip in the lower part" => one(draw.part(5, 15), draw.part(15, 30)),
        "two dead chips" => Map::Dead(vec![
            Span::new(draw.part(20, 30), draw.part(10, 15)),
            Span::new(draw.part(60, 75), draw.all),
        ]),
        "three chips, the middle one dead" => one(draw.all / 3, draw.all / 3),
        "three chips in turn, one dead" => Map::ThreeChips(1 << draw.below(13)),
        "interleaved dead chip" => Map::Striped(8 << (draw.part(0, 100) % 8), 1),
        "every other block dead" => Map::Striped(1, 1),
        "end missing, holes before it" => {
            Map::Holes(draw.part(30, 80), 20 + draw.below(60), draw.seed)
        }
        _ => return None,
    })
}

/// Rules by which several addresses share storage.
fn shared(kind: &str, draw: &mut Draw) -> Option<Map> {
    Some(match kind {
        "wrap with an offset" => {
            let real = draw.part(25, 60);
            Map::Wrapped(real, real / 10 + draw.part(0, 9))
        }
        "wrap with a large offset" => {
            let real = draw.part(25, 60);
            Map::Wrapped(real, real / 2 + draw.below(real / 2))
        }
        "wrap behind a part that stays" => {
            let real = draw.part(25, 60);
            Map::Tail(real / 3, real)
        }
        "two wraps" => two_wraps(draw),
        "wrap in the middle" | "wrap in the middle, end missing" => {
            let (start, count) = (draw.part(35, 45), draw.part(8, 18));
            let end = start + count;
            let mut parts = vec![(0, Part::From(0))];
            parts.push((start, Part::From(draw.part(2, 15))));
            parts.push((end, Part::From(end)));
            if kind.ends_with("missing") {
                parts.push((draw.part(66, 80), Part::Missing));
            }
            Map::Parts(parts)
        }
        "mirrored" => Map::Mirrored(draw.part(25, 70)),
        "high bits mixed" => {
            let bits = draw.all.ilog2() - 1 - u32::from(draw.below(2) == 0);
            let from = bits - 3 - u32::from(draw.below(4) == 0);
            Map::Mixed { bits, from }
        }
        "pieces from a table" => Map::Table {
            pool: draw.part(30, 90) / MEBI,
            chunk: MEBI,
            seed: draw.seed,
        },
        "remap chain" | "remap chain without losses" => {
            let chunk = MEBI / 2;
            Map::Remapped {
                real: draw.part(20, 50) / chunk * chunk,
                chunk,
                seed: draw.seed,
                is_lossy: kind == "remap chain",
            }
        }
        "stuck address line" => Map::StuckLine(draw.below(u64::from(draw.all.ilog2()))),
        "shared pages" => Map::Shared(80 + draw.part(0, 100) % 100, draw.seed),
        _ => return None,
    })
}

/// Repeats after one distance, and from some address on after another one, each from a place of its own on.
fn two_wraps(draw: &mut Draw) -> Map {
    let real = draw.part(18, 28);
    let second = real + draw.part(25, 40);
    let count = draw.part(5, 12);
    let start = draw.below(real - count);
    Map::Parts(vec![
        (0, Part::From(0)),
        (real, Part::Cycle(0, real)),
        (second, Part::Cycle(start, count)),
    ])
}

impl Draw {
    /// A cache that is smaller than the one that the tests exclude.
    fn cache(&mut self, scale: u64, is_stale: bool) -> Cache {
        Cache {
            blocks: MEBI * scale + self.part(0, 3),
            is_stale,
            is_for_all: !is_stale,
        }
    }
}
