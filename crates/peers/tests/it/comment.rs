//! Comments with the four usual figures, in the forms that people write them in. The figures are
//! made up.

use cardmark_peers::{
    CommentDoubt, CommentFigure as Figure, CommentRate, CommentReading, IozoneTest, read_comment,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{fixture, harm};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

const READ: Figure = Figure::Iozone(IozoneTest::RandomRead);
const WRITE: Figure = Figure::Iozone(IozoneTest::RandomWrite);

const TEXTS: [&str; 7] = [
    fixture!("comment-lines.txt"),
    fixture!("comment-joined.txt"),
    fixture!("comment-pasted.txt"),
    fixture!("comment-commas.txt"),
    fixture!("comment-columns.txt"),
    fixture!("comment-table.txt"),
    fixture!("comment-doubts.txt"),
];

type Rate = Result<(f64, f64), CommentDoubt>;

/// Figure, number, unit, and least and most bytes a second.
fn read(text: &str) -> Vec<(Figure, String, String, Rate)> {
    let readings = read_comment(text).unwrap().into_iter();
    readings
        .map(|reading| {
            let ends = |rate: CommentRate| (rate.least_bytes_per_s, rate.most_bytes_per_s);
            let unit = reading.unit.unwrap_or_default();
            (reading.figure, reading.number, unit, reading.rate.map(ends))
        })
        .collect()
}

fn row(figure: Figure, number: &str, unit: &str, rate: Rate) -> (Figure, String, String, Rate) {
    (figure, number.to_owned(), unit.to_owned(), rate)
}

fn certain(number: f64, unit_bytes: f64) -> Rate {
    Ok((number * unit_bytes, number * unit_bytes))
}

/// A figure of iozone that its author divided.
fn divided(number: f64) -> Rate {
    Ok((number * 1_024_000.0, number * MIB))
}

#[test]
fn a_figure_a_line_some_without_unit() {
    assert_eq!(
        read(TEXTS[0]),
        [
            row(Figure::Hdparm, "41.37", "MB/s", certain(41.37, MIB)),
            row(Figure::Dd, "26.2", "", Err(CommentDoubt::NoUnit)),
            row(READ, "7.912", "", Err(CommentDoubt::NoUnit)),
            row(WRITE, "4.145", "", Err(CommentDoubt::NoUnit)),
        ]
    );
    let readings = read_comment(TEXTS[0]).unwrap();
    let lines: Vec<_> = readings.iter().map(|reading| reading.line).collect();
    assert_eq!(lines, [2, 3, 4, 5]);
    assert_eq!(readings[2].record_bytes, Some(4096));
    assert!(readings.iter().all(|reading| reading.is_test_told));
}

#[test]
fn several_figures_a_line_without_the_word_random() {
    assert_eq!(
        read(TEXTS[1]),
        [
            row(Figure::Hdparm, "42.18", "MB/s", certain(42.18, MIB)),
            row(Figure::Dd, "23.6", "MB/s", certain(23.6, 1e6)),
            row(READ, "9.14", "MB/s", divided(9.14)),
            row(WRITE, "2.83", "MB/s", divided(2.83)),
        ]
    );
    let readings = read_comment(TEXTS[1]).unwrap();
    let told: Vec<_> = readings
        .iter()
        .map(|reading| reading.is_test_told)
        .collect();
    assert_eq!(told, [true, true, false, false]);
}

#[test]
fn lines_of_the_tools_and_a_unit_for_all() {
    let dd = 419_430_400.0 / 30.2417;
    assert_eq!(
        read(TEXTS[2]),
        [
            row(Figure::Hdparm, "43.56", "MB/sec", certain(43.56, MIB)),
            row(Figure::Dd, "13.9", "MB/s", Ok((dd, dd))),
            row(READ, "11207", "kBps", certain(11_207.0, KIB)),
            row(WRITE, "3688", "kBps", certain(3688.0, KIB)),
        ]
    );
    let on_one_line = "random read=11207 random write=3688 (in kBps)";
    assert_eq!(read(on_one_line), read(TEXTS[2])[2..]);
}

#[test]
fn decimal_commas() {
    assert_eq!(
        read(TEXTS[3]),
        [
            row(Figure::Hdparm, "44,06", "MB/sec", certain(44.06, MIB)),
            row(Figure::Dd, "22,9", "MB/s", certain(22.9, 1e6)),
            row(READ, "10,31", "MB/s", divided(10.31)),
            row(WRITE, "3,62", "MB/s", divided(3.62)),
        ]
    );
}

#[test]
fn columns_of_iozone() {
    let readings = read_comment(TEXTS[4]).unwrap();
    let tests = [
        IozoneTest::Write,
        IozoneTest::Rewrite,
        IozoneTest::Read,
        IozoneTest::Reread,
        IozoneTest::RandomRead,
        IozoneTest::RandomWrite,
    ];
    let expected: [([u32; 6], Option<u64>); 3] = [
        ([1604, 1729, 4498, 4507, 4013, 261], None),
        ([1597, 1733, 4802, 4811, 4350, 258], None),
        ([2081, 2702, 4641, 4655, 4571, 2418], Some(4096)),
    ];
    assert_eq!(readings.len(), 18);
    for (readings, (kib, record_bytes)) in readings.chunks(6).zip(expected) {
        for ((reading, test), kib) in readings.iter().zip(tests).zip(kib) {
            assert_eq!(reading.figure, Figure::Iozone(test));
            assert_eq!(reading.number, kib.to_string());
            assert_eq!(reading.record_bytes, record_bytes);
            let rate = reading.rate.unwrap();
            assert_eq!(rate.least_bytes_per_s, f64::from(kib) * KIB);
            assert_eq!(rate.most_bytes_per_s, f64::from(kib) * KIB);
        }
    }
}

#[test]
fn columns_that_somebody_divided_are_not_understood() {
    let text = TEXTS[4].replace("1604 1729", "1.60 1.73");
    let readings = read_comment(&text).unwrap();
    let doubt = Err(CommentDoubt::NoUnit);
    assert!(readings[..6].iter().all(|reading| reading.rate == doubt));
    assert!(readings[6..].iter().all(|reading| reading.rate.is_ok()));
}

#[test]
fn a_table_of_cards() {
    assert_eq!(
        read(TEXTS[5]),
        [
            row(Figure::Hdparm, "21.64", "MB/s", certain(21.64, MIB)),
            row(Figure::Dd, "18.5", "MB/s", certain(18.5, 1e6)),
            row(READ, "8.22", "MB/s", divided(8.22)),
            row(WRITE, "1.71", "MB/s", divided(1.71)),
            row(Figure::Hdparm, "17.31", "MB/s", certain(17.31, MIB)),
            row(Figure::Dd, "10.1", "MB/s", certain(10.1, 1e6)),
            row(READ, "5.28", "MB/s", divided(5.28)),
            row(WRITE, "1.09", "MB/s", divided(1.09)),
        ]
    );
}

/// Where a sign stands between number and unit, the unit is not busybox's.
#[test]
fn a_unit_in_a_column_of_its_own_is_not_close_to_the_number() {
    let parted = TEXTS[5].replace("18.5 MB/s", "18.5|MB/s");
    assert_ne!(parted, TEXTS[5]);
    assert_eq!(read(&parted), read(TEXTS[5]));
}

#[test]
fn a_row_that_lacks_a_figure_is_left_out() {
    for wrong in [" 1.71 MB/s", " 18.5 MB/s", " MB/s 18.5", "1.64 MB/s 1"] {
        let readings = read(&TEXTS[5].replace(wrong, " "));
        assert_eq!(readings, read(TEXTS[5])[4..], "{wrong}");
    }
}

#[test]
fn a_table_without_units_is_not_understood() {
    let text = "| Card | hdparm | dd write | 4K random read | 4K random write |\n\
        |---|---|---|---|---|\n\
        | Red | 22,35 | 11,00 | 5353 | 1059 |\n";
    let doubt = Err(CommentDoubt::NoUnit);
    assert_eq!(
        read(text),
        [
            row(Figure::Hdparm, "22,35", "", doubt),
            row(Figure::Dd, "11,00", "", doubt),
            row(READ, "5353", "", doubt),
            row(WRITE, "1059", "", doubt),
        ]
    );
}

#[test]
fn doubts_are_told_and_other_tests_left_out() {
    assert_eq!(
        read(TEXTS[6]),
        [
            row(
                Figure::Hdparm,
                "21.9",
                "Mb/s",
                Err(CommentDoubt::UnknownUnit)
            ),
            row(Figure::Dd, "11.8", "MB/s", Ok((11.8 * 1e6, 11.8 * MIB))),
            row(READ, "7204", "", Err(CommentDoubt::NoUnit)),
            row(WRITE, "3,412", "kB/s", Err(CommentDoubt::Digits)),
        ]
    );
}

#[test]
fn further_forms() {
    for (text, expected) in [
        (
            "hdparm -t: 43.5 MB/s",
            row(Figure::Hdparm, "43.5", "MB/s", certain(43.5, MIB)),
        ),
        (
            "I get hdparm = 582.86 kB/sec",
            row(Figure::Hdparm, "582.86", "kB/sec", certain(582.86, KIB)),
        ),
        (
            "DD - 1.2 GB/s",
            row(Figure::Dd, "1.2", "GB/s", certain(1.2, 1e9)),
        ),
        (
            "| iozone 4K random read | 56.09 MB/s |",
            row(READ, "56.09", "MB/s", divided(56.09)),
        ),
        (
            "4KiB rand write (MB/s): 7.48",
            row(WRITE, "7.48", "MB/s", divided(7.48)),
        ),
        (
            "random write 4k: 9.3 MiB/s",
            row(WRITE, "9.3", "MiB/s", certain(9.3, MIB)),
        ),
        (
            "4k random read 2711 IOPS",
            row(READ, "2711", "IOPS", certain(2711.0, 4096.0)),
        ),
        (
            "random read 2711 IOPS",
            row(READ, "2711", "IOPS", Err(CommentDoubt::UnknownUnit)),
        ),
        (
            "4k random read 7.204 kB/s",
            row(READ, "7.204", "kB/s", Err(CommentDoubt::Digits)),
        ),
        (
            "4k random write 0,484 MB/s",
            row(WRITE, "0,484", "MB/s", divided(0.484)),
        ),
        (
            "dd | 4k random read 1.2.3 MB/s",
            row(READ, "1.2.3", "MB/s", Err(CommentDoubt::Digits)),
        ),
    ] {
        assert_eq!(read(text), [expected], "{text}");
    }
}

#[test]
fn a_text_without_figures_is_refused() {
    for text in [
        "",
        "hello",
        "hdparm -T 812 MB/s",
        "add 28.4 MB/s",
        "Timing cached reads: 812 MB in 2.00 seconds = 406.22 MB/sec",
        "DD Write Speed: 16.3 MB/s",
        "HDParm: 26.34 MB/s - HDParmCached: 10.20 MB/s",
        "rand-4k-write;0;0;855;213\nRandom write speed 213 IOPS (target 500) - FAIL",
        "64k random read 12.1 MB/s, sequential 4k read 11.3 MB/s",
    ] {
        let said = read_comment(text).unwrap_err().to_string();
        assert!(said.contains("hdparm 43.51 MB/s"), "{text}: {said}");
    }
}

#[test]
fn a_pasted_table_of_pibenchmarks_yields_what_is_certain() {
    let iozone = |test, kib: f64| {
        let number = kib.to_string();
        row(Figure::Iozone(test), &number, "KB/s", certain(kib, KIB))
    };
    assert_eq!(
        read(fixture!("pibenchmarks-2020-table.txt")),
        [
            // Random ones are called so; these are not.
            iozone(IozoneTest::Read, 7050.0),
            iozone(IozoneTest::Write, 1357.0),
            iozone(IozoneTest::RandomRead, 6883.0),
            iozone(IozoneTest::RandomWrite, 999.0),
        ]
    );
}

#[test]
fn copies_from_the_card_and_those_on_the_way_are_left_out() {
    let text = "$ dd if=/dev/zero of=test bs=8k count=50k conv=fsync status=progress\n\
        35160064 bytes (35 MB, 34 MiB) copied, 3 s, 11.7 MB/s\n\
        51200+0 records in\n51200+0 records out\n\
        419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s\n\
        $ dd if=test of=/dev/null bs=8k\n\
        51200+0 records in\n51200+0 records out\n\
        419430400 bytes (419 MB, 400 MiB) copied, 0.5 s, 839 MB/s\n";
    let rate = 419_430_400.0 / 40.4;
    assert_eq!(
        read(text),
        [row(Figure::Dd, "10.4", "MB/s", Ok((rate, rate)))]
    );
}

/// Least and most bytes that a unit of a figure can stand for.
fn unit_bytes(figure: Figure, unit: Option<&str>) -> Vec<(f64, f64)> {
    let Some(unit) = unit else {
        // Columns of iozone.
        return vec![(KIB, KIB)];
    };
    let prefix = unit.trim_end_matches("/sec").trim_end_matches("/s");
    let prefix = prefix.trim_end_matches("ps").trim_end_matches('B');
    match (figure, prefix) {
        (_, "Ki") => vec![(KIB, KIB)],
        (_, "Mi") => vec![(MIB, MIB)],
        (Figure::Hdparm | Figure::Iozone(_), "k" | "K") => vec![(KIB, KIB)],
        (Figure::Hdparm, "M") => vec![(MIB, MIB)],
        (Figure::Dd, "k" | "K") => vec![(1e3, 1e3), (1e3, KIB)],
        (Figure::Dd, "M") => vec![(1e6, 1e6), (1e6, MIB)],
        (Figure::Dd, "G") => vec![(1e9, 1e9), (1e9, KIB * MIB)],
        (Figure::Iozone(_), "M") => vec![(1_024_000.0, MIB)],
        (Figure::Iozone(_), "IOPS") => vec![(4096.0, 4096.0)],
        _ => Vec::new(),
    }
}

/// Whether two rates are the same; a line of dd yields bytes over span, which say more than its
/// rate.
fn same(figure: Figure, rate: CommentRate, (least, most): (f64, f64)) -> bool {
    let allowed = if figure == Figure::Dd { 0.01 } else { 1e-12 };
    let close = |left: f64, right: f64| (left - right).abs() <= allowed * right;
    close(rate.least_bytes_per_s, least) && close(rate.most_bytes_per_s, most)
}

/// What comes out of a damaged text is what it says, and the truth where number and unit are
/// intact.
fn check(whole: &str, damaged: &str) {
    let truth = read_comment(whole).unwrap();
    for reading in read_comment(damaged).unwrap_or_default() {
        let Ok(rate) = reading.rate else { continue };
        let figure = reading.figure;
        let number: f64 = reading.number.replace(',', ".").parse().unwrap();
        let units = unit_bytes(figure, reading.unit.as_deref());
        let fits =
            |&(least, most): &(f64, f64)| same(figure, rate, (number * least, number * most));
        assert!(units.iter().any(fits), "{reading:?}");
        assert!(damaged.contains(&reading.number), "{reading:?}");

        let is_intact = |truth: &&CommentReading| {
            (truth.figure, &truth.number, &truth.unit) == (figure, &reading.number, &reading.unit)
        };
        for truth in truth.iter().filter(is_intact) {
            let of_truth = truth.rate.unwrap();
            let of_truth = (of_truth.least_bytes_per_s, of_truth.most_bytes_per_s);
            assert!(same(figure, rate, of_truth), "{reading:?} {truth:?}");
        }
    }
}

#[test]
fn a_text_without_a_line_or_cut_off_yields_nothing_else() {
    for whole in TEXTS {
        for text in harm::without_a_line(whole) {
            check(whole, &text);
        }
        for text in harm::cut(whole) {
            check(whole, text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_text_with_another_character_yields_nothing_else(
        which in 0..TEXTS.len(),
        at in any::<Index>(),
        put in harm::any_char(),
    ) {
        check(TEXTS[which], &harm::changed(TEXTS[which], at, put));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC*") {
        let _ = read_comment(&text);
    }
}
