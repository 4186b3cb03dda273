//! Pseudo-SLC cache: a ring of pages, emptied from its oldest end.

use std::collections::VecDeque;

pub(super) struct PseudoCache {
    most: usize,
    /// Logical pages, the oldest first.
    pages: VecDeque<u32>,
    /// Place in the ring of the oldest.
    first_place: u32,
}

impl PseudoCache {
    pub(super) fn new(pages: u64) -> Self {
        Self {
            most: usize::try_from(pages).unwrap_or(0),
            pages: VecDeque::new(),
            first_place: 0,
        }
    }

    /// Takes a page if there is room. Returns its place.
    pub(super) fn take(&mut self, page: u32) -> Option<u32> {
        if self.pages.len() >= self.most {
            return None;
        }
        let place = self.place(self.pages.len());
        self.pages.push_back(page);
        Some(place)
    }

    /// The oldest page and its place.
    pub(super) fn first(&self) -> Option<(u32, u32)> {
        self.pages.front().map(|&page| (page, self.first_place))
    }

    pub(super) fn drop_first(&mut self) {
        if self.pages.pop_front().is_some() {
            self.first_place = self.place(1);
        }
    }

    fn place(&self, further: usize) -> u32 {
        let place = (self.first_place as usize + further) % self.most.max(1);
        u32::try_from(place).unwrap_or(0)
    }
}
