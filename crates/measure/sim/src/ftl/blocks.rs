//! Erase blocks: free, open or full, and their content.

use super::data::FtlData;

/// A logical page that is nowhere.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Source of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// The host, to the block chosen last.
    Host,
    /// Garbage collection.
    Moved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Free,
    Open,
    Full,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    used: Use,
    valid: u32,
    erased: u32,
}

/// An open block: the position of the next page.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: u32,
    next: u32,
}

pub(super) struct Blocks {
    block_pages: u32,
    blocks: Vec<Block>,
    /// By physical page: the logical page written there.
    owners: Vec<u32>,
    free_count: usize,
    /// Areas with an open block, the one used last at the end.
    host: Vec<(u32, Option<Open>)>,
    moved: Option<Open>,
    most_open: usize,
}

impl Blocks {
    pub(super) fn new(data: &FtlData, pages: u32) -> Self {
        let logical = pages / data.block_pages;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the blocks, below 2^31 by a rule of models"
        )]
        let spare = (f64::from(logical) * data.spare_share) as u32;
        let count = (logical + spare) as usize;
        let block = Block {
            used: Use::Free,
            valid: 0,
            erased: 0,
        };
        Self {
            block_pages: data.block_pages,
            blocks: vec![block; count],
            owners: vec![NOWHERE; count * data.block_pages as usize],
            free_count: count,
            host: Vec::with_capacity(data.open_units + 1),
            moved: None,
            most_open: data.open_units,
        }
    }

    /// Every page was written once, in order.
    pub(super) fn fill(&mut self, locations: &mut [u32]) {
        for (page, location) in (0..).zip(locations.iter_mut()) {
            *location = page;
            self.owners[page as usize] = page;
        }
        let full = locations.len() / self.block_pages as usize;
        for block in &mut self.blocks[..full] {
            block.used = Use::Full;
            block.valid = self.block_pages;
        }
        self.free_count -= full;
    }

    pub(super) fn free_count(&self) -> usize {
        self.free_count
    }

    pub(super) fn wear(&self) -> (u32, u32) {
        let erased = || self.blocks.iter().map(|block| block.erased);
        (erased().min().unwrap_or(0), erased().max().unwrap_or(0))
    }

    /// Chooses the open block of an area. Returns whether it was open; else it takes over the block
    /// of the area that was not written for longest.
    pub(super) fn choose(&mut self, area: u32) -> bool {
        if let Some(at) = self.host.iter().position(|&(open, _)| open == area) {
            let chosen = self.host.remove(at);
            self.host.push(chosen);
            return true;
        }
        let block = match self.host.len() < self.most_open {
            true => None,
            false => self.host.remove(0).1,
        };
        self.host.push((area, block));
        false
    }

    /// Writes a logical page. Returns its physical page.
    pub(super) fn append(&mut self, stream: Stream, page: u32) -> u32 {
        let open = match stream {
            Stream::Host => self.host.last().and_then(|&(_, open)| open),
            Stream::Moved => self.moved,
        };
        let open = open.unwrap_or_else(|| self.open_one());
        let location = open.block * self.block_pages + open.next;
        self.owners[location as usize] = page;
        let block = &mut self.blocks[open.block as usize];
        block.valid += 1;
        let is_full = open.next + 1 == self.block_pages;
        if is_full {
            block.used = Use::Full;
        }
        let next = (!is_full).then_some(Open {
            block: open.block,
            next: open.next + 1,
        });
        match stream {
            Stream::Host => {
                if let Some((_, open)) = self.host.last_mut() {
                    *open = next;
                }
            }
            Stream::Moved => self.moved = next,
        }
        location
    }

    /// Opens the free block that was erased least.
    fn open_one(&mut self) -> Open {
        let free = (0..).zip(&mut self.blocks);
        let least = free
            .filter(|(_, block)| block.used == Use::Free)
            .min_by_key(|(_, block)| block.erased);
        // There is always one: garbage is collected before the last ones are taken.
        let number = least.map_or(0, |(number, block)| {
            block.used = Use::Open;
            number
        });
        self.free_count -= 1;
        Open {
            block: number,
            next: 0,
        }
    }

    pub(super) fn invalidate(&mut self, location: u32) {
        self.blocks[(location / self.block_pages) as usize].valid -= 1;
    }

    /// The full block with the fewest valid pages, the first of equals.
    pub(super) fn victim(&self) -> u32 {
        let full = (0..).zip(&self.blocks);
        let full = full.filter(|(_, block)| block.used == Use::Full);
        full.min_by_key(|(_, block)| block.valid)
            .map_or(0, |(number, _)| number)
    }

    /// The logical pages that lie in a block.
    pub(super) fn valid_pages(&self, block: u32, locations: &[u32]) -> Vec<u32> {
        let first = block * self.block_pages;
        (first..first + self.block_pages)
            .map(|location| (location, self.owners[location as usize]))
            .filter(|&(location, page)| page != NOWHERE && locations[page as usize] == location)
            .map(|(_, page)| page)
            .collect()
    }

    pub(super) fn erase(&mut self, number: u32) {
        let first = (number * self.block_pages) as usize;
        self.owners[first..first + self.block_pages as usize].fill(NOWHERE);
        let block = &mut self.blocks[number as usize];
        block.used = Use::Free;
        block.valid = 0;
        block.erased += 1;
        self.free_count += 1;
    }
}
