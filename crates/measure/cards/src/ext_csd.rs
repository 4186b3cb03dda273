//! The used part of an eMMC's `EXT_CSD`. The rest is not kept, because much of it belongs to the manufacturer.

use crate::life::EmmcLife;

/// Size of the register, bytes.
pub const EXT_CSD_BYTES: usize = 512;
/// Size of a sector in its counts, bytes.
const SECTOR_BYTES: u64 = 512;

/// Byte offsets in the register. Numbers of several bytes have the least significant first.
mod at {
    pub(crate) const REVISION: usize = 192;
    pub(crate) const SECTORS_COUNT: usize = 212;
    pub(crate) const CACHE_SIZE: usize = 249;
    pub(crate) const PRE_EOL: usize = 267;
    pub(crate) const LIFE_A: usize = 268;
    pub(crate) const LIFE_B: usize = 269;
    pub(crate) const QUEUE_DEPTH: usize = 307;
    pub(crate) const QUEUE_SUPPORT: usize = 308;
}

/// Properties of an eMMC beyond CID and CSD. Properties that its revision does not have are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtCsd {
    /// `EXT_CSD_REV`: 5 for version 4.41, 6 for 4.5, 7 for 5.0, 8 for 5.1.
    pub revision: u8,
    /// Size of the area that users have, bytes.
    pub capacity_bytes: Option<u64>,
    /// True if it has a cache.
    pub has_cache: Option<bool>,
    /// Commands that its queue holds; 0: it has none.
    pub command_queue_count: Option<u32>,
    /// Its life time.
    pub life: EmmcLife,
}

impl ExtCsd {
    /// From its bytes, in the order in which they are read.
    pub fn new(bytes: &[u8; EXT_CSD_BYTES]) -> Self {
        let revision = bytes[at::REVISION];
        let number = |at: usize| {
            let bytes = &bytes[at..at + 4];
            bytes
                .iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u64::from(*byte))
        };
        let sectors = number(at::SECTORS_COUNT);
        let has_queue = bytes[at::QUEUE_SUPPORT] & 1 == 1;
        let queue = u32::from(bytes[at::QUEUE_DEPTH] & 0x1f) + 1;
        let [pre_eol, a, b] = [at::PRE_EOL, at::LIFE_A, at::LIFE_B].map(|at| bytes[at]);
        let life = (revision >= 7).then(|| EmmcLife::from_codes(a, b, pre_eol));
        Self {
            revision,
            capacity_bytes: (revision >= 2 && sectors > 0).then_some(sectors * SECTOR_BYTES),
            has_cache: (revision >= 6).then_some(number(at::CACHE_SIZE) > 0),
            command_queue_count: (revision >= 8).then_some(if has_queue { queue } else { 0 }),
            life: life.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_says_only_what_it_has() {
        let mut bytes = [0; EXT_CSD_BYTES];
        bytes[212..216].copy_from_slice(&[0x00, 0xe0, 0xa3, 0x03]);
        bytes[249..253].copy_from_slice(&[0x00, 0x02, 0x00, 0x00]);
        bytes[267..270].copy_from_slice(&[0x01, 0x02, 0x03]);
        bytes[307..309].copy_from_slice(&[0x1f, 0x01]);
        let of = |revision: u8| {
            let mut bytes = bytes;
            bytes[192] = revision;
            ExtCsd::new(&bytes)
        };
        let newest = of(8);
        assert_eq!(newest.capacity_bytes, Some(31_268_536_320));
        assert_eq!(newest.has_cache, Some(true));
        assert_eq!(newest.command_queue_count, Some(32));
        assert_eq!(newest.life, EmmcLife::from_codes(2, 3, 1));
        assert_eq!(of(7).command_queue_count, None);
        assert_eq!(of(6).life, EmmcLife::default());
        assert_eq!(of(5).has_cache, None);
        assert_eq!(of(1).capacity_bytes, None);
    }
}
