//! fio's human output, as people paste it and contradicting itself.
//!
//! The texts are from issue trackers (fio 34, fio-cdm 1, cloud-hypervisor 4387, bcachefs 478,
//! armbian 10613), some without their end. Those of 3.33 come with the JSON that the same run
//! printed (`--output-format=normal,json`).

use cardmark_core::{FindingKind, Quantity};

use crate::{K, close, fixture, ids, import, kinds, metric, one, reason, value};

#[test]
fn fio_2_with_a_rate_in_bytes() {
    let one = one(fixture!("fio-2-rand-read.txt"));
    let rate = metric(&one, "fio_rand_read_4k_read");
    assert_eq!(rate.rate_bytes_per_s, Some(384_042.0));
    assert_eq!(rate.rate_low_bytes_per_s, None);
}

/// The human output of a run equals its JSON, within the amount by which it is shortened.
fn assert_same(text: &str, json: &str) {
    let (shown, exact) = (one(text), one(json));
    for exact in &exact.metrics {
        let shown = metric(&shown, &exact.id);
        assert_eq!(shown.quantity, exact.quantity);
        let rates = [shown, exact].map(|it| it.rate_bytes_per_s.unwrap());
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.006, "{}", exact.id);
        let operations = [shown, exact].map(|it| it.operations_per_s.unwrap());
        assert!((operations[0] - operations[1]).abs() < 1e-6, "{}", exact.id);
    }
    let rates = shown
        .metrics
        .iter()
        .filter(|it| it.quantity != Quantity::Span);
    assert_eq!(rates.count(), exact.metrics.len());
}

#[test]
fn fio_prints_the_same_in_both_formats() {
    let json = fixture!("fio-3.33-randrw-run.json");
    assert_same(fixture!("fio-3.33-randrw.txt"), json);
    let json = fixture!("fio-3.33-agnostics-run.json");
    assert_same(fixture!("fio-3.33-agnostics.txt"), json);
}

#[test]
fn fio_with_latencies_in_nanoseconds() {
    let text = "mixed: (groupid=0, jobs=1): err= 0: pid=1: Sat Jun 24 12:07:54 2017\n\
        read: IOPS=20.0k, BW=78.1MiB/s (81.9MB/s)(80.0KiB/1msec)\n\
        clat percentiles (nsec):\n |  1.00th=[38144], 50.00th=[38145], 99.00th=[92672]\n\
        lat percentiles (usec):\n | 50.00th=[ 48]\n\
        sync percentiles (usec):\n | 50.00th=[ 12]\n";
    let one = one(text);
    assert_eq!(value(&one, "fio_mixed_read_p50"), 38_145.0);
    assert_eq!(value(&one, "fio_mixed_read_p99"), 92_672.0);
}

#[test]
fn fio_as_people_paste_it() {
    // Lines of figures alone.
    let text = "> read: IOPS=510k, BW=1992MiB/s (2089MB/s)(9963MiB/5001msec)\r\n\
        > write: IOPS=25.7k, BW=100MiB/s (105MB/s)(1506MiB/15001msec)\r\n\
        > read : io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec";
    let records = import(text);
    let operations = |id: &str| value(&records[0], id);
    assert_eq!(operations("fio_read"), 510_000.0);
    assert_eq!(operations("fio_2_read"), 6008.0);
    assert_eq!(kinds(&records[0]), [FindingKind::AmbiguousUnit]);
    let job = "a: (groupid=0, jobs=1): err= 5 (file:io_u.c:1, error=Input/output error): pid=9\n  \
        write: IOPS=96, BW=97.6MiB/s (102MB/s)(1524MiB/15610msec)\n  \
        issued rwt: total=0,1509,0, short=0,0,0, dropped=0,0,0\n";
    let failed = one(job);
    assert_eq!(kinds(&failed), [FindingKind::IoError]);
    let rate = metric(&failed, "fio_a_write");
    assert!(close(rate.operations_per_s.unwrap(), 1509.0 / 15.61));
    // Trims, and both directions in one.
    let text = "a: (groupid=0, jobs=1): err= 0: pid=9\n\
        mixed: IOPS=0, BW=0 (0)(0B/5101msec)\nclat percentiles (usec):\n| 1.00th=[ 1]";
    assert_eq!(import(text), []);
}

#[test]
fn fio_chooses_the_unit_that_says_more() {
    let one = one("read: IOPS=3319, BW=12.0MiB/s (13.6MB/s)(130MiB/10000msec)");
    let rate = &one.metrics[0];
    assert_eq!(rate.rate_bytes_per_s, Some(13_600_000.0));
    assert_eq!(rate.printed.clone().unwrap().text, "13.6MB/s");
}

#[test]
fn fio_that_contradicts_itself_is_refused() {
    let text = fixture!("fio-3.33-randrw.txt");
    for (from, to, word) in [
        ("BW=11.0MiB/s", "BW=11.0KiB/s", "figures that agree"),
        ("(12.5MB/s)", "(12.5MiB/s)", "figures that agree"),
        ("BW=11.0MiB/s", "BW=11.0Mibit/s", "units that are known"),
        ("BW=11.0MiB/s", "BW=11.0M/s", "units that are known"),
        ("(11.5MB/s)(", "(11.5kB/s)(", "figures that agree"),
        ("(3916KiB/349msec", "(3916MiB/349msec", "figures that agree"),
        ("(3916KiB/349msec", "(3916KiB/349sec", "figures that agree"),
        ("IOPS=2805", "IOPS=2815", "numbers of operations"),
        ("total=979,1069", "total=979;1069", "`total=`"),
        ("jobs=1): err= 0", "jobs=one): err= 0", "groupid=0"),
    ] {
        let reason = reason(&text.replace(from, to));
        assert!(reason.contains(word), "{to}: {reason}");
    }
    let text = fixture!("fio-3.28-rand-write.txt");
    for (from, to, word) in [
        (
            "percentiles (usec)",
            "percentiles (sec)",
            "nsec, usec or msec",
        ),
        ("    clat percentiles (usec):\n", "", "above this"),
        ("99.99th=[32637]", "99.99th=[32637", "percentiles such as"),
    ] {
        let reason = reason(&text.replace(from, to));
        assert!(reason.contains(word), "{to}: {reason}");
    }
}

#[test]
fn fio_figures_do_not_go_to_another_job() {
    let text = fixture!("fio-3.33-agnostics.txt");
    let without = |word: &str| -> String {
        let kept = text.lines().filter(|line| !line.contains(word));
        kept.collect::<Vec<_>>().join("\n")
    };
    assert!(reason(&without("seq-read: (groupid")).contains("before this"));
    // Without the line of its figures, a job has none.
    let ids = ids(&one(&without("IOPS=17,"))).join(" ");
    assert!(
        !ids.contains("prepare") && ids.contains("fio_seq_write_write"),
        "{ids}"
    );
    let randrw = fixture!("fio-3.33-randrw.txt");
    let metrics = import(&randrw.repeat(3))
        .into_iter()
        .flat_map(|it| it.metrics);
    assert_eq!(metrics.count(), 6);
}

#[test]
fn fio_behind_warnings_and_of_version_2() {
    let text = format!(
        "fio: this platform does not support process shared mutexes\r\n{}\r\ndone",
        fixture!("fio-3.33-randrw.json")
    );
    assert_eq!(one(&text).metrics.len(), 2);
    let old = r#"{ "fio version": "fio-2.1.11", "jobs": [ { "jobname": "old", "error": 5,
        "read": { "io_bytes": 16384, "bw": 12440, "iops": 3110.1, "runtime": 1317 },
        "write": { "io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0 } } ] }"#;
    // Its document begins with the brace.
    let one = one(old);
    assert_eq!(one.metrics[0].rate_bytes_per_s, Some(12_440.0 * K));
    assert_eq!(one.metrics[0].printed.clone().unwrap().text, "12440 KiB/s");
    assert_eq!(kinds(&one), [FindingKind::IoError]);
}

#[test]
fn fio_of_several_kinds_in_one_text() {
    let text = [
        fixture!("fio-3.33-terse-write.txt"),
        fixture!("fio-3.33-randrw.json"),
        fixture!("fio-3.33-terse-read.txt"),
        fixture!("fio-3.33-randrw.json"),
    ];
    let metrics = import(&text.concat()).into_iter().flat_map(|it| it.metrics);
    assert_eq!(metrics.count(), 6);
    let indented = fixture!("fio-3.33-agnostics.json");
    let lines: Vec<&str> = indented.lines().map(str::trim).collect();
    assert_eq!(one(&lines.join("\r\n")).metrics.len(), 5);
    for (text, word) in [
        ("4;fio-3.33;a;0;0;1;1;1;1", "version 3"),
        ("3;fio-3.33;a;0;0;16384;12440;3110;1317", "fields"),
    ] {
        assert!(reason(text).contains(word), "{text}");
    }
}

/// `unified_rw_reporting=1`: one line for both directions.
#[test]
fn sums_of_both_directions_are_figures_of_their_own() {
    let whole = fixture!("fio-3.33-randrw.txt");
    let (before, rest) = whole.split_once("  read: IOPS=").unwrap();
    let (_, behind) = rest.split_once("  cpu ").unwrap();
    let mixed = "  mixed: IOPS=5868, BW=22.9MiB/s (24.0MB/s)(8192KiB/349msec)\n";
    let one = one(&format!("{before}{mixed}  cpu {behind}"));
    assert_eq!(ids(&one), ["fio_test_mixed"]);
    assert!(close(value(&one, "fio_test_mixed"), 2048.0 / 0.349));

    let json = fixture!("fio-3.33-randrw.json");
    let mut document: serde_json::Value = serde_json::from_str(json).unwrap();
    let job = document["jobs"][0].as_object_mut().unwrap();
    job.remove("write");
    let read = job.remove("read").unwrap();
    let iops = read["iops"].as_f64().unwrap();
    job.insert("mixed".to_owned(), read);
    let one = crate::one(&serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(ids(&one), ["fio_test_mixed"]);
    assert!(close(value(&one, "fio_test_mixed"), iops));
}
