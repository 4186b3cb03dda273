//! What is not whole is refused, with the place and what should be there; nothing panics.

use cardmark_peers::{ReadError, read_dd, read_ddrescue, read_fio, read_hdparm, read_iozone};
use proptest::prelude::*;

use crate::fixture;

fn error<T: std::fmt::Debug>(result: Result<T, ReadError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_text_without_output_says_what_was_looked_for() {
    for text in ["", "hello\n", "{", "3;nofio;"] {
        assert!(error(read_hdparm(text)).contains("Timing"));
        assert!(error(read_dd(text)).contains("copied"));
        assert!(error(read_iozone(text)).contains("reclen"));
        assert!(error(read_ddrescue(text)).contains("average rate:"));
    }
    assert!(error(read_fio("hello")).contains("3;fio-"));
    assert!(error(read_fio("{")).contains("JSON"));
}

#[test]
fn a_damaged_line_is_named() {
    let said = error(read_hdparm(
        "\n Timing buffered disk reads: read() failed: Input/output error",
    ));
    assert!(said.contains("line 2"), "{said}");
    assert!(said.contains("seconds ="), "{said}");
    let said = error(read_fio("4;fio-3.33;a;0;0;1;1;1;1"));
    assert!(said.contains("version 3"), "{said}");
    let said = error(read_fio("3;fio-3.33;a;0;0;16384;12440;3110;1317"));
    assert!(said.contains("fields"), "{said}");
    let said = error(read_ddrescue("average rate: 15 M/s\nrun time: 1s"));
    assert!(said.contains("a rate such as"), "{said}");
    let said = error(read_ddrescue("average rate: 15 MB/s"));
    assert!(said.contains("run time"), "{said}");
    let said = error(read_iozone(
        "Children see throughput for 4 jugglers = 1.00 kB/sec",
    ));
    assert!(said.contains("a known test"), "{said}");
    let said = error(read_iozone(
        "Children see throughput for 4 readers = 1.00 ops/sec",
    ));
    assert!(said.contains("a rate in kB/sec"), "{said}");
    let said = error(read_iozone("Min xfer = 1.00 kB"));
    assert!(said.contains("before this"), "{said}");
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let changed = fixture!("hdparm-9.65-t.txt").replace("20.62 MB/sec", "20.62 kB/sec");
    assert!(error(read_hdparm(&changed)).contains("agree"));
    let changed = fixture!("hdparm-9.65-t.txt").replace("20.62", "21.62");
    assert!(error(read_hdparm(&changed)).contains("agree"));
    for (wrong, word) in [
        ("11.9 MB/s", "agree"),
        ("11.4 kB/s", "agree"),
        ("11.4MB/s", "agree"),
        ("11.4 XB/s", "a rate such as"),
        ("Infinity B/s", "a rate such as"),
    ] {
        let changed = fixture!("dd-9.1-fsync.txt").replace("11.4 MB/s", wrong);
        let said = error(read_dd(&changed));
        assert!(said.contains(word), "{wrong}: {said}");
    }
    let changed = fixture!("dd-9.1-fsync.txt").replace("3.67295 s", "3.67295 min");
    assert!(error(read_dd(&changed)).contains("seconds"));
}

#[test]
fn units_that_are_not_known_are_refused() {
    let changed = fixture!("hdparm-9.65-t.txt").replace("MB/sec", "GB/sec");
    assert!(error(read_hdparm(&changed)).contains("MB/sec or kB/sec"));
}

/// All readers; figures must be usable.
fn read_all(text: &str) {
    let check = |rate: f64| assert!(rate.is_finite() && rate >= 0.0, "{rate}");
    for reading in read_hdparm(text).into_iter().flatten() {
        check(reading.rate.bytes_per_s);
        assert!(reading.span_ns > 0);
    }
    for reading in read_dd(text).into_iter().flatten() {
        check(reading.rate.bytes_per_s);
        assert!(reading.span_ns > 0);
    }
    for reading in read_fio(text).into_iter().flatten() {
        check(reading.rate.bytes_per_s);
        check(reading.operations_per_s);
    }
    for reading in read_ddrescue(text).into_iter().flatten() {
        check(reading.average_rate.bytes_per_s);
    }
    if let Ok(output) = read_iozone(text) {
        for rate in output.rows.iter().flat_map(|row| &row.rates) {
            check(rate.rate.bytes_per_s);
        }
        for block in output.threads {
            check(block.children.bytes_per_s);
        }
    }
}

const TEXTS: [&str; 8] = [
    fixture!("hdparm-9.65-tT-direct.txt"),
    fixture!("dd-9.1-progress.txt"),
    fixture!("iozone-3.489-no-read.txt"),
    fixture!("iozone-3.489-threads.txt"),
    fixture!("fio-3.33-randrw.json"),
    fixture!("fio-3.33-terse-read.txt"),
    fixture!("ddrescue-1.27-fill.txt"),
    fixture!("ddrescue-1.27-rates.log"),
];

proptest! {
    #[test]
    fn cut_and_changed_texts_do_not_panic(
        which in 0..TEXTS.len(),
        start in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        put in "[0-9.,;:=/ \\r\\nékMB{}e+-]{0,3}",
    ) {
        let text: Vec<char> = TEXTS[which].chars().collect();
        let start = start.index(text.len() + 1);
        let length = length.index(text.len() + 1 - start);
        let part = &text[start..start + length];
        let at = at.index(part.len() + 1);
        let changed: String = part[..at].iter().copied()
            .chain(put.chars())
            .chain(part[(at + put.chars().count()).min(part.len())..].iter().copied())
            .collect();
        read_all(&changed);
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC*") {
        read_all(&text);
    }
}
