//! Parts of a rate, on trials with known stalls.

use cardmark_core::{
    DeviceCounters, FindingKind, Flush, MIB, Metric, ReadBack, Rng, Rounds, SECOND_NS, Suite,
    Trial, Untimed, Workload,
};
use cardmark_stats::{derive, refresh};

use crate::support::{latencies, normal, record, suite, trial, trials_at, workload};

const MS: u64 = 1_000_000;

/// Returns a trial of a second or more of sequential operations of about 1 ms, with these stalls.
fn stalled(id: u32, stalls_ms: &[u64], rng: &mut Rng) -> Trial {
    let body: Vec<u64> = (0..1_000)
        .map(|_| (1e6 * (1.0 + 0.1 * normal(rng))) as u64)
        .collect();
    let all: Vec<u64> = body
        .into_iter()
        .chain(stalls_ms.iter().map(|ms| ms * MS))
        .collect();
    let mut made = trial(id, all.len() as u64, latencies(all.iter().copied()));
    made.span_ns = all.iter().sum();
    made.streams[0].span_ns = made.span_ns;
    made
}

fn rate_of(trials: &[Trial]) -> Metric {
    derive(trials, &suite(vec![workload("rand_write_4k", 4096)])).remove(0)
}

fn near(value: f64, wanted: f64, ratio: f64) {
    assert!(
        (value / wanted - 1.0).abs() < ratio,
        "{value} instead of {wanted}"
    );
}

#[test]
fn stalls_are_no_part_of_the_body_and_of_the_rate() {
    let mut rng = Rng::new(1);
    let stalls: [&[u64]; 6] = [&[], &[400], &[], &[700, 1_200], &[], &[]];
    let trials: Vec<Trial> = (0..6)
        .map(|id| stalled(id, stalls[id as usize], &mut rng))
        .collect();
    let metric = rate_of(&trials);
    let parts = metric.parts.unwrap();
    let body_s = 6_003.0 * 1e-3;
    near(metric.value, 6_003.0 / (body_s + 2.297), 0.01);
    near(parts.body.value, 6_003.0 / body_s, 0.01);
    assert!(parts.body.low.unwrap() > 0.97 * parts.body.value);
    let stalls = parts.stalls.unwrap();
    let counts = [Some(stalls.over_100ms), stalls.over_500ms, stalls.over_1s];
    assert_eq!(counts.map(|count| count.unwrap().seen_count), [3, 2, 1]);
    assert_eq!(stalls.longest_ns, Some(1_200 * MS));
    near(stalls.time_ratio.value, 2.297 / (body_s + 2.297), 0.01);
    // Three events: 0.619 to 8.767 (Garwood).
    let minutes = stalls.observed_ns as f64 / 60e9;
    near(
        stalls.over_100ms.per_minute.low.unwrap(),
        0.6187 / minutes,
        0.001,
    );
    near(
        stalls.over_100ms.per_minute.high.unwrap(),
        8.767 / minutes,
        0.001,
    );
    let long_run = parts.long_run.unwrap();
    assert!(long_run.low.unwrap() < metric.value && metric.value < long_run.high.unwrap());
}

#[test]
fn where_nothing_stalled_the_long_run_still_allows_for_what_is_rare() {
    let mut rng = Rng::new(2);
    let trials: Vec<Trial> = (0..20).map(|id| stalled(id, &[], &mut rng)).collect();
    let metric = rate_of(&trials);
    let parts = metric.parts.unwrap();
    near(parts.body.value, metric.value, 1e-9);
    let stalls = parts.stalls.unwrap();
    assert_eq!((stalls.over_100ms.seen_count, stalls.longest_ns), (0, None));
    // At most 3.689 events in 20 s, each of 2 s: 7.378 s on 20.
    let long_run = parts.long_run.unwrap();
    near(
        long_run.low.unwrap(),
        parts.body.low.unwrap() * 20.0 / 27.378,
        0.002,
    );
    near(long_run.high.unwrap(), parts.body.high.unwrap(), 1e-9);
}

#[test]
fn operations_that_wait_for_each_other_have_no_stalls_of_their_own() {
    let mut rng = Rng::new(3);
    let mut trials: Vec<Trial> = (0..6).map(|id| stalled(id, &[900], &mut rng)).collect();
    for trial in &mut trials {
        trial.workload.queue_depth = 32;
    }
    let deep = Workload {
        queue_depth: 32,
        ..workload("rand_write_4k", 4096)
    };
    let parts = derive(&trials, &suite(vec![deep])).remove(0).parts.unwrap();
    assert!(parts.stalls.is_none() && parts.long_run.is_none());
    assert!(parts.body.low.is_some());
}

#[test]
fn short_trials_are_put_together() {
    let short = |id: u32, ms: u64| {
        let mut made = trial(id, ms, latencies((0..ms).map(|_| MS)));
        made.span_ns = ms * MS;
        made.workload.stop.least_span_ns = SECOND_NS / 2;
        made
    };
    // 4 × 125 ms form one cluster, 500 ms another one: no interval, however similar they are.
    let mut trials: Vec<Trial> = (0..4).map(|id| short(id, 125)).collect();
    trials.push(short(4, 500));
    assert_eq!(rate_of(&trials).low, None);
    // The rest belongs to the last cluster.
    trials.push(short(5, 100));
    assert_eq!(rate_of(&trials).low, None);
    trials.push(short(6, 400));
    assert!(rate_of(&trials).low.is_some());
}

#[test]
fn what_flushes_and_ramps_take_is_told() {
    let mut rng = Rng::new(4);
    let mut trials: Vec<Trial> = (0..6).map(|id| stalled(id, &[], &mut rng)).collect();
    for trial in &mut trials {
        trial.untimed_bytes = 50 * 4096;
        trial.flush_span_ns = Some(20 * MS);
        trial.untimed = Some(Untimed {
            ramp_span_ns: 350 * MS,
            ramp_operations_count: 50,
            ramp_longest_ns: 301 * MS,
            ..Untimed::default()
        });
    }
    let parts = rate_of(&trials).parts.unwrap();
    let transition = parts.transition.unwrap();
    // 300 ms of the ramp and the flush, of 1,370 ms.
    near(transition.time_ratio, 320.0 / 1_370.0, 0.02);
    assert_eq!(transition.longest_ns, 301 * MS);
    near(parts.durable_per_s.unwrap(), 1_000.0 / 1.02, 0.01);

    let mut found = record(trials);
    refresh(&mut found, &suite(vec![workload("rand_write_4k", 4096)]));
    let kinds: Vec<String> = found.findings.iter().map(|f| f.kind.name()).collect();
    assert!(kinds.contains(&"transition_cost".to_owned()), "{kinds:?}");
}

#[test]
fn a_round_far_from_the_others_is_named() {
    let trials = trials_at(&[1000.0, 1020.0, 360.0, 990.0, 1010.0, 980.0]);
    let mut found = record(trials);
    refresh(&mut found, &suite(vec![workload("rand_write_4k", 4096)]));
    let rates = found.metrics[0].round_rates.as_ref().unwrap();
    assert_eq!(rates.outlying_trials, [2]);
    near(rates.median, 995.0, 0.001);
    let finding = found
        .findings
        .iter()
        .find(|f| f.kind == FindingKind::OutlyingRound);
    assert_eq!(finding.unwrap().detail, "round 3 had 0.36 × the median");
    found.trials.truncate(4);
    refresh(&mut found, &suite(vec![workload("rand_write_4k", 4096)]));
    assert_eq!(found.metrics[0].round_rates, None);
}

/// Returns six trials of a workload at a rate in operations per second.
fn at(rate: u64, like: &Workload) -> Vec<Trial> {
    let one = |id: u32| {
        let mut made = trial(
            id,
            rate + u64::from(id % 3),
            latencies((0..rate).map(|_| SECOND_NS / rate)),
        );
        made.workload = like.clone().into();
        made.device_counters = Some(DeviceCounters {
            write_bytes: made.bytes(),
            ..DeviceCounters::default()
        });
        made
    };
    (0..6).map(one).collect()
}

fn kinds_of(trials: Vec<Trial>, suite: &Suite, read_back: Option<ReadBack>) -> Vec<String> {
    let mut found = record(trials);
    found.read_back = read_back;
    refresh(&mut found, suite);
    // A second call changes nothing.
    let once = found.clone();
    refresh(&mut found, suite);
    assert_eq!(found, once);
    found
        .findings
        .iter()
        .map(|finding| finding.kind.name())
        .collect()
}

#[test]
fn synced_writes_as_fast_as_others_are_told() {
    let plain = workload("rand_write_4k", 4096);
    let synced = Workload {
        flush: Flush::EachOperation,
        ..workload("sync_write_4k", 4096)
    };
    let both = suite(vec![plain.clone(), synced.clone()]);
    for (rate, is_told) in [(950, true), (880, false)] {
        let trials = [at(1_000, &plain), at(rate, &synced)].concat();
        let kinds = kinds_of(trials, &both, None);
        assert_eq!(
            kinds.contains(&"sync_not_slower".to_owned()),
            is_told,
            "{rate}: {kinds:?}"
        );
    }
    // A different span makes the comparison meaningless.
    let near_by = Workload {
        span_bytes: plain.span_bytes / 2,
        ..synced
    };
    let trials = [at(1_000, &plain), at(990, &near_by)].concat();
    assert!(kinds_of(trials, &suite(vec![plain, near_by]), None).is_empty());
}

#[test]
fn reference_reads_that_change_are_told_and_are_no_figure() {
    let reference = Workload {
        read_share_percent: 100,
        rounds: Rounds {
            every_ns: SECOND_NS,
            ..Rounds::default()
        },
        ..workload("reference_read", 4096)
    };
    let plain = workload("rand_write_4k", 4096);
    let both = suite(vec![plain.clone(), reference.clone()]);
    for (rate, is_told) in [(700, true), (800, false)] {
        let mut trials = [at(1_000, &plain), at(1_000, &reference)].concat();
        trials.extend(at(rate, &reference).into_iter().take(1));
        let kinds = kinds_of(trials.clone(), &both, None);
        assert_eq!(kinds == ["reference_moved"], is_told, "{rate}: {kinds:?}");
        assert!(
            derive(&trials, &both)
                .iter()
                .all(|metric| metric.id != "reference_read")
        );
    }
}

#[test]
fn content_that_was_not_kept_is_an_error_on_every_figure() {
    let plain = workload("rand_write_4k", 4096);
    let one = suite(vec![plain.clone()]);
    let mut read_back = ReadBack {
        read_bytes: 64 * MIB,
        ..ReadBack::default()
    };
    assert!(kinds_of(at(1_000, &plain), &one, Some(read_back)).is_empty());
    read_back.lost_bytes = 4096;
    assert_eq!(
        kinds_of(at(1_000, &plain), &one, Some(read_back)),
        ["data_lost"]
    );
    let mut found = record(at(1_000, &plain));
    found.read_back = Some(read_back);
    refresh(&mut found, &one);
    assert!(
        found
            .metrics
            .iter()
            .all(|metric| metric.voided_by() == Some("data_lost"))
    );
}

#[test]
fn a_long_series_of_the_same_operations_is_looked_at_for_stalls() {
    let mut rng = Rng::new(5);
    let plain = workload("rand_write_4k", 4096);
    let long = Workload {
        rounds: Rounds {
            once: true,
            ..Rounds::default()
        },
        ..workload("long", 4096)
    };
    let mut trials: Vec<Trial> = (0..6).map(|id| stalled(id, &[], &mut rng)).collect();
    let mut once = stalled(6, &[300, 500], &mut rng);
    once.workload = long.clone().into();
    trials.push(once);
    let metrics = derive(&trials, &suite(vec![plain.clone(), long.clone()]));
    let parts = metrics[0].parts.clone().unwrap();
    let stalls = parts.stalls.unwrap();
    assert_eq!(stalls.over_100ms.seen_count, 2);
    near(stalls.observed_ns as f64, 7.8e9, 0.01);
    near(parts.body.value, metrics[0].value, 1e-9);
    assert!(parts.long_run.unwrap().high.unwrap() < parts.body.high.unwrap());
    // One trial shows no differences between trials.
    let of_long = metrics.iter().find(|metric| metric.id == "long").unwrap();
    let of_long = of_long.parts.clone().unwrap();
    assert_eq!((of_long.body.low, of_long.long_run), (None, None));
    // Other operations cannot be used.
    let other = Workload {
        read_share_percent: 50,
        ..long
    };
    let metrics = derive(&trials, &suite(vec![plain, other]));
    assert_eq!(
        metrics[0]
            .parts
            .clone()
            .unwrap()
            .stalls
            .unwrap()
            .over_100ms
            .seen_count,
        0
    );
}
