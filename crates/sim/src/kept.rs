//! Written data that a card still holds, for models that do not keep everything.

use std::collections::HashMap;

use cardmark_core::ReadBack;

use crate::Model;
use crate::flash::{BlockPlace, Flash};

const BLOCK_BYTES: u64 = 512;

/// Origin of content: the block it was written to, and the number of the write.
type Written = (u64, u64);

/// The content of a card by name.
pub(crate) struct Kept {
    flash: Flash,
    slots: HashMap<u64, Written>,
    /// The last write to each block.
    last: HashMap<u64, u64>,
    writes_count: u64,
}

impl Kept {
    /// Returns `None` if the model keeps everything in its place.
    pub(crate) fn new(model: &Model, seed: u64) -> Option<Self> {
        (!model.flash().keeps_all()).then(|| Self {
            flash: Flash::new(model, seed),
            slots: HashMap::new(),
            last: HashMap::new(),
            writes_count: 0,
        })
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: u64) {
        self.writes_count += 1;
        let (start, count) = (offset / BLOCK_BYTES, bytes / BLOCK_BYTES);
        for block in start..start + count {
            self.last.insert(block, self.writes_count);
        }
        for part in self.flash.write(start, count) {
            if let BlockPlace::At(slot) = part.place {
                for index in 0..part.count {
                    let written = (part.start + index, self.writes_count);
                    self.slots.insert(slot + index, written);
                }
            }
        }
    }

    /// Checks which of the written blocks in this stretch hold something else.
    pub(crate) fn read_back(&mut self, offset: u64, bytes: u64) -> ReadBack {
        let mut found = ReadBack::default();
        for part in self.flash.read(offset / BLOCK_BYTES, bytes / BLOCK_BYTES) {
            for index in 0..part.count {
                let block = part.start + index;
                let Some(&write) = self.last.get(&block) else {
                    continue;
                };
                found.read_bytes += BLOCK_BYTES;
                let is_kept = match part.place {
                    BlockPlace::At(slot) => {
                        self.slots.get(&(slot + index)) == Some(&(block, write))
                    }
                    BlockPlace::Changed(_)
                    | BlockPlace::Nowhere
                    | BlockPlace::Unreadable
                    | BlockPlace::Refused => false,
                };
                if !is_kept {
                    found.lost_bytes += BLOCK_BYTES;
                    found.first_lost_bytes.get_or_insert(block * BLOCK_BYTES);
                }
            }
        }
        found
    }
}
