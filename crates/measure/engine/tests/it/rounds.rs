//! Whole runs: layout, rounds, looks, budget.

use cardmark_core::{SECOND_NS, StopReason, Suite, TargetKind, Trial, Workload};
use cardmark_engine::{Plan, Request, RunResult, TargetRoom, make_plan};

use crate::oracle::assert_agrees;
use crate::support::{
    Call, Heard, LIMIT_NS, MS, Rig, Script, order, plan, plan_only, recorded, sequential, suite,
    three, workload,
};

pub(crate) fn whole_run(script: Script, plan: &Plan) -> (RunResult, Rig) {
    let mut rig = Rig::new(script);
    let outcome = rig.run(plan);
    assert!(outcome.is_complete());
    for (trial, log) in outcome.trials.iter().zip(&rig.backend.trials) {
        assert_agrees(trial, log);
    }
    (outcome, rig)
}

fn of<'a>(outcome: &'a RunResult, id: &str) -> Vec<&'a Trial> {
    outcome
        .trials
        .iter()
        .filter(|trial| trial.workload.id == id)
        .collect()
}

/// Returns a plan that only reads.
pub(crate) fn reading(suite: &Suite) -> Plan {
    let request = Request {
        read_only: true,
        limit_ns: LIMIT_NS,
        ..Request::default()
    };
    make_plan(
        suite,
        &request,
        TargetRoom::disk(TargetKind::Device, suite.file_bytes),
    )
    .unwrap()
}

/// Service times that alternate between trials by this percentage of the mean.
fn swaying(percent: u64) -> Script {
    Script::of(move |call: &Call<'_>| {
        let sway = percent * MS / 100;
        if call.trial.is_multiple_of(2) {
            MS + sway
        } else {
            MS - sway
        }
    })
}

#[test]
fn the_layout_writes_the_file_once_and_counts_as_rounds() {
    let (outcome, rig) = whole_run(Script::constant(MS), &plan(&three()));
    let mut offsets = Vec::new();
    for (piece, trial) in outcome.trials[..4].iter().enumerate() {
        assert!(trial.layout);
        assert_eq!(
            (trial.workload.id.as_str(), trial.round_index),
            ("seq_write", piece as u32)
        );
        assert_eq!((trial.bytes(), trial.untimed_bytes), (1 << 20, 0));
        assert_eq!(trial.written_bytes, 1 << 20);
        assert_eq!(trial.workload.ramp_ns, 0, "the workload as executed");
        offsets.extend(rig.backend.trials[piece].offsets());
    }
    let all: Vec<u64> = (0..64).map(|block| block * 64 * 1024).collect();
    assert_eq!(offsets, all, "every block once, in order");
    let writes = of(&outcome, "seq_write");
    let rounds: Vec<(u32, bool)> = writes
        .iter()
        .map(|trial| (trial.round_index, trial.layout))
        .collect();
    assert_eq!(
        rounds,
        [
            (0, true),
            (1, true),
            (2, true),
            (3, true),
            (4, false),
            (5, false)
        ]
    );
    assert_eq!(
        rig.backend.trials[writes[4].id as usize].offsets()[0],
        0,
        "repeated"
    );
    let record = recorded(&plan(&three()), outcome);
    assert_eq!(record.metric("seq_write").unwrap().trials.len(), 6);
}

#[test]
fn precise_workloads_end_at_the_first_look_in_turning_order() {
    let (outcome, _) = whole_run(Script::constant(MS), &plan(&three()));
    let expected = [
        // First the layout, then the others catch up, then all continue together.
        [("seq_write", 0), ("seq_write", 1), ("seq_write", 2)],
        [("seq_write", 3), ("rand_read", 0), ("rand_write", 0)],
        [("rand_read", 1), ("rand_write", 1), ("rand_write", 2)],
        [("rand_read", 2), ("rand_read", 3), ("rand_write", 3)],
        [("rand_read", 4), ("rand_write", 4), ("seq_write", 4)],
        [("rand_write", 5), ("seq_write", 5), ("rand_read", 5)],
    ]
    .concat();
    assert_eq!(order(&outcome.trials), expected);
    let record = recorded(&plan(&three()), outcome);
    for metric in &record.metrics {
        assert_eq!(
            (metric.stopped_by, metric.trials.len()),
            (StopReason::Goal, 6)
        );
    }
    assert_eq!(
        record.written_bytes,
        record.trials.iter().map(|t| t.written_bytes).sum::<u64>()
    );
}

#[test]
fn each_round_begins_with_another_workload() {
    let mut reads = vec![sequential("seq_write", 0)];
    reads.extend(["a", "b", "c"].map(workload));
    let (outcome, _) = whole_run(Script::constant(MS), &reading(&suite(reads)));
    assert!(
        outcome
            .trials
            .iter()
            .all(|trial| trial.written_bytes == 0 && !trial.layout)
    );
    let seen: Vec<String> = order(&outcome.trials)
        .iter()
        .map(|(id, r)| format!("{id}{r}"))
        .collect();
    assert_eq!(
        seen.join(" "),
        "a0 b0 c0 b1 c1 a1 c2 a2 b2 a3 b3 c3 b4 c4 a4 c5 a5 b5"
    );
}

#[test]
fn rounds_are_added_until_the_interval_is_narrow_enough() {
    // One workload, so that its trials alternate. Student's t at 96 %: 2.76 (5), 2.33 (11).
    let one = reading(&suite(vec![
        sequential("seq_write", 0),
        workload("rand_read"),
    ]));
    for (percent, expected, stopped_by) in [
        (1, 6, StopReason::Goal),
        (2, 6, StopReason::Goal),
        (3, 12, StopReason::Goal),
        (5, 24, StopReason::Goal),
        (20, 24, StopReason::Rounds),
    ] {
        let (outcome, _) = whole_run(swaying(percent), &one);
        assert_eq!(outcome.trials.len(), expected, "± {percent} %");
        let record = recorded(&one, outcome);
        assert_eq!(
            record.metric("rand_read").unwrap().stopped_by,
            stopped_by,
            "± {percent} %"
        );
    }
}

#[test]
fn precise_and_imprecise_workloads_end_on_their_own() {
    let plan = plan(&three());
    let script = Script::of(|call| match (call.workload.id.as_str(), call.trial % 3) {
        ("rand_read", 0) => 2 * MS,
        _ => MS,
    });
    let (outcome, _) = whole_run(script, &plan);
    let counts = ["seq_write", "rand_read", "rand_write"].map(|id| of(&outcome, id).len());
    assert_eq!(counts, [6, 24, 6]);
    let rounds: Vec<u32> = of(&outcome, "rand_read")
        .iter()
        .map(|t| t.round_index)
        .collect();
    assert_eq!(rounds, (0..24).collect::<Vec<_>>());
}

#[test]
fn the_budget_ends_rounds_but_never_the_first_six() {
    // A trial takes 110 ms or a little more.
    let mut suite = suite(vec![sequential("seq_write", 0), workload("rand_read")]);
    for (budget_ns, expected) in [(0, 6), (500 * MS, 6), (900 * MS, 9), (60 * SECOND_NS, 24)] {
        suite.budget_ns = budget_ns;
        let one = reading(&suite);
        let (outcome, _) = whole_run(swaying(20), &one);
        assert_eq!(outcome.trials.len(), expected, "budget of {budget_ns} ns");
        let began = |trial: &Trial| trial.started_ns - trial.workload.ramp_ns;
        let late = outcome
            .trials
            .iter()
            .skip(6)
            .filter(|trial| began(trial) >= budget_ns + 10 * MS);
        assert_eq!(late.count(), 0, "no trial begins after it");
        let metric = &recorded(&one, outcome).metrics[0];
        let reason = if expected == 24 {
            StopReason::Rounds
        } else {
            StopReason::Budget
        };
        assert_eq!(metric.stopped_by, reason);
    }
}

#[test]
fn what_remains_is_told_exactly_once_trials_are_known() {
    let suite = suite(vec![
        sequential("seq_write", 0),
        workload("rand_read"),
        Workload {
            read_share_percent: 20,
            ..workload("mixed")
        },
    ]);
    let (outcome, rig) = whole_run(Script::constant(MS), &plan(&suite));
    let heard = rig.heard.borrow();
    assert!(matches!(heard[0], Heard::Started));
    assert_eq!(heard.len(), 1 + 2 * outcome.trials.len());
    for (trial, events) in outcome.trials.iter().zip(heard[1..].chunks(2)) {
        let [
            Heard::TrialStarted {
                workload,
                round_index,
                remaining_ns,
                layout,
                at_ns,
            },
            ended,
        ] = events
        else {
            panic!("{events:?}")
        };
        assert!(matches!(ended, Heard::TrialEnded(id) if *id == trial.id));
        assert_eq!(
            (workload, round_index),
            (&trial.workload.id, &trial.round_index)
        );
        assert_eq!(layout, &trial.layout);
        // The expectation for the first piece of the layout uses an assumed rate.
        if trial.id > 0 {
            assert_eq!(at_ns + remaining_ns, outcome.span_ns, "trial {}", trial.id);
        }
    }
}

#[test]
fn sequential_rounds_go_on_where_the_one_before_stopped() {
    let mut slow = sequential("seq_read", 100);
    slow.ramp_ns = 0;
    slow.stop.least_span_ns = 10 * MS;
    slow.stop.least_operations_count = 1;
    let suite = suite(vec![
        sequential("seq_write", 0),
        slow,
        workload("rand_read"),
    ]);
    let (outcome, rig) = whole_run(Script::constant(MS), &plan(&suite));
    let mut expected = 0;
    for trial in of(&outcome, "seq_read") {
        let offsets = rig.backend.trials[trial.id as usize].offsets();
        assert_eq!(offsets.len(), 10);
        for offset in offsets {
            assert_eq!(offset, expected);
            expected = (expected + 64 * 1024) % suite.file_bytes;
        }
    }
}

#[test]
fn a_layout_that_was_not_asked_for_stays_in_the_record_without_a_metric() {
    let plan = plan_only(&three(), &["rand_read"]);
    // The layout's pieces differ enough for a finding, but they are not tested.
    let script = Script::of(|call| if call.trial < 4 { MS << call.trial } else { MS });
    let (outcome, _) = whole_run(script, &plan);
    let expected = ["seq_write"; 4].into_iter().chain(["rand_read"; 6]);
    assert!(
        outcome
            .trials
            .iter()
            .map(|t| t.workload.id.as_str())
            .eq(expected)
    );
    let record = recorded(&plan, outcome);
    assert_eq!(record.trials.len(), 10);
    assert_eq!(record.written_bytes, 4 << 20);
    let ids: Vec<&str> = record
        .metrics
        .iter()
        .map(|metric| metric.id.as_str())
        .collect();
    assert_eq!(
        ids,
        [
            "rand_read",
            "rand_read_p50",
            "rand_read_p99",
            "rand_read_max"
        ]
    );
    assert_eq!(
        record.findings,
        [],
        "no findings about figures that were not requested"
    );
    assert_eq!(record.suite.unwrap().only, ["rand_read"]);
}

#[test]
fn a_layout_that_was_asked_for_alone_is_measured_like_any_other() {
    let plan = plan_only(&three(), &["seq_write"]);
    let (outcome, _) = whole_run(Script::constant(MS), &plan);
    assert_eq!(outcome.trials.len(), 6);
    let record = recorded(&plan, outcome);
    assert_eq!(record.metrics.len(), 1);
    assert_eq!(record.metrics[0].trials, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn readings_are_counted_from_the_start_of_the_run() {
    use crate::support::{ORIGIN_NS, ScriptedSensors};
    use cardmark_core::SensorSample;
    let at = |at_ns| SensorSample {
        at_ns,
        ..SensorSample::default()
    };
    let mut rig = Rig::new(Script::constant(MS));
    rig.sensors = ScriptedSensors(vec![
        at(ORIGIN_NS - 1),
        at(ORIGIN_NS),
        at(ORIGIN_NS + 5 * SECOND_NS),
    ]);
    let outcome = rig.run(&plan(&three()));
    let times: Vec<u64> = outcome.sensors.iter().map(|sample| sample.at_ns).collect();
    assert_eq!(times, [0, 5 * SECOND_NS], "no earlier reading");
}

/// Another run on this host holds the turn for longer than the whole budget.
#[test]
fn waiting_for_a_turn_costs_no_rounds() {
    let (alone, _) = whole_run(swaying(3), &plan(&three()));
    let mut rig = Rig::new(swaying(3));
    rig.wait_ns = 600 * SECOND_NS;
    let outcome = rig.run(&plan(&three()));
    assert!(outcome.is_complete());
    let ids = |outcome: &RunResult| -> Vec<(String, u32)> {
        let trials = outcome.trials.iter();
        trials
            .map(|trial| (trial.workload.id.clone(), trial.round_index))
            .collect()
    };
    assert_eq!(ids(&outcome), ids(&alone));
}
