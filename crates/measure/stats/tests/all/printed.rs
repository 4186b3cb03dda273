//! Our text is the tool's, letter for letter.

use cardmark_core::PrintStyle;
use cardmark_stats::{Amount, print};

/// Outputs that the crate `import` reads.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../know/import/fixtures/",
            $name
        ))
    };
}

/// Lines of bytes, span, and the output of the real tool while its clock was set to that.
fn compare(style: PrintStyle, table: &str) -> usize {
    let mut count = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap();
        let (bytes, span_ns) = (field().parse().unwrap(), field().parse().unwrap());
        let ours = print(style, Amount::of_bytes(bytes, span_ns)).unwrap();
        let theirs = field();
        assert_eq!(ours.text, theirs, "{bytes} bytes in {span_ns} ns");
        assert_eq!(theirs.split(' ').next().unwrap().parse(), Ok(ours.value));
        count += 1;
    }
    count
}

#[test]
fn dd_rounds_as_we_do() {
    let table = include_str!("../../fixtures/dd-9.1-rates.tsv");
    assert!(compare(PrintStyle::Dd, table) > 500);
    assert!(compare(PrintStyle::PibenchmarksDd, table) > 500);
}

#[test]
fn hdparm_rounds_as_we_do() {
    let table = include_str!("../../fixtures/hdparm-9.65-rates.tsv");
    assert!(compare(PrintStyle::Hdparm, table) > 30);
    assert!(compare(PrintStyle::PibenchmarksHdparm, table) > 30);
}

#[test]
fn ddrescue_cuts_off_as_we_do() {
    // Its log has whole bytes a second, its screen what it makes of them.
    let pairs = [
        (
            fixture!("ddrescue-1.27-rates.log"),
            fixture!("ddrescue-1.27-read.txt"),
            3,
        ),
        (
            fixture!("ddrescue-1.27-fast.log"),
            fixture!("ddrescue-1.27-fast.txt"),
            20,
        ),
    ];
    for (log, screen, least_count) in pairs {
        let mut count = 0;
        for line in log.lines().filter(|line| !line.starts_with('#')) {
            let rate: f64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
            if rate > 0.0 {
                let ours = print(PrintStyle::Ddrescue, Amount::of_rate(rate)).unwrap();
                let theirs = format!("average rate: {:>11}", ours.text);
                assert!(screen.contains(&theirs), "{theirs}");
                count += 1;
            }
        }
        assert!(count >= least_count);
    }
}

#[test]
fn ddrescue_begins_a_unit_at_six_digits() {
    let text = |rate| {
        print(PrintStyle::Ddrescue, Amount::of_rate(rate))
            .unwrap()
            .text
    };
    // As on its final screens.
    assert_eq!(text(65_536.0), "65536 B/s");
    assert_eq!(text(163_840.0), "163 kB/s");
    assert_eq!(text(306_783_378.0), "306 MB/s");
    let seen = [
        fixture!("ddrescue-1.27-read-slow.txt"),
        fixture!("ddrescue-1.27-fast.txt"),
    ];
    assert!(seen[0].contains("163 kB/s") && seen[1].contains("306 MB/s"));
    assert_eq!(text(99_999.0), "99999 B/s");
    assert_eq!(text(100_000.0), "100 kB/s");
    assert_eq!(text(99_999_999.0), "99999 kB/s");
    assert_eq!(text(100_000_000.0), "100 MB/s");
}

/// A terse line of fio: name, KiB, KiB/s, IOPS and milliseconds, of reads or else of writes.
fn terse(line: &str) -> (&str, [u64; 4]) {
    let fields: Vec<&str> = line.split(';').collect();
    let figures = |start: usize| [0, 1, 2, 3].map(|at| fields[start + at].parse().unwrap());
    let reads: [u64; 4] = figures(5);
    (fields[2], if reads[0] > 0 { reads } else { figures(46) })
}

#[test]
fn fio_cuts_off_as_we_do() {
    let texts = [
        fixture!("fio-3.33-agnostics-terse.txt"),
        fixture!("fio-3.33-terse-read.txt"),
        fixture!("fio-3.33-terse-write.txt"),
    ];
    let mut count = 0;
    for (job, [kib, kib_per_s, iops, span_ms]) in texts.iter().flat_map(|it| it.lines()).map(terse)
    {
        // Sizes of these jobs are whole blocks.
        let block_kib = match job {
            "prepare-file" => 512,
            "seq-write" | "seq-read" => 4096,
            _ => 4,
        };
        let amount = Amount {
            bytes: kib << 10,
            span_ns: span_ms * 1_000_000,
            operations_count: kib / block_kib,
        };
        let rate = print(PrintStyle::Agnostics, amount).unwrap();
        assert_eq!(rate.meaning, Some(format!("{kib_per_s} KiB/s")));
        let printed = print(PrintStyle::AgnosticsIops, amount).unwrap();
        assert_eq!(printed.value, iops as f64);
        count += 1;
    }
    assert_eq!(count, 7);
}
