//! PiBenchmarks' tables: from web pages those of the script as it was in 2020 and as it is; the
//! others composed as the script prints them, with figures of our other fixtures and its issue 27.

use cardmark_peers::{
    HdparmTest, PibenchmarksBoard, PibenchmarksReading, PibenchmarksTest as Test,
    PibenchmarksUnit as Unit, read_dd, read_hdparm, read_pibenchmarks,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{fixture, harm};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

const OLD: &str = fixture!("pibenchmarks-2020-table.txt");
const TERMINAL: &str = fixture!("pibenchmarks-2024-terminal.txt");

fn one(text: &str) -> PibenchmarksReading {
    let mut readings = read_pibenchmarks(text).unwrap();
    assert_eq!(readings.len(), 1);
    readings.remove(0)
}

/// Row, third column, whether the unit is that of the number, bytes a second.
fn results(reading: &PibenchmarksReading) -> Vec<(Test, &str, Unit, Option<f64>)> {
    let results = reading.results.iter();
    results
        .map(|result| {
            (
                result.test,
                result.printed.as_str(),
                result.unit,
                result.bytes_per_s,
            )
        })
        .collect()
}

#[test]
fn an_old_table_leaves_units_open() {
    let reading = one(OLD);
    assert_eq!(
        results(&reading),
        [
            (Test::DiskRead, "28.48 MB/s", Unit::MaybeFixed, None),
            (Test::CachedDiskRead, "21.54 MB/s", Unit::MaybeFixed, None),
            (Test::DiskWrite, "12.3 MB/s", Unit::MaybeFixed, None),
            (
                Test::FioRandomRead,
                "2380 IOPS (9523 KB/s)",
                Unit::Own,
                Some(9523.0 * KIB)
            ),
            (
                Test::FioRandomWrite,
                "204 IOPS (818 KB/s)",
                Unit::Own,
                Some(818.0 * KIB)
            ),
            (Test::Read, "7050 KB/s", Unit::Own, Some(7050.0 * KIB)),
            (Test::Write, "1357 KB/s", Unit::Own, Some(1357.0 * KIB)),
            (Test::RandomRead, "6883 KB/s", Unit::Own, Some(6883.0 * KIB)),
            (Test::RandomWrite, "999 KB/s", Unit::Own, Some(999.0 * KIB)),
        ]
    );
    assert_eq!(reading.results[0].number, 28.48);
    assert_eq!(reading.results[3].operations_per_s, Some(2380.0));
    assert_eq!(reading.results[5].operations_per_s, None);
    assert_eq!(
        (reading.score, reading.recomputed_score()),
        (Some(700), Some(700))
    );
    assert_eq!(reading.board, PibenchmarksBoard::default());
}

#[test]
fn two_tables_of_the_present_script() {
    let readings = read_pibenchmarks(fixture!("pibenchmarks-2024-two-tables.txt")).unwrap();
    let scores: Vec<_> = readings.iter().map(|reading| reading.score).collect();
    assert_eq!(scores, [Some(39_018), Some(55_508)]);
    for reading in &readings {
        assert_eq!(reading.recomputed_score(), reading.score);
        assert_eq!(reading.results.len(), 9);
    }
    assert_eq!(
        results(&readings[0])[..3],
        [
            (
                Test::DiskRead,
                "391.16 MB/sec",
                Unit::Own,
                Some(391.16 * MIB)
            ),
            (
                Test::CachedDiskRead,
                "434.70 MB/sec",
                Unit::OfDiskRead,
                None
            ),
            (Test::DiskWrite, "297 MB/s", Unit::Own, Some(297.0 * 1e6)),
        ]
    );
}

#[test]
fn a_test_that_failed_has_no_result() {
    let reading = one(fixture!("pibenchmarks-2023-fio-alone.txt"));
    let tests: Vec<_> = reading.results.iter().map(|result| result.test).collect();
    assert_eq!(tests, [Test::FioRandomRead, Test::FioRandomWrite]);
    assert_eq!(reading.results[0].operations_per_s, Some(4029.0));
    assert_eq!((reading.score, reading.recomputed_score()), (None, None));
    // The present script, without hdparm and with busybox' dd.
    let text = "HDParm  Disk Read\nHDParm  Cached Disk Read  MB/sec MB/sec\n\
        DD  Disk Write  seconds. 283.7MB/s\nIOZone  4k read  12 KB/s";
    assert_eq!(one(text).results.len(), 1);
}

#[test]
fn a_whole_terminal() {
    let reading = one(TERMINAL);
    assert_eq!(
        results(&reading)[..3],
        [
            (
                Test::DiskRead,
                "582.86 kB/sec",
                Unit::Own,
                Some(582.86 * KIB)
            ),
            (Test::CachedDiskRead, "20.90 kB/sec", Unit::OfDiskRead, None),
            (Test::DiskWrite, "830 kB/s", Unit::Own, Some(830.0 * 1e3)),
        ]
    );
    // Kilobytes of dd count as megabytes there.
    assert_eq!(
        (reading.score, reading.recomputed_score()),
        (Some(10_605), Some(10_605))
    );
    let text = |text: &str| Some(text.to_owned());
    let board = &reading.board;
    assert_eq!(board.manufacturer, text("Raspberry Pi Foundation"));
    assert_eq!(board.model, text("Raspberry Pi 4 Model B Rev 1.1"));
    assert_eq!(board.architecture, text("aarch64"));
    assert_eq!(board.os, text("Debian GNU/Linux 12 (bookworm)"));
    let drive = &reading.drive;
    assert_eq!(drive.partition, text("/dev/mmcblk0p2"));
    assert_eq!(drive.manufacturer, text("SanDisk"));
    assert_eq!(drive.model, text("SC16G"));
    assert_eq!(drive.product, text("SD"));
    assert_eq!(drive.hardware_version, text("0x8"));
    assert_eq!(drive.firmware_version, text("0x0"));
    assert_eq!(drive.made, text("08/2019"));
    assert_eq!(drive.class, text("A1 Class 10 U1"));
    assert_eq!((drive.size.clone(), drive.clock_mhz), (None, Some(50.0)));
    assert_eq!(drive.description, text("worn 16 GB card"));
}

#[test]
fn the_tools_own_lines_tell_what_the_table_does_not() {
    let plain = TERMINAL.replace("\u{1b}(B\u{1b}[m", "");
    let timings = read_hdparm(&plain).unwrap();
    assert_eq!(timings[0].test, HdparmTest::Cached);
    assert_eq!(timings[0].rate.printed, "20.90 MB/sec");
    assert_eq!(read_dd(TERMINAL).unwrap()[0].rate.printed, "830 kB/s");
}

#[test]
fn other_facts_and_forums() {
    let text = "> Chosen partition (/mnt/card) has been detected as /dev/sda1 (sda1)\n\
        > Board information: Architecture: x86_64 - OS: Debian\n\
        > MMC Type: eMMC v4 (Embedded) - Manufacturer: SK Hynix - Model: H8G4a2 - Size: 8G\n\
        > IOZone 4k random read 7004 KB/s\r\n\
        > MicroSD information: Clock Speed:  - Manufacturer: 0x0000fe - Model: SD - Vendor:  - \
        Product: SD - HW Version: 0x1 - FW Version: 0x0 - Date Manufactured: 01/2018\n\
        Class: Class 10\n\
        DD Disk Write 1.2 GB/s\n";
    let readings = read_pibenchmarks(text).unwrap();
    let [first, second] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(first.board.manufacturer, None);
    assert_eq!(first.board.os.as_deref(), Some("Debian"));
    assert_eq!(first.drive.partition.as_deref(), Some("/dev/sda1"));
    assert_eq!(first.drive.class.as_deref(), Some("eMMC v4 (Embedded)"));
    assert_eq!(first.drive.size.as_deref(), Some("8G"));
    assert_eq!(first.results[0].bytes_per_s, Some(7004.0 * KIB));
    assert_eq!(second.drive.clock_mhz, None);
    assert_eq!(second.drive.manufacturer.as_deref(), Some("0x0000fe"));
    assert_eq!(second.drive.made.as_deref(), Some("01/2018"));
    assert_eq!(second.drive.class.as_deref(), Some("Class 10"));
    // Nothing but dd says gigabytes.
    assert_eq!(second.results[0].bytes_per_s, Some(1.2 * 1e9));
    assert_eq!(second.results[0].unit, Unit::Own);
}

#[test]
fn a_table_without_hdparm_does_not_tell_which_script_it_is_of() {
    let reading = one("DD Disk Write 12.3 MB/s");
    assert_eq!(reading.results[0].unit, Unit::MaybeFixed);
    assert_eq!(reading.results[0].bytes_per_s, None);
}

#[test]
fn damaged_rows_are_refused() {
    let error = |text: &str| read_pibenchmarks(text).unwrap_err().to_string();
    for (right, wrong, word) in [
        ("28.48 MB/s", "28.48 MB/x", "MB/sec"),
        ("12.3 MB/s", "12.3 XB/s", "a rate such as"),
        ("2380 IOPS", "2390 IOPS", "agree"),
        ("(818 KB/s)", "(818 MB/s)", "IOPS"),
        ("6883 KB/s", "6883 kB/s", "a whole number"),
        ("6883 KB/s", "68.3 KB/s", "a whole number"),
        ("Score: 700", "Score: 7OO", "a whole score"),
    ] {
        let said = error(&OLD.replace(right, wrong));
        assert!(said.contains(word), "{wrong}: {said}");
    }
    assert!(error("").contains("IOZone"));
    assert!(error("Score: 700").contains("IOZone"));
}

/// Category and name of each row.
const NAMES: [(Test, &str, &str); 9] = [
    (Test::DiskRead, "HDParm", "Disk Read"),
    (Test::CachedDiskRead, "HDParm", "Cached Disk Read"),
    (Test::DiskWrite, "DD", "Disk Write"),
    (Test::FioRandomRead, "FIO", "4k random read"),
    (Test::FioRandomWrite, "FIO", "4k random write"),
    (Test::Read, "IOZone", "4k read"),
    (Test::Write, "IOZone", "4k write"),
    (Test::RandomRead, "IOZone", "4k random read"),
    (Test::RandomWrite, "IOZone", "4k random write"),
];

/// Bytes of a unit that a row may have as its own.
fn unit_bytes(test: Test, unit: &str) -> Option<f64> {
    Some(match (test, unit) {
        (Test::DiskRead, "MB/sec") => MIB,
        (Test::DiskRead, "kB/sec") => KIB,
        (Test::DiskWrite, "B/s") => 1.0,
        (Test::DiskWrite, "kB/s") => 1e3,
        (Test::DiskWrite, "MB/s") => 1e6,
        (Test::DiskWrite, "GB/s") => 1e9,
        (Test::DiskWrite, "TB/s") => 1e12,
        (Test::Read | Test::Write | Test::RandomRead | Test::RandomWrite, "KB/s") => KIB,
        _ => return None,
    })
}

/// What comes out of a damaged text is what it says, and the truth where the row is intact.
fn check(whole: &str, damaged: &str) {
    let truth = one(whole);
    let readings = read_pibenchmarks(damaged).unwrap_or_default();
    for result in readings.iter().flat_map(|reading| &reading.results) {
        let test = result.test;
        let is_number = |c: char| c.is_ascii_digit() || ".,e".contains(c);
        let unit = result.printed.trim_start_matches(is_number).trim();
        match (result.operations_per_s, result.bytes_per_s) {
            (Some(operations), Some(bytes)) => {
                let kib = bytes / KIB;
                assert_eq!(result.printed, format!("{operations} IOPS ({kib} KB/s)"));
            }
            (_, Some(bytes)) => {
                let unit_bytes = unit_bytes(test, unit).unwrap();
                assert_eq!(bytes, result.number * unit_bytes, "{result:?}");
            }
            _ => assert_ne!(result.unit, Unit::Own, "{result:?}"),
        }
        let of_truth = truth.results.iter().find(|result| result.test == test);
        let of_truth = of_truth.unwrap();
        if result.printed == of_truth.printed {
            let is_open = result.bytes_per_s.is_none() && result.unit != Unit::Own;
            let mut in_place = result.clone();
            in_place.line = of_truth.line;
            assert!(is_open || in_place == *of_truth, "{result:?}");
        } else {
            let (_, category, name) = NAMES.iter().find(|(known, ..)| *known == test).unwrap();
            let row = format!("{category:25} {name:25} {:25}\n", of_truth.printed);
            assert!(
                whole.contains(&row) && !damaged.contains(&row),
                "{result:?}"
            );
        }
    }
}

#[test]
fn a_text_without_a_line_or_cut_off_yields_nothing_else() {
    for whole in [OLD, TERMINAL] {
        for text in harm::without_a_line(whole) {
            check(whole, &format!("{text}\n"));
        }
        for text in harm::cut(whole) {
            check(whole, text);
        }
    }
}

proptest! {
    #[test]
    fn a_text_with_another_character_yields_nothing_else(
        is_old in any::<bool>(),
        at in any::<Index>(),
        put in harm::any_char(),
    ) {
        let whole = if is_old { OLD } else { TERMINAL };
        check(whole, &harm::changed(whole, at, put));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC*") {
        let _ = read_pibenchmarks(&text);
    }
}
