//! Power of a probe on storage that a model of this file plays: blocks are bad by a rule, and a cache
//! may hide them. Nothing of it comes from the simulator.
//!
//! `CARDMARK_PLACEMENTS` is the number of placements per case; `benchmarks/probe/run` sets it.

#![allow(clippy::print_stdout, reason = "the benchmark prints the rows")]

use cardmark_core::{Rng, StorageKind};
use cardmark_integrity::{Answer, Content, Extent, Held, Medium, Probe, Span, Surface, Trouble};

use crate::support::{GIB, blocks, probed};

const MEBI: u64 = 2048;
const SIZES_BYTES: [u64; 5] = [
    1_000_000_000,
    2_000_000_000,
    8_000_000_000,
    64_000_000_000,
    512_000_000_000,
];
const CACHES_BYTES: [u64; 3] = [GIB / 16, GIB, 4 * GIB];

/// Blocks that keep nothing.
#[derive(Clone, Debug)]
enum Bad {
    /// None.
    Nothing,
    /// All blocks of a region.
    Region(Span),
    /// One block of every MiB of a region.
    InEach(Span),
    /// These extents of 1 MiB, sorted.
    Extents(Vec<u64>),
}

impl Bad {
    fn has(&self, block: u64) -> bool {
        let inside = |span: &Span| (span.start..span.end()).contains(&block);
        match self {
            Self::Nothing => false,
            Self::Region(span) => inside(span),
            Self::InEach(span) => inside(span) && block % MEBI == 1234,
            Self::Extents(extents) => extents.binary_search(&(block / MEBI)).is_ok(),
        }
    }

    /// Returns the block up to which all blocks are like `block`: bad or not.
    fn alike_until(&self, block: u64) -> u64 {
        match self {
            Self::Nothing => u64::MAX,
            Self::Region(span) if block < span.start => span.start,
            Self::Region(span) if block < span.end() => span.end(),
            Self::Region(_) => u64::MAX,
            Self::InEach(_) if block % MEBI < 1234 => block / MEBI * MEBI + 1234,
            Self::InEach(_) if block % MEBI == 1234 => block + 1,
            Self::InEach(_) => (block / MEBI + 1) * MEBI + 1234,
            Self::Extents(_) => (block / MEBI + 1) * MEBI,
        }
    }

    fn parts(&self, span: Span) -> Vec<(Span, bool)> {
        let mut parts = Vec::new();
        let mut at = span.start;
        while at < span.end() {
            let end = self.alike_until(at).min(span.end());
            parts.push((Span::between(at, end), self.has(at)));
            at = end;
        }
        parts
    }
}

/// Content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// The last blocks written.
    All,
    /// The last bad blocks written: the others go to the flash.
    OnlyBad,
}

/// Storage with bad blocks; a cache hides some of them.
struct Storage {
    blocks_count: u64,
    bad: Bad,
    cache_blocks: u64,
    holds: Holds,
    /// Writes to the cache in order, and the number of blocks written to it before each.
    writes: Vec<(Span, u64)>,
    cached_blocks: u64,
}

impl Storage {
    fn new(size_bytes: u64, bad: Bad) -> Self {
        Self {
            blocks_count: blocks(size_bytes),
            bad,
            cache_blocks: 0,
            holds: Holds::All,
            writes: Vec::new(),
            cached_blocks: 0,
        }
    }

    fn behind(self, cache_blocks: u64, holds: Holds) -> Self {
        Self {
            cache_blocks,
            holds,
            ..self
        }
    }

    /// The parts of a span, and whether they are among the last blocks written to the cache.
    fn cached_parts(&self, span: Span) -> Vec<(Span, bool)> {
        let oldest = self.cached_blocks.saturating_sub(self.cache_blocks);
        let (mut open, mut held) = (vec![span], Vec::new());
        for (write, before) in self.writes.iter().rev() {
            if open.is_empty() || before + write.count <= oldest {
                break;
            }
            let kept = Span::between(write.start + oldest.saturating_sub(*before), write.end());
            let inside =
                |part: &Span| Span::between(part.start.max(kept.start), part.end().min(kept.end()));
            for part in std::mem::take(&mut open) {
                let hit = inside(&part);
                if hit.count == 0 {
                    open.push(part);
                    continue;
                }
                held.push((hit, true));
                let rest = [
                    Span::between(part.start, hit.start),
                    Span::between(hit.end(), part.end()),
                ];
                open.extend(rest.into_iter().filter(|part| part.count > 0));
            }
        }
        held.extend(open.into_iter().map(|part| (part, false)));
        held.sort_unstable_by_key(|(part, _)| part.start);
        held
    }
}

impl Medium for Storage {
    fn blocks_count(&self) -> u64 {
        self.blocks_count
    }

    fn grain_blocks(&self) -> u64 {
        1
    }

    fn write(&mut self, span: Span, _: Content) -> Result<Answer, Trouble> {
        for (part, is_bad) in self.bad.parts(span) {
            if self.cache_blocks > 0 && (is_bad || self.holds == Holds::All) {
                self.writes.push((part, self.cached_blocks));
                self.cached_blocks += part.count;
            }
        }
        Ok(Answer::default())
    }

    fn read(&mut self, span: Span, _: Content) -> Result<Answer, Trouble> {
        let mut surface = Surface::default();
        for (part, is_bad) in self.bad.parts(span) {
            if !is_bad {
                surface.push(Extent::new(part, Held::Good));
                continue;
            }
            for (part, is_cached) in self.cached_parts(part) {
                let held = match is_cached {
                    true => Held::Good,
                    false => Held::Foreign,
                };
                surface.push(Extent::new(part, held));
            }
        }
        Ok(Answer {
            span_ns: 0,
            runs: surface.runs().to_vec(),
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Ok(0)
    }
}

fn placements() -> u64 {
    let asked = std::env::var("CARDMARK_PLACEMENTS").ok();
    asked.map_or(3, |count| count.parse().unwrap())
}

/// Misses of `count` tries that each succeed with 99.9 %: more are seen in less than one case of 10,000
/// (binomial distribution, summed by the recurrence of its terms).
fn most_misses(count: u64) -> u64 {
    let (missed, n) = (0.001_f64, count as f64);
    let mut term = (1.0 - missed).powf(n);
    let mut sum = term;
    let mut misses = 0;
    while 1.0 - sum > 1e-4 {
        term *= (n - misses as f64) / (misses as f64 + 1.0) * missed / (1.0 - missed);
        misses += 1;
        sum += term;
    }
    misses
}

/// A region of `length` extents: uniform, at the beginning, in the middle, at the end.
fn region(place: &str, extents: u64, length: u64, rng: &mut Rng) -> Span {
    let first = match place {
        "first" => 0,
        "middle" => (extents - length) / 2,
        "last" => extents - length,
        _ => rng.below(extents - length + 1),
    };
    Span::new(first * MEBI, length * MEBI)
}

fn scattered(extents: u64, length: u64, rng: &mut Rng) -> Vec<u64> {
    let mut chosen = std::collections::BTreeSet::new();
    while (chosen.len() as u64) < length {
        chosen.insert(rng.below(extents));
    }
    chosen.into_iter().collect()
}

/// Least number of extents that make up this share.
fn extents_of(share: f64, extents: u64) -> u64 {
    // A share that was made from a whole number must not be rounded up to the next.
    let least = share * extents as f64 - 1e-6;
    (1..=extents).find(|&count| count as f64 >= least).unwrap()
}

fn stated(size_bytes: u64, cache_bytes: u64) -> (Probe, f64, f64) {
    let mut storage = Storage::new(size_bytes, Bad::Nothing);
    let found = probed(&mut storage, 1, blocks(cache_bytes)).unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    let sampling = found.sampling.unwrap();
    let region = sampling.caught_region_ratio.unwrap();
    (found, sampling.caught_ratio, region)
}

#[test]
fn damage_is_found_as_often_as_stated_wherever_it_lies() {
    println!("| size, GB | `--cache`, MiB | damage | stated | placements | missed | allowed |");
    println!("|---:|---:|---|---:|---:|---:|---:|");
    for size_bytes in SIZES_BYTES {
        for cache_bytes in CACHES_BYTES {
            let (_, scattered_share, region_share) = stated(size_bytes, cache_bytes);
            for place in ["uniform", "first", "middle", "last"] {
                let share = region_share.max(0.01);
                check_power(size_bytes, cache_bytes, place, share, region_share);
            }
            check_power(
                size_bytes,
                cache_bytes,
                "uniform",
                region_share,
                region_share,
            );
            let share = scattered_share.max(0.01);
            check_power(size_bytes, cache_bytes, "scattered", share, scattered_share);
        }
    }
}

/// Damages `share` of cards; every other card has a cache of the largest excluded size.
fn check_power(size_bytes: u64, cache_bytes: u64, place: &str, share: f64, stated_share: f64) {
    let count = placements();
    let (found, ..) = stated(size_bytes, cache_bytes);
    let extents = blocks(size_bytes).div_ceil(MEBI);
    let length = extents_of(share, extents);
    let mut missed = 0;
    for seed in 0..count {
        let mut rng = Rng::for_part(seed, place, size_bytes ^ cache_bytes);
        let bad = match place {
            "scattered" => Bad::Extents(scattered(extents, length, &mut rng)),
            _ => Bad::Region(region(place, extents, length, &mut rng)),
        };
        let cache = match seed % 2 {
            0 => 0,
            // Of missing storage another applies: the samples must show this damage themselves.
            _ => blocks(found.sampling.unwrap().excluded_cache_bytes.unwrap()),
        };
        let mut storage = Storage::new(size_bytes, bad).behind(cache, Holds::All);
        let found = probed(&mut storage, seed, blocks(cache_bytes)).unwrap();
        missed += u64::from(found.kind == StorageKind::Confirmed);
    }
    let allowed = most_misses(count);
    println!(
        "| {} | {} | {place} {:.2} % | {:.2} % | {count} | {missed} | {allowed} |",
        size_bytes / 1_000_000_000,
        cache_bytes >> 20,
        100.0 * length as f64 / extents as f64,
        100.0 * stated_share,
    );
    assert!(missed <= allowed, "{place}, {size_bytes}, {cache_bytes}");
}

/// One bad block in every MiB of five per cent of the card; before samples came from all MiB, the part written
/// last was never checked.
#[test]
fn a_bad_block_in_every_mebibyte_of_one_region_is_found() {
    for size_bytes in SIZES_BYTES {
        for cache_bytes in CACHES_BYTES {
            let extents = blocks(size_bytes) / MEBI;
            for place in ["uniform", "first", "middle", "last"] {
                for seed in 0..placements().min(100) {
                    let mut rng = Rng::for_part(seed, place, size_bytes);
                    let span = region(place, extents, extents / 20, &mut rng);
                    let mut storage = Storage::new(size_bytes, Bad::InEach(span));
                    let found = probed(&mut storage, seed, blocks(cache_bytes)).unwrap();
                    let case = format!("{place}, {size_bytes}, {cache_bytes}, {seed}: {found:?}");
                    assert_eq!(found.kind, StorageKind::Damaged, "{case}");
                }
            }
        }
    }
}

/// Half of the card is bad: whole, or one block of each MiB; without a cache, behind one of the largest
/// excluded size, and behind one that holds only bad blocks.
#[test]
fn a_card_half_of_which_is_bad_is_never_confirmed() {
    for size_bytes in SIZES_BYTES {
        for cache_bytes in CACHES_BYTES {
            let (found, ..) = stated(size_bytes, cache_bytes);
            let excluded = found.excluded_cache_blocks.unwrap();
            let extents = blocks(size_bytes) / MEBI;
            for place in ["first", "middle", "last", "uniform", "every other"] {
                for seed in 0..placements().min(30) {
                    let mut rng = Rng::for_part(seed, place, size_bytes);
                    let bad = match place {
                        "every other" => Bad::Extents((0..extents).step_by(2).collect()),
                        _ => Bad::Region(region(place, extents, extents / 2, &mut rng)),
                    };
                    // Half of the samples lie in any half, and all that displaces a cache in the upper one.
                    let samples = found.sampling.unwrap().samples_count / 2 * MEBI * 16 / 17;
                    let strict = match place {
                        "last" => excluded,
                        _ => excluded.min(samples),
                    };
                    for (cache, holds) in [
                        (0, Holds::All),
                        (excluded, Holds::All),
                        (strict, Holds::OnlyBad),
                    ] {
                        let storage = Storage::new(size_bytes, bad.clone());
                        let mut storage = storage.behind(cache, holds);
                        let found = probed(&mut storage, seed, blocks(cache_bytes)).unwrap();
                        let case =
                            format!("{place}, {size_bytes}, {cache_bytes}, {cache}, {holds:?}");
                        assert_ne!(found.kind, StorageKind::Confirmed, "{case}");
                    }
                }
            }
        }
    }
}
