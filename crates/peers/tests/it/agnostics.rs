//! Logs of Raspberry Pi Diagnostics as people pasted them, with their figures written down by hand.

use cardmark_peers::{
    AgnosticsFigure, AgnosticsReading, AgnosticsRun, AgnosticsTest as Test, FioDirection,
    read_agnostics,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{fixture, harm};

const KIB: f64 = 1024.0;

const THREE_RUNS: &str = fixture!("agnostics-unknown-three-runs.txt");
const SCRIPT: &str = fixture!("agnostics-0.16-script.txt");

fn one(text: &str) -> AgnosticsReading {
    let mut readings = read_agnostics(text).unwrap();
    assert_eq!(readings.len(), 1);
    readings.remove(0)
}

/// Test, number, target, verdict, and whether fio says the same.
fn figures(run: &AgnosticsRun) -> Vec<(Test, f64, u64, bool, Option<bool>)> {
    let figures = run.figures.iter();
    figures
        .map(|figure| {
            let number = match (figure.bytes_per_s, figure.operations_per_s) {
                (Some(bytes), None) => bytes / KIB,
                (None, Some(operations)) => operations,
                _ => panic!("{figure:?}"),
            };
            (
                figure.test,
                number,
                figure.target,
                figure.is_passed,
                figure.agrees_with_job,
            )
        })
        .collect()
}

/// Job, direction, KiB and operations a second.
fn jobs(run: &AgnosticsRun) -> Vec<(&str, FioDirection, f64, f64)> {
    let jobs = run.jobs.iter();
    jobs.map(|job| {
        let kib = job.rate.bytes_per_s / KIB;
        assert_eq!(job.rate.printed, format!("{kib} KiB/s"));
        (job.job.as_str(), job.direction, kib, job.operations_per_s)
    })
    .collect()
}

#[test]
fn a_card_that_fails_three_times() {
    let log = one(THREE_RUNS);
    assert_eq!(log.version, None);
    assert_eq!(log.date.as_deref(), Some("Sun Aug  2 12:45:56 2020"));
    assert_eq!(log.is_passed, Some(false));
    let numbers: Vec<_> = log.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    let expected = [
        (14_160.0, 213.0, 883.0),
        (12_089.0, 191.0, 935.0),
        (12_845.0, 216.0, 957.0),
    ];
    for (run, (write, random_write, random_read)) in log.runs.iter().zip(expected) {
        assert_eq!(
            figures(run),
            [
                (Test::SequentialWrite, write, 10_000, true, Some(true)),
                (Test::RandomWrite, random_write, 500, false, Some(true)),
                (Test::RandomRead, random_read, 1500, false, Some(true)),
            ]
        );
    }
    assert_eq!(
        jobs(&log.runs[0]),
        [
            ("prepare-file", FioDirection::Write, 10_556.0, 20.0),
            ("seq-write", FioDirection::Write, 14_160.0, 27.0),
            ("rand-4k-write", FioDirection::Write, 855.0, 213.0),
            ("rand-4k-read", FioDirection::Read, 3534.0, 883.0),
        ]
    );
    assert_eq!(log.runs[0].figures[0].printed, "14160 KB/sec");
    assert_eq!(log.runs[0].figures[1].printed, "213 IOPS");
}

#[test]
fn a_card_that_passes_at_once() {
    let log = one(fixture!("agnostics-0.12-pass.txt"));
    assert_eq!(log.version.as_deref(), Some("0.12"));
    assert_eq!(log.date.as_deref(), Some("Wed Jan 25 22:16:16 2023"));
    assert_eq!((log.runs.len(), log.is_passed), (1, Some(true)));
    assert!(log.runs[0].figures.iter().all(|figure| figure.is_passed));
}

#[test]
fn the_script_alone_and_its_fifth_job() {
    let log = one(SCRIPT);
    assert_eq!(
        (&log.version, &log.date, log.is_passed),
        (&None, &None, None)
    );
    assert_eq!(log.runs.len(), 3);
    assert_eq!(
        jobs(&log.runs[1])[2],
        ("seq-read", FioDirection::Read, 23_009.0, 5.0)
    );
    let agree = |figure: &AgnosticsFigure| figure.agrees_with_job == Some(true);
    assert!(log.runs.iter().all(|run| run.figures.iter().all(agree)));
}

#[test]
fn figures_from_lines_of_other_jobs_are_told() {
    let log = one(fixture!("agnostics-0.15-wrong-lines.txt"));
    let [run] = log.runs.as_slice() else { panic!() };
    assert_eq!(run.number, Some(3));
    assert_eq!(
        figures(run),
        [
            (Test::SequentialWrite, 34_000.0, 10_000, true, Some(true)),
            (Test::RandomWrite, 0.0, 500, false, Some(false)),
            (Test::RandomRead, 0.0, 1500, false, Some(false)),
        ]
    );
    assert_eq!(run.jobs[3].operations_per_s, 884.0);
    assert_eq!(run.jobs[4].operations_per_s, 1676.0);
}

#[test]
fn a_note_on_slow_writes_is_passed_over() {
    let log = one(fixture!("agnostics-unknown-slow-write.txt"));
    let passed: Vec<_> = log.runs[0].figures.iter().map(|f| f.is_passed).collect();
    assert_eq!(passed, [false, false, true]);
}

#[test]
fn several_logs_and_lists_of_figures() {
    let text = [THREE_RUNS, fixture!("agnostics-0.12-pass.txt"), SCRIPT].concat();
    let logs = read_agnostics(&text).unwrap();
    let runs: Vec<_> = logs.iter().map(|log| log.runs.len()).collect();
    assert_eq!(runs, [3, 1, 3]);
    let list = "One card:\n\
        - Sequential write speed 14294 KB/sec (target 10000) - PASS\n\
        - Random write speed 675 IOPS (target 500) - PASS\n\
        Another:\n\
        > Sequential write speed 11289 KB/sec (target 10000) - PASS\r\n\
        Test FAIL";
    let log = one(list);
    assert_eq!(log.runs.len(), 2);
    assert_eq!(log.runs[0].number, None);
    assert_eq!(
        figures(&log.runs[1]),
        [(Test::SequentialWrite, 11_289.0, 10_000, true, None)]
    );
    assert_eq!(log.is_passed, Some(false));
}

#[test]
fn without_fio_there_are_no_figures() {
    // The script takes nothing for enough.
    let text = "Test : Another\nTest PASS\nRun 1\n\
        Sequential write speed  KB/sec (target 10000) - PASS\n\
        Random write speed 675 IOPS (target 500) - PASS\n";
    let log = one(text);
    assert_eq!(log.runs[0].figures.len(), 1);
    assert_eq!(log.is_passed, None);
}

#[test]
fn damaged_lines_are_refused() {
    let error = |text: &str| read_agnostics(text).unwrap_err().to_string();
    for (right, wrong, word) in [
        ("14160 KB/sec", "14160 MB/sec", "KB/sec or IOPS"),
        ("213 IOPS", "213 KB/sec", "KB/sec or IOPS"),
        ("213 IOPS", "2l3 IOPS", "a number"),
        (
            "213 IOPS (target 500) - FAIL",
            "213 IOPS (target 500) - PASS",
            "agrees",
        ),
        ("(target 500) - FAIL", "(target 500) - FALL", "PASS or FAIL"),
        ("seq-write;0;0;14160;27", "seq-write;0;0;14160", "four"),
        ("seq-write;0;0;14160;27", "seq-write;1;0;14160;27", "four"),
        ("0;0;855;213", "0;0;855;113", "agree"),
    ] {
        let said = error(&THREE_RUNS.replace(right, wrong));
        assert!(said.contains(word), "{wrong}: {said}");
    }
    assert!(error("Run 1\nTest PASS").contains("Random write speed"));
}

/// What comes out of a damaged text is what it says; where a number was changed, fio's line does not
/// agree.
fn check(whole: &str, damaged: &str) {
    let truth = one(whole);
    let readings = read_agnostics(damaged).unwrap_or_default();
    let runs = readings.iter().flat_map(|log| &log.runs);
    for (run, of_truth) in runs.zip(&truth.runs) {
        for figure in &run.figures {
            let number: f64 = figure.printed.split(' ').next().unwrap().parse().unwrap();
            if figure.test == Test::SequentialWrite {
                assert!(figure.printed.ends_with(" KB/sec"));
                assert_eq!(figure.bytes_per_s, Some(number * KIB));
            } else {
                assert!(figure.printed.ends_with(" IOPS"));
                assert_eq!(figure.operations_per_s, Some(number));
            }
            let of_truth = of_truth.figures.iter().find(|of| of.test == figure.test);
            if figure.printed != of_truth.unwrap().printed {
                assert_ne!(figure.agrees_with_job, Some(true), "{figure:?}");
            }
        }
    }
}

#[test]
fn a_text_without_a_line_or_cut_off_yields_nothing_else() {
    for whole in [THREE_RUNS, SCRIPT] {
        for text in harm::without_a_line(whole) {
            check(whole, &text);
        }
        for text in harm::cut(whole) {
            check(whole, text);
        }
    }
}

proptest! {
    #[test]
    fn a_text_with_another_character_yields_nothing_else(
        is_script in any::<bool>(),
        at in any::<Index>(),
        put in harm::any_char(),
    ) {
        let whole = if is_script { SCRIPT } else { THREE_RUNS };
        check(whole, &harm::changed(whole, at, put));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC*") {
        let _ = read_agnostics(&text);
    }
}
