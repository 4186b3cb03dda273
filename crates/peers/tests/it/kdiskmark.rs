//! KDiskMark: its reports, their figures written down by hand, and the unit that hangs on the
//! version.
//!
//! The texts are the examples of its README and two from its issue tracker (58, 175).

use cardmark_peers::{
    KdiskmarkDirection, KdiskmarkRate, KdiskmarkReading, KdiskmarkReport, read_kdiskmark,
};

use crate::fixture;

fn close(left: f64, right: f64) -> bool {
    (left / right - 1.0).abs() < 1e-9
}

fn error(text: &str) -> String {
    read_kdiskmark(text).unwrap_err().to_string()
}

fn report(text: &str) -> KdiskmarkReport {
    let [report]: [KdiskmarkReport; 1] = read_kdiskmark(text).unwrap().try_into().unwrap();
    report
}

/// Bytes a second, where they are known.
fn known(reading: &KdiskmarkReading) -> f64 {
    let KdiskmarkRate::Known(rate) = &reading.rate else {
        panic!("{reading:?}")
    };
    rate.bytes_per_s
}

#[test]
fn kdiskmark_of_version_3() {
    let report = report(fixture!("kdiskmark-3.0.0-default.txt"));
    assert_eq!(report.version.as_deref(), Some("3.0.0"));
    assert_eq!(report.profile.as_deref(), Some("Default"));
    assert_eq!(report.size_bytes, Some(1 << 30));
    assert_eq!(report.loops_count, Some(5));
    assert_eq!(report.readings.len(), 8);
    let first = &report.readings[0];
    assert_eq!(first.direction, KdiskmarkDirection::Read);
    assert!(!first.is_random);
    assert_eq!(first.block_bytes, 1 << 20);
    assert_eq!((first.queue_depth, first.threads_count), (8, 1));
    assert_eq!(first.counted_threads_count, Some(1));
    assert!(close(known(first), 508.897 * 1_024_000.0));
    assert_eq!(first.operations_per_s, 497.0);
    assert_eq!(first.latency_ns, Some(13_840_050));
    let last = &report.readings[7];
    assert_eq!(last.direction, KdiskmarkDirection::Write);
    assert!(last.is_random);
    assert_eq!((last.block_bytes, last.queue_depth), (4096, 1));
    assert!(close(known(last), 91.040 * 1_024_000.0));
    assert_eq!(last.operations_per_s, 22_760.3);
    assert_eq!(last.latency_ns, Some(39_800));
}

#[test]
fn kdiskmark_counted_half_of_its_threads() {
    let report = report(fixture!("kdiskmark-1.6.0-default.txt"));
    assert_eq!(report.size_bytes, Some(32 << 20));
    let deep = &report.readings[2];
    assert_eq!((deep.queue_depth, deep.threads_count), (32, 16));
    assert_eq!(deep.counted_threads_count, Some(8));
    assert_eq!(deep.latency_ns, None);
    assert!(close(known(deep), 271.553 * 1_024_000.0));
    // From 3.3.0 all are counted.
    let text = fixture!("kdiskmark-1.6.0-default.txt").replace("(1.6.0)", "(3.3.0)");
    let reports = read_kdiskmark(&text).unwrap();
    let deep = &reports[0].readings[2];
    assert_eq!(deep.counted_threads_count, Some(16));
    assert_eq!(deep.latency_ns, Some(1_955_570));
}

#[test]
fn kdiskmark_tests_that_were_not_run_are_left_out() {
    let report = report(fixture!("kdiskmark-2.2.1-one-test.txt"));
    let [reading] = report.readings.as_slice() else {
        panic!()
    };
    assert!(close(known(reading), 2.328 * 1_024_000.0));
    assert_eq!(reading.operations_per_s, 582.2);
    assert_eq!(report.loops_count, None);
}

#[test]
fn kdiskmark_of_a_version_that_is_not_told_leaves_the_unit_open() {
    let demo = report(fixture!("kdiskmark-3.2.0-demo-no-heading.txt"));
    assert_eq!(demo.version, None);
    assert_eq!(demo.profile.as_deref(), Some("Demo"));
    assert_eq!(
        (demo.size_bytes, demo.loops_count),
        (Some(64 << 30), Some(1))
    );
    let printed = |text: &str| KdiskmarkRate::Ambiguous(text.to_owned());
    assert_eq!(demo.readings[0].rate, printed("20725.404 MB/s"));
    assert_eq!(demo.readings[1].rate, printed("9074.949 MB/s"));
    assert_eq!(demo.readings[0].operations_per_s, 20_239.7);
    assert_eq!(demo.readings[0].counted_threads_count, None);
    assert_eq!(demo.readings[0].latency_ns, Some(380_480));

    let text = fixture!("kdiskmark-3.0.0-default.txt");
    for heading in ["KDiskMark (4.0.0)", "KDiskMark (1.5.1)", "KDiskMark"] {
        let report = report(&text.replace("KDiskMark (3.0.0)", heading));
        assert_eq!(
            report.readings[0].rate,
            printed("508.897 MB/s"),
            "{heading}"
        );
    }
}

/// A report up to 1.5.0, whose MB were MiB.
const OLD: &str = "
    KDiskMark: https://github.com/JonMagon/KDiskMark
    [Read]
    Sequential 1 MiB (Q= 8, T= 1):   497.000 MB/s [    497.0 IOPS] < 13840.05 us>
    [Write]
    Sequential 1 MiB (Q= 8, T= 1):   449.500 MB/s [    449.5 IOPS] < 15153.11 us>
    Profile: Default
       Test: 1024 MiB (x5) [Interval: 5 sec]
";

#[test]
fn kdiskmark_several_times() {
    let text = [
        OLD,
        fixture!("kdiskmark-3.0.0-default.txt"),
        fixture!("kdiskmark-3.2.0-demo-no-heading.txt"),
    ];
    let reports = read_kdiskmark(&text.concat()).unwrap();
    let counts: Vec<_> = reports.iter().map(|report| report.readings.len()).collect();
    assert_eq!(counts, [2, 8, 2]);
    let rate = KdiskmarkRate::Ambiguous("497.000 MB/s".to_owned());
    assert_eq!(reports[0].readings[0].rate, rate);
    assert_eq!(reports[0].size_bytes, Some(1 << 30));
    assert_eq!(reports[2].version, None);
}

#[test]
fn kdiskmark_mixes() {
    let mix = "[Mix] Read 70%/Write 30%\r\n\
        Random   4 KiB (Q=  1, T= 1):    58.228 MB/s [  14557.2 IOPS] <    73.88 us>\r\n";
    let text = fixture!("kdiskmark-3.0.0-default.txt").replace("Profile", &format!("{mix}Profile"));
    let report = report(&text);
    let reading = report.readings.last().unwrap();
    assert_eq!(
        reading.direction,
        KdiskmarkDirection::Mix { read_percent: 70 }
    );
    assert!(close(known(reading), 58.228 * 1_024_000.0));
    let said = error(&text.replace("Write 30%", "Write 40%"));
    assert!(said.contains("shares"), "{said}");
}

#[test]
fn kdiskmark_that_is_not_whole_is_refused() {
    let text = fixture!("kdiskmark-3.0.0-default.txt");
    for (from, to, word) in [
        ("508.897 MB/s", "508.897 GB/s", "IOPS] <"),
        ("508.897 MB/s", "608.897 MB/s", "agree"),
        ("   497.0 IOPS", "   397.0 IOPS", "agree"),
        ("13840.05 us", "13840.05 ms", "IOPS] <"),
        (
            "Sequential   1 MiB (Q=  8",
            "Sequential   1 KiB (Q=  8",
            "agree",
        ),
        (
            "Sequential   1 MiB (Q=  8",
            "Sequential   1 MB (Q=  8",
            "IOPS] <",
        ),
        ("[Read]", "", "`[Read]`"),
        ("[Write]", "", "`[Write]`"),
        ("1 GiB (x5)", "1 GB (x5)", "loops"),
    ] {
        let said = error(&text.replace(from, to));
        assert!(said.contains(word), "{to}: {said}");
    }
    assert!(error("").contains("Sequential"));
}

#[test]
fn kdiskmark_units_follow_from_the_version_and_are_checked() {
    // What 1.5.0 printed, under the name of a later version.
    let text = OLD.replace("KDiskMark:", "KDiskMark (3.0.0):");
    let said = error(&text);
    assert!(said.contains("MB/s of this version"), "{said}");
}
