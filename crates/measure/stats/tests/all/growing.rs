//! Stalls that grow with recent writes, in runs whose stalls are known.

use cardmark_core::{
    Finding, FindingKind, MIB, Order, Rng, Rounds, SECOND_NS, Slice, Suite, Trial, Untimed,
    Workload,
};
use cardmark_stats::refresh;

use crate::support::{latencies, record, share_of, suite, trial, workload};

const SLICE_NS: u64 = SECOND_NS / 10;
const ORDINARY_NS: u64 = 1_000_000;

/// Stalls of a trial: the slice in which each begins, and its number of slices.
type Stalls = Vec<(usize, usize)>;

/// A run that is put together trial by trial, with pauses between them.
struct Run {
    at_ns: u64,
    trials: Vec<Trial>,
    /// Writes per slice without stalls.
    per_slice: u64,
}

impl Run {
    fn new() -> Self {
        Self {
            at_ns: SECOND_NS,
            trials: Vec::new(),
            per_slice: 100,
        }
    }

    /// Adds a trial of this many slices after a pause.
    fn write(&mut self, of: &Workload, pause_ns: u64, slices: usize, stalls: &[(usize, usize)]) {
        let mut all = vec![(self.per_slice, ORDINARY_NS); slices];
        for &(begin, count) in stalls {
            for slice in &mut all[begin..begin + count] {
                *slice = (0, 0);
            }
            all[begin + count - 1] = (1, count as u64 * SLICE_NS + 2 * ORDINARY_NS);
        }
        let counts = || all.iter().map(|slice| slice.0);
        let latency = latencies(counts().flat_map(|n| (0..n).map(|_| ORDINARY_NS)));
        self.at_ns += pause_ns;
        let mut made = trial(self.trials.len() as u32, counts().sum(), latency);
        made.workload = of.clone().into();
        made.layout = of.id == "seq_write_1m";
        made.started_ns = self.at_ns;
        made.slice_span_ns = SLICE_NS;
        made.span_ns = slices as u64 * SLICE_NS;
        let bytes = |count: u64| count * of.block_bytes;
        made.slices = all
            .iter()
            .map(|&(count, longest)| Slice(bytes(count), count, longest, None))
            .collect();
        self.at_ns += made.span_ns;
        self.trials.push(made);
    }

    fn finding(self) -> Option<Finding> {
        let mut made = record(self.trials);
        refresh(&mut made, &writes());
        let mut all = made.findings.into_iter();
        all.find(|f| f.kind == FindingKind::NotSettled && f.detail.starts_with("stalls"))
    }
}

fn layout() -> Workload {
    Workload {
        order: Order::Sequential,
        ..workload("seq_write_1m", MIB)
    }
}

fn rounds() -> Workload {
    workload("rand_write_4k", 4096)
}

fn block() -> Workload {
    Workload {
        rounds: Rounds {
            once: true,
            ..Rounds::default()
        },
        ..workload("rand_write_4k_long", 4096)
    }
}

fn writes() -> Suite {
    let mut all = suite(vec![layout(), rounds(), block()]);
    all.layout = "seq_write_1m".to_owned();
    all.goal_percent = 0.0;
    all
}

/// Stalls of this many slices at regular intervals.
fn each(interval: usize, count: usize, slices: usize) -> Stalls {
    (0..count).map(|n| (n * interval + 2, slices)).collect()
}

/// A run with 24 rounds of 0.6 s, the first of them stalled, and a block of 15 s with these stalls of two slices.
fn run_with(stalled_rounds: usize, in_block: &[(usize, usize)]) -> Run {
    let mut run = Run::new();
    run.write(&layout(), 0, 80, &[]);
    for round in 0..24 {
        let stalls: &[_] = if round < stalled_rounds {
            &[(2, 2)]
        } else {
            &[]
        };
        run.write(&rounds(), 2 * SECOND_NS, 6, stalls);
    }
    run.write(&block(), 2 * SECOND_NS, 150, in_block);
    run
}

#[test]
fn more_stalls_without_breaks_are_found_and_mark_the_rounds() {
    let found = run_with(3, &each(12, 12, 2)).finding().unwrap();
    assert_eq!(found.workloads, ["rand_write_4k"]);
    assert!(
        found
            .detail
            .ends_with("48 a minute of writing, after 12 in separate trials"),
        "{}",
        found.detail
    );
    // 1.56 and 1.26 deviations; then as often as in the rounds.
    assert!(run_with(5, &each(12, 12, 2)).finding().is_some());
    assert_eq!(run_with(6, &each(12, 12, 2)).finding(), None);
    assert_eq!(run_with(11, &each(12, 12, 2)).finding(), None);
    assert_eq!(run_with(3, &each(48, 3, 2)).finding(), None);
}

#[test]
fn a_burst_counts_as_one_event() {
    let burst = |from: usize| (0..6).map(move |n| (from + 3 * n, 2));
    assert_eq!(run_with(2, &burst(76).collect::<Stalls>()).finding(), None);
    let spread: Stalls = (0..6).map(|n| (26 + 12 * n, 2)).collect();
    assert!(run_with(0, &spread).finding().is_some());
}

#[test]
fn the_share_of_time_in_stalls_grows_by_four_points() {
    let from_third_second = |interval: usize, count: usize| -> Stalls {
        (0..count).map(|n| (25 + n * interval, 1)).collect()
    };
    // 3.4 and 4.7 % of the block, 2.1 and 2.6 deviations.
    assert_eq!(run_with(0, &from_third_second(24, 5)).finding(), None);
    let found = run_with(0, &from_third_second(17, 7)).finding().unwrap();
    // The rounds are as fast as they are because they did not stall.
    assert_eq!(found.workloads, ["rand_write_4k"]);
}

#[test]
fn stalls_by_the_clock_and_by_the_amount_are_not_found() {
    // Faster writes in the block: more stalls per time, but not per write. Then slower ones.
    for (faster, in_block) in [
        (4, each(10, 14, 2)),
        (1, each(10, 14, 2)),
        (4, each(40, 3, 2)),
    ] {
        let mut run = Run::new();
        run.write(&layout(), 0, 80, &[]);
        for round in 0..24 {
            let stalls: &[_] = if round % 6 == 0 { &[(2, 2)] } else { &[] };
            run.write(&rounds(), 2 * SECOND_NS, 6, stalls);
        }
        run.per_slice *= faster;
        run.write(&block(), 2 * SECOND_NS, 150, &in_block);
        let is_expected = faster == 1;
        assert_eq!(
            run.finding().is_some(),
            is_expected,
            "{faster} {in_block:?}"
        );
    }
    let mut run = Run::new();
    run.write(&layout(), 0, 80, &[]);
    for round in 0..24 {
        let stalls: &[_] = if round < 7 { &[(2, 2)] } else { &[] };
        run.write(&rounds(), 2 * SECOND_NS, 6, stalls);
    }
    run.per_slice = 20;
    run.write(&block(), 2 * SECOND_NS, 150, &each(12, 12, 2));
    assert_eq!(run.finding(), None);
}

/// A run whose layout has these stalls and whose block has too few for a finding by itself.
fn run_after(laid_out: &[(usize, usize)]) -> Run {
    let mut run = Run::new();
    run.write(&layout(), 0, 100, laid_out);
    for round in 0..24 {
        let stalls: &[_] = if round % 4 == 0 { &[(2, 2)] } else { &[] };
        run.write(&rounds(), 2 * SECOND_NS, 6, stalls);
    }
    run.write(&block(), 2 * SECOND_NS, 150, &each(13, 11, 2));
    run
}

#[test]
fn the_layout_adds_to_the_evidence_but_has_a_rate_of_its_own() {
    assert_eq!(run_after(&[]).finding(), None);
    let grows: Stalls = (0..9).map(|n| (40 + 6 * n, 2)).collect();
    let found = run_after(&grows).finding().unwrap();
    assert_eq!(found.workloads, ["seq_write_1m", "rand_write_4k"]);
    // As often from the start: it allocates.
    assert_eq!(run_after(&each(6, 16, 2)).finding(), None);
}

#[test]
fn the_rate_of_the_layout_is_no_rate_of_small_writes() {
    let found = |slices: usize, laid_out: &[(usize, usize)]| {
        let mut run = Run::new();
        run.write(&layout(), 0, slices, laid_out);
        for round in 0..24 {
            let stalls: &[_] = if round < 2 { &[(2, 2)] } else { &[] };
            run.write(&rounds(), 2 * SECOND_NS, 6, stalls);
        }
        run.write(&block(), 2 * SECOND_NS, 150, &each(15, 10, 2));
        run.finding().is_some()
    };
    assert!(found(200, &[]));
    assert!(!found(100, &each(5, 18, 1)));
}

/// Waits of 0.4 and 0.2 s that overlap are a stall of half a second: 6.7 % of the block in stalls.
#[test]
fn stalls_that_overlap_are_one_from_the_first_begin() {
    let mut run = run_with(0, &[]);
    let block = run.trials.last_mut().unwrap();
    for begin in [60, 110] {
        for (after, count, longest) in [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 1, 4), (4, 1, 2)] {
            let longest_ns = longest * SLICE_NS + 2 * ORDINARY_NS;
            block.slices[begin + after] = Slice(4096 * count, count, longest_ns, None);
        }
    }
    assert!(run.finding().is_some());
}

#[test]
fn stalls_that_begin_late_in_the_block_follow_seconds_of_writing() {
    let mut run = Run::new();
    run.write(&rounds(), 0, 6, &[]);
    run.write(
        &block(),
        9 * SECOND_NS,
        150,
        &(0..8).map(|n| (50 + 12 * n, 2)).collect::<Stalls>(),
    );
    assert!(run.finding().is_some());
}

#[test]
fn without_a_block_of_small_writes_of_one_stream_nothing_is_found() {
    let of = |change: fn(&mut Workload)| {
        let mut run = run_with(3, &each(12, 12, 2));
        let mut changed = block();
        change(&mut changed);
        run.trials.last_mut().unwrap().workload = changed.clone().into();
        let mut made = record(run.trials);
        let mut all = writes();
        all.workloads[2] = changed;
        refresh(&mut made, &all);
        made.findings.iter().any(|f| f.detail.starts_with("stalls"))
    };
    assert!(of(|_| {}));
    assert!(!of(|it| it.order = Order::Sequential));
    assert!(!of(|it| it.manner.streams_count = 2));
    assert!(!of(|it| it.read_share_percent = 100));
    assert!(!of(|it| it.rounds.once = false));
}

#[test]
fn a_stall_in_a_ramp_counts_among_those_of_the_rounds() {
    let mut run = run_with(0, &each(18, 8, 2));
    for made in run
        .trials
        .iter_mut()
        .filter(|made| made.span_ns == 6 * SLICE_NS)
    {
        let ramp_span_ns = 4 * SLICE_NS;
        made.untimed = Some(Untimed {
            ramp_operations_count: 200,
            ramp_span_ns,
            ramp_longest_ns: ORDINARY_NS,
            ..Untimed::default()
        });
    }
    let stall = |run: &mut Run| {
        for made in run.trials[1..].iter_mut().step_by(2) {
            if let Some(untimed) = &mut made.untimed {
                untimed.ramp_longest_ns = 2 * SLICE_NS;
            }
        }
    };
    let mut stalled = Run {
        trials: run.trials.clone(),
        ..run
    };
    stall(&mut stalled);
    assert!(run.finding().is_some());
    assert_eq!(stalled.finding(), None);
}

/// A run of a card that stalls at `rate(level)` per second of writing, for three to nine slices; `level` is the share of
/// the last five seconds in which it wrote.
fn drawn(rng: &mut Rng, rate: fn(f64) -> f64) -> Run {
    let mut run = Run::new();
    let mut level = 0.0_f64;
    let mut draw = |pause_s: f64, slices: usize| {
        level *= (-pause_s / 5.0).exp();
        let (mut stalls, mut at) = (Stalls::new(), 0);
        while at < slices {
            if rng.unit() < rate(level) * 0.1 {
                let count = (3 + (rng.unit() * 7.0) as usize).min(slices - at);
                stalls.push((at, count));
                at += count;
            }
            level = 1.0 + (level - 1.0) * (-0.1_f64 / 5.0).exp();
            at += 1;
        }
        stalls
    };
    let laid_out = draw(9.0, 80);
    run.write(&layout(), 0, 80, &laid_out);
    for _ in 0..40 {
        let stalls = draw(1.0, 6);
        run.write(&rounds(), SECOND_NS, 6, &stalls);
    }
    let stalls = draw(1.0, 150);
    run.write(&block(), SECOND_NS, 150, &stalls);
    run
}

#[test]
fn stalls_at_a_constant_rate_are_rarely_found_and_growing_ones_mostly() {
    let of = |name: &str, rate: fn(f64) -> f64| {
        share_of(name, 200, |rng| drawn(rng, rate).finding().is_some())
    };
    // Each of the two exposures, which are proportional here, is tested at 10 %.
    assert!(of("a stall a second", |_| 1.0) <= 0.10);
    assert!(of("a stall in three seconds", |_| 0.33) <= 0.10);
    assert!(of("two stalls a second when full", |level| 2.0 * level * level) >= 0.80);
}
