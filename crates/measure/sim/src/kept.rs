//! Written data that a card still holds, for models that do not keep everything.

use cardmark_core::ReadBack;

use crate::Model;
use crate::flash::{BlockPlace, Flash};
use crate::stretches::{Origin, Stretches};

const BLOCK_BYTES: u64 = 512;

/// The content of a card by name: the number of the write.
pub(crate) struct Kept {
    flash: Flash,
    slots: Stretches<u64>,
    /// The last write to each block.
    last: Stretches<u64>,
    writes_count: u64,
}

impl Kept {
    /// Returns `None` if the model keeps everything in its place.
    pub(crate) fn new(model: &Model, seed: u64) -> Option<Self> {
        (!model.flash().keeps_all()).then(|| Self {
            flash: Flash::new(model, seed),
            slots: Stretches::default(),
            last: Stretches::default(),
            writes_count: 0,
        })
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: u64) {
        self.writes_count += 1;
        let (start, count) = (offset / BLOCK_BYTES, bytes / BLOCK_BYTES);
        let written = |block| Origin {
            block,
            content: self.writes_count,
        };
        self.last.put(start, count, Some(written(start)));
        for part in self.flash.write(start, count) {
            if let BlockPlace::At(slot) = part.place {
                self.slots.put(slot, part.count, Some(written(part.start)));
            }
        }
    }

    /// Checks which of the written blocks in this stretch hold something else.
    pub(crate) fn read_back(&mut self, offset: u64, bytes: u64) -> ReadBack {
        let mut found = ReadBack::default();
        for part in self.flash.read(offset / BLOCK_BYTES, bytes / BLOCK_BYTES) {
            for index in 0..part.count {
                let block = part.start + index;
                let Some(last) = self.last.at(block) else {
                    continue;
                };
                found.read_bytes += BLOCK_BYTES;
                let is_kept = match part.place {
                    BlockPlace::At(slot) => self.slots.at(slot + index) == Some(last),
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
