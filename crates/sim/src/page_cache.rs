//! The simulated host's page cache: what the old tools measure through.
//!
//! Writes go to memory until they are made durable; then they reach the card one after the other
//! in large pieces. Reads reach the card once, by read-ahead, and come from memory afterwards. The
//! kernel keeps all channels of the card at work both ways.

/// Nanoseconds to copy a byte: 4 GB/s, as on a board.
const COPY_NS_PER_BYTE: f64 = 0.25;
/// Bytes of one request of write-back.
const WRITE_BACK_BYTES: u64 = 512 << 10;
/// Bytes of one request of read-ahead.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// What lies in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageCache {
    /// Bytes written that the card has not seen.
    dirty_bytes: u64,
    /// Bytes from the start of the object that were read.
    read_until: u64,
}

/// What an operation asks of memory and of the card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share {
    /// Time to copy, nanoseconds.
    pub(crate) copy_ns: f64,
    /// Bytes that the card moves before the operation is done.
    pub(crate) card_bytes: u64,
    /// In requests of this size.
    pub(crate) piece_bytes: u64,
}

impl PageCache {
    /// A read of so many bytes.
    pub(crate) fn read(&mut self, offset: u64, bytes: u64) -> Share {
        let end = offset.saturating_add(bytes);
        let missing = end.saturating_sub(self.read_until.max(offset));
        self.read_until = self.read_until.max(end);
        Share {
            copy_ns: bytes as f64 * COPY_NS_PER_BYTE,
            card_bytes: missing,
            piece_bytes: READ_AHEAD_BYTES,
        }
    }

    /// A write of so many bytes.
    pub(crate) fn write(&mut self, bytes: u64) -> Share {
        self.dirty_bytes += bytes;
        Share {
            copy_ns: bytes as f64 * COPY_NS_PER_BYTE,
            card_bytes: 0,
            piece_bytes: WRITE_BACK_BYTES,
        }
    }

    /// Everything written is to be durable.
    pub(crate) fn sync(&mut self) -> Share {
        Share {
            copy_ns: 0.0,
            card_bytes: std::mem::take(&mut self.dirty_bytes),
            piece_bytes: WRITE_BACK_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_sees_each_byte_once() {
        let mut cache = PageCache::default();
        assert_eq!(cache.read(0, 2 << 20).card_bytes, 2 << 20);
        assert_eq!(cache.read(0, 2 << 20).card_bytes, 0);
        assert_eq!(cache.read(1 << 20, 2 << 20).card_bytes, 1 << 20);
        assert_eq!(cache.write(8192).card_bytes, 0);
        assert_eq!(cache.write(8192).card_bytes, 0);
        assert_eq!(cache.sync().card_bytes, 16_384);
        assert_eq!(cache.sync().card_bytes, 0);
    }
}
