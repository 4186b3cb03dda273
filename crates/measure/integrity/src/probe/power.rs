//! Power of the samples: the damage they detect with a probability of 99.9 %.

/// Probability that samples miss damage of the stated size.
const MISSED: f64 = 0.001;

/// Least share of bad extents, scattered uniformly at random over all `extents_count`, that
/// `samples_count` different ones find with a probability of 99.9 % (hypergeometric distribution).
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

/// Least share of all extents that a single wholly bad region must have to be found with a probability of 99.9
/// %, at any position. One sample is drawn at random from each of `samples_count` equal strata.
///
/// The worst place is half in one stratum and half in the next: if `a` of the `n` extents of a stratum are bad,
/// they are missed with the probability `1 − a/n`.
pub(super) fn caught_region(extents_count: u64, samples_count: u64) -> f64 {
    if samples_count == 0 {
        return 1.0;
    }
    let stratum = extents_count.div_ceil(samples_count) as f64;
    let missed = |bad: u64| {
        let (one, other) = ((bad / 2) as f64, bad.div_ceil(2) as f64);
        (1.0 - one / stratum).max(0.0) * (1.0 - other / stratum).max(0.0)
    };
    let found = (1..=extents_count).find(|&bad| missed(bad) <= MISSED);
    found.unwrap_or(extents_count) as f64 / extents_count as f64
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

    #[test]
    fn a_region_is_found_in_less_than_two_strata() {
        let share = caught_region(61_035, 689);
        assert!((0.0027..=0.0029).contains(&share), "{share}");
        assert!((caught_region(256, 256) - 1.0 / 256.0).abs() < 1e-12);
        assert!((caught_region(10, 0) - 1.0).abs() < 1e-12);
        assert!((caught_region(1000, 1) - 1.0).abs() < 1e-12);
    }
}
