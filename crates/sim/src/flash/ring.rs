//! A hidden cache.

use std::collections::{BTreeMap, VecDeque};

use super::part::{BlockPlace, Part};

/// The slots of a hidden cache: the last blocks that were written to it.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub(super) first: u64,
    pub(super) size: u64,
    /// The slot that is written next, from 0.
    next: u64,
    /// Written data, the oldest first: block, count, slot from 0.
    written: VecDeque<(u64, u64, u64)>,
    /// Newest content of a block: by block, count and slot from 0.
    newest: BTreeMap<u64, (u64, u64)>,
}

impl Ring {
    pub(super) fn new(first: u64, size: u64) -> Self {
        Self {
            first,
            size,
            next: 0,
            written: VecDeque::new(),
            newest: BTreeMap::new(),
        }
    }

    pub(super) fn write(&mut self, start: u64, count: u64, parts: &mut Vec<Part>) {
        let (mut at, end) = (start, start + count);
        while at < end && self.size > 0 {
            let count = (end - at).min(self.size - self.next);
            self.make_room(count);
            self.forget(at, count);
            self.newest.insert(at, (count, self.next));
            self.written.push_back((at, count, self.next));
            parts.push(Part {
                start: at,
                count,
                place: BlockPlace::At(self.first + self.next),
            });
            self.next = (self.next + count) % self.size;
            at += count;
        }
    }

    /// Evicts the content of the next slots.
    fn make_room(&mut self, count: u64) {
        let (begin, end) = (self.next, self.next + count);
        while let Some(&(block, held, slot)) = self.written.front() {
            if slot >= end || slot + held <= begin {
                break;
            }
            self.written.pop_front();
            let given_up = held.min(end - slot);
            if given_up < held {
                let rest = (block + given_up, held - given_up, slot + given_up);
                self.written.push_front(rest);
            }
            self.forget_slot(block, given_up, slot);
            if given_up < held {
                break;
            }
        }
    }

    /// Removes blocks from the index if they are in those slots.
    fn forget_slot(&mut self, block: u64, count: u64, slot: u64) {
        for (start, count, found) in self.find(block, count) {
            let expected = self.first + slot + (start - block);
            if found == Some(expected) {
                self.forget(start, count);
            }
        }
    }

    fn forget(&mut self, block: u64, count: u64) {
        let end = block + count;
        let before = self.newest.range(..block).next_back();
        let first = before.map_or(block, |(&start, _)| start);
        let touched: Vec<(u64, u64, u64)> = self
            .newest
            .range(first..end)
            .map(|(&start, &(count, slot))| (start, count, slot))
            .filter(|(start, count, _)| start + count > block)
            .collect();
        for (start, count, slot) in touched {
            self.newest.remove(&start);
            if start < block {
                self.newest.insert(start, (block - start, slot));
            }
            if start + count > end {
                let cut = end - start;
                self.newest.insert(end, (count - cut, slot + cut));
            }
        }
    }

    /// Returns the positions of those of these blocks that it holds: first block, count and slot.
    pub(super) fn find(&self, block: u64, count: u64) -> Vec<(u64, u64, Option<u64>)> {
        let end = block + count;
        let before = self.newest.range(..block).next_back();
        let first = before.map_or(block, |(&start, _)| start);
        let mut parts = Vec::new();
        let mut at = block;
        for (&start, &(held, slot)) in self.newest.range(first..end) {
            let (from, to) = (start.max(at), (start + held).min(end));
            if from >= to {
                continue;
            }
            if at < from {
                parts.push((at, from - at, None));
            }
            parts.push((from, to - from, Some(self.first + slot + (from - start))));
            at = to;
        }
        if at < end {
            parts.push((at, end - at, None));
        }
        parts
    }
}
