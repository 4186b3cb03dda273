//! Meaning comes from evidence: commands, options, headings and errors around the figures.

use cardmark_core::{FindingKind, MIB, Severity};
use cardmark_import::Imported;
use proptest::prelude::*;
use proptest::sample::select;

use crate::figures::{SESSION, session};
use crate::{K, M, close, fixture, ids, import, kinds, metric, one, value};

/// A copy of whole MiB as coreutils print it, at about 20 MB/s.
fn copy(mib: u64) -> String {
    let bytes = mib * MIB;
    let seconds = bytes as f64 / 20e6;
    format!(
        "{mib}+0 records in\n{mib}+0 records out\n{bytes} bytes ({} MB, {mib} MiB) copied, {seconds:.4} s, 20.0 MB/s\n",
        bytes / 1_000_000
    )
}

fn all_ids(text: &str) -> Vec<String> {
    let records = import(text);
    let metrics = records.iter().flat_map(|one| &one.metrics);
    metrics.map(|metric| metric.id.clone()).collect()
}

fn has(one: &Imported, kind: FindingKind) -> bool {
    one.findings.iter().any(|finding| finding.kind == kind)
}

const WRITE: &str = "$ dd if=/dev/zero of=test bs=1M conv=fsync\n";
const READ: &str = "$ dd if=test of=/dev/null bs=1M iflag=direct\n";

#[test]
fn commands_above_their_copies_belong_to_them_in_order() {
    let text = format!(
        "I used:\n\n    dd if=/dev/zero of=test bs=1M count=200 conv=fsync\n    \
         sudo sh -c \"echo 3 > /proc/sys/vm/drop_caches\"\n    dd if=test of=/dev/null bs=1M\n\nResult:\n\n{}{}",
        copy(200),
        copy(200)
    );
    let both = one(&text);
    assert_eq!(ids(&both), ["dd_write_200m", "dd_read_200m"]);
    assert_eq!(both.findings, []);
    // In one line too.
    let joined = "$ dd if=/dev/zero of=t bs=1M conv=fsync; dd if=t of=/dev/null iflag=direct\n";
    let text = format!("{joined}{}{}", copy(200), copy(200));
    assert_eq!(all_ids(&text), ["dd_write_200m", "dd_read_200m"]);
    // Others than the copies: the command is not that of this copy.
    let other = WRITE.replace("bs=1M", "bs=1M count=100");
    assert_eq!(all_ids(&format!("{other}{}", copy(200))), ["dd_200m"]);
}

#[test]
fn a_command_in_prose_is_none() {
    for prose in [
        "I first tried dd if=/dev/zero of=test bs=8k count=50k conv=fsync as in the article, so here is the rest:\n",
        "With dd if=/dev/zero of=test bs=8k count=50k conv=fsync it took long.\n",
        "dd if=/dev/zero of=test bs=8k count=50k conv=fsync was too slow for me\n",
    ] {
        let one = one(&format!("{prose}{}", copy(400)));
        assert_eq!(ids(&one), ["dd_400m"], "{prose}");
        assert_eq!(kinds(&one), [FindingKind::DoubtfulFigure]);
        assert_eq!(one.findings[0].severity, Severity::Note);
    }
    for command in [
        "Write: dd if=/dev/zero of=test bs=8k count=50k conv=fsync",
        "1. sudo dd if=/dev/zero of=test bs=8k count=50k conv=fsync",
        "time sh -c \"dd if=/dev/zero of=test bs=8k count=50k conv=fsync\"",
        "root@pi:~# /bin/dd if=/dev/zero of=test bs=8k count=50k conv=fsync 2>&1 | tail -1",
    ] {
        let text = format!("{command}\n{}", copy(400));
        assert_eq!(all_ids(&text), ["dd_write"], "{command}");
    }
}

#[test]
fn a_second_copy_of_the_usual_size_is_no_write() {
    let text = format!("Write:\n{0}Read:\n{0}", copy(400));
    let labelled = one(&text);
    assert_eq!(ids(&labelled), ["dd_write", "dd_400m"]);
    assert!(has(&labelled, FindingKind::DoubtfulFigure));
    let both = import(&copy(400).repeat(2));
    assert_eq!([ids(&both[0]), ids(&both[1])], [["dd_write"], ["dd_400m"]]);
    assert!(has(&both[1], FindingKind::DoubtfulFigure));
    assert_eq!(all_ids(&format!("Read:\n{}", copy(400))), ["dd_400m"]);
    // Three runs of the whole script are three writes.
    let runs = session().repeat(3);
    let writes = import(&runs);
    assert_eq!(writes.len(), 3);
    assert!(writes.iter().all(|one| ids(one).contains(&"dd_write")));
}

#[test]
fn a_dropped_cache_excuses_the_next_read_only() {
    let read = "$ dd if=t of=/dev/null bs=1M\n";
    let text = format!(
        "$ sync; echo 3 | sudo tee /proc/sys/vm/drop_caches\n{read}{0}{read}{0}",
        copy(100)
    );
    let both = import(&text);
    assert!(both[0].findings.is_empty(), "{both:?}");
    assert!(has(&both[1], FindingKind::DoubtfulFigure));
}

#[test]
fn operands_in_the_next_line_count() {
    for lines in [
        "$ dd if=/dev/zero of=t bs=1M \\\n  oflag=direct\n",
        "$ dd if=/dev/zero of=t bs=1M\noflag=direct count=100\n",
    ] {
        let one = one(&format!("{lines}{}", copy(100)));
        assert_eq!(ids(&one), ["dd_write_100m"]);
        assert_eq!(one.findings, [], "{lines}");
    }
}

#[test]
fn a_command_that_failed_has_no_copy() {
    let failed =
        "$ dd if=/dev/zero of=/root/t bs=1M\ndd: failed to open '/root/t': Permission denied\n";
    assert_eq!(
        all_ids(&format!("{failed}{READ}{}", copy(100))),
        ["dd_read_100m"]
    );
    // A loop has several.
    let text = format!(
        "$ for i in 1 2; do dd if=/dev/zero of=t bs=1M conv=fsync; done\n{0}{0}",
        copy(100)
    );
    assert_eq!(all_ids(&text), ["dd_write_100m", "dd_write_100m"]);
}

#[test]
fn dd_of_further_languages_and_systems() {
    for (text, id, rate) in [
        (
            "512+0 x\n512+0 y\nскопійовано 536870912 байтів (537 MB, 512 MiB), 27,4105 s, 19,6 MB/s",
            "dd_512m",
            536_870_912.0 / 27.4105,
        ),
        (
            "скопировано 536870912 байт (537 MB), 27,4105 c, 19,6 MB/c",
            "dd_512m",
            536_870_912.0 / 27.4105,
        ),
        (
            "skopiowane 536870912 bajtów (537 MB), 27,4105 s, 19,6 MB/s",
            "dd_512m",
            536_870_912.0 / 27.4105,
        ),
        (
            "536870912 bytes (512 M) copied, 21.337 s, 24 M/s",
            "dd_512m",
            536_870_912.0 / 21.337,
        ),
        (
            "10485760 bytes transferred in 0.028418 seconds (368981986 bytes/sec)",
            "dd_10m",
            368_981_986.0,
        ),
    ] {
        let one = one(text);
        assert!(close(value(&one, id), rate), "{text}: {one:?}");
    }
    let toybox = one("536870912 bytes (512 M) copied, 21.337 s, 24 M/s");
    let printed = toybox.metrics[0].printed.clone().unwrap();
    assert_eq!(printed.meaning.as_deref(), Some("24 MiB/s"));
}

const TABLE: &str = "\tOutput is in kBytes/sec\n\
    \x20                                                             random    random\n\
    \x20             kB  reclen    write  rewrite    read    reread    read     write\n\
    \x20         102400       4     2284     4156     7439     7807     7523     4074\n";

#[test]
fn iozone_through_the_page_cache_is_of_no_suite() {
    for command in [
        "\tCommand line used: iozone -a -s 100M -r 4k -i 0 -i 1 -i 2\n",
        "pi@pi:~ $ ./iozone -e -a -s 100M -r 4k -i 0 -i 1 -i 2\n",
        "iozone -a -o -s100M -r4k -i0 -i1 -i2\n",
    ] {
        let one = one(&format!("{SESSION}{command}{TABLE}"));
        assert_eq!(one.suite, None, "{command}");
        assert_eq!(one.metrics.len(), 8, "{command}");
        for metric in one.metrics.iter().filter(|it| it.id.starts_with("iozone")) {
            assert!(metric.id.ends_with("_buffered"), "{metric:?}");
            assert_eq!(metric.warnings, ["doubtful_figure"]);
        }
    }
    for command in [
        "\tCommand line used: iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n",
        "$ sudo iozone -eIa -s 100M -r 4k -i 0 -i 1 -i 2\n",
        "O_DIRECT feature enabled\nInclude fsync in write timing\n",
    ] {
        let one = one(&format!("{SESSION}{command}{TABLE}"));
        assert_eq!(one.suite, Some("dramble"), "{command}");
        assert_eq!(one.findings, []);
    }
}

#[test]
fn iozone_of_an_unknown_command_keeps_its_figures_and_has_no_suite() {
    let two = "$ iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n$ iozone -a -s 100M -r 4k -i 0 -i 1 -i 2\n";
    for text in [
        format!("{SESSION}{TABLE}"),
        format!("{SESSION}{two}{TABLE}"),
    ] {
        let one = one(&text);
        assert_eq!(one.suite, None);
        assert_eq!(value(&one, "iozone_random_read"), 7523.0 * K);
    }
}

#[test]
fn threads_that_did_not_wait_are_doubtful() {
    let text = "Each thread writes a 4096 kByte file in 4 kByte records\n\
        Children see throughput for 4 readers = 411000.00 kB/sec\n\
        Parent sees throughput for 4 readers = 10500.00 kB/sec\n";
    let one = one(text);
    let children = metric(&one, "iozone_t4_read_children");
    assert_eq!(children.warnings, ["doubtful_figure"]);
}

#[test]
fn figures_above_memory_or_far_above_the_disk_are_doubtful() {
    let timing = "Timing cached reads:   1502 MB in  2.00 seconds = 751.01 MB/sec\n\
        Timing buffered disk reads: 130 MB in  3.02 seconds =  43.03 MB/sec\n";
    for (seconds, rate, is_doubtful) in [
        ("0.2", "1000 MB/s", true),
        ("0.4", "500 MB/s", true),
        ("4", "50.0 MB/s", false),
    ] {
        let copy = format!("200000000 bytes (200 MB, 191 MiB) copied, {seconds}00000 s, {rate}\n");
        let copy = copy
            .replace("400000 s", "4.00000 s")
            .replace("0.4.0", "0.40");
        let one = one(&format!("{timing}{copy}"));
        assert_eq!(
            has(&one, FindingKind::Buffered),
            is_doubtful,
            "{copy} {one:?}"
        );
        // Such a figure is voided: it is not the card's.
        let copied = one.metrics.iter().find(|it| it.id.starts_with("dd_"));
        let voided = copied.unwrap().voided_by().is_some();
        assert_eq!(voided, is_doubtful, "{one:?}");
    }
}

#[test]
fn hdparm_names_its_method_or_is_not_read() {
    for name in ["O_DIRECT", "O_Direct", "0_Direct", "o_direct", "O-DIRECT"] {
        let text = format!("Timing {name} disk reads: 1264 MB in 3.00 seconds = 421.17 MB/sec");
        assert_eq!(value(&one(&text), "hdparm_t_direct"), 421.17 * M, "{name}");
    }
    for name in ["", "O_DERECT", "some"] {
        let text = format!("Timing {name} disk reads: 1264 MB in 3.00 seconds = 421.17 MB/sec");
        assert_eq!(import(&text), [], "{name}");
    }
}

#[test]
fn fio_of_clients() {
    let text = fixture!("fio-3.33-randrw-run.json").replace("\"jobs\"", "\"client_stats\"");
    assert_eq!(
        ids(&one(&text)),
        ids(&one(fixture!("fio-3.33-randrw-run.json")))
    );
}

#[test]
fn yabs_and_gnome_disks() {
    let text = "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/mmcblk0p2):\n\
        ---------------------------------\n\
        Block Size | 4k            (IOPS) | 64k           (IOPS)\n  ------   | ---            ----  | ----           ---- \n\
        Read       | 3.61 MB/s      (904) | 11.75 MB/s     (183)\n\
        Write      | 3.64 MB/s      (911) | 12.20 MB/s     (190)\n\
        Total      | 7.26 MB/s     (1.8k) | 23.95 MB/s     (373)\n";
    let yabs = one(text);
    let found = [
        "yabs_mixed_read_4k",
        "yabs_mixed_read_64k",
        "yabs_mixed_write_4k",
        "yabs_mixed_write_64k",
        "yabs_mixed_total_4k",
        "yabs_mixed_total_64k",
    ];
    assert_eq!(ids(&yabs), found);
    assert_eq!(value(&yabs, found[0]), 904.0);
    assert!(close(value(&yabs, found[3]), 12.2e3 * K));
    assert!(cardmark_import::import(text, &[]).not_understood.is_empty());
    assert_eq!(one(&text.replace("(183)", "(983)")).metrics.len(), 4);
    let text = "Average Read Rate\t87.6 MB/s (100 samples)\nAverage Write Rate: 20.1 MB/s (100 samples)\n\
        Average Access Time\t0.65 msec (1000 samples)\n";
    let disks = one(text);
    assert_eq!(
        ids(&disks),
        [
            "gnome_disks_read",
            "gnome_disks_write",
            "gnome_disks_access"
        ]
    );
    assert_eq!(value(&disks, "gnome_disks_access"), 650_000.0);
}

#[test]
fn errors_that_belong_to_no_result_are_listed() {
    for line in [
        "dd: error writing '/dev/sdb': Input/output error",
        "Pass completed, 17 bad blocks found. (17/0/0 errors)",
        "blk_update_request: I/O error, dev mmcblk0",
        "tee: x: No space left on device",
    ] {
        let import = cardmark_import::import(&format!("text\n{line}\n"), &[]);
        let [listed] = import.not_understood.as_slice() else {
            panic!("{line}: {import:?}")
        };
        assert_eq!(listed.line, 2);
        assert!(listed.reason.is_some());
    }
}

#[test]
fn headings_name_boards_but_no_people() {
    let timing = "Timing buffered disk reads:  62 MB in  3.07 seconds =  20.21 MB/sec\n";
    let text = format!("Bob's Raspberry Pi 4:\n{timing}\nRaspberry Pi 3B+:\n{timing}");
    let models = import(&text)
        .into_iter()
        .map(|one| one.board.unwrap().model.unwrap());
    assert_eq!(
        models.collect::<Vec<_>>(),
        ["Raspberry Pi 4", "Raspberry Pi 3B+"]
    );
    assert_eq!(one(timing).board, None);
}

/// Names before figures, each of another record than its neighbours.
const PLACES: [&str; 10] = [
    "SD card:",
    "SSD:",
    "### USB stick",
    "SanDisk Ultra 32GB:",
    "Raspberry Pi 4:",
    "Run 1:",
    "Run 2",
    "/dev/mmcblk0:",
    "/dev/sda:",
    "$ sudo dd if=/dev/nvme0n1 of=/dev/null bs=1M",
];

/// Errors, and the tools whose results stand behind them or before them.
const ERRORS: [&str; 9] = [
    "Input/output error",
    "dd: error writing '/dev/sdb': Input/output error",
    "dd: writing to '/dev/sdb': No space left on device",
    "Write failure: Input/output error",
    "Buffer I/O error on dev mmcblk0",
    "Remote I/O error",
    "Creating file 5.h2w ... Write failure: Input/output error",
    "bad areas: 3, read errors: 190140",
    "Eingabe-/Ausgabefehler",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Blocks of commands and copies: right if both are as many, and never wrong.
    #[test]
    fn directions_are_right_or_open(
        blocks in prop::collection::vec((prop::collection::vec(any::<bool>(), 1..4), 0usize..3, 0usize..3), 1..5)
    ) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (writes, missing, more) in blocks {
            let count = (writes.len() + more).saturating_sub(missing);
            for is_write in &writes {
                text += if *is_write { WRITE } else { READ };
            }
            let is_alike = writes.iter().all(|it| *it == writes[0]) && count < writes.len();
            for at in 0..count {
                text += &copy(100);
                let is_write = writes.get(at).copied().unwrap_or(false);
                let is_known = count == writes.len() || is_alike;
                expected.push(match (is_known, is_write) {
                    (true, true) => "dd_write_100m",
                    (true, false) => "dd_read_100m",
                    (false, _) => "dd_100m",
                });
            }
            // Commands without a copy stay open, and are those of the next copies perhaps.
            text += "$ ls\n";
            if count == 0 {
                return Ok(());
            }
        }
        prop_assert_eq!(all_ids(&text), expected, "{}", text);
    }

    /// Figures below different names are in different records.
    #[test]
    fn places_separate_records(first in select(&PLACES[..]), second in select(&PLACES[..]), is_dd in any::<bool>()) {
        let timing = "Timing buffered disk reads:  62 MB in  3.07 seconds =  20.21 MB/sec\n";
        let copy = copy(100);
        let (above, below) = if is_dd { (copy.as_str(), timing) } else { (timing, copy.as_str()) };
        // The first path below a heading can be that of the same card.
        let is_path = |name: &str| name.contains("/dev/");
        prop_assume!(is_path(first) || !is_path(second));
        let records = import(&format!("{first}\n{above}\n{second}\n{below}"));
        prop_assert_eq!(records.len(), if first == second { 1 } else { 2 }, "{} {}", first, second);
    }

    /// An error stays with a record, whatever the tool.
    #[test]
    fn errors_stay_with_the_figures(error in select(&ERRORS[..]), tool in 0usize..5, is_above in any::<bool>()) {
        let output = [
            "Timing buffered disk reads:  62 MB in  3.07 seconds =  20.21 MB/sec\n",
            &copy(100),
            "Average writing speed: 12.10 MB/s\n",
            TABLE,
            "GNU ddrescue 1.27\nrun time: 1m\naverage rate: 2000 kB/s\n",
        ][tool].to_owned();
        let text = if is_above { format!("{error}\n{output}") } else { format!("{output}{error}\n") };
        let one = one(&text);
        prop_assert!(has(&one, FindingKind::IoError), "{}: {:?}", text, one.findings);
    }
}
