//! Content of written blocks, and recognition of blocks that were read.
//!
//! A block is 64 words of 64 bits, little-endian. The first contains the number of the block and its round, the
//! second checks the first, the others follow from the first: every block therefore differs from all others,
//! nothing repeats or compresses, and a block in the wrong place reveals its origin. Everything depends on the
//! seed, so that content of an earlier test is not mistaken for ours.
//!
//! *Borrowed* content is written over data that an undo log keeps. Its words follow from the first in another
//! way, so that it is recognised without its seed, and distinguished from the content of verify and endure.

use cardmark_core::mix;
use serde::{Deserialize, Serialize};

use crate::{BLOCK_BYTES, Held};

const WORDS: usize = BLOCK_BYTES / 8;
/// Bits of the first word for the number of the block; the others hold the round. Enough for 512 TiB.
const ADDRESS_BITS: u32 = 40;
/// A block with fewer wrong bits than this counts as its own, changed: two unrelated blocks differ in about
/// 2,048 of 4,096 bits.
const MOST_CHANGED_BITS: u32 = 1024;
/// Bit of the round that marks borrowed content.
const BORROWED_ROUND: u32 = 1 << 23;
/// Changes the state that the words of a borrowed block begin with.
const BORROWED_SALT: u64 = 0x6465_776f_7272_6f62;
/// Words of a block that must be as expected for the block to count as borrowed content: half of them.
const LEAST_MATCHING_WORDS: usize = WORDS / 2;
/// A block without a match among its first words is not borrowed content.
const FIRST_WORDS: usize = 8;
/// The check word of a block may have fewer wrong bits than this; a random one has about 32.
const MOST_CHECK_BITS: u32 = 12;
/// Of SplitMix64: the step between two states.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Content to write: it determines every block together with the block's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Anything.
    pub seed: u64,
    /// Number of earlier writes of the storage with this seed, below 2²³. The bit above marks borrowed content.
    pub round: u32,
}

impl Content {
    /// Returns this content, marked as borrowed: an undo log keeps the data that it overwrites.
    #[must_use]
    pub fn borrowed(self) -> Self {
        Self {
            round: self.round | BORROWED_ROUND,
            ..self
        }
    }

    /// The round without the mark of borrowed content.
    pub fn plain_round(self) -> u32 {
        self.round & !BORROWED_ROUND
    }

    /// Returns whether an undo log keeps the data that this content overwrites.
    pub fn is_borrowed(self) -> bool {
        self.round & BORROWED_ROUND != 0
    }

    /// Returns whether a block of borrowed content belongs to this seed. Tolerates changed bits in its second
    /// word.
    pub fn has_written(self, bytes: &[u8; BLOCK_BYTES]) -> bool {
        let words = bytes.as_chunks::<8>().0;
        let word = |index: usize| u64::from_le_bytes(words[index]);
        (word(1) ^ self.check(word(0))).count_ones() < MOST_CHECK_BITS
    }

    fn head(self, block: u64) -> u64 {
        let told = block | u64::from(self.round) << ADDRESS_BITS;
        told ^ mix(self.seed)
    }

    fn check(self, head: u64) -> u64 {
        mix(head ^ mix(!self.seed))
    }

    fn words_of(self, head: u64) -> u64 {
        words_of(head, if self.is_borrowed() { BORROWED_SALT } else { 0 })
    }

    /// Block and round of a first word, if the second belongs to it.
    fn told(self, head: u64, check: u64) -> Option<(u64, u32)> {
        let told = head ^ mix(self.seed);
        let round = u32::try_from(told >> ADDRESS_BITS).ok()?;
        (check == self.check(head)).then_some((told & ((1 << ADDRESS_BITS) - 1), round))
    }
}

/// Writes content into `bytes`, whole blocks from that one on.
pub fn fill(content: Content, first_block: u64, bytes: &mut [u8]) {
    for (block, bytes) in (first_block..).zip(bytes.chunks_exact_mut(BLOCK_BYTES)) {
        let head = content.head(block);
        let words = bytes.as_chunks_mut::<8>().0;
        words[0] = head.to_le_bytes();
        words[1] = content.check(head).to_le_bytes();
        let mut state = content.words_of(head);
        for word in &mut words[2..] {
            *word = mix(state).to_le_bytes();
            state = state.wrapping_add(STEP);
        }
    }
}

/// The state that the words of a block begin with; `salt` depends on the kind of content.
fn words_of(head: u64, salt: u64) -> u64 {
    mix(head.rotate_left(32) ^ salt)
}

/// Returns whether a block holds borrowed content, whatever its seed is. Content with a changed bit in the
/// first word is not recognised.
pub fn is_borrowed_content(bytes: &[u8; BLOCK_BYTES]) -> bool {
    let words = bytes.as_chunks::<8>().0;
    let first = words_of(u64::from_le_bytes(words[0]), BORROWED_SALT);
    let expected = (0..).map(|index: u64| mix(first.wrapping_add(STEP.wrapping_mul(index))));
    let are_matching = |count: usize| {
        let pairs = words[2..].iter().zip(expected.clone()).take(count);
        pairs
            .filter(|(word, expected)| u64::from_le_bytes(**word) == *expected)
            .count()
    };
    are_matching(FIRST_WORDS) > 0 && are_matching(WORDS) >= LEAST_MATCHING_WORDS
}

/// Classifies the 512 bytes read from a block, given its number and its expected content.
pub fn look(content: Content, block: u64, bytes: &[u8; BLOCK_BYTES]) -> Held {
    let words = bytes.as_chunks::<8>().0;
    let head = content.head(block);
    let wrong = wrong_bits(content, head, words);
    if wrong == 0 {
        return Held::Good;
    }
    let word = |index: usize| u64::from_le_bytes(words[index]);
    if let Some((told, round)) = content.told(word(0), word(1))
        && (told, round) != (block, content.round)
    {
        let of_other = Content { round, ..content };
        let is_whole = wrong_bits(of_other, of_other.head(told), words) < MOST_CHANGED_BITS;
        if is_whole {
            return Held::Other { block: told, round };
        }
    }
    if wrong < MOST_CHANGED_BITS {
        Held::Changed
    } else {
        Held::Foreign
    }
}

/// Returns the number of bits in which the words differ from those of the block with that first word.
fn wrong_bits(content: Content, head: u64, words: &[[u8; 8]]) -> u32 {
    let word = |index: usize| u64::from_le_bytes(words[index]);
    let mut state = content.words_of(head);
    let mut differing = (word(0) ^ head) | (word(1) ^ content.check(head));
    for index in 2..WORDS {
        differing |= word(index) ^ mix(state);
        state = state.wrapping_add(STEP);
    }
    // The usual case needs no counting.
    if differing == 0 {
        return 0;
    }
    let mut state = content.words_of(head);
    let mut count = (word(0) ^ head).count_ones() + (word(1) ^ content.check(head)).count_ones();
    for index in 2..WORDS {
        count += (word(index) ^ mix(state)).count_ones();
        state = state.wrapping_add(STEP);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: Content = Content { seed: 7, round: 3 };

    fn block(content: Content, number: u64) -> [u8; BLOCK_BYTES] {
        let mut bytes = [0; BLOCK_BYTES];
        fill(content, number, &mut bytes);
        bytes
    }

    #[test]
    fn a_block_says_where_it_belongs() {
        let bytes = block(CONTENT, 1_000_003);
        assert_eq!(look(CONTENT, 1_000_003, &bytes), Held::Good);
        let other = Held::Other {
            block: 1_000_003,
            round: 3,
        };
        assert_eq!(look(CONTENT, 5, &bytes), other);
        let earlier = Content {
            round: 2,
            ..CONTENT
        };
        let earlier = block(earlier, 5);
        let stale = Held::Other { block: 5, round: 2 };
        assert_eq!(look(CONTENT, 5, &earlier), stale);
        let of_others = block(Content { seed: 8, ..CONTENT }, 5);
        assert_eq!(look(CONTENT, 5, &of_others), Held::Foreign);
        assert_eq!(look(CONTENT, 5, &[0; BLOCK_BYTES]), Held::Foreign);
        assert_eq!(look(CONTENT, 5, &[0xff; BLOCK_BYTES]), Held::Foreign);
    }

    #[test]
    fn single_bits_anywhere_are_seen_and_called_changed() {
        let whole = block(CONTENT, 9);
        for bit in 0..BLOCK_BYTES * 8 {
            let mut bytes = whole;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(look(CONTENT, 9, &bytes), Held::Changed, "{bit}");
        }
    }

    #[test]
    fn borrowed_content_is_recognised_without_its_seed() {
        let borrowed = CONTENT.borrowed();
        let mut bytes = block(borrowed, 9);
        assert!(is_borrowed_content(&bytes));
        assert!(borrowed.has_written(&bytes));
        assert!(
            !Content {
                seed: 8,
                ..borrowed
            }
            .has_written(&bytes)
        );
        assert_eq!(look(borrowed, 9, &bytes), Held::Good);
        let other_round = Content {
            round: 0,
            ..CONTENT
        }
        .borrowed();
        let round = borrowed.round;
        assert_eq!(
            look(other_round, 9, &bytes),
            Held::Other { block: 9, round }
        );
        // Changed bits anywhere but in the first word.
        for index in [8, 20, 300, 511] {
            bytes[index] ^= 0x10;
        }
        assert!(is_borrowed_content(&bytes));
        assert!(borrowed.has_written(&bytes));
        for other in [block(CONTENT, 9), [0; BLOCK_BYTES], [0xff; BLOCK_BYTES]] {
            assert!(!is_borrowed_content(&other));
        }
    }

    #[test]
    fn a_block_half_of_which_is_old_is_not_good() {
        let mut bytes = block(CONTENT, 9);
        bytes[256..].fill(0);
        assert_ne!(look(CONTENT, 9, &bytes), Held::Good);
    }

    #[test]
    fn many_blocks_at_once_are_the_same_as_each_alone() {
        let mut bytes = vec![0; 8 * BLOCK_BYTES];
        fill(CONTENT, 100, &mut bytes);
        for (number, bytes) in (100..).zip(bytes.chunks_exact(BLOCK_BYTES)) {
            assert_eq!(bytes, block(CONTENT, number));
        }
    }

    #[test]
    fn nothing_repeats_within_a_block_or_between_blocks() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..256 {
            let bytes = block(CONTENT, number);
            for word in bytes.as_chunks::<8>().0 {
                assert!(seen.insert(*word));
            }
        }
    }
}
