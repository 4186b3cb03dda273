//! A hidden cache.

use std::collections::VecDeque;

use super::part::{BlockPlace, Part};
use crate::stretches::{Origin, Stretch, Stretches};

/// The slots of a hidden cache: the last blocks that were written to it.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub(super) first: u64,
    pub(super) size: u64,
    /// The slot that is written next, from 0.
    next: u64,
    /// Written data, the oldest first: block, count, slot from 0.
    written: VecDeque<(u64, u64, u64)>,
    /// Slots from 0 with the newest content of blocks, by block.
    newest: Stretches<()>,
}

impl Ring {
    pub(super) fn new(first: u64, size: u64) -> Self {
        Self {
            first,
            size,
            next: 0,
            written: VecDeque::new(),
            newest: Stretches::default(),
        }
    }

    pub(super) fn write(&mut self, start: u64, count: u64, parts: &mut Vec<Part>) {
        let (mut at, end) = (start, start + count);
        while at < end && self.size > 0 {
            let count = (end - at).min(self.size - self.next);
            self.make_room(count);
            let slots = Origin {
                block: self.next,
                content: (),
            };
            self.newest.put(at, count, Some(slots));
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
                self.newest.put(start, count, None);
            }
        }
    }

    /// Returns the positions of those of these blocks that it holds: first block, count and slot.
    pub(super) fn find(&self, block: u64, count: u64) -> Vec<(u64, u64, Option<u64>)> {
        let mut at = block;
        let part = |(count, slots): Stretch<()>| {
            let start = at;
            at += count;
            (start, count, slots.map(|slots| self.first + slots.block))
        };
        self.newest
            .parts(block, count)
            .into_iter()
            .map(part)
            .collect()
    }
}
