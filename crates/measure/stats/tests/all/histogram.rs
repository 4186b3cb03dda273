//! The histogram against a sorted vector.

use cardmark_core::LatencyHistogram;
use cardmark_stats::Histogram;
use proptest::prelude::*;

/// Latencies of every size up to the top of the layout.
fn latency() -> impl Strategy<Value = u64> {
    (0..42u32, any::<u64>()).prop_map(|(bits, noise)| (1 << bits) | (noise & ((1 << bits) - 1)))
}

fn filled(all: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    all.iter().for_each(|&ns| histogram.record(ns));
    histogram
}

proptest! {
    #[test]
    fn quantiles_are_within_one_percent(
        mut all in proptest::collection::vec(latency(), 1..300),
        q in 0.0..=1.0f64,
    ) {
        let estimate = filled(&all).quantile(q).unwrap();
        all.sort_unstable();
        let rank = (q * all.len() as f64).ceil().max(1.0) as usize;
        let truth = all[rank - 1] as f64;
        prop_assert!((estimate - truth).abs() <= 0.01 * truth, "{estimate} for {truth}");
    }

    #[test]
    fn merging_is_counting_together_in_any_order(
        a in proptest::collection::vec(latency(), 0..40),
        b in proptest::collection::vec(latency(), 0..40),
        c in proptest::collection::vec(latency(), 0..40),
    ) {
        let mut left = filled(&a);
        left.merge(&filled(&b));
        left.merge(&filled(&c));
        let mut right = filled(&b);
        right.merge(&filled(&c));
        let mut outer = filled(&a);
        outer.merge(&right);
        prop_assert_eq!(&left, &outer);
        prop_assert_eq!(left, filled(&[a, b, c].concat()));
    }

    #[test]
    fn the_stored_form_gives_the_same_histogram(
        all in proptest::collection::vec(any::<u64>(), 0..100),
    ) {
        let histogram = filled(&all);
        let stored = histogram.to_sparse();
        prop_assert_eq!(Histogram::from_sparse(&stored), Some(histogram));
        prop_assert!(stored.buckets.iter().all(|&(_, count)| count > 0));
    }
}

#[test]
fn ends_and_sum_are_exact_also_beyond_the_last_bucket() {
    let mut histogram = filled(&[5, 1_000_003, 1 << 50]);
    assert_eq!(histogram.min_ns(), Some(5));
    assert_eq!(histogram.max_ns(), Some(1 << 50));
    assert_eq!(histogram.sum_ns(), (1 << 50) + 1_000_008);
    assert_eq!(histogram.quantile(0.0), Some(5.0));
    assert_eq!(histogram.quantile(1.0), Some((1u64 << 50) as f64));
    assert_eq!(histogram.count(), 3);
    histogram.clear();
    assert!(histogram.is_empty());
    assert_eq!(histogram, Histogram::new());
    assert_eq!((histogram.min_ns(), histogram.quantile(0.5)), (None, None));
}

#[test]
fn shares_outside_0_to_1_have_no_quantile() {
    let histogram = filled(&[1, 2, 3]);
    for q in [-0.1, 1.1, f64::NAN] {
        assert_eq!(histogram.quantile(q), None);
    }
}

#[test]
fn malformed_stored_forms_are_refused() {
    let good = filled(&[10, 20, 20_000]).to_sparse();
    assert!(Histogram::from_sparse(&good).is_some());
    let broken: [fn(&mut LatencyHistogram); 8] = [
        |h| h.step_bits = 6,
        |h| h.buckets.swap(0, 1),
        |h| h.buckets.push((4_608, 1)),
        |h| h.buckets[1].1 = 0,
        |h| h.buckets[1].1 = u64::MAX,
        |h| h.buckets[1].0 = h.buckets[0].0,
        |h| h.max_ns *= 2,
        |h| h.min_ns = 0,
    ];
    for (index, breaks) in broken.iter().enumerate() {
        let mut sparse = good.clone();
        breaks(&mut sparse);
        assert_eq!(Histogram::from_sparse(&sparse), None, "breakage {index}");
    }
    assert_eq!(Histogram::from_sparse(&LatencyHistogram::default()), None);
}
