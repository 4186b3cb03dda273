//! The checksum of CID and CSD.

/// CRC7 of the standards: polynomial x⁷ + x³ + 1, from 0, most significant bit first.
#[must_use]
pub fn crc7(bytes: &[u8]) -> u8 {
    let mut crc = 0u8;
    for byte in bytes {
        crc ^= *byte;
        // The checksum is kept in the upper seven bits.
        for _ in 0..8 {
            let carry = crc & 0x80 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x09 << 1;
            }
        }
    }
    crc >> 1
}

/// Whether the checksum in the last byte fits the others. `None` where the host does not show it:
/// most controllers take it off, and leave 00 or 01.
pub(super) fn fits(register: &[u8; 16]) -> Option<bool> {
    let [upper @ .., last] = register;
    match last {
        0 | 1 => None,
        last => Some(crc7(upper) == last >> 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CMD0, CMD17 and the answer to CMD17 in the SD specification (4.5).
    #[test]
    fn the_specification_s_examples_have_their_checksums() {
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0b100_1010);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0b010_1010);
        assert_eq!(crc7(&[0x11, 0, 0, 0x09, 0]), 0b011_0011);
    }

    #[test]
    fn what_a_host_takes_off_is_not_judged() {
        let mut register = [0x5a; 16];
        for (last, verdict) in [(0, None), (1, None), (2, Some(false))] {
            register[15] = last;
            assert_eq!(fits(&register), verdict);
        }
        register[15] = crc7(&register[..15]) << 1 | 1;
        assert_eq!(fits(&register), Some(true));
    }
}
