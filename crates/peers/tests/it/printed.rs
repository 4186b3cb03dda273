//! Our text is the tool's, letter for letter.

use cardmark_core::PrintStyle;
use cardmark_peers::{Amount, FioDirection, print, read_ddrescue, read_fio};

use crate::fixture;

/// Lines of bytes, span, and what the real tool printed while its clock was made to say that.
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
    let table = fixture!("dd-9.1-rates.tsv");
    assert!(compare(PrintStyle::Dd, table) > 500);
    assert!(compare(PrintStyle::PibenchmarksDd, table) > 500);
}

#[test]
fn hdparm_rounds_as_we_do() {
    let table = fixture!("hdparm-9.65-rates.tsv");
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
    // As its final screens say.
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
    assert_eq!(
        read_ddrescue(seen[1]).unwrap()[0].average_rate.printed,
        "306 MB/s"
    );
}

#[test]
fn fio_cuts_off_as_we_do() {
    let mut count = 0;
    let terse = [
        fixture!("fio-3.33-agnostics-terse.txt"),
        fixture!("fio-3.33-terse-read.txt"),
        fixture!("fio-3.33-terse-write.txt"),
    ];
    for reading in terse.iter().flat_map(|text| read_fio(text).unwrap()) {
        // Sizes of these jobs are whole blocks.
        let block_bytes = match reading.job.as_str() {
            "prepare-file" => 512 << 10,
            "seq-write" | "seq-read" => 4 << 20,
            _ => 4 << 10,
        };
        let amount = Amount {
            bytes: reading.bytes,
            span_ns: reading.span_ns,
            operations_count: reading.bytes / block_bytes,
        };
        let rate = print(PrintStyle::Agnostics, amount).unwrap();
        assert_eq!(rate.meaning, Some(reading.rate.printed));
        let iops = print(PrintStyle::AgnosticsIops, amount).unwrap();
        assert_eq!(iops.value, reading.operations_per_s);
        count += 1;
    }
    assert_eq!(count, 7);
}

#[test]
fn fio_counts_milliseconds_of_its_json_alike() {
    let readings = read_fio(fixture!("fio-3.33-agnostics.json")).unwrap();
    assert_eq!(readings.len(), 5);
    for reading in readings {
        let amount = Amount {
            bytes: reading.bytes,
            span_ns: reading.span_ns,
            operations_count: reading.operations_count.unwrap(),
        };
        let rate = print(PrintStyle::Agnostics, amount).unwrap().value;
        assert_eq!(rate, (reading.rate.bytes_per_s / 1024.0).floor());
        let iops = print(PrintStyle::AgnosticsIops, amount).unwrap().value;
        assert_eq!(iops, reading.operations_per_s.floor());
        assert!(matches!(
            reading.direction,
            FioDirection::Read | FioDirection::Write
        ));
    }
}
