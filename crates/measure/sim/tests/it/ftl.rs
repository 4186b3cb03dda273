//! The translation layer against an analytic model and against a second implementation written from
//! its definition: no shared code, lists and whole scans in place of its tables.

use std::collections::{HashMap, VecDeque};

use cardmark_core::{Order, Rng, SECOND_NS};
use cardmark_engine::Clock;
use cardmark_sim::{Ftl, FtlData, Model, SimulatedCard};

use crate::support::{Rig, workload};

/// A small card: 96 blocks of 64 pages, no cache, one open block.
const SMALL: FtlData = FtlData {
    page_bytes: 4096,
    block_pages: 64,
    spare_share: 0.15,
    reserve_blocks: 2,
    open_units: 1,
    cache_bytes: 0,
    segment_bytes: 16 * 4096,
    segments_in_memory: 100,
    is_filled: true,
    read_us: 50.0,
    program_us: 400.0,
    cache_program_us: 100.0,
    erase_us: 3000.0,
    open_us: 20.0,
};
const SMALL_PAGES: u64 = 96 * 64;

/// Blocks are lists of logical pages; a page is valid at the position of its newest copy.
struct Naive {
    data: FtlData,
    blocks: Vec<Vec<u64>>,
    newest: HashMap<u64, (usize, usize)>,
    free: Vec<usize>,
    open_by_area: VecDeque<(u64, Option<usize>)>,
    moving: Option<usize>,
    in_memory: VecDeque<u64>,
    programmed: u64,
    misses: u64,
    work_us: f64,
}

impl Naive {
    fn new(data: FtlData, pages: u64) -> Self {
        let logical = (pages / u64::from(data.block_pages)) as usize;
        let all = logical + (logical as f64 * data.spare_share).floor() as usize;
        let mut naive = Self {
            data,
            blocks: vec![Vec::new(); all],
            newest: HashMap::new(),
            free: (logical..all).collect(),
            open_by_area: VecDeque::new(),
            moving: None,
            in_memory: VecDeque::new(),
            programmed: 0,
            misses: 0,
            work_us: 0.0,
        };
        for page in 0..pages {
            naive.put((page / u64::from(data.block_pages)) as usize, page);
        }
        naive
    }

    fn put(&mut self, block: usize, page: u64) {
        self.blocks[block].push(page);
        let place = self.blocks[block].len() - 1;
        self.newest.insert(page, (block, place));
    }

    fn is_full(&self, block: usize) -> bool {
        self.blocks[block].len() == self.data.block_pages as usize
    }

    fn valid(&self, block: usize) -> Vec<u64> {
        let pages = self.blocks[block].iter().enumerate();
        let is_newest =
            |&(place, page): &(usize, &u64)| self.newest.get(page) == Some(&(block, place));
        pages.filter(is_newest).map(|(_, page)| *page).collect()
    }

    fn write(&mut self, page: u64) {
        let segment = page * self.data.page_bytes / self.data.segment_bytes;
        let known = self.in_memory.iter().position(|&held| held == segment);
        match known {
            Some(at) => drop(self.in_memory.remove(at)),
            None => {
                self.misses += 1;
                self.work_us += self.data.read_us;
            }
        }
        self.in_memory.push_back(segment);
        if self.in_memory.len() > self.data.segments_in_memory {
            self.in_memory.pop_front();
        }
        self.newest.remove(&page);
        let area = page / u64::from(self.data.block_pages);
        let open = self.open_by_area.iter().position(|&(open, _)| open == area);
        let block = if let Some(at) = open {
            self.open_by_area.remove(at).unwrap().1
        } else {
            self.work_us += self.data.open_us;
            let is_room = self.open_by_area.len() < self.data.open_units;
            if is_room {
                None
            } else {
                self.open_by_area.pop_front().unwrap().1
            }
        };
        // The open block must not be collected while it is being chosen.
        self.open_by_area.push_back((area, block));
        self.collect();
        let block = block.unwrap_or_else(|| self.free.pop().unwrap());
        self.put(block, page);
        self.programmed += 1;
        self.work_us += self.data.program_us;
        let still_open = (!self.is_full(block)).then_some(block);
        self.open_by_area.back_mut().unwrap().1 = still_open;
    }

    fn collect(&mut self) {
        while self.free.len() < self.data.reserve_blocks as usize {
            let full = (0..self.blocks.len()).filter(|&block| self.is_full(block));
            let victim = full.min_by_key(|&block| self.valid(block).len()).unwrap();
            for page in self.valid(victim) {
                let target = self.moving.unwrap_or_else(|| self.free.pop().unwrap());
                self.put(target, page);
                self.moving = (!self.is_full(target)).then_some(target);
                self.programmed += 1;
                self.work_us += self.data.read_us + self.data.program_us;
            }
            self.blocks[victim].clear();
            self.free.push(victim);
            self.work_us += self.data.erase_us;
        }
    }
}

/// Random whole-page writes; per write: pages programmed, map misses, microseconds.
fn steady(data: FtlData, pages: u64, writes: u64, seed: u64) -> [f64; 3] {
    let mut ftl = Ftl::new(data, pages * data.page_bytes);
    let mut rng = Rng::new(seed);
    let (mut before, mut work_ns, mut now_ns) = (ftl.counts(), 0.0, 0u64);
    for number in 0..2 * writes {
        if number == writes {
            (before, work_ns) = (ftl.counts(), 0.0);
        }
        let page = rng.below(pages);
        let span_ns = ftl.write_ns(now_ns, page * data.page_bytes, data.page_bytes);
        now_ns += span_ns as u64;
        work_ns += span_ns;
    }
    let counts = ftl.counts();
    [
        (counts.programmed_pages - before.programmed_pages) as f64 / writes as f64,
        (counts.misses - before.misses) as f64 / writes as f64,
        work_ns / 1e3 / writes as f64,
    ]
}

fn naive_steady(data: FtlData, pages: u64, writes: u64, seed: u64) -> [f64; 3] {
    let mut naive = Naive::new(data, pages);
    let mut rng = Rng::new(seed);
    let mut before = (0, 0, 0.0);
    for number in 0..2 * writes {
        if number == writes {
            before = (naive.programmed, naive.misses, naive.work_us);
        }
        naive.write(rng.below(pages));
    }
    [
        (naive.programmed - before.0) as f64 / writes as f64,
        (naive.misses - before.1) as f64 / writes as f64,
        (naive.work_us - before.2) / writes as f64,
    ]
}

#[test]
fn a_second_implementation_agrees_within_ten_percent() {
    let variants = [
        SMALL,
        FtlData {
            open_units: 4,
            segments_in_memory: 24,
            ..SMALL
        },
        FtlData {
            spare_share: 0.4,
            segments_in_memory: 60,
            ..SMALL
        },
    ];
    for data in variants {
        // Different seeds: only the limits have to agree.
        let ours = steady(data, SMALL_PAGES, 30_000, 1);
        let other = naive_steady(data, SMALL_PAGES, 30_000, 2);
        println!("{ours:?} {other:?}");
        for (ours, other) in ours.iter().zip(other) {
            let is_close = (ours - other).abs() <= 0.1 * other;
            assert!(is_close, "{ours} {other}");
        }
    }
}

/// Write amplification of cleaning oldest-first under uniform random writes, the limit of greedy cleaning for
/// large blocks: 1 ÷ (1 − u), where u = exp(−α (1 − u)) is the valid share of the block that is cleaned, and α
/// is physical ÷ logical pages (Desnoyers 2012).
fn analytic_amplification(alpha: f64) -> f64 {
    let mut valid = 0.5f64;
    for _ in 0..10_000 {
        valid = (-alpha * (1.0 - valid)).exp();
    }
    1.0 / (1.0 - valid)
}

#[test]
fn write_amplification_is_that_of_an_analytic_model() {
    for spare_share in [0.1, 0.2, 0.4, 0.8] {
        let data = FtlData {
            spare_share,
            block_pages: 128,
            segments_in_memory: 1000,
            ..SMALL
        };
        let logical = 512.0;
        let pages = 512 * 128;
        // Neither the free blocks nor the rest of the two open ones hold anything.
        let closed = logical + (logical * spare_share).floor() - 1.5 - 1.0;
        let expected = analytic_amplification(closed / logical);
        let [found, ..] = steady(data, pages, 400_000, 3);
        println!(
            "{spare_share} {found:.3} {expected:.3} {:.3}",
            found / expected
        );
        assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    }
}

#[test]
fn misses_of_the_map_are_those_of_chance() {
    for held in [10, 48, 90] {
        let data = FtlData {
            segments_in_memory: held,
            spare_share: 0.4,
            ..SMALL
        };
        let segments = SMALL_PAGES as f64 / 16.0;
        let [_, misses, _] = steady(data, SMALL_PAGES, 20_000, 4);
        let expected = 1.0 - held as f64 / segments;
        assert!(
            (misses / expected - 1.0).abs() < 0.02,
            "{misses} {expected}"
        );
    }
}

#[test]
fn the_card_slows_down_where_its_cache_ends_and_recovers_in_idle_time() {
    let model = Model::named("ftl-4gb").unwrap();
    let data = model.ftl().unwrap();
    let write = workload(0, Order::Sequential, 1 << 20, 1);
    let mut rig = Rig::new(SimulatedCard::new(&model, 1), 2);
    // MiB that are written before one takes twice as long as the first ones.
    let mut cliff = || {
        let spans = rig.trial(&write, 15 * SECOND_NS).latencies_ns;
        let first_ns: u64 = spans[..8].iter().sum::<u64>() / 8;
        let fast = spans.iter().take_while(|&&ns| ns < 2 * first_ns).count();
        rig.clock.rest(60 * SECOND_NS);
        fast as f64
    };
    let cache_mib = data.cache_bytes as f64 / f64::from(1 << 20);
    for _ in 0..3 {
        let found = cliff();
        assert!((found / cache_mib - 1.0).abs() < 0.1, "{found} {cache_mib}");
    }
}

#[test]
fn the_steady_rate_of_random_writes_follows_from_the_parts() {
    let text = include_str!("../../models/ftl-4gb.toml");
    // A smaller card, so that it is steady soon, without factors of runs and trials.
    let text = text
        .replace("4_294_967_296", "268_435_456")
        .replace("block_pages = 256", "block_pages = 32")
        .replace("spare_share = 0.07", "spare_share = 0.2")
        .replace("134_217_728", "0")
        .replace("run_deviation = 0.02", "run_deviation = 0.0")
        .replace("trial_deviation = 0.01", "trial_deviation = 0.0");
    let model = Model::parse(&text).unwrap();
    let data = model.ftl().unwrap();
    let write = workload(0, Order::Random, 4096, 1);
    let mut rig = Rig::new(SimulatedCard::new(&model, 1), 2);
    rig.trial(&write, 250 * SECOND_NS);
    let span_us = 1e6 / rig.trial(&write, 250 * SECOND_NS).rate();
    let (blocks, pages) = (512.0, 32.0);
    let closed = blocks + (blocks * data.spare_share).floor() - 3.5 - 2.5;
    let amplification = analytic_amplification(closed / blocks);
    let segments = 268_435_456.0 / data.segment_bytes as f64;
    let misses = 1.0 - data.segments_in_memory as f64 / segments;
    let moved = amplification - 1.0;
    let expected_us = 300.0
        + 4096.0 / 90.0
        + (1.0 + misses) * data.read_us
        + data.program_us
        + moved * (data.read_us + data.program_us)
        + amplification / pages * data.erase_us
        + (1.0 - data.open_units as f64 / blocks) * data.open_us;
    println!("{span_us} {expected_us} {amplification}");
    assert!(
        (span_us / expected_us - 1.0).abs() < 0.1,
        "{span_us} {expected_us}"
    );
}

#[test]
fn wear_is_spread_evenly() {
    let mut ftl = Ftl::new(SMALL, SMALL_PAGES * 4096);
    let mut rng = Rng::new(8);
    for _ in 0..60_000 {
        ftl.write_ns(0, rng.below(SMALL_PAGES) * 4096, 4096);
    }
    let (least, most) = ftl.wear();
    let mean = ftl.counts().erased_blocks as f64 / 110.0;
    assert!(
        f64::from(least) > 0.5 * mean && f64::from(most) < 2.0 * mean,
        "{least} {most} {mean}"
    );
}
