//! CrystalDiskMark, and KDiskMark, whose unit depends on the version. The texts of KDiskMark are the
//! examples of its README and two from its issue tracker (58, 175).

use crate::{close, fixture, ids, import, metric, one, reason, value};

const CRYSTAL_3: &str = fixture!("crystaldiskmark-3.0.1-all.txt");
const CRYSTAL_8: &str = fixture!("crystaldiskmark-8.0.4-default.txt");
const KDISKMARK: &str = fixture!("kdiskmark-3.0.0-default.txt");

#[test]
fn megabytes_of_crystaldiskmark_are_decimal() {
    let report = one(CRYSTAL_8);
    assert_eq!(report.tools, ["CrystalDiskMark 8.0.4"]);
    let first = &report.metrics[0];
    let printed = first.printed.clone().unwrap();
    assert_eq!(
        (printed.text.as_str(), printed.meaning),
        ("94.100 MB/s", None)
    );
    assert_eq!(first.operations_per_s, Some(89.7));
    let random = metric(&report, "crystaldiskmark_rand_read_4k_q1_t1");
    assert_eq!(random.rate_bytes_per_s, Some(8.602e6));
    // Version 3 prints no operations for blocks of 512 KiB.
    let old = one(CRYSTAL_3);
    let random = metric(&old, "crystaldiskmark_rand_read_512k");
    assert!(close(
        random.operations_per_s.unwrap(),
        19.204e6 / 524_288.0
    ));
    assert_eq!(old.metrics[0].operations_per_s, None);
}

#[test]
fn crystaldiskmark_of_version_7_and_without_its_heading() {
    let seven = CRYSTAL_8
        .replace("SEQ    1MiB", "Sequential 1MiB")
        .replace("RND    4KiB", "    Random 4KiB");
    assert_eq!(one(&seven), one(CRYSTAL_8));
    for text in [CRYSTAL_3, CRYSTAL_8, &seven] {
        let lines: Vec<&str> = text.lines().skip(6).collect();
        let report = one(&lines.join("\n"));
        assert_eq!(report.tools, ["CrystalDiskMark"]);
        assert_eq!(report.metrics, one(text).metrics);
    }
    let twice = import(&[CRYSTAL_8, CRYSTAL_3].concat());
    assert_eq!(twice.len(), 2);
}

#[test]
fn kdiskmark_counted_half_of_its_threads() {
    let text = fixture!("kdiskmark-1.6.0-default.txt");
    let report = one(text);
    let id = "kdiskmark_rand_read_4k_q32_t16";
    assert!(!ids(&report).contains(&"kdiskmark_rand_read_4k_q32_t16_mean"));
    assert_eq!(
        metric(&report, id).rate_bytes_per_s,
        Some(271.553 * 1_024_000.0)
    );
    // From 3.3.0 all are counted.
    let report = one(&text.replace("(1.6.0)", "(3.3.0)"));
    assert!(close(
        value(&report, "kdiskmark_rand_read_4k_q32_t16_mean"),
        1_955_570.0
    ));
}

#[test]
fn kdiskmark_of_an_unknown_version_leaves_the_unit_open() {
    for heading in ["KDiskMark (4.0.0)", "KDiskMark (1.5.1)", "KDiskMark"] {
        let report = one(&KDISKMARK.replace("KDiskMark (3.0.0)", heading));
        assert!(
            close(report.metrics[0].value, 497.0 * 1_048_576.0),
            "{heading}"
        );
        assert_eq!(
            report.metrics[0].printed.clone().unwrap().text,
            "508.897 MB/s"
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
        KDISKMARK,
        fixture!("kdiskmark-3.2.0-demo-no-heading.txt"),
    ];
    let counts: Vec<_> = import(&text.concat())
        .iter()
        .map(|it| it.metrics.len())
        .collect();
    assert_eq!(counts, [4, 16, 4]);
    // Output of 1.5.0, under the name of a later version.
    let text = OLD.replace("KDiskMark:", "KDiskMark (3.0.0):");
    assert!(reason(&text).contains("MB/s of this version"));
}

#[test]
fn kdiskmark_mixes() {
    let mix = "[Mix] Read 70%/Write 30%\r\n\
        Random   4 KiB (Q=  1, T= 1):    58.228 MB/s [  14557.2 IOPS] <    73.88 us>\r\n";
    let text = KDISKMARK.replace("Profile", &format!("{mix}Profile"));
    assert!(close(
        value(&one(&text), "kdiskmark_rand_mix70_4k_q1_t1"),
        14_557.2
    ));
    assert!(reason(&text.replace("Write 30%", "Write 40%")).contains("shares"));
}

#[test]
fn a_damaged_line_costs_its_report() {
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
    ] {
        let text = KDISKMARK.replace(from, to);
        assert!(reason(&text).contains(word), "{to}: {}", reason(&text));
        assert_eq!(import(&text), []);
    }
    for (from, to, word) in [
        ("94.100 MB/s", "104.100 MB/s", "agree"),
        ("[Write]", "[Wrote]", "before this"),
        ("< 11486.40 us>", "", "IOPS] <"),
    ] {
        let text = CRYSTAL_8.replace(from, to);
        assert!(reason(&text).contains(word), "{to}: {}", reason(&text));
        assert_eq!(import(&text), []);
    }
}
