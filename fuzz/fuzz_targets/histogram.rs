//! Quantiles are within the histogram's bound of the exact ones, and survive the stored form.
#![no_main]

use arbitrary::Arbitrary;
use cardmark_core::LatencyHistogram;
use cardmark_stats::Histogram;
use libfuzzer_sys::fuzz_target;

/// Relative error that the record promises.
const BOUND: f64 = 0.01;
/// Latencies beyond share one bucket; nothing is promised for them.
const TOP_NS: u64 = 1 << 42;

#[derive(Arbitrary, Debug)]
enum Input {
    Recorded {
        latencies: Vec<(u64, u8)>,
        shares: Vec<u16>,
    },
    Stored {
        step_bits: u32,
        least_ns: u64,
        most_ns: u64,
        buckets: Vec<(u32, u64)>,
        q: f64,
    },
}

fuzz_target!(|input: Input| match input {
    Input::Recorded { latencies, shares } => recorded(&latencies, &shares),
    Input::Stored {
        step_bits,
        least_ns,
        most_ns,
        buckets,
        q,
    } => {
        let (min_ns, max_ns) = (least_ns, most_ns);
        stored(
            &LatencyHistogram {
                step_bits,
                min_ns,
                max_ns,
                sum_ns: 0,
                buckets,
            },
            q,
        );
    }
});

fn recorded(latencies: &[(u64, u8)], shares: &[u16]) {
    let mut histogram = Histogram::new();
    // Shifted, so that all octaves are met.
    let mut exact: Vec<u64> = latencies
        .iter()
        .map(|(ns, shift)| (ns % TOP_NS) >> (shift % 42))
        .collect();
    for &ns in &exact {
        histogram.record(ns);
    }
    exact.sort_unstable();
    assert_eq!(histogram.count(), exact.len() as u64);
    assert_eq!(histogram.min_ns(), exact.first().copied());
    assert_eq!(histogram.max_ns(), exact.last().copied());

    let again = Histogram::from_sparse(&histogram.to_sparse()).expect("its own form is accepted");
    assert!(again == histogram);
    for &share in shares {
        let q = f64::from(share) / f64::from(u16::MAX);
        let value = histogram.quantile(q);
        assert_eq!(value, again.quantile(q));
        let (Some(value), false) = (value, exact.is_empty()) else {
            continue;
        };
        let rank = (q * exact.len() as f64).ceil().max(1.0) as usize;
        let truth = exact[rank.min(exact.len()) - 1] as f64;
        assert!(
            (value - truth).abs() <= BOUND * truth + 1e-6,
            "q {q}: {value}, truth {truth}"
        );
    }
}

fn stored(sparse: &LatencyHistogram, q: f64) {
    let Some(histogram) = Histogram::from_sparse(sparse) else {
        return;
    };
    assert_eq!(&histogram.to_sparse(), sparse);
    if let Some(value) = histogram.quantile(q) {
        assert!(value >= sparse.min_ns as f64 && value <= sparse.max_ns as f64);
    }
    let mut twice = histogram.clone();
    twice.merge(&histogram);
    assert_eq!(twice.min_ns(), histogram.min_ns());
}
