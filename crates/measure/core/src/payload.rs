//! Written data: incompressible, generated from a seed before the clock starts, with a stamp that makes every 4
//! KiB block unique.

use crate::{Payload, Rng, mix};

/// Size of the pool that back ends fill before a trial and write from, bytes.
pub const PAYLOAD_POOL_BYTES: usize = 8 << 20;
/// Length of the stretches that begin with a stamp, bytes.
pub const STAMP_STRIDE_BYTES: usize = 4096;

/// Byte that iozone writes eight times at the start of every 4 KiB; the rest is zero. This is the byte of
/// version 3.489; older versions use others.
pub(crate) const IOZONE_BYTE: u8 = 95;
/// Number of those bytes.
pub(crate) const IOZONE_BYTES_COUNT: usize = 8;

impl Payload {
    /// Fills `buffer` with content of this kind, before the clock starts.
    pub fn fill(self, seed: u64, buffer: &mut [u8]) {
        if self == Self::Incompressible {
            return fill_payload(seed, buffer);
        }
        buffer.fill(0);
        if self == Self::Iozone {
            for page in buffer.chunks_mut(STAMP_STRIDE_BYTES) {
                let head = page.len().min(IOZONE_BYTES_COUNT);
                page[..head].fill(IOZONE_BYTE);
            }
        }
    }

    /// Returns whether each block is stamped before it is written.
    pub fn is_stamped(self) -> bool {
        self == Self::Incompressible
    }
}

/// Fills `buffer` with incompressible bytes of `seed`.
pub fn fill_payload(seed: u64, buffer: &mut [u8]) {
    Rng::new(seed).fill(buffer);
}

/// Stamps each 4 KiB of `buffer` with its address and generation, mixed so that the stamps do not
/// compress either: two blocks with the same content are never written.
#[inline]
pub fn stamp_payload(buffer: &mut [u8], address: u64, generation: u64) {
    let key = mix(generation);
    for (index, block) in buffer.chunks_mut(STAMP_STRIDE_BYTES).enumerate() {
        let here = address.wrapping_add((index * STAMP_STRIDE_BYTES) as u64);
        if let Some(head) = block.first_chunk_mut::<16>() {
            head[..8].copy_from_slice(&mix(here ^ key).to_le_bytes());
            head[8..].copy_from_slice(&mix(here.wrapping_add(key)).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_of_a_pool_differs_also_in_the_next_generation() {
        let mut pool = vec![0u8; 64 * STAMP_STRIDE_BYTES];
        fill_payload(3, &mut pool);
        let mut seen = BTreeSet::new();
        for generation in 0..4 {
            stamp_payload(&mut pool, 1 << 30, generation);
            for block in pool.chunks(STAMP_STRIDE_BYTES) {
                assert!(seen.insert(block[..16].to_vec()));
            }
        }
    }

    #[test]
    fn bytes_are_as_frequent_as_chance_has_it() {
        let mut pool = vec![0u8; 1 << 20];
        fill_payload(11, &mut pool);
        let mut counts = [0u32; 256];
        for &byte in &pool {
            counts[usize::from(byte)] += 1;
        }
        // 4,096 expected, standard deviation 64: six of them either way.
        assert!(counts.iter().all(|&n| (3_712..4_480).contains(&n)));
    }
}
