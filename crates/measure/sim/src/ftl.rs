//! A card with a page-mapped flash translation layer.
//!
//! Logical pages are written to free space: first into a cache of single-level cells while it has room, else
//! into one of a few open blocks. The former content of a page becomes invalid; when free blocks run short, the
//! block with the fewest valid pages is emptied and erased. Segments of the map that are not in memory cost a
//! read. In idle time the cache is emptied.
//!
//! It computes the flash work of an operation; setup and transfer are those of the model. A page takes 8 bytes,
//! so that a card of 4 GB takes some 8 MB of memory.

mod blocks;
mod cache;
mod data;
mod map;

use blocks::{Blocks, NOWHERE, Stream};
use cache::PseudoCache;
pub use data::FtlData;
use map::MapCache;

/// Locations from here on lie in the cache.
const CACHED: u32 = 1 << 31;

/// Work that a translation layer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounts {
    /// Pages that were asked to be written.
    pub host_pages: u64,
    /// Pages programmed outside the cache, those moved included.
    pub programmed_pages: u64,
    /// Pages programmed into the cache.
    pub cached_pages: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Lookups in the map.
    pub lookups: u64,
    /// Lookups in the map that had to read a segment.
    pub misses: u64,
}

/// A translation layer with its map.
pub struct Ftl {
    data: FtlData,
    /// By logical page: physical page, place in the cache, or nowhere.
    locations: Vec<u32>,
    blocks: Blocks,
    cache: PseudoCache,
    map: MapCache,
    counts: FtlCounts,
    /// End of the last operation, nanoseconds.
    end_ns: f64,
}

impl Ftl {
    /// A translation layer of a card of this capacity.
    pub fn new(data: FtlData, capacity_bytes: u64) -> Self {
        let pages = to_u32(capacity_bytes / data.page_bytes);
        let segments = to_u32(capacity_bytes / data.segment_bytes) as usize + 1;
        let mut ftl = Self {
            data,
            locations: vec![NOWHERE; pages as usize],
            blocks: Blocks::new(&data, pages),
            cache: PseudoCache::new(data.cache_bytes / data.page_bytes),
            map: MapCache::new(segments, data.segments_in_memory),
            counts: FtlCounts::default(),
            end_ns: 0.0,
        };
        if data.is_filled {
            ftl.blocks.fill(&mut ftl.locations);
        }
        ftl
    }

    /// Returns the work done so far.
    pub fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Returns the number of erasures of the least and the most erased block.
    pub fn wear(&self) -> (u32, u32) {
        self.blocks.wear()
    }

    /// Returns the flash work of a read, nanoseconds.
    pub fn read_ns(&mut self, start_ns: u64, offset: u64, bytes: u64) -> f64 {
        self.idle_until(start_ns);
        let mut work_us = 0.0;
        for page in self.pages(offset, bytes) {
            work_us += self.look_up(page);
            if self.locations[page as usize] != NOWHERE {
                work_us += self.data.read_us;
            }
        }
        self.end(start_ns, work_us)
    }

    /// Returns the flash work of a write, nanoseconds. Pages that it covers in part are read first.
    pub fn write_ns(&mut self, start_ns: u64, offset: u64, bytes: u64) -> f64 {
        self.idle_until(start_ns);
        let mut work_us = 0.0;
        for page in self.pages(offset, bytes) {
            work_us += self.look_up(page);
            let begin = u64::from(page) * self.data.page_bytes;
            let is_whole = offset <= begin && begin + self.data.page_bytes <= offset + bytes;
            if !is_whole && self.locations[page as usize] != NOWHERE {
                work_us += self.data.read_us;
            }
            self.counts.host_pages += 1;
            work_us += self.store(page);
        }
        self.end(start_ns, work_us)
    }

    fn pages(&self, offset: u64, bytes: u64) -> std::ops::RangeInclusive<u32> {
        let last = (offset + bytes.max(1) - 1) / self.data.page_bytes;
        let most = self.locations.len() as u64 - 1;
        to_u32(offset / self.data.page_bytes)..=to_u32(last.min(most))
    }

    /// Looks a page up in the map. The time for it, microseconds.
    fn look_up(&mut self, page: u32) -> f64 {
        let segment = u64::from(page) * self.data.page_bytes / self.data.segment_bytes;
        self.counts.lookups += 1;
        if self.map.touch(to_u32(segment) as usize) {
            return 0.0;
        }
        self.counts.misses += 1;
        self.data.read_us
    }

    /// Writes a page to the cache if it has room, else to its open block.
    fn store(&mut self, page: u32) -> f64 {
        if let Some(place) = self.cache.take(page) {
            self.forget(page);
            self.locations[page as usize] = CACHED + place;
            self.counts.cached_pages += 1;
            return self.data.cache_program_us;
        }
        self.program(page)
    }

    /// Writes a page to its open block, after making room.
    fn program(&mut self, page: u32) -> f64 {
        self.forget(page);
        let unit = page / self.data.block_pages;
        let is_open = self.blocks.choose(unit);
        let mut work_us = if is_open { 0.0 } else { self.data.open_us };
        work_us += self.make_room();
        self.locations[page as usize] = self.blocks.append(Stream::Host, page);
        self.counts.programmed_pages += 1;
        work_us + self.data.program_us
    }

    /// Marks the former content of the page as invalid.
    fn forget(&mut self, page: u32) {
        let location = self.locations[page as usize];
        if location < CACHED {
            self.blocks.invalidate(location);
        }
        self.locations[page as usize] = NOWHERE;
    }

    /// Collects garbage until there are enough free blocks.
    fn make_room(&mut self) -> f64 {
        let mut work_us = 0.0;
        while self.blocks.free_count() < self.data.reserve_blocks as usize {
            let victim = self.blocks.victim();
            for page in self.blocks.valid_pages(victim, &self.locations) {
                self.locations[page as usize] = self.blocks.append(Stream::Moved, page);
                self.counts.programmed_pages += 1;
                work_us += self.data.read_us + self.data.program_us;
            }
            self.blocks.erase(victim);
            self.counts.erased_blocks += 1;
            work_us += self.data.erase_us;
        }
        work_us
    }

    /// Empties the cache in the time since the last operation.
    fn idle_until(&mut self, now_ns: u64) {
        let mut left_us = (now_ns as f64 - self.end_ns) / 1e3;
        while left_us > 0.0 {
            let Some((page, place)) = self.cache.first() else {
                break;
            };
            self.cache.drop_first();
            if self.locations[page as usize] == CACHED + place {
                left_us -= self.data.read_us + self.program(page);
            }
        }
    }

    fn end(&mut self, start_ns: u64, work_us: f64) -> f64 {
        self.end_ns = start_ns as f64 + work_us * 1e3;
        work_us * 1e3
    }

    /// Notes the end of an operation, including time that is not spent in the flash.
    pub(crate) fn ended(&mut self, finish_ns: u64) {
        self.end_ns = self.end_ns.max(finish_ns as f64);
    }
}

/// Page numbers are below 2³¹: a rule of models.
fn to_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(CACHED - 1)
}
