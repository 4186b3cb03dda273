//! Workloads that skip some rounds, and limits of bytes.

use cardmark_core::{MIB, Rounds, SECOND_NS, StopReason, StopRule, Workload};

use crate::rounds::{reading, whole_run};
use crate::suite_rules::broken_rule;
use crate::support::{Heard, MS, Script, plan, sequential, suite, workload};

fn ids(heard: &[Heard]) -> Vec<(String, u64)> {
    let started = |event: &Heard| match event {
        Heard::TrialStarted {
            workload, at_ns, ..
        } => Some((workload.clone(), *at_ns)),
        _ => None,
    };
    heard.iter().filter_map(started).collect()
}

#[test]
fn references_come_first_now_and_then_and_last_and_what_is_done_once_before_that() {
    let reference = Workload {
        rounds: Rounds {
            every_ns: SECOND_NS,
            ..Rounds::default()
        },
        ..workload("reference_read")
    };
    let once = Workload {
        read_share_percent: 0,
        ramp_ns: 0,
        stop: StopRule {
            most_bytes: Some(64 * MIB),
            longest_span_ns: Some(300 * MS),
            ..StopRule::default()
        },
        rounds: Rounds {
            once: true,
            ..Rounds::default()
        },
        ..workload("long")
    };
    let mut suite = suite(vec![
        sequential("seq_write", 0),
        workload("rand_read"),
        once,
        reference,
    ]);
    suite.goal_percent = 0.0;
    suite.looks = vec![6, 24];
    suite.budget_ns = 4 * SECOND_NS;
    assert_eq!(broken_rule(&suite), None);
    let (outcome, rig) = whole_run(Script::constant(MS), &plan(&suite));
    let all = ids(&rig.heard.borrow());
    let rounds = &all[4..];
    assert_eq!(rounds[0].0, "reference_read", "right after the layout");
    let last: Vec<&str> = all[all.len() - 2..]
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(last, ["long", "reference_read"]);
    assert_eq!(all.iter().filter(|(id, _)| id == "long").count(), 1);
    let references: Vec<u64> = all
        .iter()
        .filter(|(id, _)| id == "reference_read")
        .map(|(_, at)| *at)
        .collect();
    assert_eq!(
        references.len(),
        5,
        "at 0, 1, 2, 3 s and the end: {references:?}"
    );
    for pair in references[..4].windows(2) {
        let apart_ns = pair[1] - pair[0];
        assert!(
            (SECOND_NS..SECOND_NS * 13 / 10).contains(&apart_ns),
            "{apart_ns}"
        );
    }
    let long = outcome
        .trials
        .iter()
        .find(|trial| trial.workload.id == "long")
        .unwrap();
    assert_eq!(long.stopped_by, StopReason::Goal);
    assert_eq!(
        long.span_ns,
        300 * MS,
        "random writes continue within their span"
    );
    let numbers: Vec<u32> = outcome
        .trials
        .iter()
        .filter(|t| t.workload.id == "reference_read")
        .map(|t| t.round_index)
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
}

#[test]
fn a_budget_of_bytes_is_never_passed_however_fast_the_storage_is() {
    for latency_ns in [1_000, 20_000, 500_000] {
        for depth in [1, 8] {
            let cap_bytes = MIB;
            let budget_bytes = 6 * MIB;
            let writing = Workload {
                read_share_percent: 0,
                queue_depth: depth,
                stop: StopRule {
                    cap_bytes: Some(cap_bytes),
                    ..workload("").stop
                },
                rounds: Rounds {
                    budget_bytes: Some(budget_bytes),
                    ..Rounds::default()
                },
                ..workload("rand_write")
            };
            let mut suite = suite(vec![
                sequential("seq_write", 0),
                writing.clone(),
                workload("rand_read"),
            ]);
            suite.goal_percent = 0.0;
            assert_eq!(broken_rule(&suite), None);
            let plan = plan(&suite);
            let (outcome, _) = whole_run(Script::constant(latency_ns), &plan);
            let trials = || {
                outcome
                    .trials
                    .iter()
                    .filter(|t| t.workload.id == "rand_write")
            };
            let written: u64 = trials().map(|trial| trial.written_bytes).sum();
            assert!(written <= budget_bytes, "{written} at {latency_ns} ns");
            assert!(trials().all(|trial| trial.is_whole() && trial.bytes() <= cap_bytes));
            // No trial that would have fitted was left out.
            let rounds = outcome
                .trials
                .iter()
                .filter(|t| t.workload.id == "rand_read")
                .count();
            assert!(trials().count() == rounds || written + 2 * cap_bytes > budget_bytes);
        }
    }
}

#[test]
fn a_deep_queue_that_gains_nothing_gets_no_further_rounds() {
    let deep = Workload {
        queue_depth: 8,
        rounds: Rounds {
            unless_equal_to: Some("rand_read".to_owned()),
            ..Rounds::default()
        },
        ..workload("rand_read_q8")
    };
    let mut suite = suite(vec![
        sequential("seq_write", 0),
        workload("rand_read"),
        deep,
    ]);
    suite.goal_percent = 0.0;
    let rounds = |script| {
        let (outcome, _) = whole_run(script, &reading(&suite));
        ["rand_read", "rand_read_q8"].map(|id| {
            outcome
                .trials
                .iter()
                .filter(|t| t.workload.id == id)
                .count()
        })
    };
    assert_eq!(rounds(Script::constant(MS).channels(8)), [24, 24]);
    assert_eq!(
        rounds(Script::constant(MS)),
        [24, 6],
        "eight at once are run one after the other"
    );
}
