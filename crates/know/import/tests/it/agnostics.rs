//! Logs of Raspberry Pi Diagnostics as people pasted them.

use crate::{K, close, fixture, ids, import, metric, one, reason, value};

const THREE_RUNS: &str = fixture!("agnostics-unknown-three-runs.txt");
const SCRIPT: &str = fixture!("agnostics-0.16-script.txt");

#[test]
fn the_last_run_decides() {
    let log = one(THREE_RUNS);
    assert_eq!(log.tools, ["Raspberry Pi Diagnostics"]);
    let printed = metric(&log, "fio_seq_write_512k_q4")
        .printed
        .clone()
        .unwrap();
    assert_eq!(printed.text, "12845 KB/sec");
    assert_eq!(printed.meaning.as_deref(), Some("12845 KiB/s"));
    let random = metric(&log, "fio_rand_write_4k_q4");
    assert_eq!(random.rate_bytes_per_s, Some(865.0 * K));
}

#[test]
fn several_logs_and_lists_of_figures() {
    let text = [THREE_RUNS, fixture!("agnostics-0.12-pass.txt"), SCRIPT].concat();
    let suites: Vec<_> = import(&text).into_iter().map(|log| log.suite).collect();
    assert_eq!(suites, [None, None, Some("agnostics")]);
    let list = "One card:\n\
        - Sequential write speed 14294 KB/sec (target 10000) - PASS\n\
        - Random write speed 675 IOPS (target 500) - PASS\n\
        Another:\n\
        > Sequential write speed 11289 KB/sec (target 10000) - PASS\r\n\
        Test FAIL";
    let log = one(list);
    assert_eq!(ids(&log), ["agnostics_seq_write"]);
    assert!(close(value(&log, "agnostics_seq_write"), 11_289.0 * K));
}

#[test]
fn without_fio_there_are_no_figures() {
    // The script takes nothing for enough.
    let text = "Test : Another\nTest PASS\nRun 1\n\
        Sequential write speed  KB/sec (target 10000) - PASS\n\
        Random write speed 675 IOPS (target 500) - PASS\n";
    assert_eq!(ids(&one(text)), ["agnostics_rand_write"]);
    assert_eq!(import("Run 1\nTest PASS"), []);
}

#[test]
fn a_damaged_line_costs_its_log() {
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
        let text = THREE_RUNS.replace(right, wrong);
        assert!(reason(&text).contains(word), "{wrong}");
        assert_eq!(import(&text), []);
        let text = format!("{text}\n{SCRIPT}");
        assert_eq!(one(&text).metrics, one(SCRIPT).metrics);
    }
}
