//! Logs of Raspberry Pi Diagnostics as people pasted them.

use cardmark_core::FindingKind;
use cardmark_import::Imported;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{K, close, fixture, harm, ids, import, kinds, metric, one, reason, value};

const THREE_RUNS: &str = fixture!("agnostics-unknown-three-runs.txt");
const SCRIPT: &str = fixture!("agnostics-0.16-script.txt");

#[test]
fn each_run_is_a_record() {
    let runs = import(THREE_RUNS);
    let figures = runs.iter().map(|run| {
        assert_eq!(run.tools, ["Raspberry Pi Diagnostics"]);
        let id = |name: &str| format!("fio_{name}_q4");
        ["seq_write_512k", "rand_write_4k", "rand_read_4k"].map(|name| value(run, &id(name)))
    });
    let expected = [
        [14_160.0 * K, 213.0, 883.0],
        [12_089.0 * K, 191.0, 935.0],
        [12_845.0 * K, 216.0, 957.0],
    ];
    assert_eq!(figures.collect::<Vec<_>>(), expected);
    let printed = metric(&runs[2], "fio_seq_write_512k_q4").printed.clone();
    let printed = printed.unwrap();
    assert_eq!(printed.text, "12845 KB/sec");
    assert_eq!(printed.meaning.as_deref(), Some("12845 KiB/s"));
    let random = metric(&runs[2], "fio_rand_write_4k_q4");
    assert_eq!(random.rate_bytes_per_s, Some(865.0 * K));
    assert_eq!(verdicts(&runs[1]), (Some("2 of 3: fail"), Some("fail")));
}

/// The program's verdicts on run and test.
fn verdicts(one: &Imported) -> (Option<&str>, Option<&str>) {
    let label = |key: &str| one.labels.get(key).map(String::as_str);
    (label("run"), label("diagnostics"))
}

/// The log of a card whose runs have these figures, as the script of version 0.16 prints it: it ends with the first
/// run that reaches all three targets.
fn log(runs: &[[u64; 3]]) -> (String, Vec<bool>) {
    const TARGETS: [u64; 3] = [10_000, 500, 1500];
    let mut text = "Raspberry Pi Diagnostics - version 0.16\nFri Jul 19 12:00:00 2024\n\n\
        Test : SD Card Speed Test\n"
        .to_owned();
    let mut passed = Vec::new();
    for (run, number) in runs.iter().zip(1..) {
        let [seq, write, read] = *run;
        text += &format!(
            "Run {number}\nprepare-file;0;0;{seq};1\nseq-write;0;0;{seq};1\nseq-read;{seq};1;0;0\n\
             rand-4k-write;0;0;{};{write}\nrand-4k-read;{};{read};0;0\n",
            write * 4,
            read * 4
        );
        let shown = ["Sequential write", "Random write", "Random read"];
        let shown = shown.iter().zip(["KB/sec", "IOPS", "IOPS"]);
        for ((name, unit), (figure, target)) in shown.zip(run.iter().zip(TARGETS)) {
            let word = if *figure < target { "FAIL" } else { "PASS" };
            text += &format!("{name} speed {figure} {unit} (target {target}) - {word}\n");
        }
        passed.push(
            run.iter()
                .zip(TARGETS)
                .all(|(figure, target)| *figure >= target),
        );
        if passed.ends_with(&[true]) {
            break;
        }
    }
    let word = if passed.ends_with(&[true]) {
        "PASS"
    } else {
        "FAIL"
    };
    (format!("{text}Test {word}\n\n"), passed)
}

proptest! {
    #[test]
    fn a_test_passes_with_the_first_run_that_does(
        runs in prop::array::uniform3((9_000u64..12_000, 450u64..600, 1_400u64..1_700)),
        has_verdict in any::<bool>(),
    ) {
        let runs = runs.map(|(seq, write, read)| [seq, write, read]);
        let (text, passed) = log(&runs);
        let text = if has_verdict { text } else { text.replace("Test PASS", "").replace("Test FAIL", "") };
        let board = "## Raspberry Pi 4:\n";
        let imported = cardmark_import::import(&format!("{board}{text}"), &[]);
        prop_assert!(imported.not_understood.iter().all(|it| it.line == 1));
        let records = imported.records;
        prop_assert_eq!(records.len(), passed.len());
        let count = passed.len();
        let test = match passed.ends_with(&[true]) {
            true => format!("pass in run {count}"),
            false => "fail".to_owned(),
        };
        for (((one, [seq, write, read]), is_passed), number) in records.iter().zip(runs).zip(&passed).zip(1..) {
            prop_assert_eq!(value(one, "agnostics_seq_write"), seq as f64 * K);
            prop_assert_eq!(value(one, "agnostics_rand_write"), write as f64);
            prop_assert_eq!(value(one, "agnostics_rand_read"), read as f64);
            prop_assert_eq!(one.suite, Some("agnostics"));
            prop_assert_eq!(&one.tools, &["Raspberry Pi Diagnostics 0.16"]);
            prop_assert_eq!(&one.findings, &[]);
            let model = one.board.as_ref().and_then(|board| board.model.as_deref());
            prop_assert_eq!(model, Some("Raspberry Pi 4"));
            let own = if *is_passed { "pass" } else { "fail" };
            let run = format!("{number} of {count}: {own}");
            prop_assert_eq!(verdicts(one), (Some(run.as_str()), Some(test.as_str())));
        }
    }

    /// Whatever character changes, the figures of two runs stay together.
    #[test]
    fn damage_costs_its_own_run_at_most(at in any::<Index>(), put in harm::any_char()) {
        let whole = import(THREE_RUNS);
        let changed = harm::changed(THREE_RUNS, at, put);
        let imported = cardmark_import::import(&changed, &[]);
        let kept = |one: &&Imported| imported.records.iter().any(|it| it.metrics == one.metrics);
        prop_assert!(whole.iter().filter(kept).count() >= 2, "{changed}: {imported:?}");
    }
}

#[test]
fn a_log_that_was_cut_has_no_verdict_on_the_test() {
    let (text, _) = log(&[[9_000, 600, 1_600], [11_000, 600, 1_600]]);
    let (cut, _) = text.split_once("Run 2").unwrap();
    let runs = verdicts_of(cut);
    let wanted = (
        Some("1 of 1: fail".to_owned()),
        Some("no verdict in the text".to_owned()),
    );
    assert_eq!(runs, [wanted]);
    let aborted = verdicts_of(&format!("{cut}Run 2\nTest aborted\n"));
    let label = |text: &str| Some(text.to_owned());
    assert_eq!(aborted, [(label("1 of 2: fail"), label("aborted"))]);
    // Two tests of one card or of two.
    let all = verdicts_of(&text.repeat(2));
    let (first, second) = (label("1 of 2: fail"), label("2 of 2: pass"));
    let test = label("pass in run 2");
    let both = [(first, test.clone()), (second, test)];
    assert_eq!(all, [both.clone(), both].concat());
}

fn verdicts_of(text: &str) -> Vec<(Option<String>, Option<String>)> {
    let label = |one: &Imported, key: &str| one.labels.get(key).cloned();
    let records = import(text).into_iter();
    records
        .map(|one| (label(&one, "run"), label(&one, "diagnostics")))
        .collect()
}

#[test]
fn a_verdict_that_its_runs_contradict_is_doubtful() {
    let (text, _) = log(&[[9_000, 600, 1_600], [11_000, 600, 1_600]]);
    for one in import(&text.replace("Test PASS", "Test FAIL")) {
        assert_eq!(kinds(&one), [FindingKind::DoubtfulFigure]);
        assert_eq!(one.labels["diagnostics"], "fail");
    }
    let failed = THREE_RUNS.replace("Test FAIL", "Test PASS");
    assert!(import(&failed).iter().all(|one| !one.findings.is_empty()));
}

#[test]
fn an_error_of_fio_belongs_to_its_run() {
    let error = "fio: io_u error on file /var/tmp/sd.test.file: Input/output error\n";
    let text = THREE_RUNS.replace("Run 2\n", &format!("Run 2\n{error}"));
    let found = import(&text).into_iter().map(|one| kinds(&one));
    let expected = [vec![], vec![FindingKind::IoError], vec![]];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let second = import(&text).remove(1);
    assert!(second.metrics.iter().all(|it| it.warnings == ["io_error"]));
}

#[test]
fn several_logs_and_lists_of_figures() {
    let text = [THREE_RUNS, fixture!("agnostics-0.12-pass.txt"), SCRIPT].concat();
    let suites: Vec<_> = import(&text).into_iter().map(|log| log.suite).collect();
    let new = Some("agnostics");
    assert_eq!(suites, [None, None, None, None, new, new, new]);
    let list = "One card:\n\
        - Sequential write speed 14294 KB/sec (target 10000) - PASS\n\
        - Random write speed 675 IOPS (target 500) - PASS\n\
        Another:\n\
        > Sequential write speed 11289 KB/sec (target 10000) - PASS\r\n\
        Test FAIL";
    let cards = import(list);
    let first = ["agnostics_seq_write_unsized", "agnostics_rand_write_4k"];
    assert_eq!([ids(&cards[0]), ids(&cards[1])], [&first[..], &first[..1]]);
    assert!(close(
        value(&cards[1], "agnostics_seq_write_unsized"),
        11_289.0 * K
    ));
    // Nothing shows that both are of one test.
    assert_eq!(verdicts(&cards[0]), (None, None));
}

#[test]
fn without_fio_there_are_no_figures() {
    // The script takes nothing for enough.
    let text = "Test : Another\nTest PASS\nRun 1\n\
        Sequential write speed  KB/sec (target 10000) - PASS\n\
        Random write speed 675 IOPS (target 500) - PASS\n";
    assert_eq!(ids(&one(text)), ["agnostics_rand_write_4k"]);
    assert_eq!(import("Run 1\nTest PASS"), []);
}

#[test]
fn a_damaged_line_costs_its_run() {
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
        let text = THREE_RUNS.replacen(right, wrong, 1);
        assert!(reason(&text).contains(word), "{wrong}");
        let metrics = |text: &str| {
            let records = import(text).into_iter();
            records.map(|one| one.metrics).collect::<Vec<_>>()
        };
        assert_eq!(metrics(&text), metrics(THREE_RUNS)[1..]);
        // Without the lines that begin runs, nothing shows how far the damage goes.
        let runs: Vec<&str> = text.lines().filter(|it| !it.starts_with("Run ")).collect();
        let first = value(&import(THREE_RUNS)[0], "fio_rand_read_4k_q4");
        for one in import(&runs.join("\n")) {
            let read = one.metrics.iter().find(|it| it.id.contains("rand_read"));
            assert_ne!(read.map(|it| it.value), Some(first), "{wrong}");
        }
        let both = metrics(&format!("{text}\n{SCRIPT}"));
        assert_eq!(both[2..], metrics(SCRIPT));
    }
}
