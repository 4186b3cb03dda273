//! The slowest window and its expected range.

use cardmark_core::{
    Figure, FigureOf, IntervalKind, MIB, Metric, Passes, StopReason, Suite, Trial, Window, Windows,
};
use cardmark_stats::derive;

use crate::support::{suite, trials_at, workload};

const WINDOW_BYTES: u64 = 4 * MIB;

/// Returns the metric of trials whose slowest windows took these times, milliseconds.
fn worst(trials_spans_ms: &[&[u64]]) -> Option<Metric> {
    let mut windows_workload = workload("class_write", 512 * 1024);
    windows_workload.latency_metrics = false;
    windows_workload.manner.window_bytes = WINDOW_BYTES;
    let figure = Figure {
        id: "class_worst_window".to_owned(),
        workload: "class_write".to_owned(),
        of: FigureOf::WorstWindow,
        printed: None,
        least: None,
        weight: None,
    };
    let suite = Suite {
        passes: Some(Passes::Count(1)),
        figures: vec![figure],
        ..suite(vec![windows_workload.clone()])
    };
    let rates = vec![1000.0; trials_spans_ms.len()];
    let with_windows = |(trial, spans): (Trial, &&[u64])| Trial {
        workload: windows_workload.clone().into(),
        windows: vec![
            // Another size, which is ignored.
            windows(8 * MIB, &[5_000]),
            windows(WINDOW_BYTES, spans),
        ],
        ..trial
    };
    let trials: Vec<Trial> = trials_at(&rates)
        .into_iter()
        .zip(trials_spans_ms)
        .map(with_windows)
        .collect();
    let metrics = derive(&trials, &suite);
    metrics
        .into_iter()
        .find(|metric| metric.id == "class_worst_window")
}

fn windows(window_bytes: u64, spans_ms: &[u64]) -> Windows {
    let window = |&ms: &u64| Window {
        start_bytes: 0,
        span_ns: ms * 1_000_000,
    };
    Windows {
        window_bytes,
        windows_count: 256,
        slowest: spans_ms.iter().map(window).collect(),
    }
}

fn rate(span_ms: f64) -> f64 {
    WINDOW_BYTES as f64 * 1e3 / span_ms
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn the_interval_follows_from_the_sixteen_slowest() {
    // 175, 170, … 100: mean excess over the last 600/15 = 40; 175 ± 160, not shorter than 100.
    let spans: Vec<u64> = (0..16).map(|step| 175 - 5 * step).collect();
    let metric = worst(&[&spans]).unwrap();
    near(Some(metric.value), rate(175.0));
    near(metric.rate_bytes_per_s, rate(175.0));
    near(metric.rate_low_bytes_per_s, rate(335.0));
    near(metric.rate_high_bytes_per_s, rate(100.0));
    assert_eq!(metric.interval_kind, IntervalKind::WithinTrial);
    assert_eq!(metric.stopped_by, StopReason::Rounds);
    // A tail that is short compared with the slowest window.
    let mut spans = vec![150; 16];
    spans[0] = 165;
    let metric = worst(&[&spans]).unwrap();
    near(metric.low, rate(169.0));
    near(metric.high, rate(161.0));
}

#[test]
fn windows_of_several_trials_are_taken_together() {
    let (odd, even): (Vec<u64>, Vec<u64>) = (
        (0..8).map(|step| 175 - 10 * step).collect(),
        (0..8).map(|step| 170 - 10 * step).collect(),
    );
    let both = worst(&[&even, &odd]).unwrap();
    near(Some(both.value), rate(175.0));
    near(both.low, rate(335.0));
    assert_eq!(both.trials, [0, 1]);
}

#[test]
fn too_few_windows_have_no_interval_and_none_no_figure() {
    let metric = worst(&[&[150; 15]]).unwrap();
    assert_eq!((metric.low, metric.high), (None, None));
    assert_eq!(metric.interval_kind, IntervalKind::None);
    near(Some(metric.value), rate(150.0));
    assert_eq!(worst(&[&[]]), None);
}
