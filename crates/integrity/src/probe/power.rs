//! What samples can tell.

/// Samples miss what is there in one case of so many.
const MISSED: f64 = 0.001;

/// The least share of bad extents that so many samples of different ones find with a probability of
/// 99.9 %: sampling without replacement (hypergeometric distribution), and cautious where the samples
/// are spread evenly.
pub(super) fn caught_share(extents_count: u64, samples_count: u64) -> f64 {
    if samples_count == 0 {
        return 1.0;
    }
    let mut missed = 1.0;
    for bad in 0..extents_count {
        let left = (extents_count - bad) as f64;
        missed *= (extents_count.saturating_sub(samples_count + bad)) as f64 / left;
        if missed <= MISSED {
            return (bad + 1) as f64 / extents_count as f64;
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_is_caught_by_689_samples() {
        let share = caught_share(1_000_000, 689);
        assert!((0.0099..=0.0100).contains(&share), "{share}");
    }

    #[test]
    fn where_all_are_looked_at_a_single_one_is_caught() {
        assert!((caught_share(256, 256) - 1.0 / 256.0).abs() < 1e-12);
    }

    #[test]
    fn few_samples_say_little() {
        assert!((caught_share(1000, 1) - 0.999).abs() < 2e-3);
        assert!((caught_share(10, 0) - 1.0).abs() < 1e-12);
    }
}
