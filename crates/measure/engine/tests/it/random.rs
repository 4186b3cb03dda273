//! Random valid suites on random devices: the back end's own checks, and the sums.

use cardmark_core::{
    Flush, Manner, Order, Payload, Rng, StopReason, StopRule, Suite, TargetNeed, Workload,
    parse_record, record_to_json,
};
use cardmark_stats::refresh;
use proptest::prelude::*;

use crate::oracle::{assert_agrees, assert_sums};
use crate::suite_rules::broken_rule;
use crate::support::{EIO, ENODEV, MS, Rig, Script, plan, recorded};

fn workloads(file_bytes: u64) -> impl Strategy<Value = Workload> {
    let pattern = (
        prop_oneof![Just(0u8), Just(20), Just(100), 0..=100u8],
        any::<bool>(),
        9..=14u32,
        prop_oneof![Just(1u32), Just(32), 1..=256u32],
        any::<bool>(),
        0.0..=1.0f64,
    );
    let stop = (
        0..=3 * MS,
        0..=4 * MS,
        0..=60u64,
        prop_oneof![3 => Just(None), 1 => (0..=file_bytes).prop_map(Some)],
    );
    (pattern, stop).prop_map(
        move |(pattern, (ramp_ns, span_ns, operations, most_bytes))| {
            let (read_share_percent, in_order, block_bits, queue_depth, each, part) = pattern;
            let block_bytes = 1 << block_bits;
            let blocks = (part * (file_bytes / block_bytes) as f64) as u64;
            Workload {
                id: String::new(),
                read_share_percent,
                order: if in_order {
                    Order::Sequential
                } else {
                    Order::Random
                },
                block_bytes,
                queue_depth,
                span_bytes: blocks * block_bytes,
                flush: if each {
                    Flush::EachOperation
                } else {
                    Flush::AfterTrial
                },
                payload: Payload::Incompressible,
                ramp_ns,
                stop: StopRule {
                    least_span_ns: span_ns,
                    least_operations_count: operations,
                    most_bytes,
                    longest_span_ns: None,
                    ..StopRule::default()
                },
                latency_metrics: each,
                manner: Manner::default(),
                procedure: None,
                rounds: cardmark_core::Rounds::default(),
            }
        },
    )
}

fn suites() -> impl Strategy<Value = Suite> {
    let size = (1..=4u32, 1..=40u64);
    let with_size = |(pieces, blocks): (u32, u64)| {
        let file_bytes = u64::from(pieces) * blocks * 16_384;
        let list = proptest::collection::vec(workloads(file_bytes), 1..=3);
        (Just(pieces), Just(file_bytes), list, 0..=20 * MS)
    };
    let suite = size
        .prop_flat_map(with_size)
        .prop_map(|(pieces, file_bytes, mut list, budget)| {
            list[0].order = Order::Sequential;
            list[0].read_share_percent = 0;
            list[0].span_bytes = file_bytes;
            let blocks = file_bytes / list[0].block_bytes;
            list[0].queue_depth = list[0]
                .queue_depth
                .min(u32::try_from(blocks).unwrap_or(256));
            for (index, workload) in list.iter_mut().enumerate() {
                workload.id = format!("w{index}");
            }
            Suite {
                name: "random".to_owned(),
                version: 1,
                digest: None,
                summary: String::new(),
                file_bytes,
                needs: TargetNeed::Any,
                layout: "w0".to_owned(),
                layout_trials_count: pieces,
                looks: vec![5, 6],
                goal_percent: 3.0,
                budget_ns: budget,
                passes: None,
                longest_ns: 0,
                read_back_bytes: 0,
                workloads: list,
                figures: Vec::new(),
                score: None,
                tiers: Vec::new(),
                deviations: Vec::new(),
            }
        });
    suite.prop_filter("a rule of suites", |suite| broken_rule(suite).is_none())
}

/// Returns a device with random service times and occasional random outcomes.
fn device(seed: u64, channels: usize, failing_percent: u64) -> Script {
    let mut times = Rng::new(seed);
    let mut script = Script::of(move |_| 1_000 + times.below(400_000)).channels(channels);
    let mut outcomes = Rng::new(seed ^ 1);
    let fails = outcomes.below(100) < failing_percent;
    script.outcome = Box::new(move |call| {
        let one = fails && outcomes.below(500) == 0;
        let kinds = [Err(EIO), Err(ENODEV), Ok(call.op.bytes / 2)];
        one.then(|| kinds[outcomes.below(3) as usize])
    });
    script.flush = Box::new(|trial| Ok(trial as u64 * 1_000));
    script
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_run_holds_the_contract_and_adds_up(
        suite in suites(),
        seed in any::<u64>(),
        channels in 1..=8usize,
        failing_percent in prop_oneof![Just(0u64), Just(50)],
    ) {
        let mut plan = plan(&suite);
        plan.seed = seed;
        let mut rig = Rig::new(device(seed, channels, failing_percent));
        let outcome = rig.run(&plan);
        prop_assert_eq!(outcome.trials.len(), rig.backend.trials.len());
        for (trial, log) in outcome.trials.iter().zip(&rig.backend.trials) {
            prop_assert_eq!(log.submitted.len(), log.reaped.len());
            assert_sums(trial);
            if trial.is_whole() {
                assert_agrees(trial, log);
            }
            if trial.stopped_by == StopReason::Goal && trial.layout {
                prop_assert_eq!(trial.bytes(), suite.file_bytes / u64::from(suite.layout_trials_count));
            }
            prop_assert!(trial.started_ns + trial.span_ns <= outcome.span_ns);
        }
        if failing_percent == 0 {
            prop_assert!(outcome.is_complete());
            for workload in &suite.workloads {
                let rounds = outcome.trials.iter().filter(|t| t.workload.id == workload.id).count();
                prop_assert!((5..=6).contains(&rounds), "{} rounds", rounds);
            }
        }
        // A second run gives the same result.
        let again = Rig::new(device(seed, channels, failing_percent)).run(&plan);
        prop_assert_eq!(&again.trials, &outcome.trials);
        let record = recorded(&plan, outcome);
        let mut read = parse_record(&record_to_json(&record).unwrap()).unwrap();
        prop_assert_eq!(&read, &record);
        refresh(&mut read, &suite);
        prop_assert_eq!(read, record);
    }
}
