//! Bytes as hexadecimal digits.

/// Writes bytes as small hexadecimal digits.
pub fn to_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads exactly `N` bytes from small hexadecimal digits; `None` if the text is anything else.
pub fn from_hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_plain = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    if text.len() != 2 * N || !text.bytes().all(is_plain) {
        return None;
    }
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_spelling() {
        assert_eq!(to_hexadecimal(&[0, 0xa7]), "00a7");
        assert_eq!(from_hexadecimal("00a7"), Some([0, 0xa7]));
        for text in ["00A7", "0a7", "00a7 ", "+0a7", "00é"] {
            assert_eq!(from_hexadecimal::<2>(text), None, "{text}");
        }
    }
}
