//! Stops of runs whose waits are known.

use cardmark_core::{SECOND_NS, Slice, Trial, Untimed};
use cardmark_stats::{NOTABLE_STOP_NS, NOTABLE_STOPS_COUNT, Stopping, Stops, stops};

use crate::support::{latencies, trial, workload};

const MS: u64 = 1_000_000;

/// A trial of ten seconds that begins at `at_s`, with latencies of 1 ms but for waits at the ends of these slices.
fn with_waits(id: &str, read_share_percent: u8, at_s: u64, waits: &[(usize, u64)]) -> Trial {
    let mut made = trial(0, 10_000, latencies((0..1_000).map(|_| MS)));
    let mut of = workload(id, 4096);
    of.read_share_percent = read_share_percent;
    made.workload = of.into();
    made.started_ns = at_s * SECOND_NS;
    made.span_ns = 10 * SECOND_NS;
    let slice = |n: usize| {
        let wait = waits.iter().find(|wait| wait.0 == n);
        Slice(409_600, 100, wait.map_or(MS, |wait| wait.1), None)
    };
    made.slices = (0..100).map(slice).collect();
    made
}

fn writes(waits: &[(usize, u64)]) -> Trial {
    with_waits("rand_write_4k", 0, 0, waits)
}

fn of(trials: &[Trial]) -> Option<Stops> {
    stops(&trials.iter().collect::<Vec<_>>())
}

#[test]
fn a_long_stop_or_three_short_ones_are_notable() {
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[writes(&[])]), None);
    // The excess over 1 ms counts.
    assert_eq!(of(&[writes(&[(10, NOTABLE_STOP_NS)])]), None);
    let long = of(&[writes(&[(10, NOTABLE_STOP_NS + MS)])]).unwrap();
    assert_eq!((long.count, long.longest_ns), (1, NOTABLE_STOP_NS + MS));
    let short = |count: usize| -> Vec<(usize, u64)> {
        (0..count).map(|n| (10 + 20 * n, 101 * MS)).collect()
    };
    let least = NOTABLE_STOPS_COUNT as usize;
    assert_eq!(of(&[writes(&short(least - 1))]), None);
    assert_eq!(of(&[writes(&short(least))]).unwrap().count, 3);
    // 100 ms more than usual are a stop, less are none.
    let shorter: Vec<_> = short(4).iter().map(|wait| (wait.0, 100 * MS)).collect();
    assert_eq!(of(&[writes(&shorter)]), None);
}

#[test]
fn a_wait_of_a_slow_target_is_twice_the_usual_one() {
    let slow = |wait_ms: u64| {
        let mut made = writes(&[(50, wait_ms * MS)]);
        made.latency = latencies((0..100).map(|_| 300 * MS));
        of(&[made])
    };
    assert_eq!(slow(590), None);
    assert!(slow(610).is_some());
}

#[test]
fn stops_less_than_a_second_apart_are_one() {
    // The second one begins 0.9 s, then 1.1 s after the end of the first.
    let two = |second: usize| of(&[writes(&[(10, 301 * MS), (second, 401 * MS)])]).unwrap();
    let near = two(23);
    assert_eq!(
        (near.count, near.longest_ns, near.within_ns),
        (1, 401 * MS, 0)
    );
    let apart = two(25);
    assert_eq!((apart.count, apart.within_ns), (2, 1_500 * MS));
}

#[test]
fn stops_of_one_kind_are_four_times_as_frequent() {
    let waits = |count: usize| -> Vec<(usize, u64)> {
        (0..count).map(|n| (2 + 20 * n, 401 * MS)).collect()
    };
    let both = |write_count: usize, read_count: usize| {
        of(&[
            writes(&waits(write_count)),
            with_waits("rand_read_4k", 100, 20, &waits(read_count)),
            with_waits("mixed_4k", 50, 40, &[]),
        ])
        .unwrap()
    };
    let on = |write_count, read_count| both(write_count, read_count).on;
    assert_eq!(on(4, 1), Stopping::Writes);
    assert_eq!(on(3, 1), Stopping::All);
    assert_eq!(on(1, 4), Stopping::Reads);
    assert_eq!(on(1, 3), Stopping::All);
    assert_eq!(on(4, 0), Stopping::Writes);
    let observed_s = |write_count, read_count| {
        let stops = both(write_count, read_count);
        (
            stops.count,
            stops.observed_ns / SECOND_NS,
            stops.run_ns / SECOND_NS,
        )
    };
    assert_eq!(observed_s(4, 1), (4, 20, 50));
    assert_eq!(observed_s(1, 4), (4, 10, 50));
    assert_eq!(observed_s(3, 1), (4, 30, 50));
}

/// The second wait begins where the first one ends.
#[test]
fn a_stop_of_a_write_and_a_read_is_of_both() {
    let reads = with_waits("rand_read_4k", 100, 10, &[(3, 401 * MS)]);
    let found = of(&[writes(&[(99, 401 * MS)]), reads]).unwrap();
    assert_eq!((found.on, found.count), (Stopping::All, 1));
    assert_eq!(found.observed_ns, 20 * SECOND_NS);
}

#[test]
fn in_ramp_and_drain_only_long_stops_count() {
    let beside = |ramp_ms: u64, drain_ms: u64| {
        let mut made = writes(&[]);
        made.started_ns = 5 * SECOND_NS;
        made.untimed = Some(Untimed {
            ramp_span_ns: SECOND_NS,
            ramp_operations_count: 10,
            ramp_longest_ns: ramp_ms * MS,
            drain_span_ns: 2 * SECOND_NS,
            drain_longest_ns: drain_ms * MS,
        });
        let others = (1..3).map(|n| with_waits("rand_write_4k", 0, 20 * n, &[(20, 120 * MS)]));
        of(&[vec![made], others.collect()].concat())
    };
    // Two short ones elsewhere are too few.
    assert_eq!(beside(1, 1), None);
    assert_eq!(beside(250, 250), None);
    let ramp = beside(251, 1).unwrap();
    assert_eq!((ramp.count, ramp.longest_ns), (3, 251 * MS));
    // From the end of the ramp at 5 s to the end of the slice at 42.1 s; the drain ends at 17 s.
    assert_eq!(ramp.within_ns, 37_100 * MS);
    let drain = beside(1, 301).unwrap();
    assert_eq!((drain.count, drain.longest_ns), (3, 301 * MS));
    assert_eq!(drain.within_ns, 25_100 * MS);
    assert_eq!(drain.observed_ns, 33 * SECOND_NS);
}

#[test]
fn each_workload_has_its_own_usual_latency() {
    let mut slow = with_waits("seq_write_1m", 0, 20, &[(50, 350 * MS)]);
    slow.latency = latencies((0..100).map(|_| 200 * MS));
    assert_eq!(of(&[writes(&[]), slow.clone()]), None);
    let mut both = writes(&[(50, 350 * MS)]);
    assert_eq!(of(&[both.clone(), slow.clone()]).unwrap().count, 1);
    both.workload = slow.workload.clone();
    both.latency = slow.latency.clone();
    assert_eq!(of(&[both, slow]), None);
}
