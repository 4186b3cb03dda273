//! Bad cards are our subject: the effects of a failing part, and the results that are kept.

use cardmark_core::{Errno, Finding, FindingKind, Procedure, Severity, StopReason, Trial};
use cardmark_engine::{Failure, RunResult, TrialContext};

use crate::oracle::{assert_agrees, assert_sums};
use crate::support::{
    EINVAL, EIO, ENODEV, ENOSPC, Heard, MS, Rig, Script, order, plan, recorded, sequential, suite,
    three, workload,
};

/// In a run of [`three`], the layout's four trials are 0–3, followed by `rand_read` and `rand_write` in
/// alternating order. This is the third trial of `rand_read`.
const THIRD_READ: usize = 9;

/// Runs [`three`] and checks the properties of every run that failed.
fn run(script: Script) -> (RunResult, Rig) {
    let mut rig = Rig::new(script);
    let outcome = rig.run(&plan(&three()));
    assert_partial(&outcome, &rig);
    (outcome, rig)
}

fn assert_partial(outcome: &RunResult, rig: &Rig) {
    assert!(!outcome.is_complete());
    for (trial, log) in outcome.trials.iter().zip(&rig.backend.trials) {
        match trial.stopped_by {
            StopReason::Goal => assert_agrees(trial, log),
            _ => assert_sums(trial),
        }
        assert_eq!(
            log.submitted.len(),
            log.reaped.len(),
            "nothing is left in flight"
        );
    }
    let heard = rig.heard.borrow();
    let ended = heard
        .iter()
        .filter(|event| matches!(event, Heard::TrialEnded(_)))
        .count();
    assert_eq!(ended, outcome.trials.len());
    let found = heard.iter().filter_map(|event| match event {
        Heard::Found(name) => Some(name.clone()),
        _ => None,
    });
    assert!(found.eq(outcome.findings.iter().map(|finding| finding.kind.name())));
    let ids: Vec<u32> = outcome.trials.iter().map(|trial| trial.id).collect();
    assert_eq!(ids, (0..ids.len() as u32).collect::<Vec<_>>());
}

/// Returns the only finding: its kind, its workloads, and its detail.
fn only(outcome: &RunResult) -> (FindingKind, &[String], &str) {
    let [finding] = &outcome.findings[..] else {
        panic!("{:?}", outcome.findings)
    };
    assert_eq!(finding.severity, Severity::Error);
    (finding.kind, &finding.workloads, &finding.detail)
}

fn count_of(outcome: &RunResult, id: &str) -> usize {
    outcome
        .trials
        .iter()
        .filter(|trial| trial.workload.id == id && trial.is_whole())
        .count()
}

/// Returns the only incomplete trial.
fn broken(outcome: &RunResult) -> &Trial {
    let mut broken = outcome.trials.iter().filter(|trial| !trial.is_whole());
    let first = broken.next().expect("one incomplete trial");
    assert!(broken.next().is_none());
    first
}

#[test]
fn an_error_in_the_layout_ends_the_run() {
    for (errno, kind) in [
        (EIO, FindingKind::IoError),
        (ENOSPC, FindingKind::NoSpace),
        (Errno::ROFS, FindingKind::RemountedReadOnly),
        (ENODEV, FindingKind::Vanished),
    ] {
        let (outcome, _) = run(Script::constant(MS).failing(2, 5, Err(errno)));
        assert_eq!(
            order(&outcome.trials),
            [("seq_write", 0), ("seq_write", 1), ("seq_write", 2)]
        );
        let (found, workloads, detail) = only(&outcome);
        assert_eq!((found, workloads), (kind, &["seq_write".to_owned()][..]));
        // Pieces of 16 blocks of 64 KiB: the sixth block of the third piece.
        let offset = (2 * 16 + 5) * 64 * 1024;
        assert!(
            detail.ends_with(&format!("(error {}) at byte {offset}", errno.0)),
            "{detail}"
        );
        let trial = broken(&outcome);
        assert_eq!((trial.layout, trial.stopped_by), (true, StopReason::Error));
        assert_eq!(
            trial.operations_count(),
            5,
            "successful operations are counted"
        );
        let [error] = trial.errors[..] else {
            panic!("{:?}", trial.errors)
        };
        assert_eq!(
            (error.offset_bytes, error.errno, error.at_ns),
            (offset, errno, 6 * MS)
        );
        assert!(!outcome.is_interrupted());
    }
}

#[test]
fn an_io_error_costs_its_workload_and_no_other() {
    let (outcome, rig) = run(Script::constant(MS).failing(THIRD_READ, 30, Err(EIO)));
    let (kind, workloads, detail) = only(&outcome);
    assert_eq!(
        (kind, workloads),
        (FindingKind::IoError, &["rand_read".to_owned()][..])
    );
    let offset = rig.backend.trials[THIRD_READ].submitted[30].0.offset;
    assert_eq!(
        detail,
        format!("input/output error (error 5) at byte {offset}")
    );
    let trial = broken(&outcome);
    assert_eq!((trial.id as usize, trial.round_index), (THIRD_READ, 2));
    assert_eq!(trial.errors[0].at_ns, 21 * MS, "after the ramp of ten");
    assert_eq!((trial.span_ns, trial.operations_count()), (21 * MS, 20));
    let counts = ["seq_write", "rand_read", "rand_write"].map(|id| count_of(&outcome, id));
    assert_eq!(counts, [6, 2, 6]);
    assert_eq!(
        outcome.trials.last().unwrap().round_index,
        5,
        "the others continued to their goal"
    );
    // The record keeps the measurements and marks the run as incomplete.
    let plan = plan(&three());
    let record = recorded(&plan, outcome);
    let stopped = |id: &str| record.metric(id).unwrap().stopped_by;
    assert_eq!(stopped("rand_read"), StopReason::Error);
    assert_eq!(stopped("rand_write"), StopReason::Goal);
    assert_eq!(record.metric("rand_read").unwrap().warnings, ["io_error"]);
    assert!(record.metric("rand_write").unwrap().warnings.is_empty());
}

#[test]
fn no_room_and_no_device_end_the_run() {
    for (errno, kind) in [
        (ENODEV, FindingKind::Vanished),
        (ENOSPC, FindingKind::NoSpace),
    ] {
        let (outcome, _) = run(Script::constant(MS).failing(THIRD_READ, 30, Err(errno)));
        assert_eq!(only(&outcome).0, kind);
        assert_eq!(outcome.trials.len(), THIRD_READ + 1);
        assert_eq!(broken(&outcome).errors[0].errno, errno);
    }
}

#[test]
fn fewer_bytes_than_asked_for_are_an_error() {
    for moved in [0, 512, 4095] {
        let (outcome, rig) = run(Script::constant(MS).failing(THIRD_READ, 30, Ok(moved)));
        let offset = rig.backend.trials[THIRD_READ].submitted[30].0.offset;
        let (kind, _, detail) = only(&outcome);
        assert_eq!(kind, FindingKind::IoError);
        assert_eq!(
            detail,
            format!("fewer bytes moved than asked for at byte {offset}")
        );
        let error = broken(&outcome).errors[0];
        assert_eq!((error.offset_bytes, error.errno), (offset, Errno::NONE));
    }
}

#[test]
fn errors_in_ramp_and_drain_are_errors_too() {
    // Trial 5 is the first of `rand_write`: queue depth 32, on four channels.
    let ramp = Script::constant(MS).channels(4).failing(5, 3, Err(EIO));
    let (outcome, _) = run(ramp);
    let trial = broken(&outcome);
    assert_eq!((trial.span_ns, trial.operations_count()), (0, 0));
    assert_eq!(trial.errors[0].at_ns, MS);
    assert!(trial.started_ns > 0, "its time is kept");
    assert_eq!(
        trial.written_bytes,
        35 * 4096,
        "32 and one for each of the three completions"
    );

    // 37 of the ramp, 416 of the span; operation 460 is in flight when the clock stops.
    let (outcome, rig) = run(Script::constant(MS).channels(4).failing(5, 460, Err(EIO)));
    let trial = broken(&outcome);
    assert_eq!((trial.span_ns, trial.operations_count()), (104 * MS, 416));
    let [error] = trial.errors[..] else {
        panic!("{:?}", trial.errors)
    };
    assert_eq!(
        error.offset_bytes,
        rig.backend.trials[5].submitted[460].0.offset
    );
    assert_eq!(trial.stopped_by, StopReason::Error);
    assert_eq!(only(&outcome).0, FindingKind::IoError);
    assert_eq!(trial.flush_span_ns, None);
}

#[test]
fn errors_of_a_dying_device_are_kept_up_to_a_number() {
    let mut script = Script::constant(MS);
    script.outcome = Box::new(|_| Some(Err(EIO)));
    let mut rig = Rig::new(script);
    let mut deep = workload("rand_read");
    deep.queue_depth = 256;
    let end = rig.trial(&deep, TrialContext::default());
    assert_eq!(end.trial.errors.len(), 64);
    assert_eq!(end.failure, Some(Failure::Operation(end.trial.errors[0])));
    assert_eq!(rig.log().reaped.len(), 256, "all were waited for");
    let at_ns: Vec<u64> = end.trial.errors.iter().map(|error| error.at_ns).collect();
    assert_eq!(at_ns, (1..=64).map(|ms| ms * MS).collect::<Vec<_>>());
}

#[test]
fn the_limit_is_for_each_part_of_an_operation() {
    let failure = |parts_count: usize| {
        let mut suite = three();
        for workload in &mut suite.workloads {
            workload.procedure = Some(Procedure::Install {
                packages_count: 1,
                file_sizes_bytes: vec![1; parts_count],
            });
        }
        let mut rig = Rig::new(Script::of(|call| {
            if (call.trial, call.number) == (THIRD_READ, 30) {
                3000 * MS
            } else {
                MS
            }
        }));
        let mut plan = plan(&suite);
        plan.limit_ns = 1000 * MS;
        let outcome = rig.run(&plan);
        outcome.findings.first().map(|finding| finding.kind)
    };
    assert_eq!(failure(2), Some(FindingKind::NoAnswer));
    assert_eq!(failure(3), None);
}

#[test]
fn an_answer_beyond_the_limit_ends_the_run() {
    let slow = |limit_ns: u64, late_ns: u64| {
        let mut rig = Rig::new(Script::of(move |call| {
            if (call.trial, call.number) == (THIRD_READ, 30) {
                limit_ns + late_ns
            } else {
                MS
            }
        }));
        let mut plan = plan(&three());
        plan.limit_ns = limit_ns;
        (rig.run(&plan), rig)
    };
    let (outcome, rig) = slow(1500 * MS, 1);
    assert_partial(&outcome, &rig);
    assert_eq!(outcome.trials.len(), THIRD_READ + 1);
    let offset = rig.backend.trials[THIRD_READ].submitted[30].0.offset;
    let (kind, workloads, detail) = only(&outcome);
    assert_eq!(
        (kind, workloads),
        (FindingKind::NoAnswer, &["rand_read".to_owned()][..])
    );
    assert_eq!(detail, format!("no answer for 1.5 s at byte {offset}"));
    let trial = broken(&outcome);
    assert_eq!(
        (trial.stopped_by, trial.operations_count()),
        (StopReason::Error, 20)
    );
    assert!(
        slow(1500 * MS, 0).0.is_complete(),
        "a latency equal to the limit passes"
    );
}

#[test]
fn a_late_answer_after_a_pause_of_this_process_is_no_fault_of_the_device() {
    let mut rig = Rig::new(Script::of(|call| match (call.trial, call.number) {
        (THIRD_READ, 30) => 5000 * MS,
        _ => MS,
    }));
    rig.pulse.note_pause();
    let mut plan = plan(&three());
    plan.limit_ns = 3000 * MS;
    let outcome = rig.run(&plan);
    assert_partial(&outcome, &rig);
    assert_eq!(outcome.trials.len(), THIRD_READ + 1);
    let kinds: Vec<FindingKind> = outcome.findings.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FindingKind::Interrupted]);
}

#[test]
fn a_stop_ends_the_run_at_the_next_operation() {
    // From inside an operation, like a signal.
    let mut script = Script::constant(MS);
    script.stop_at = Some((THIRD_READ, 30));
    let (outcome, rig) = run(script);
    assert_interrupted(&outcome);
    assert_eq!(outcome.trials.len(), THIRD_READ + 1);
    assert_eq!(rig.backend.trials[THIRD_READ].submitted.len(), 31);
    assert_eq!(broken(&outcome).operations_count(), 20);
    // With a full queue, the run waits for the operations in flight.
    let mut script = Script::constant(MS).channels(4);
    script.stop_at = Some((5, 100));
    let (outcome, rig) = run(script);
    assert_interrupted(&outcome);
    assert_eq!(rig.backend.trials[5].submitted.len(), 100 + 32);
}

#[test]
fn a_stop_between_trials_costs_one_operation() {
    // Started, then two events for each trial: after the end of the ninth, and at the tenth's start.
    for events in [1 + 2 * 9, 1 + 2 * 9 + 1] {
        let mut rig = Rig::new(Script::constant(MS));
        rig.stop_after = Some(events);
        let outcome = rig.run(&plan(&three()));
        assert_partial(&outcome, &rig);
        assert_interrupted(&outcome);
        assert_eq!(outcome.trials.len(), 10);
        let last = &rig.backend.trials[9];
        assert_eq!(last.submitted.len(), last.workload.queue_depth as usize);
    }
    // Before the first event.
    let mut rig = Rig::new(Script::constant(MS));
    rig.pulse.stop();
    let outcome = rig.run(&plan(&three()));
    assert_interrupted(&outcome);
    assert_eq!((outcome.trials.len(), rig.log().submitted.len()), (1, 1));
}

fn assert_interrupted(outcome: &RunResult) {
    assert!(outcome.is_interrupted() && !outcome.is_complete());
    let (kind, workloads, _) = only(outcome);
    assert_eq!((kind, workloads.len()), (FindingKind::Interrupted, 0));
    assert_eq!(broken(outcome).stopped_by, StopReason::Interrupted);
}

#[test]
fn a_stop_after_the_last_operation_changes_nothing() {
    let whole = Rig::new(Script::constant(MS)).run(&plan(&three()));
    let mut rig = Rig::new(Script::constant(MS));
    rig.stop_after = Some(1 + 2 * whole.trials.len());
    let outcome = rig.run(&plan(&three()));
    assert!(outcome.is_complete() && !outcome.is_interrupted());
    assert_eq!(outcome.trials, whole.trials);
}

#[test]
fn what_cannot_be_made_ready_costs_its_workload() {
    let refuse = |errno: Errno| {
        let mut script = Script::constant(MS);
        script.prepare = Box::new(move |trial| {
            if trial == THIRD_READ {
                Err(errno)
            } else {
                Ok(())
            }
        });
        script
    };
    let (outcome, rig) = run(refuse(EINVAL));
    let (kind, workloads, detail) = only(&outcome);
    assert_eq!(
        (kind, workloads),
        (FindingKind::IoError, &["rand_read".to_owned()][..])
    );
    assert_eq!(detail, "could not be started: invalid argument (error 22)");
    assert!(rig.backend.trials[THIRD_READ].submitted.is_empty());
    let trial = broken(&outcome);
    assert_eq!((trial.bytes(), trial.span_ns), (0, 0));
    assert!(trial.started_ns > 0, "its time is kept");
    assert_eq!(count_of(&outcome, "rand_write"), 6);
    let (outcome, _) = run(refuse(ENODEV));
    assert_eq!(
        (only(&outcome).0, outcome.trials.len()),
        (FindingKind::Vanished, THIRD_READ + 1)
    );
}

#[test]
fn a_failing_flush_costs_its_workload_and_voids_its_trial() {
    let fail = |trial: usize, errno: Errno| {
        let mut script = Script::constant(MS);
        script.flush = Box::new(move |index| if index == trial { Err(errno) } else { Ok(MS) });
        script
    };
    // The second trial of `rand_write`.
    let (outcome, _) = run(fail(7, EIO));
    let (kind, workloads, detail) = only(&outcome);
    assert_eq!(
        (kind, workloads),
        (FindingKind::IoError, &["rand_write".to_owned()][..])
    );
    assert_eq!(
        detail,
        "data could not be made durable: input/output error (error 5)"
    );
    let trial = broken(&outcome);
    assert_eq!(
        (trial.flush_span_ns, trial.stopped_by),
        (None, StopReason::Error)
    );
    assert_eq!(
        [
            count_of(&outcome, "rand_write"),
            count_of(&outcome, "rand_read")
        ],
        [1, 6]
    );
    // A failure in the layout ends the run, because the file is incomplete.
    let (outcome, _) = run(fail(3, EIO));
    assert_eq!(outcome.trials.len(), 4);
}

#[test]
fn the_first_reason_is_the_one_that_is_told() {
    // A whole queue fails with one error number, after a first failure with another.
    let mut script = Script::constant(MS);
    script.outcome = Box::new(|call| match call.number {
        0..20 => None,
        20 => Some(Err(EIO)),
        _ => Some(Err(ENODEV)),
    });
    let mut rig = Rig::new(script);
    let mut deep = workload("rand_read");
    deep.queue_depth = 8;
    let end = rig.trial(&deep, TrialContext::default());
    let Some(Failure::Operation(error)) = end.failure else {
        panic!("{:?}", end.failure)
    };
    assert_eq!(error.errno, EIO);
    let numbers: Vec<Errno> = end.trial.errors.iter().map(|error| error.errno).collect();
    assert_eq!(
        numbers,
        [EIO, ENODEV, ENODEV, ENODEV, ENODEV, ENODEV, ENODEV, ENODEV]
    );
}

#[test]
fn all_workloads_may_fail() {
    let mut script = Script::constant(MS);
    script.outcome = Box::new(|call| (call.trial > 3).then_some(Err(EIO)));
    let mut rig = Rig::new(script);
    let suite = suite(vec![sequential("seq_write", 0), workload("rand_read")]);
    let outcome = rig.run(&plan(&suite));
    assert_eq!(outcome.trials.len(), 4 + 2);
    let named: Vec<&Finding> = outcome.findings.iter().collect();
    assert_eq!(named.len(), 2);
    assert!(
        named
            .iter()
            .all(|finding| finding.kind == FindingKind::IoError)
    );
    let record = recorded(&plan(&suite), outcome);
    assert_eq!(record.metrics.len(), 1, "the layout's measurement is left");
}
