//! The known state of a device before it was measured.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rng;

/// Size in bytes of the blocks for which `Fill::Random` draws new content.
pub const FILL_BLOCK_BYTES: usize = 4096;
/// Name of the generator's part that produces the content.
const PART: &str = "prepare";

words! {
    /// Content a device is filled with.
    pub enum Fill {
        /// 0xFF in every byte: the content of erased flash.
        Ff,
        /// Zero in every byte.
        Zero,
        /// Incompressible bytes, as [`fill_content`] makes them from the seed.
        Random,
        /// Nothing is written: the device is allowed to discard everything. Its answers afterwards are undefined.
        Discard,
    }
}

/// Procedure that brought a device into a known state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Preparation {
    /// Content it was filled with.
    pub fill: Fill,
    /// For `random`: the seed, 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// When the last byte was durable, RFC 3339, UTC; absent if it was not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Size of the device, bytes.
    pub size_bytes: u64,
    /// Size of the durable part from the start of the device, bytes.
    pub done_bytes: u64,
}

impl Preparation {
    /// The seed as a number; 0 if the fill needs none, `None` if it cannot be read.
    pub fn seed_number(&self) -> Option<u64> {
        match &self.seed {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => (self.fill != Fill::Random).then_some(0),
        }
    }

    /// Returns the finished share, whole percent, rounded down: 100 only if nothing is missing.
    pub fn done_percent(&self) -> u64 {
        let share = u128::from(self.done_bytes) * 100 / u128::from(self.size_bytes.max(1));
        u64::try_from(share).map_or(100, |percent| percent.min(100))
    }
}

/// Writes the content that the fill has at `address`, a multiple of [`FILL_BLOCK_BYTES`], into `buffer`.
///
/// The rule of `random`, so that the content can be rebuilt from a record: the device is divided into blocks of
/// 4,096 bytes. Block *n* is the first 512 numbers of `Rng::for_part(seed, "prepare", n)`, each as eight bytes,
/// the lowest first. A device that ends inside a block has the beginning of it. `discard` and an unknown fill have no content; the
/// buffer stays unchanged.
pub fn fill_content(fill: Fill, seed: u64, address: u64, buffer: &mut [u8]) {
    match fill {
        Fill::Ff => buffer.fill(0xff),
        Fill::Zero => buffer.fill(0),
        Fill::Discard | Fill::Other(_) => {}
        Fill::Random => {
            let first = address / FILL_BLOCK_BYTES as u64;
            for (block, number) in buffer.chunks_mut(FILL_BLOCK_BYTES).zip(first..) {
                Rng::for_part(seed, PART, number).fill(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn random_content_is_the_rule_whatever_the_pieces() {
        let mut whole = vec![0; 5 * 4096 + 512];
        fill_content(Fill::Random, 7, 8192, &mut whole);
        for (index, block) in whole.chunks(4096).enumerate() {
            let mut rng = Rng::for_part(7, "prepare", 2 + index as u64);
            let words: Vec<u8> = (0..512)
                .flat_map(|_| rng.next_u64().to_le_bytes())
                .collect();
            assert_eq!(block, &words[..block.len()]);
            let mut alone = vec![0; block.len()];
            fill_content(Fill::Random, 7, 8192 + 4096 * index as u64, &mut alone);
            assert_eq!(block, alone);
        }
        let heads: BTreeSet<&[u8]> = whole.chunks(512).collect();
        assert_eq!(heads.len(), 41, "no two sectors are the same");
    }

    #[test]
    fn the_other_fills_are_one_byte_and_discard_writes_none() {
        for (fill, byte) in [(Fill::Ff, 0xff), (Fill::Zero, 0), (Fill::Discard, 7)] {
            let mut buffer = [7; 1024];
            fill_content(fill, 1, 0, &mut buffer);
            assert_eq!(buffer, [byte; 1024], "{fill:?}");
        }
    }

    fn preparation(fill: Fill, seed: Option<&str>, done_bytes: u64) -> Preparation {
        Preparation {
            fill,
            seed: seed.map(str::to_owned),
            started_at: "2026-11-21T10:00:00Z".to_owned(),
            finished_at: None,
            size_bytes: 1000,
            done_bytes,
        }
    }

    #[test]
    fn a_seed_is_needed_for_random_alone() {
        let number = |fill, seed| preparation(fill, seed, 0).seed_number();
        assert_eq!(number(Fill::Random, Some("00000000000000ff")), Some(255));
        assert_eq!(number(Fill::Random, None), None);
        assert_eq!(number(Fill::Random, Some("seed")), None);
        assert_eq!(number(Fill::Ff, None), Some(0));
    }

    #[test]
    fn shares_are_rounded_down() {
        for (done, percent) in [(0, 0), (9, 0), (379, 37), (999, 99), (1000, 100)] {
            assert_eq!(preparation(Fill::Ff, None, done).done_percent(), percent);
        }
        let large = Preparation {
            size_bytes: u64::MAX,
            done_bytes: u64::MAX - 1,
            ..preparation(Fill::Ff, None, 0)
        };
        assert_eq!(large.done_percent(), 99);
    }

    #[test]
    fn fills_are_spelled_as_on_the_command_line() {
        let json = |fill| serde_json::to_string(&fill).unwrap();
        let fills = [Fill::Ff, Fill::Zero, Fill::Random, Fill::Discard].map(json);
        assert_eq!(
            fills,
            [r#""ff""#, r#""zero""#, r#""random""#, r#""discard""#]
        );
        let text = serde_json::to_string(&preparation(Fill::Ff, None, 5)).unwrap();
        let expected =
            r#"{"fill":"ff","started_at":"2026-11-21T10:00:00Z","size_bytes":1000,"done_bytes":5}"#;
        assert_eq!(text, expected);
    }
}
