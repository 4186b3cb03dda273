//! CRC-32 as in IEEE 802.3 and zlib: distinguishes torn and damaged lines from intact ones.

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The remainder of every byte.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte: u8 = 0;
    loop {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                (value >> 1) ^ POLYNOMIAL
            } else {
                value >> 1
            };
            bit += 1;
        }
        table[byte as usize] = value;
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

/// The checksum of these bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let remainder = bytes.iter().fold(u32::MAX, |value, &byte| {
        let [low, ..] = value.to_le_bytes();
        (value >> 8) ^ TABLE[usize::from(low ^ byte)]
    });
    !remainder
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn agrees_with_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
