//! H2testw.

use crate::{M, close, ids, import, kinds, one, reason, value};
use cardmark_core::FindingKind;

const GOOD: &str = "Test finished without errors.\nYou can now delete the test files *.h2w or verify them again.\n\
    Writing speed: 6.41 MByte/s\nReading speed: 21.2 MByte/s\nH2testw v1.4\n";
const BAD: &str = "Warning: Only 4052 of 4091 MByte tested.\nThe media is likely to be defective.\n\
    3.9 GByte OK (8252480 sectors)\n22.4 MByte DATA LOST (46016 sectors)\n\
    Details:2 MByte overwritten (4096 sectors)\n0 KByte slightly changed (< 8 bit/sector, 0 sectors)\n\
    20.4 MByte corrupted (41920 sectors)\n2 MByte aliased memory (4096 sectors)\n\
    First error at offset: 0x00000000005f6000\nExpected: 0x00000000005f6000\nFound: 0xa91360744cd56eb3\n\
    H2testw version 1.3\nWriting speed: 10.2 MByte/s\nReading speed: 26.6 MByte/s\nH2testw v1.4\n";

#[test]
fn each_report_is_a_record() {
    let records = import(&format!("{GOOD}\n{BAD}\n{GOOD}"));
    let [good, bad, _] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(ids(good), ["h2testw_write", "h2testw_read"]);
    assert!(close(value(good, "h2testw_read"), 21.2 * M));
    assert_eq!(
        ids(bad),
        [
            "h2testw_ok",
            "h2testw_lost",
            "h2testw_write",
            "h2testw_read"
        ]
    );
    assert!(close(value(bad, "h2testw_ok"), 8_252_480.0 * 512.0));
    assert_eq!(kinds(bad), [FindingKind::DataLost]);
    assert!(cardmark_import::import(BAD, &[]).not_understood.is_empty());
}

#[test]
fn a_line_that_contradicts_itself_costs_its_own_figure() {
    for (from, to, word, lost) in [
        ("3.9 GByte", "4.9 GByte", "in brackets", "h2testw_ok"),
        ("10.2 MByte/s", "1O.2 MByte/s", "a rate", "h2testw_write"),
        (
            "46016 sectors",
            "4601G sectors",
            "in brackets",
            "h2testw_lost",
        ),
    ] {
        let text = BAD.replace(from, to);
        assert!(reason(&text).contains(word), "{text}");
        let bad = one(&text);
        let left = [
            "h2testw_ok",
            "h2testw_lost",
            "h2testw_write",
            "h2testw_read",
        ];
        let left: Vec<&str> = left.into_iter().filter(|id| *id != lost).collect();
        assert_eq!(ids(&bad), left);
        // The loss is never lost.
        assert!(kinds(&bad).contains(&FindingKind::DataLost), "{bad:?}");
    }
}

#[test]
fn one_sector_and_german_reports() {
    let text = "Warning: Only 4461 of 7428 MByte tested.\nThe media is likely to be defective.\n\
        4.3 GByte OK (9136127 sectors)\n0.5 KByte DATA LOST (1 sector)\n\
        Details:0 KByte overwritten (0 sectors)\n0.5 KByte corrupted (1 sector)\n\
        Reading speed: 66.8 MByte/s\n";
    let english = one(text);
    assert_eq!(value(&english, "h2testw_ok"), 9_136_127.0 * 512.0);
    assert_eq!(value(&english, "h2testw_lost"), 512.0);
    assert!(close(value(&english, "h2testw_read"), 66.8 * M));
    assert_eq!(kinds(&english), [FindingKind::DataLost]);
    let german = text
        .replace("Warning: Only", "Achtung: Nur")
        .replace("tested", "getestet")
        .replace(
            "The media is likely to be defective",
            "Der Datenträger ist wahrscheinlich defekt",
        )
        .replace("DATA LOST", "DATEN VERLOREN")
        .replace("overwritten", "überschrieben")
        .replace("corrupted", "zerstört")
        .replace("sectors", "Sektoren")
        .replace("sector", "Sektor")
        .replace("Reading speed", "Leserate");
    assert_eq!(one(&german).metrics.len(), 3);
    assert_eq!(ids(&one(&german)), ids(&english));
    assert_eq!(kinds(&one(&german)), [FindingKind::DataLost]);
}
