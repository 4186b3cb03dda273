//! Courses of series with a minimum amount: periods, slowest stretches, lasting cliffs.

use cardmark_core::{
    CourseFigure, Figure, FigureOf, LeastWritten, MIB, Metric, Passes, Refill, Rng, SECOND_NS,
    Slice, StopReason, Suite, Trial, Workload,
};
use cardmark_stats::{derive, has_fallen_back, is_settled, refill_limits};

use crate::support::{latencies, normal, suite, trial, workload};

const SLICE_NS: u64 = SECOND_NS / 10;

fn long() -> Workload {
    let mut workload = workload("long", MIB);
    workload.stop.most_bytes = Some(128 << 30);
    workload.stop.longest_span_ns = Some(3_600 * SECOND_NS);
    workload.stop.settled_span_ns = Some(60 * SECOND_NS);
    workload.stop.least_written = Some(LeastWritten {
        bytes: 1 << 30,
        capacity_percent: 10,
        cliff_percent: 40,
        span_ns: 300 * SECOND_NS,
        most_bytes: 64 << 30,
        capacity_bytes: 0,
    });
    workload
}

/// Returns slices of 100 ms with this rate in MiB/s at each time in seconds, and noise of 5 %.
fn slices(seconds: u32, rate: impl Fn(f64) -> f64) -> Vec<Slice> {
    let mut rng = Rng::for_part(1, "lasting", 0);
    let slice = |index: u32| {
        let mib = rate(f64::from(index) / 10.0) / 10.0 * (1.0 + 0.05 * normal(&mut rng));
        Slice((mib * MIB as f64) as u64, mib.ceil() as u64, 0, None)
    };
    (0..10 * seconds).map(slice).collect()
}

fn trial_of(slices: Vec<Slice>) -> Trial {
    let mut trial = trial(0, 0, latencies([10_000_000]));
    trial.workload = long().into();
    trial.span_ns = slices.len() as u64 * SLICE_NS;
    trial.streams[0].bytes = slices.iter().map(|slice| slice.0).sum();
    trial.streams[0].operations_count = slices.iter().map(|slice| slice.1).sum();
    trial.slices = slices;
    trial
}

fn figures(seconds: u32, rate: impl Fn(f64) -> f64) -> Vec<Metric> {
    let figure = |(id, of): (&str, CourseFigure)| Figure {
        id: id.to_owned(),
        workload: "long".to_owned(),
        of: FigureOf::Course(of),
        printed: None,
        least: None,
        weight: None,
    };
    let suite = Suite {
        passes: Some(Passes::Count(1)),
        looks: Vec::new(),
        figures: [
            ("settled", CourseFigure::Settled),
            ("cache", CourseFigure::CacheBytes),
            ("end", CourseFigure::RateAtEnd),
            ("slowest_10", CourseFigure::Slowest10S),
            ("slowest_60", CourseFigure::Slowest60S),
            ("period", CourseFigure::Period),
        ]
        .map(figure)
        .to_vec(),
        ..suite(vec![long()])
    };
    derive(&[trial_of(slices(seconds, rate))], &suite)
}

/// A series that was stopped from outside has the figures of what was written; other trials have none.
#[test]
fn a_stopped_series_keeps_its_figures_and_their_reason() {
    let stopped = |workload: Workload| {
        let figure = Figure {
            id: "slowest_60".to_owned(),
            workload: "long".to_owned(),
            of: FigureOf::Course(CourseFigure::Slowest60S),
            printed: None,
            least: None,
            weight: None,
        };
        let suite = Suite {
            passes: Some(Passes::Count(1)),
            looks: Vec::new(),
            figures: vec![figure],
            ..suite(vec![workload.clone()])
        };
        let rate = |at_s: f64| if at_s < 30.0 { 80.0 } else { 20.0 };
        let mut trial = trial_of(slices(100, rate));
        trial.workload = workload.into();
        trial.stopped_by = StopReason::Interrupted;
        (derive(std::slice::from_ref(&trial), &suite), trial, suite)
    };
    let (metrics, mut trial, suite) = stopped(long());
    assert!((mib(&metrics, "slowest_60").unwrap() - 20.0).abs() < 0.5);
    assert_eq!(metrics[0].stopped_by, StopReason::Interrupted);
    trial.stopped_by = StopReason::Error;
    assert!(derive(&[trial], &suite).is_empty());
    let mut other = long();
    other.stop.settled_span_ns = None;
    assert!(stopped(other).0.is_empty());
}

fn mib(metrics: &[Metric], id: &str) -> Option<f64> {
    let metric = metrics.iter().find(|metric| metric.id == id)?;
    Some(metric.value / MIB as f64)
}

fn near(value: Option<f64>, truth: f64) -> bool {
    value.is_some_and(|value| (value / truth - 1.0).abs() < 0.05)
}

#[test]
fn a_sawtooth_has_a_period_its_mean_and_no_cliff() {
    for period_s in [10.0, 17.3, 40.0, 90.0] {
        let rate = |at_s: f64| {
            if at_s % period_s < 0.3 * period_s {
                80.0
            } else {
                12.0
            }
        };
        for seconds in [300, 335, 360, 420] {
            let found = figures(seconds, rate);
            let said = format!("{period_s} {seconds}: {found:?}");
            assert!(near(mib(&found, "settled"), 32.4), "{said}");
            assert_eq!(mib(&found, "cache"), None, "{said}");
            assert_eq!(mib(&found, "end"), None, "{said}");
            let span_s = found
                .iter()
                .find(|m| m.id == "period")
                .map(|m| m.value / 1e9);
            assert!(near(span_s, period_s), "{said}");
        }
    }
}

#[test]
fn the_slowest_stretches_are_found_wherever_they_begin() {
    let rate = |at_s: f64| match at_s {
        at_s if (101.3..111.3).contains(&at_s) => 5.0,
        at_s if (201.0..261.0).contains(&at_s) => 15.0,
        _ => 30.0,
    };
    let found = figures(400, rate);
    assert!(near(mib(&found, "slowest_10"), 5.0), "{found:?}");
    assert!(near(mib(&found, "slowest_60"), 15.0), "{found:?}");
}

#[test]
fn a_decline_and_too_short_a_series_are_not_settled() {
    let decline = figures(1200, |at_s| 80.0 / (1.0 + at_s / 89.0));
    assert_eq!(mib(&decline, "settled"), None);
    assert!(mib(&decline, "end").is_some());
    let is_over = |seconds| is_settled(&slices(seconds, |_| 30.0), SLICE_NS, &long().stop);
    assert!(!is_over(290));
    assert!(is_over(300));
}

#[test]
fn behind_a_cliff_a_share_of_the_capacity_is_written_first() {
    let rate = |at_s: f64| if at_s < 20.0 { 80.0 } else { 20.0 };
    let mut stop = long().stop;
    let least = stop.least_written.map(|l| l.for_capacity(64_000_000_000));
    stop.least_written = least;
    assert!(!is_settled(&slices(600, rate), SLICE_NS, &stop));
    assert!(is_settled(&slices(1300, rate), SLICE_NS, &stop));
    // Without a cliff a tenth is sufficient.
    assert!(is_settled(&slices(400, |_| 30.0), SLICE_NS, &stop));
}

#[test]
fn a_rest_is_followed_until_the_rate_is_back() {
    let rate = |at_s: f64| if at_s < 20.0 { 80.0 } else { 20.0 };
    let (refill, most_bytes) = refill_limits(&trial_of(slices(600, rate))).unwrap();
    assert!(near(
        Some(refill.middle_bytes_per_s as f64 / MIB as f64),
        50.0
    ));
    assert!(near(Some(most_bytes as f64 / MIB as f64), 1600.0));
    let back = |seconds| has_fallen_back(&slices(seconds, rate), SLICE_NS, refill);
    assert!(!back(20));
    assert!(back(22));
    assert!(!has_fallen_back(&[], SLICE_NS, Refill::default()));
    assert_eq!(refill_limits(&trial_of(slices(400, |_| 30.0))), None);
}
