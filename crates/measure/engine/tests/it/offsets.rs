//! Offsets of operations.

use cardmark_core::{KIB, MIB, Order, Workload};
use cardmark_engine::TrialContext;

use crate::support::{MS, Rig, Script, sequential, workload};

fn context(id: u32, seed: u64, next_block: u64) -> TrialContext {
    TrialContext {
        id,
        seed,
        next_block,
        ..TrialContext::default()
    }
}

/// Returns the offsets of a trial with this number of operations.
fn random(id: u32, seed: u64, operations_count: u64) -> Vec<u64> {
    let mut rig = Rig::new(Script::constant(MS));
    let mut random = Workload {
        ramp_ns: 0,
        ..workload("rand_read")
    };
    random.stop.least_operations_count = operations_count;
    rig.trial(&random, context(id, seed, 0));
    rig.log().offsets()
}

#[test]
fn random_offsets_cover_the_span_evenly() {
    let count = 64_000;
    let offsets = random(0, 1, count);
    let mut bins = [0u32; 64];
    for offset in &offsets {
        bins[(offset / (64 * KIB)) as usize] += 1;
    }
    let expected = count as f64 / 64.0;
    let off = |&n: &u32| (f64::from(n) - expected).powi(2) / expected;
    let chi_square: f64 = bins.iter().map(off).sum();
    // 63 degrees of freedom: mean 63, deviation 11; a far smaller value would not be random either.
    assert!((20.0..110.0).contains(&chi_square), "{chi_square}");
    // Each of the 1,024 blocks was hit, including first and last.
    let mut blocks: Vec<u64> = offsets.iter().map(|offset| offset / (4 * KIB)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 1024);
    // Successive offsets show no trend.
    let rising = offsets.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
    assert!((rising / count as f64 - 0.5).abs() < 0.01, "{rising}");
}

#[test]
fn random_offsets_differ_between_trials_and_repeat_with_the_seed() {
    let first = random(0, 1, 100);
    assert_eq!(random(0, 1, 100), first);
    for other in [random(1, 1, 100), random(0, 2, 100)] {
        let same = other.iter().zip(&first).filter(|(a, b)| a == b).count();
        assert!(same < 5, "{same} of 100 agree");
    }
}

#[test]
fn sequential_trials_go_on_where_the_one_before_stopped_and_wrap() {
    for depth in [1, 3] {
        let mut rig = Rig::new(Script::constant(MS));
        let forward = Workload {
            queue_depth: depth,
            stop: workload("seq_read").stop,
            ..sequential("seq_read", 100)
        };
        let mut next_block = 0;
        let mut expected = 0;
        for id in 0..5 {
            next_block = rig.trial(&forward, context(id, 1, next_block)).next_block;
            let offsets = rig.backend.trials[id as usize].offsets();
            assert!(offsets.len() > 100, "the span of 64 blocks is repeated");
            for offset in offsets {
                assert_eq!(offset, expected);
                expected = (expected + 64 * KIB) % (4 * MIB);
            }
            assert_eq!(next_block * 64 * KIB, expected);
        }
    }
}

#[test]
fn a_start_beyond_the_span_wraps_and_a_span_of_one_block_stays() {
    let mut rig = Rig::new(Script::constant(MS));
    rig.trial(&sequential("seq_read", 100), context(0, 1, 64 * 5 + 7));
    assert_eq!(rig.log().offsets()[0], 7 * 64 * KIB);
    for mut one in [sequential("seq_read", 100), workload("rand_read")] {
        one.span_bytes = one.block_bytes;
        let mut rig = Rig::new(Script::constant(MS));
        rig.trial(&one, context(0, 1, 0));
        assert!(rig.log().offsets().iter().all(|&offset| offset == 0));
    }
}

#[test]
fn each_round_of_a_spread_order_goes_through_a_place_of_its_own() {
    let mut spread = Workload {
        order: Order::Spread,
        ramp_ns: 0,
        ..workload("spread")
    };
    spread.stop.most_bytes = Some(64 * KIB);
    // 1,024 blocks, 16 of them at a time: the last place begins at block 1,008.
    for (round_index, first) in [(0, 0), (1, 512), (63, 1_008), (64, 0)] {
        let mut rig = Rig::new(Script::constant(MS));
        let of_round = TrialContext {
            round_index,
            ..context(0, 1, 0)
        };
        let trial = rig.trial(&spread, of_round).trial;
        let expected: Vec<u64> = (first..first + 16).map(|block| block * 4 * KIB).collect();
        assert_eq!(rig.log().offsets(), expected, "{round_index}");
        assert_eq!(trial.bytes(), 64 * KIB);
    }
}
