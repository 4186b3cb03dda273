//! Findings of a record, at and around each threshold.

use cardmark_core::{
    Finding, FindingKind, Flush, Procedure, Record, SensorSample, Severity, StopRule, Suite,
    Workload, parse_record, record_to_json,
};
use cardmark_engine::{RunResult, record};
use cardmark_stats::refresh;

use crate::support::{
    EIO, MS, Rig, Script, header, plan, recorded, sequential, suite, three, workload,
};

/// A sequential write, a line of a log and a package of two files.
fn procedures() -> Suite {
    let each = |id: &str| Workload {
        read_share_percent: 0,
        flush: Flush::EachOperation,
        ..workload(id)
    };
    let mut suite = suite(vec![
        sequential("seq_write", 0),
        each("append"),
        each("install"),
    ]);
    suite.workloads[1].procedure = Some(Procedure::Append);
    suite.workloads[2].procedure = Some(Procedure::Install {
        packages_count: 4,
        file_sizes_bytes: vec![2048; 2],
    });
    suite
}

#[test]
fn what_is_written_besides_belongs_to_a_procedure_and_what_is_not_written_does_not() {
    let counted = |per_mille: u64| {
        let mut script = Script::constant(MS);
        script.counted = Some(per_mille);
        recorded(&plan(&procedures()), run(script, &procedures()))
    };
    let shared = found(&counted(9000), FindingKind::SharedDevice).len();
    assert_eq!(shared, 1, "the plain write alone");
    assert_eq!(found(&counted(500), FindingKind::NotReached).len(), 3);
}

/// A sequential write, and writes that are made durable one by one.
fn writes() -> Suite {
    let each = Workload {
        read_share_percent: 0,
        flush: Flush::EachOperation,
        ..workload("sync_write")
    };
    suite(vec![sequential("seq_write", 0), each])
}

fn run(script: Script, suite: &Suite) -> RunResult {
    let outcome = Rig::new(script).run(&plan(suite));
    assert!(outcome.is_complete());
    outcome
}

/// Returns the severity of all findings of a kind by workload; for the whole run, the workload is ``.
fn found(record: &Record, kind: FindingKind) -> Vec<(&str, Severity)> {
    let of_kind = record
        .findings
        .iter()
        .filter(|finding| finding.kind == kind);
    of_kind
        .map(|finding| {
            (
                finding.workloads.first().map_or("", String::as_str),
                finding.severity,
            )
        })
        .collect()
}

fn counted(per_mille: u64) -> Record {
    let mut script = Script::constant(MS);
    script.counted = Some(per_mille);
    recorded(&plan(&writes()), run(script, &writes()))
}

#[test]
fn a_device_that_counted_less_was_not_reached() {
    let both = [
        ("seq_write", Severity::Warning),
        ("sync_write", Severity::Warning),
    ];
    for (per_mille, expected) in [(0, &both[..]), (500, &both), (975, &both), (985, &[])] {
        let record = counted(per_mille);
        assert_eq!(
            found(&record, FindingKind::NotReached),
            expected,
            "{per_mille}"
        );
        assert_eq!(found(&record, FindingKind::SharedDevice), []);
        assert_eq!(found(&record, FindingKind::Unverified), []);
        let warned = record.metric("seq_write").unwrap().warnings == ["not_reached"];
        assert_eq!(warned, !expected.is_empty());
    }
    let half = counted(500);
    assert_eq!(
        half.findings[0].detail,
        "the device moved 50 % of the bytes asked for"
    );
}

#[test]
fn a_device_that_counted_more_is_shared() {
    // If each write is made durable, the filesystem's own writes belong to the price.
    let both = [
        ("seq_write", Severity::Warning),
        ("sync_write", Severity::Note),
    ];
    for (per_mille, expected) in [(1000, &[][..]), (1099, &[]), (1105, &both), (1500, &both)] {
        let record = counted(per_mille);
        assert_eq!(
            found(&record, FindingKind::SharedDevice),
            expected,
            "{per_mille}"
        );
        assert_eq!(found(&record, FindingKind::NotReached), []);
        assert!(record.metric("sync_write").unwrap().warnings.is_empty());
    }
}

#[test]
fn ramp_and_drain_are_asked_for_too() {
    // A deep queue and a long ramp: nearly half of the bytes lie outside the clock.
    let mut deep = Workload {
        queue_depth: 32,
        ramp_ns: 80 * MS,
        ..workload("rand_read")
    };
    deep.stop.least_operations_count = 1;
    let suite = suite(vec![sequential("seq_write", 0), deep]);
    let record = recorded(&plan(&suite), run(Script::constant(MS), &suite));
    assert_eq!(record.findings, []);
}

#[test]
fn missing_counters_are_noted_once() {
    let mut script = Script::constant(MS);
    script.counted = None;
    let record = recorded(&plan(&three()), run(script, &three()));
    assert_eq!(
        found(&record, FindingKind::Unverified),
        [("", Severity::Note)]
    );
    assert_eq!(record.findings.len(), 1);
    assert!(
        record
            .metrics
            .iter()
            .all(|metric| metric.warnings.is_empty())
    );
}

#[test]
fn a_long_flush_shows_a_cache() {
    // The layout's four pieces take 16 ms each, and each of the two other trials too: 96 ms in all.
    for (flush_ns, expected) in [
        (0, &[][..]),
        (1_600_000, &[]),
        (1_600_001, &[("seq_write", Severity::Warning)]),
        (90 * MS, &[("seq_write", Severity::Warning)]),
    ] {
        let mut script = Script::constant(MS);
        script.flush = Box::new(move |_| Ok(flush_ns));
        let record = recorded(&plan(&writes()), run(script, &writes()));
        assert_eq!(
            found(&record, FindingKind::CachedWrites),
            expected,
            "{flush_ns}"
        );
    }
}

#[test]
fn slowing_down_is_told_of_the_trials_it_touched() {
    let mut outcome = run(Script::constant(MS), &writes());
    for (index, trial) in outcome.trials.iter_mut().enumerate() {
        trial.started_ns += index as u64 * 10_000 * MS;
    }
    let trial = outcome.trials[6].clone();
    assert_eq!(trial.workload.id, "sync_write");
    // A reading is valid for half a second before and after it.
    let reach_ns = 500 * MS;
    let (begun_ns, ended_ns) = (trial.started_ns, trial.started_ns + trial.span_ns);
    let touched = [("sync_write", Severity::Warning)];
    for (at_ns, throttled, expected) in [
        (begun_ns - reach_ns - 1, Some(true), &[][..]),
        (begun_ns - reach_ns, Some(true), &touched),
        (ended_ns + reach_ns, Some(true), &touched),
        (ended_ns + reach_ns + 1, Some(true), &[]),
        (begun_ns, Some(false), &[]),
        (begun_ns, None, &[]),
    ] {
        let sample = SensorSample {
            at_ns,
            throttled,
            ..SensorSample::default()
        };
        let yielded = RunResult {
            trials: outcome.trials.clone(),
            sensors: vec![sample.clone(), sample.clone()],
            ..RunResult::default()
        };
        let record = recorded(&plan(&writes()), yielded);
        assert_eq!(
            found(&record, FindingKind::Throttled),
            expected,
            "{at_ns} {throttled:?}"
        );
        assert_eq!(record.sensors, [sample.clone(), sample]);
        if !expected.is_empty() {
            let detail = "the board slowed itself down in 1 of 6 trials";
            assert_eq!(record.findings[0].detail, detail);
        }
    }
}

/// Returns the record of a run with this sample between the readings before and after a trial of
/// `sync_write`, and no other counts.
fn with_counts(sample: &SensorSample) -> Record {
    let mut outcome = run(Script::constant(MS), &writes());
    for (index, trial) in outcome.trials.iter_mut().enumerate() {
        trial.started_ns = (index as u64 + 1) * 10_000 * MS;
    }
    // Readings before and after each trial, as in a real run; the sample belongs to one of them.
    for (index, trial) in outcome.trials.iter().enumerate() {
        let end_ns = trial.started_ns + trial.span_ns + trial.flush_span_ns.unwrap_or(0);
        let nothing = SensorSample {
            stolen_ns: sample.stolen_ns.map(|_| 0),
            ..SensorSample::default()
        };
        let said = if index == 6 { sample } else { &nothing };
        for (at_ns, said) in [(trial.started_ns, &nothing), (end_ns, said)] {
            outcome.sensors.push(SensorSample {
                at_ns,
                ..said.clone()
            });
        }
    }
    assert_eq!(outcome.trials[6].workload.id, "sync_write");
    recorded(&plan(&writes()), outcome)
}

#[test]
fn errors_on_the_bus_are_told_of_the_trials_they_came_in() {
    let errors = [("data_crc", 2), ("command_timeout", 1)];
    let sample = SensorSample {
        bus_errors: errors.map(|(name, count)| (name.to_owned(), count)).into(),
        ..SensorSample::default()
    };
    let record = with_counts(&sample);
    let touched = [("sync_write", Severity::Warning)];
    assert_eq!(found(&record, FindingKind::BusErrors), touched);
    assert_eq!(
        record.findings[0].detail,
        "the card's host controller counted 3 errors on the bus: command_timeout 1, data_crc 2"
    );
    assert_eq!(
        record.metric("sync_write").unwrap().warnings,
        ["bus_errors"]
    );
    assert!(record.metric("seq_write").unwrap().warnings.is_empty());
    let record = with_counts(&SensorSample::default());
    assert_eq!(found(&record, FindingKind::BusErrors), []);
}

#[test]
fn what_the_kernel_said_is_told_each_message_once() {
    let messages = ["a", "a", "b", "c", "d"].map(str::to_owned).to_vec();
    let record = with_counts(&SensorSample {
        messages,
        ..SensorSample::default()
    });
    let touched = [("sync_write", Severity::Warning)];
    assert_eq!(found(&record, FindingKind::KernelMessages), touched);
    assert_eq!(
        record.findings[0].detail,
        "the kernel complained about the device 5 times: a; b; c"
    );
}

#[test]
fn stolen_time_is_told_from_a_twentieth_on() {
    let outcome = run(Script::constant(MS), &writes());
    let ours = outcome
        .trials
        .iter()
        .filter(|trial| trial.workload.id == "sync_write");
    let span_ns: u64 = ours
        .map(|trial| trial.span_ns + trial.flush_span_ns.unwrap_or(0))
        .sum();
    // The board has no known number of processors here: it counts as one.
    for (stolen_ns, expected) in [(span_ns / 21, &[][..]), (span_ns / 19, &["sync_write"])] {
        let record = with_counts(&SensorSample {
            stolen_ns: Some(stolen_ns),
            ..SensorSample::default()
        });
        let found = found(&record, FindingKind::StolenTime);
        let touched: Vec<&str> = found.iter().map(|(workload, _)| *workload).collect();
        assert_eq!(touched, expected, "{stolen_ns}");
    }
}

#[test]
fn payload_must_be_made_ten_times_faster_than_it_is_written() {
    // Blocks of 64 KiB in 65,536 ns: 10⁹ bytes a second, by every trial.
    let mut fast = sequential("seq_write", 0);
    fast.ramp_ns = 0;
    fast.stop = StopRule {
        least_span_ns: 65_536 * 16,
        least_operations_count: 1,
        most_bytes: None,
        longest_span_ns: None,
        ..StopRule::default()
    };
    let read = Workload {
        read_share_percent: 100,
        ..fast.clone()
    };
    let suite = suite(vec![
        fast,
        Workload {
            id: "seq_read".into(),
            ..read
        },
    ]);
    let plan = plan(&suite);
    let outcome = run(Script::constant(65_536), &suite);
    for (rate, expected) in [
        (Some(1e10), &[][..]),
        (Some(0.999e10), &[("seq_write", Severity::Warning)]),
        (Some(5e8), &[("seq_write", Severity::Warning)]),
        (None, &[]),
    ] {
        let yielded = RunResult {
            trials: outcome.trials.clone(),
            ..RunResult::default()
        };
        let record = record(header(plan.suite_ref.clone(), rate), yielded, &suite);
        assert_eq!(
            found(&record, FindingKind::SlowPayload),
            expected,
            "{rate:?}"
        );
    }
}

#[test]
fn broken_trials_say_nothing_about_the_others() {
    // The last trial of a workload fails after its counters were wrong.
    let script = Script::constant(MS).failing(9, 30, Err(EIO));
    let mut outcome = Rig::new(script).run(&plan(&three()));
    for trial in outcome.trials.iter_mut().filter(|trial| !trial.is_whole()) {
        trial.device_counters = None;
    }
    let record = recorded(&plan(&three()), outcome);
    let kinds: Vec<FindingKind> = record.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::IoError, FindingKind::WideInterval]);
}

#[test]
fn metrics_are_rebuilt_from_the_json_of_the_record() {
    let mut script = Script::of(|call| MS + call.number * 977 % MS + call.trial as u64 * 40_000);
    script.counted = Some(1200);
    script.flush = Box::new(|_| Ok(20 * MS));
    script = script.channels(3).failing(9, 30, Err(EIO));
    let plan = plan(&three());
    let outcome = Rig::new(script).run(&plan);
    let mut header = header(plan.suite_ref.clone(), Some(1e8));
    header.findings = vec![Finding::new(
        FindingKind::Buffered,
        Severity::Warning,
        "known before",
    )];
    let record = record(header, outcome, &plan.suite);
    assert_eq!(record.metrics.len(), 9);
    assert!(record.findings.len() >= 5, "{:?}", record.findings);

    let text = record_to_json(&record).unwrap();
    let mut rebuilt = parse_record(&text).unwrap();
    assert_eq!(rebuilt, record);
    rebuilt.metrics.clear();
    refresh(&mut rebuilt, &plan.suite);
    assert_eq!(rebuilt, record);
    assert_eq!(record_to_json(&rebuilt).unwrap(), text);
}
