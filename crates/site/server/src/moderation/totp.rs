//! One-time codes from the time (RFC 6238): six digits for each 30 seconds, with HMAC-SHA-1, as authenticator apps expect.

use hmac::{Hmac, Mac};
use sha1::Sha1;

/// Time of a step, seconds.
const STEP_S: i64 = 30;
/// Steps before and after the present one whose codes are accepted: clocks differ.
const TOLERANCE: i64 = 1;
/// Digits of Base32 (RFC 4648).
const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The code at a time, seconds since 1970: six digits.
pub fn code_at(secret: &[u8], unix_s: i64) -> String {
    code(secret, unix_s.div_euclid(STEP_S))
}

fn code(secret: &[u8], step: i64) -> String {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).expect("any length");
    mac.update(&step.to_be_bytes());
    let digest: [u8; 20] = mac.finalize().into_bytes().into();
    let at = usize::from(digest[19] & 0xf);
    let mut word = [0; 4];
    word.copy_from_slice(&digest[at..at + 4]);
    let number = u32::from_be_bytes(word) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// The step of a code that is accepted at a time, seconds since 1970.
pub(super) fn accepted_step(secret: &[u8], given: &str, unix_s: i64) -> Option<i64> {
    let now = unix_s.div_euclid(STEP_S);
    let mut steps = now - TOLERANCE..=now + TOLERANCE;
    steps.find(|step| code(secret, *step) == given)
}

/// Base32 of a secret, as it is typed into an app.
pub(super) fn base32(secret: &[u8]) -> String {
    let mut text = String::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in secret {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(DIGITS[(bits >> count & 31) as usize]));
        }
    }
    if count > 0 {
        text.push(char::from(DIGITS[(bits << (5 - count) & 31) as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B; these are the last six digits of its codes, which have eight.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = b"12345678901234567890";
        for (unix_s, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(secret, unix_s), expected);
        }
    }

    #[test]
    fn the_steps_beside_the_present_one_are_accepted() {
        let secret = b"12345678901234567890";
        for (later_s, expected) in [
            (0, true),
            (30, true),
            (-30, true),
            (60, false),
            (-60, false),
        ] {
            let accepted = accepted_step(secret, "287082", 59 + later_s);
            assert_eq!(accepted == Some(1), expected, "{later_s}");
        }
        assert_eq!(accepted_step(secret, "287083", 59), None);
    }

    /// RFC 4648, section 10, without padding.
    #[test]
    fn base32_is_that_of_the_standard() {
        for (text, expected) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(text.as_bytes()), expected);
        }
    }
}
