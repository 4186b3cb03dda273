//! The checksum of CID and CSD.

/// CRC7 of the standards: polynomial x⁷ + x³ + 1, from 0, most significant bit first.
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

/// Checks the checksum in the last byte against the other bytes. Returns `None` if the byte is not
/// the register's own: many controllers remove it and leave 00, 01 or another constant.
///
/// Some controllers show the checksum with the end bit cleared, so only the upper seven bits must
/// match. The end bit of a real register is always 1.
pub(crate) fn fits(register: &[u8; 16]) -> Option<bool> {
    let [upper @ .., last] = register;
    match last {
        0 | 1 => None,
        last if crc7(upper) == last >> 1 => Some(true),
        last if last & 1 == 0 => None,
        _ => Some(false),
    }
}

/// Combines the checksums of CID and CSD. If both end alike and not both fit, the host wrote the last
/// bytes: damage rarely gives two registers the same one, but a constant fits one register in 64 by
/// chance.
pub(crate) fn both_fit(cid: &[u8; 16], csd: &[u8; 16]) -> Option<bool> {
    match (fits(cid), fits(csd)) {
        (Some(true), Some(true)) => Some(true),
        _ if cid[15] == csd[15] => None,
        (Some(cid), Some(csd)) => Some(cid && csd),
        (cid, csd) => cid.or(csd),
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

    fn ending_in(last: u8) -> [u8; 16] {
        let mut register = [0x5a; 16];
        register[15] = last;
        register
    }

    #[test]
    fn a_checksum_the_host_removed_is_not_judged() {
        let right = crc7(&[0x5a; 15]) << 1 | 1;
        for (last, verdict) in [
            (0, None),
            (1, None),
            (2, None),
            (8, None),
            (right, Some(true)),
            (right & !1, Some(true)),
            (right ^ 2, Some(false)),
            (right ^ 3, None),
        ] {
            assert_eq!(fits(&ending_in(last)), verdict, "{last:02x}");
        }
    }

    #[test]
    fn equal_last_bytes_come_from_the_host() {
        let right = crc7(&[0x5a; 15]) << 1 | 1;
        for (cid, csd, verdict) in [
            (right, right, Some(true)),
            (9, 9, None),
            (8, 8, None),
            (9, right, Some(false)),
            (right, 9, Some(false)),
            (8, right, Some(true)),
            (0, 9, Some(false)),
            (0, 0, None),
        ] {
            let found = both_fit(&ending_in(cid), &ending_in(csd));
            assert_eq!(found, verdict, "{cid:02x} {csd:02x}");
        }
    }

    /// One constant in both registers that fits only one of them.
    #[test]
    fn a_constant_that_fits_one_register_by_chance_is_not_judged() {
        let right = crc7(&[0x5a; 15]) << 1 | 1;
        let mut other = [0xa6; 16];
        for last in [right, right & !1] {
            other[15] = last;
            assert_ne!(fits(&other), Some(true));
            assert_eq!(both_fit(&ending_in(last), &other), None, "{last:02x}");
            assert_eq!(both_fit(&other, &ending_in(last)), None, "{last:02x}");
        }
    }
}
