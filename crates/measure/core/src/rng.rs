//! The seeded generator. A seed must mean the same in ten years, so it is ours and small.
//!
//! xoshiro256** 1.0 (Blackman and Vigna, 2018) seeded through `SplitMix64` (Steele et al., 2014).

/// Mixes a 64-bit value: the finaliser of `SplitMix64`.
pub fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A stream for this seed.
    pub fn new(seed: u64) -> Self {
        let mut state = [0; 4];
        let mut word = seed;
        for slot in &mut state {
            *slot = mix(word);
            word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
        Self { state }
    }

    /// An independent stream for a named part of a run.
    pub fn for_part(seed: u64, name: &str, index: u64) -> Self {
        let mut folded = mix(seed ^ mix(index));
        for byte in name.bytes() {
            folded = mix(folded ^ u64::from(byte));
        }
        Self::new(folded)
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Fills `buffer` with the next numbers, each as eight bytes, the lowest first.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// A number in `0..below`, by multiply and shift (Lemire 2019, without the rejection step:
    /// the bias is below 2⁻³² for the spans used here). `below` 0 gives 0.
    #[inline]
    pub fn below(&mut self, below: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(below);
        (wide >> 64) as u64
    }

    /// A number in `0.0..1.0` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_agrees_with_the_published_vector_of_splitmix64() {
        // First outputs for seed 1234567, as published with the reference implementation.
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(
            mix(1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15)),
            3_203_168_211_198_807_973
        );
    }

    #[test]
    fn streams_of_parts_differ_and_repeat() {
        let first = Rng::for_part(7, "rand_read_4k", 0).next_u64();
        assert_eq!(first, Rng::for_part(7, "rand_read_4k", 0).next_u64());
        assert_ne!(first, Rng::for_part(7, "rand_read_4k", 1).next_u64());
        assert_ne!(first, Rng::for_part(7, "rand_write_4k", 0).next_u64());
        assert_ne!(first, Rng::for_part(8, "rand_read_4k", 0).next_u64());
    }

    #[test]
    fn numbers_below_are_even() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(rng.below(10)).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|&n| (9_500..10_500).contains(&n)),
            "{counts:?}"
        );
    }
}
