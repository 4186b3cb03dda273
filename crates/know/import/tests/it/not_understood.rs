//! Lines with numbers that are in no record are listed, and no others.

use cardmark_import::NotUnderstood;

use crate::fixture;
use crate::known::known;

fn listed(text: &str) -> Vec<NotUnderstood> {
    cardmark_import::import(text, &[]).not_understood
}

#[test]
fn a_whole_output_is_understood() {
    let others = [
        fixture!("ddrescue-1.27-fast.txt"),
        fixture!("fio-3.33-agnostics-run.json"),
        fixture!("fio-3.33-agnostics.txt"),
        fixture!("iozone-3.489-all.txt"),
        fixture!("iozone-3.489-threads.txt"),
        fixture!("kdiskmark-1.6.0-default.txt"),
    ];
    let known = known();
    let texts = known.iter().map(|known| known.text.as_str());
    let listed: Vec<_> = texts
        .chain(others)
        .flat_map(|text| {
            let listed = listed(text).into_iter();
            listed.map(|one| (text.lines().nth(one.line - 1).unwrap(), one))
        })
        .collect();
    assert_eq!(listed, []);
}

#[test]
fn other_lines_are_listed_with_their_numbers_only() {
    let timing = fixture!("hdparm-9.65-t.txt");
    let damaged = timing.replace("3.10 seconds", "3.1O seconds");
    let text = format!("Bob's card: 43.5 MB/s, random 3110 IOPS\nno number\n{timing}{damaged}");
    let lines = listed(&text);
    let [other, line] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!(other.line, 1);
    assert_eq!(other.numbers, ["43.5 MB/s", "3110 IOPS"]);
    assert_eq!(other.reason, None);
    assert_eq!(line.line, 8);
    assert_eq!(line.numbers, ["64 MB", "3.1", "20.62 MB/sec"]);
    let reason = line.reason.as_deref().unwrap();
    assert!(
        reason.starts_with("not as hdparm prints it: expected `66 MB in"),
        "{reason}"
    );
}

#[test]
fn figures_of_a_damaged_report_are_listed() {
    let report = fixture!("kdiskmark-2.2.1-one-test.txt").replacen(" IOPS]", " IOPX]", 1);
    let lines = listed(&report);
    assert!(
        lines
            .iter()
            .any(|it| it.numbers.contains(&"2.328 MB/s".to_owned())),
        "{lines:?}"
    );
    assert!(lines.iter().any(|it| it.reason.is_some()));
}

/// Lines of a text that are listed.
fn lines(text: &str) -> Vec<usize> {
    listed(text).into_iter().map(|one| one.line).collect()
}

#[test]
fn words_of_a_tool_hide_no_numbers_of_other_texts() {
    for text in [
        "iops: 1500 read, 500 write",
        "latency 3.2 ms",
        "bw: 44.1 MB/s",
        "READ: 44.1 MB/s",
        "   READ: bw=16.5MiB/s (17.3MB/s), 16.5MiB/s-16.5MiB/s, io=1024MiB, run=62019-62019msec",
        "  read: IOPS: 2805",
        "mixed: IOPS=2805, BW=11.0MiB/s",
        "Description: 44.15 MB/s on my Pi",
        "HDParm: 44.15 MB/s",
        "FIO results - 4k RandWrite: 2684 IOPS (10736 KB/s)",
        "Min: 18.6 MB/s",
        "Free space: 7.48 GB",
        "Module: 2.00 TB (2^41 Bytes)",
        "rescued: 58785 kB, current rate: 20971 kB/s",
        "dd if=/dev/zero of=test bs=1M count=400 -> 22.7 MB/s",
    ] {
        assert_eq!(lines(text), [1], "{text}");
        // Beside output that is read, too.
        let beside = format!("{}{text}", fixture!("hdparm-9.65-t.txt"));
        assert_eq!(lines(&beside).len(), 1, "{text}");
    }
}

#[test]
fn a_table_of_iozone_that_was_cut_hides_nothing_below() {
    let whole = fixture!("iozone-3.489-4k.txt");
    let (cut, _) = whole.split_once("iozone test complete").unwrap();
    assert!(lines(cut).is_empty());
    let count = cut.lines().count();
    let text = format!("{cut}\nSustained: 17.9 MByte/s\n");
    assert_eq!(lines(&text), [count + 2]);
}

#[test]
fn all_lines_of_a_result_that_was_not_read_are_listed() {
    let job = fixture!("fio-3.33-randrw.txt");
    let bad = job.replacen("IOPS=2805", "IOPS=28O5", 1);
    let rates = [7, 8, 17, 18];
    assert!(rates.iter().all(|line| lines(&bad).contains(line)));
    let probe = fixture!("f3-8.0-probe-limbo.txt");
    let (cut, _) = probe.split_once("                Module:").unwrap();
    assert_eq!(lines(&format!("{cut}Probe time")).len(), 5);
    let table = fixture!("pibenchmarks-2024-terminal.txt");
    let (cut, _) = table
        .split_once("HDParm                    Disk Read")
        .unwrap();
    let results = listed(cut).into_iter().flat_map(|one| one.numbers);
    let results: Vec<String> = results.collect();
    for wanted in ["3084 IOPS", "12337 KB/s", "11808", "9491"] {
        assert!(results.iter().any(|number| number == wanted), "{wanted}");
    }
}
