//! H2testw.

use crate::{M, close, ids, import, kinds, reason, value};
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
fn a_report_that_contradicts_itself_is_refused() {
    for (from, to, word) in [
        ("3.9 GByte", "4.9 GByte", "in brackets"),
        ("10.2 MByte/s", "1O.2 MByte/s", "a rate"),
        ("46016 sectors", "4601G sectors", "in brackets"),
    ] {
        let text = BAD.replace(from, to);
        assert!(reason(&text).contains(word), "{text}");
        assert_eq!(import(&text), []);
    }
}
