//! Suites that run through a list, like the scripts of the old tools.

use cardmark_core::{
    Errno, Figure, FigureOf, FindingKind, Order, Passes, PrintStyle, Start, StopReason, Suite,
    Workload,
};
use cardmark_engine::RunResult;

use crate::suite_rules::broken_rule;
use crate::support::{
    EINVAL, EIO, ENODEV, Heard, MS, Rig, Script, list, order, plan, recorded, sequential, workload,
};

const EACCES: Errno = Errno::ACCESS;

fn two(passes: Passes) -> Suite {
    let suite = list(vec![sequential("write", 0), workload("read")], passes);
    assert_eq!(broken_rule(&suite), None);
    suite
}

#[test]
fn a_list_is_run_through_in_its_order_so_many_times() {
    for count in [1, 3] {
        let plan = plan(&two(Passes::Count(count)));
        let mut rig = Rig::new(Script::constant(MS));
        let outcome = rig.run(&plan);
        assert!(outcome.is_complete());
        let expected: Vec<(&str, u32)> = (0..count)
            .flat_map(|pass| [("write", pass), ("read", pass)])
            .collect();
        assert_eq!(order(&outcome.trials), expected);
        assert!(outcome.trials.iter().all(|trial| !trial.layout));
        // A sequential workload starts at the beginning each time.
        for log in &rig.backend.trials {
            assert!(log.workload.id == "read" || log.offsets()[0] == 0);
        }
        let record = recorded(&plan, outcome);
        for id in ["write", "read"] {
            let metric = record.metric(id).unwrap();
            assert_eq!(metric.stopped_by, StopReason::Rounds);
            assert_eq!(metric.trials.len(), count as usize);
        }
    }
}

#[test]
fn what_remains_is_told_exactly_from_the_second_pass_on() {
    let plan = plan(&two(Passes::Count(3)));
    let mut rig = Rig::new(Script::constant(MS));
    let outcome = rig.run(&plan);
    let heard = rig.heard.borrow();
    let mut starts = 0;
    for event in heard.iter() {
        if let Heard::TrialStarted {
            remaining_ns,
            round_index,
            at_ns,
            ..
        } = event
        {
            starts += 1;
            if *round_index > 0 {
                assert_eq!(at_ns + remaining_ns, outcome.span_ns);
            }
        }
    }
    assert_eq!(starts, 6);
}

#[test]
fn a_workload_that_fails_costs_no_other_and_no_later_pass() {
    let plan = plan(&two(Passes::Count(2)));
    let read_fails = Script::constant(MS).failing(1, 30, Err(EIO));
    let mut write_refused = Script::constant(MS);
    write_refused.prepare = Box::new(|trial| if trial == 0 { Err(EINVAL) } else { Ok(()) });
    for (script, broken) in [(read_fails, 1), (write_refused, 0)] {
        let outcome = Rig::new(script).run(&plan);
        assert!(!outcome.is_complete());
        let whole: Vec<bool> = outcome.trials.iter().map(|t| t.is_whole()).collect();
        let expected: Vec<bool> = (0..4).map(|index| index != broken).collect();
        assert_eq!(whole, expected);
        let record = recorded(&plan, outcome);
        assert_eq!(
            record.metric("write").unwrap().trials.len(),
            if broken == 0 { 1 } else { 2 }
        );
    }
}

#[test]
fn a_disk_that_may_not_be_read_is_told_as_that() {
    let plan = plan(&two(Passes::Count(1)));
    let mut script = Script::constant(MS);
    script.prepare = Box::new(|trial| if trial == 0 { Err(EACCES) } else { Ok(()) });
    let outcome = Rig::new(script).run(&plan);
    let [finding] = &outcome.findings[..] else {
        panic!("{:?}", outcome.findings)
    };
    assert_eq!(finding.kind, FindingKind::NotPermitted);
    assert_eq!(finding.workloads, ["write"]);
    assert!(outcome.trials[1].is_whole(), "the other was measured");
    assert!(!outcome.is_complete());
}

#[test]
fn a_device_that_vanishes_or_a_stop_ends_the_list() {
    let plan = plan(&two(Passes::Count(3)));
    let gone = Script::constant(MS).failing(2, 5, Err(ENODEV));
    let mut stopped = Script::constant(MS);
    stopped.stop_at = Some((2, 5));
    for (script, kind) in [
        (gone, FindingKind::Vanished),
        (stopped, FindingKind::Interrupted),
    ] {
        let outcome = Rig::new(script).run(&plan);
        assert_eq!(
            order(&outcome.trials),
            [("write", 0), ("read", 0), ("write", 1)]
        );
        assert_eq!(outcome.findings[0].kind, kind);
    }
}

/// Number of operations per second far below that of a good pass. Far, so that the unit of the printed number
/// does not matter.
const LEAST_PER_S: f64 = 60_000.0;
const GOOD_NS: u64 = MS / 100;
const BAD_NS: u64 = 100 * MS;

/// Runs the list with a mark for `read`, which is good in these passes.
fn until_good(passes_count: u32, good: &'static [u32]) -> (RunResult, Suite) {
    let mut suite = two(Passes::Count(1));
    suite.passes = Some(Passes::UntilGood(passes_count));
    suite.figures = vec![Figure {
        id: "read".to_owned(),
        workload: "read".to_owned(),
        of: FigureOf::Operations,
        printed: Some(PrintStyle::AgnosticsIops),
        least: Some(LEAST_PER_S),
        weight: None,
    }];
    assert_eq!(broken_rule(&suite), None);
    let script = Script::of(move |call| {
        let pass = call.trial as u32 / 2;
        let is_good = call.workload.id == "write" || good.contains(&pass);
        if is_good { GOOD_NS } else { BAD_NS }
    });
    (Rig::new(script).run(&plan(&suite)), suite)
}

#[test]
fn it_ends_with_the_first_good_pass_and_takes_its_figures_from_it() {
    for (good, passes_count) in [(&[0][..], 1), (&[1], 2), (&[2], 3), (&[], 3)] {
        let (outcome, suite) = until_good(3, good);
        assert!(outcome.is_complete());
        assert_eq!(outcome.trials.len(), 2 * passes_count, "good in {good:?}");
        let record = recorded(&plan(&suite), outcome);
        let metric = record.metric("read").unwrap();
        let last = 2 * passes_count as u32 - 1;
        assert_eq!(metric.trials, [last]);
        let expected = if good.is_empty() { 10.0 } else { 100_000.0 };
        let rate = metric.operations_per_s.unwrap();
        assert!((rate / expected - 1.0).abs() < 0.01, "{rate}");
    }
}

#[test]
fn a_mark_that_is_not_measured_is_not_reached() {
    let workloads: Vec<Workload> = vec![sequential("write", 0), workload("read")];
    let mut suite = list(workloads, Passes::UntilGood(2));
    suite.figures = until_good(1, &[]).1.figures;
    let mut script = Script::constant(GOOD_NS);
    script.prepare = Box::new(|trial| if trial % 2 == 1 { Err(EINVAL) } else { Ok(()) });
    let outcome = Rig::new(script).run(&plan(&suite));
    assert_eq!(outcome.trials.len(), 4);
}

#[test]
fn a_file_whose_places_are_visited_is_written_before_the_first_only() {
    let mut spread = Workload {
        order: Order::Spread,
        ramp_ns: 0,
        ..workload("spread")
    };
    spread.stop.most_bytes = Some(64 << 10);
    spread.manner.start = Start::Written;
    let plan = plan(&list(vec![spread], Passes::Count(3)));
    let mut rig = Rig::new(Script::constant(MS));
    assert!(rig.run(&plan).is_complete());
    let starts: Vec<Start> = rig
        .backend
        .trials
        .iter()
        .map(|log| log.workload.manner.start)
        .collect();
    assert_eq!(starts, [Start::Written, Start::Kept, Start::Kept]);
}
