//! The simulated host's page cache: the old tools measure through it.
//!
//! Writes go to memory until they are made durable; then they reach the card one after the other in large
//! pieces. Reads reach the card once, by read-ahead, and come from memory afterwards. The kernel keeps all
//! channels of the card at work both ways.

/// Nanoseconds to copy a byte: 4 GB/s, as on a board.
const COPY_NS_PER_BYTE: f64 = 0.25;
/// Bytes of one request of write-back.
const WRITE_BACK_BYTES: u64 = 512 << 10;
/// Bytes of one request of read-ahead.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// Content of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageCache {
    /// Bytes written that the card has not seen.
    dirty_bytes: u64,
    /// Bytes from the start of the object that were read, or read ahead.
    read_until: u64,
}

/// Demand of an operation on memory and on the card.
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
    /// Reads from an object of this size. Missing data is read in whole requests, and so ahead.
    pub(crate) fn read(&mut self, offset: u64, bytes: u64, size_bytes: u64) -> Share {
        let begin = self.read_until.max(offset);
        let end = offset.saturating_add(bytes);
        let missing = if end > begin {
            let requests = (end - begin).div_ceil(READ_AHEAD_BYTES);
            let ahead = requests.saturating_mul(READ_AHEAD_BYTES);
            ahead.min(size_bytes.saturating_sub(begin)).max(end - begin)
        } else {
            0
        };
        self.read_until = self.read_until.max(begin + missing);
        Share {
            copy_ns: bytes as f64 * COPY_NS_PER_BYTE,
            card_bytes: missing,
            piece_bytes: READ_AHEAD_BYTES,
        }
    }

    /// Writes this number of bytes.
    pub(crate) fn write(&mut self, bytes: u64) -> Share {
        self.dirty_bytes += bytes;
        Share {
            copy_ns: bytes as f64 * COPY_NS_PER_BYTE,
            card_bytes: 0,
            piece_bytes: WRITE_BACK_BYTES,
        }
    }

    /// Makes all written data durable.
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
        let size = 1 << 30;
        assert_eq!(cache.read(0, 2 << 20, size).card_bytes, 2 << 20);
        assert_eq!(cache.read(0, 2 << 20, size).card_bytes, 0);
        assert_eq!(cache.read(1 << 20, 2 << 20, size).card_bytes, 1 << 20);
        assert_eq!(cache.write(8192).card_bytes, 0);
        assert_eq!(cache.write(8192).card_bytes, 0);
        assert_eq!(cache.sync().card_bytes, 16_384);
        assert_eq!(cache.sync().card_bytes, 0);
    }

    #[test]
    fn small_reads_are_read_ahead_of_but_not_beyond_the_end() {
        let mut cache = PageCache::default();
        let size = 5 * (64 << 10);
        let moved: Vec<u64> = (0..5)
            .map(|block| cache.read(block * (64 << 10), 64 << 10, size).card_bytes >> 10)
            .collect();
        assert_eq!(moved, [128, 0, 128, 0, 64]);
    }
}
