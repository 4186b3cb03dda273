//! Content of slots by name, in stretches, so that cards of any size fit in memory.

use std::collections::BTreeMap;

use cardmark_integrity::Content;

/// Origin of the content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<T = Content> {
    /// The block it was written to.
    pub block: u64,
    /// Written content.
    pub content: T,
}

/// Number of consecutive blocks or slots, and the origin of the content of the first.
pub type Stretch<T = Content> = (u64, Option<Origin<T>>);

/// Origins of the content of slots. Consecutive slots of a stretch hold consecutive blocks.
#[derive(Clone, Debug)]
pub(crate) struct Stretches<T> {
    held: BTreeMap<u64, (u64, Origin<T>)>,
}

impl<T> Default for Stretches<T> {
    fn default() -> Self {
        Self {
            held: BTreeMap::new(),
        }
    }
}

impl<T: Copy + PartialEq> Stretches<T> {
    /// Puts content into slots in place of what they held; `None` empties them.
    pub(crate) fn put(&mut self, slot: u64, count: u64, origin: Option<Origin<T>>) {
        if count == 0 {
            return;
        }
        let end = slot + count;
        let before = self.held.range(..slot).next_back();
        let first = before.map_or(slot, |(&start, _)| start);
        let touched: Vec<(u64, u64, Origin<T>)> = self
            .held
            .range(first..end)
            .map(|(&start, &(count, origin))| (start, count, origin))
            .filter(|(start, count, _)| start + count > slot)
            .collect();
        for (start, count, origin) in touched {
            self.held.remove(&start);
            if start < slot {
                self.held.insert(start, (slot - start, origin));
            }
            if start + count > end {
                let cut = end - start;
                let rest = Origin {
                    block: origin.block + cut,
                    ..origin
                };
                self.held.insert(end, (count - cut, rest));
            }
        }
        if let Some(origin) = origin {
            self.insert(slot, count, origin);
        }
    }

    /// Adds content to empty slots, joined with the stretch before it.
    fn insert(&mut self, slot: u64, count: u64, origin: Origin<T>) {
        if let Some((&start, (length, before))) = self.held.range_mut(..slot).next_back()
            && start + *length == slot
            && before.content == origin.content
            && before.block + *length == origin.block
        {
            *length += count;
            return;
        }
        self.held.insert(slot, (count, origin));
    }

    /// The stretches of these slots, empty ones included.
    pub(crate) fn parts(&self, slot: u64, count: u64) -> Vec<Stretch<T>> {
        let end = slot + count;
        let before = self.held.range(..slot).next_back();
        let first = before.map_or(slot, |(&start, _)| start);
        let mut parts = Vec::new();
        let mut at = slot;
        for (&start, &(length, origin)) in self.held.range(first..end) {
            let (from, to) = (start.max(at), (start + length).min(end));
            if from >= to {
                continue;
            }
            if at < from {
                parts.push((from - at, None));
            }
            let origin = Origin {
                block: origin.block + (from - start),
                ..origin
            };
            parts.push((to - from, Some(origin)));
            at = to;
        }
        if at < end {
            parts.push((end - at, None));
        }
        parts
    }

    /// The origin of the content of this slot.
    pub(crate) fn at(&self, slot: u64) -> Option<Origin<T>> {
        let (&start, &(length, origin)) = self.held.range(..=slot).next_back()?;
        (slot - start < length).then(|| Origin {
            block: origin.block + (slot - start),
            ..origin
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stretches_hold_what_a_map_of_slots_holds(
            puts in prop::collection::vec((0_u64..40, 0_u64..12, prop::option::of(0_u64..3)), 0..40),
        ) {
            let mut stretches = Stretches::default();
            let mut slots = HashMap::new();
            for (slot, count, content) in puts {
                let block = slot + 100;
                let origin = content.map(|content| Origin { block, content });
                stretches.put(slot, count, origin);
                for index in 0..count {
                    let origin = origin.map(|it| Origin { block: it.block + index, ..it });
                    slots.insert(slot + index, origin);
                }
            }
            for slot in 0..60 {
                prop_assert_eq!(stretches.at(slot), slots.get(&slot).copied().flatten());
            }
            let mut at = 0;
            for (count, origin) in stretches.parts(0, 60) {
                prop_assert_eq!(origin, stretches.at(at));
                at += count;
            }
            prop_assert_eq!(at, 60);
        }
    }
}
