//! Buckets of a histogram as lists of numbers.
//!
//! A trial by itself, as in a journal, has a list in which each bucket is its distance from the bucket before (the
//! first: from 0) and its count. A record has a list of counts from bucket 0 on, in which −n stands for n empty buckets.

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serializer};

/// The list of distances and counts of buckets that are sorted by index.
fn flat(buckets: &[(u32, u64)]) -> impl Iterator<Item = u64> {
    let mut before = 0;
    buckets.iter().flat_map(move |&(index, count)| {
        let distance = index.saturating_sub(before);
        before = index;
        [u64::from(distance), count]
    })
}

/// The list of counts of buckets that are sorted by index, with −n for n empty buckets.
pub(crate) fn runs(buckets: &[(u32, u64)]) -> Vec<i64> {
    let mut next = 0;
    let mut runs = Vec::with_capacity(buckets.len());
    for &(index, count) in buckets {
        let empty = index.saturating_sub(next);
        if empty > 0 {
            runs.push(-i64::from(empty));
        }
        runs.push(i64::try_from(count).unwrap_or(i64::MAX));
        next = index.saturating_add(1);
    }
    runs
}

/// The buckets of a list of counts; `None` if one is beyond the last possible.
pub(crate) fn of_runs(runs: &[i64]) -> Option<Vec<(u32, u64)>> {
    let mut next = 0_u32;
    let mut buckets = Vec::with_capacity(runs.len());
    for &run in runs {
        match u64::try_from(run) {
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
    serializer.collect_seq(flat(buckets))
}

/// Reads the list, or pairs of index and count.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(u32, u64)>, D::Error> {
    deserializer.deserialize_seq(List)
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Vec<(u32, u64)>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("distances and counts of buckets in turn")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut buckets: Vec<(u32, u64)> = Vec::new();
        let mut index = 0_u32;
        while let Some(element) = list.next_element()? {
            match element {
                Element::Pair(pair) => buckets.push(pair),
                Element::Number(distance) => {
                    let next = u32::try_from(distance).ok();
                    let next = next.and_then(|distance| index.checked_add(distance));
                    index = next.ok_or_else(|| A::Error::custom("a bucket beyond the last"))?;
                    let count = list.next_element()?;
                    let count = count.ok_or_else(|| A::Error::custom("a bucket without count"))?;
                    buckets.push((index, count));
                }
            }
        }
        Ok(buckets)
    }
}

enum Element {
    Number(u64),
    Pair((u32, u64)),
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrPair)
    }
}

struct NumberOrPair;

impl<'de> Visitor<'de> for NumberOrPair {
    type Value = Element;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Element, E> {
        Ok(Element::Number(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, pair: A) -> Result<Element, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(pair)).map(Element::Pair)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::LatencyHistogram;

    fn histogram(buckets: &Value) -> Result<LatencyHistogram, serde_json::Error> {
        serde_json::from_value(json!({
            "step_bits_count": 7, "min_ns": 1, "max_ns": 2, "sum_ns": 3, "buckets": buckets,
        }))
    }

    #[test]
    fn buckets_are_distances_and_counts() {
        let flat = json!([3, 1, 1, 7, 996, 2]);
        let read = histogram(&flat).unwrap();
        assert_eq!(read.buckets, [(3, 1), (4, 7), (1000, 2)]);
        assert_eq!(serde_json::to_value(&read).unwrap()["buckets"], flat);
        let pairs = json!([[3, 1], [4, 7], [1000, 2]]);
        assert_eq!(histogram(&pairs).unwrap(), read);
        assert_eq!(histogram(&json!([])).unwrap().buckets, []);
    }

    #[test]
    fn counts_stand_for_buckets_in_turn_and_negative_numbers_for_empty_ones() {
        let buckets = [(3, 1), (4, 7), (1000, 2)];
        assert_eq!(super::runs(&buckets), [-3, 1, 7, -995, 2]);
        assert_eq!(super::of_runs(&[-3, 1, 7, -995, 2]).unwrap(), buckets);
        assert_eq!(super::of_runs(&[5]).unwrap(), [(0, 5)]);
        for beyond in [
            &[i64::MIN][..],
            &[-i64::from(u32::MAX), 1],
            &[-1, i64::MIN, 1],
        ] {
            assert_eq!(super::of_runs(beyond), None, "{beyond:?}");
        }
    }

    #[test]
    fn what_is_no_list_of_buckets_is_refused() {
        for wrong in [
            json!([3]),
            json!([u32::MAX, 1, 1, 1]),
            json!([1, [2, 3]]),
            json!(["a"]),
            json!({}),
        ] {
            assert!(histogram(&wrong).is_err(), "{wrong}");
        }
    }
}
