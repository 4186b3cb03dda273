//! Buckets of a histogram as a list of counts, from bucket 0 on: −n stands for n empty buckets, 0 for one.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// The list of buckets that are sorted by index.
pub(crate) fn runs(buckets: &[(u32, u64)]) -> Vec<i64> {
    let mut next = 0;
    let mut runs = Vec::with_capacity(buckets.len());
    for &(index, count) in buckets {
        match index.saturating_sub(next) {
            0 => {}
            1 => runs.push(0),
            empty => runs.push(-i64::from(empty)),
        }
        runs.push(i64::try_from(count).unwrap_or(i64::MAX));
        next = index.saturating_add(1);
    }
    runs
}

/// The buckets of a list; `None` if one is beyond the last possible.
pub(crate) fn of_runs(runs: &[i64]) -> Option<Vec<(u32, u64)>> {
    let mut next = 0_u32;
    let mut buckets = Vec::with_capacity(runs.len());
    for &run in runs {
        match u64::try_from(run) {
            Ok(0) => next = next.checked_add(1)?,
            Ok(count) => {
                buckets.push((next, count));
                next = next.checked_add(1)?;
            }
            Err(_) => next = next.checked_add(u32::try_from(run.unsigned_abs()).ok()?)?,
        }
    }
    Some(buckets)
}

pub(crate) fn serialize<S: Serializer>(
    buckets: &[(u32, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(runs(buckets))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(u32, u64)>, D::Error> {
    let runs = Vec::deserialize(deserializer)?;
    of_runs(&runs).ok_or_else(|| D::Error::custom("a bucket beyond the last"))
}

#[cfg(test)]
mod tests {
    use super::{of_runs, runs};

    #[test]
    fn counts_stand_for_buckets_in_turn_and_other_numbers_for_empty_ones() {
        let buckets = [(3, 1), (4, 7), (6, 9), (1000, 2)];
        assert_eq!(runs(&buckets), [-3, 1, 7, 0, 9, -993, 2]);
        assert_eq!(of_runs(&[-3, 1, 7, 0, 9, -993, 2]).unwrap(), buckets);
        assert_eq!(of_runs(&[5]).unwrap(), [(0, 5)]);
        for beyond in [
            &[i64::MIN][..],
            &[-i64::from(u32::MAX), 1],
            &[-i64::from(u32::MAX), 0],
            &[-1, i64::MIN, 1],
        ] {
            assert_eq!(of_runs(beyond), None, "{beyond:?}");
        }
    }
}
