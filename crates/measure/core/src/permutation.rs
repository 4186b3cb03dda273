//! iozone's order of random access.

use rand_mt::Mt64;

/// The key that iozone seeds its generator with, always the same.
const KEY: [u64; 4] = [0x12345, 0x23456, 0x34567, 0x45678];

/// The numbers below `count`, each once, in iozone's order: Fisher and Yates' shuffle from the end,
/// with the 64-bit Mersenne Twister and a key that never changes. So it is in iozone 3.489 and
/// later (compared with traces of 3.489); versions up to 3.487 exchange each with any other.
pub fn permutation(count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    let mut twister = Mt64::new_with_key(KEY);
    for last in (0..count).rev() {
        #[allow(clippy::cast_possible_truncation, reason = "at most `last`")]
        let other = (twister.next_u64() % (u64::from(last) + 1)) as u32;
        order.swap(last as usize, other as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Order that `strace` showed for `iozone -s 64k -r 4k -i 0 -i 2`, version 3.489.
    #[test]
    fn sixteen_blocks_are_visited_as_iozone_visits_them() {
        let traced = [1, 5, 7, 13, 10, 6, 0, 8, 14, 3, 11, 2, 4, 12, 9, 15];
        assert_eq!(permutation(16), traced);
    }

    #[test]
    fn every_number_is_there_once() {
        for count in [0, 1, 2, 25_600] {
            let mut order = permutation(count);
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..count));
        }
    }
}
