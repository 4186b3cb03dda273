//! The course of a long series of writes, from slices of known rates.

use cardmark_core::{
    CourseFigure, Figure, FigureOf, MIB, Metric, Passes, Rng, SECOND_NS, Slice, Suite, Trial,
    Workload,
};
use cardmark_stats::{derive, has_settled, settle_round_ns};

use crate::support::{correlated, latencies, normal, suite, trial, workload};

const WINDOW_NS: u64 = 60 * SECOND_NS;
const SLICE_NS: u64 = SECOND_NS / 10;

/// Returns a trial whose slices of 100 ms moved these amounts in MiB.
fn trial_of(rates: &[f64]) -> Trial {
    let slices: Vec<Slice> = rates
        .iter()
        .map(|&mib| Slice((mib * MIB as f64) as u64, mib.ceil() as u64, 0, None))
        .collect();
    let mut trial = trial(0, 0, latencies([10_000_000]));
    trial.workload = settling().into();
    trial.span_ns = slices.len() as u64 * SLICE_NS;
    trial.streams[0].bytes = slices.iter().map(|slice| slice.0).sum();
    trial.streams[0].operations_count = slices.iter().map(|slice| slice.1).sum();
    trial.slices = slices;
    trial
}

fn settling() -> Workload {
    let mut workload = workload("long", MIB);
    workload.stop.most_bytes = Some(64 << 30);
    workload.stop.longest_span_ns = Some(1_200 * SECOND_NS);
    workload.stop.settled_span_ns = Some(WINDOW_NS);
    workload
}

fn course() -> Suite {
    let figure = |id: &str, of| Figure {
        id: id.to_owned(),
        workload: "long".to_owned(),
        of: FigureOf::Course(of),
        printed: None,
        least: None,
        weight: None,
    };
    Suite {
        passes: Some(Passes::Count(1)),
        looks: Vec::new(),
        figures: vec![
            figure("burst", CourseFigure::Burst),
            figure("settled", CourseFigure::Settled),
            figure("cache", CourseFigure::CacheBytes),
        ],
        ..suite(vec![settling()])
    }
}

/// Returns burst, settled and cache figures, if present.
fn found(rates: &[f64]) -> [Option<Metric>; 3] {
    let metrics = derive(&[trial_of(rates)], &course());
    ["burst", "settled", "cache"].map(|id| metrics.iter().find(|m| m.id == id).cloned())
}

fn mib(metric: Option<&Metric>) -> f64 {
    metric.unwrap().value / MIB as f64
}

/// Returns slices for each (count, rate), with this share of noise.
fn stages(seed: u64, noise: f64, stages: &[(usize, f64)]) -> Vec<f64> {
    let mut rng = Rng::for_part(seed, "course", 0);
    let slices = stages.iter().flat_map(|&(count, rate)| vec![rate; count]);
    slices
        .map(|rate| rate * (1.0 + noise * normal(&mut rng)))
        .collect()
}

#[test]
fn the_first_of_several_cliffs_is_that_of_the_cache() {
    for seed in 0..50 {
        // 9 MiB per slice for 40 s, 4 for 60 s, then 2.
        let rates = stages(seed, 0.1, &[(400, 9.0), (600, 4.0), (1_000, 2.0)]);
        let [burst, settled, cache] = found(&rates);
        assert!((mib(burst.as_ref()) / 90.0 - 1.0).abs() < 0.02, "{burst:?}");
        assert!(
            (mib(settled.as_ref()) / 20.0 - 1.0).abs() < 0.02,
            "{settled:?}"
        );
        assert!(
            (mib(cache.as_ref()) / 3_600.0 - 1.0).abs() < 0.02,
            "{cache:?}"
        );
        let cache = cache.unwrap();
        assert!(cache.low.unwrap() < cache.value && cache.value < cache.high.unwrap());
    }
}

#[test]
fn the_place_within_a_slice_is_told_by_its_bytes() {
    // The cache ends after three quarters of the slice of index 100.
    let mut rates = stages(0, 0.0, &[(101, 8.0), (800, 2.0)]);
    rates[100] = 0.75 * 8.0 + 0.25 * 2.0;
    let [_, _, cache] = found(&rates);
    assert!((mib(cache.as_ref()) - 806.0).abs() < 0.01, "{cache:?}");
}

#[test]
fn a_decline_a_short_stall_and_a_slow_end_are_no_cliffs() {
    for seed in 0..50 {
        let mut rng = Rng::for_part(seed, "decline", 0);
        let decline: Vec<f64> = (0..4_000)
            .map(|slice| 9.0 - f64::from(slice) * 0.0015 + 0.2 * normal(&mut rng))
            .collect();
        let mut stall = stages(seed, 0.05, &[(3_000, 6.0)]);
        stall[1_500..1_530].fill(0.0);
        let mut late = stages(seed, 0.05, &[(3_000, 6.0)]);
        late[2_900..].fill(1.0);
        for (name, rates) in [("decline", decline), ("stall", stall), ("late", late)] {
            let [burst, _, cache] = found(&rates);
            assert_eq!((burst, cache), (None, None), "{name} {seed}");
        }
    }
}

#[test]
fn slow_wandering_makes_no_cliff() {
    let mut alarms = 0;
    for seed in 0..300 {
        let mut rng = Rng::for_part(seed, "wander", 0);
        // Correlated for about a second.
        let rates: Vec<f64> = correlated(&mut rng, 0.9, 2_000)
            .into_iter()
            .map(|x| 5.0 * (1.0 + 0.08 * x))
            .collect();
        alarms += usize::from(found(&rates)[2].is_some());
    }
    assert_eq!(alarms, 0);
}

#[test]
fn intervals_hold_where_slow_changes_need_long_batches() {
    for (correlation, noise) in [(0.0, 0.3), (0.5, 0.1), (0.9, 0.04), (0.95, 0.03)] {
        let (mut held, runs) = (0, 600);
        for seed in 0..runs {
            let mut rng = Rng::for_part(seed, "held", 0);
            let rates: Vec<f64> = correlated(&mut rng, correlation, 900)
                .into_iter()
                .map(|x| 50.0 * (1.0 + noise * x))
                .collect();
            let settled = found(&rates)[1].clone().unwrap();
            let truth = 500.0 * MIB as f64;
            held += u32::from(settled.low.unwrap() <= truth && truth <= settled.high.unwrap());
        }
        let share = f64::from(held) / runs as f64;
        println!("{correlation} {noise}: {share}");
        assert!((0.93..=0.985).contains(&share), "{correlation}: {share}");
    }
}

#[test]
fn a_fall_within_the_window_is_waited_for() {
    let slices = |rates: &[f64]| trial_of(rates).slices;
    let settled = |rates: &[f64]| has_settled(&slices(rates), SLICE_NS, WINDOW_NS);
    assert_eq!(settle_round_ns(WINDOW_NS), 12 * SECOND_NS);
    assert!(!settled(&stages(1, 0.05, &[(599, 6.0)])));
    assert!(settled(&stages(1, 0.05, &[(600, 6.0)])));
    // A drop of a quarter, 50 s ago and 61 s ago.
    assert!(!settled(&stages(1, 0.02, &[(600, 8.0), (500, 6.0)])));
    assert!(settled(&stages(1, 0.02, &[(600, 8.0), (612, 6.0)])));
    // Periodic without end.
    let waves: Vec<f64> = (0..3_000)
        .map(|i| 5.0 + 2.0 * (f64::from(i) / 4.0).sin())
        .collect();
    let slow: Vec<f64> = (0..3_000)
        .map(|i| 5.0 + 2.0 * (f64::from(i) / 200.0).sin())
        .collect();
    assert!(settled(&waves), "averaged out within a round");
    assert!(!settled(&slow));
}

#[test]
fn too_little_to_look_at_is_no_course() {
    for rates in [&[][..], &[5.0][..], &[5.0; 100][..], &[0.0; 900][..]] {
        assert_eq!(found(rates), [None, None, None]);
        assert!(!has_settled(&trial_of(rates).slices, 0, WINDOW_NS));
        assert!(!has_settled(&trial_of(rates).slices, SLICE_NS, 0));
    }
}
