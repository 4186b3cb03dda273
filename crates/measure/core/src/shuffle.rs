//! A seeded order of numbers that needs no table.

use crate::mix;

/// Rounds of the network; four are enough for a balanced one (Luby and Rackoff).
const ROUNDS: usize = 4;

/// All numbers below a count, each once, in an order drawn by a seed: a Feistel network over the next power of four, applied
/// again as long as its result is not below the count.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    count: u64,
    /// Bits of one half of a number.
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Shuffle {
    /// Creates the order of `count` numbers.
    pub fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mut key = mix(seed ^ mix(0x0073_6875_6666_6c65));
        let keys = [(); ROUNDS].map(|()| {
            key = mix(key);
            key
        });
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys,
        }
    }

    /// Returns the number at that place of the order; places from the count on are outside, and return themselves.
    pub fn at(&self, place: u64) -> u64 {
        if place >= self.count {
            return place;
        }
        let mut number = self.network(place);
        // The network permutes at most four times that count: it comes back to one below the count.
        while number >= self.count {
            number = self.network(number);
        }
        number
    }

    fn network(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_there_once() {
        for count in (0..300).chain([1 << 16, (1 << 16) + 1, 100_003]) {
            let shuffle = Shuffle::new(count, 7);
            let mut order: Vec<u64> = (0..count).map(|place| shuffle.at(place)).collect();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn large_counts_stay_below_themselves() {
        for count in [1 << 40, (1 << 40) + 1, u64::MAX] {
            let shuffle = Shuffle::new(count, 3);
            for place in [0, 1, count / 2, count - 1] {
                assert!(shuffle.at(place) < count, "{count} {place}");
            }
        }
    }

    #[test]
    fn neighbours_are_apart_and_seeds_differ() {
        let count = 100_000;
        let [one, other] = [1, 2].map(|seed| Shuffle::new(count, seed));
        let pairs = (1..count).map(|place| (one.at(place - 1), one.at(place)));
        let distance: u64 = pairs.map(|(a, b)| a.abs_diff(b)).sum();
        // The mean distance of two numbers drawn at random is a third of the count.
        let mean = distance as f64 / (count - 1) as f64 / count as f64;
        assert!((0.32..0.35).contains(&mean), "{mean}");
        let equal = (0..count).filter(|&place| one.at(place) == other.at(place));
        assert!(equal.count() < 20);
    }
}
