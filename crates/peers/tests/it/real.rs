//! What the tools of Debian 12 printed, with its figures written down by hand.

use cardmark_peers::{
    FioDirection, HdparmTest, IozoneTest, read_dd, read_ddrescue, read_fio, read_hdparm,
    read_iozone,
};

use crate::fixture;

const MIB: f64 = 1_048_576.0;

fn close(left: f64, right: f64) -> bool {
    (left / right - 1.0).abs() < 1e-9
}

#[test]
fn hdparm_disk() {
    let readings = read_hdparm(fixture!("hdparm-9.65-t.txt")).unwrap();
    let [reading] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(reading.test, HdparmTest::Disk);
    assert!(!reading.direct);
    assert_eq!(reading.bytes, 64 << 20);
    assert_eq!(reading.span_ns, 3_100_000_000);
    assert!(close(reading.rate.bytes_per_s, 20.62 * MIB));
    assert_eq!(reading.rate.printed, "20.62 MB/sec");
}

#[test]
fn hdparm_below_one_megabyte() {
    let readings = read_hdparm(fixture!("hdparm-9.65-t-slow.txt")).unwrap();
    assert!(close(readings[0].rate.bytes_per_s, 582.86 * 1024.0));
    assert_eq!(readings[0].rate.printed, "582.86 kB/sec");
}

#[test]
fn hdparm_both() {
    for (text, direct) in [
        (fixture!("hdparm-9.65-tT.txt"), false),
        (fixture!("hdparm-9.65-tT-direct.txt"), true),
    ] {
        let readings = read_hdparm(text).unwrap();
        let tests: Vec<_> = readings.iter().map(|reading| reading.test).collect();
        assert_eq!(tests, [HdparmTest::Cached, HdparmTest::Disk]);
        assert!(readings.iter().all(|reading| reading.direct == direct));
    }
}

#[test]
fn dd_of_a_file() {
    let readings = read_dd(fixture!("dd-9.1-fsync.txt")).unwrap();
    let [reading] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(reading.bytes, 41_943_040);
    assert_eq!(reading.span_ns, 3_672_950_000);
    assert!(close(reading.rate.bytes_per_s, 41_943_040.0 / 3.67295));
    assert_eq!(reading.rate.printed, "11.4 MB/s");
}

#[test]
fn dd_with_progress_yields_its_last_line() {
    let readings = read_dd(fixture!("dd-9.1-progress.txt")).unwrap();
    let [reading] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(reading.span_ns, 3_576_740_000);
    assert_eq!(reading.rate.printed, "11.7 MB/s");
}

/// Tests and figures of the lines of a table.
fn table(text: &str) -> Vec<(u64, Vec<(IozoneTest, f64)>)> {
    let output = read_iozone(text).unwrap();
    assert!(output.threads.is_empty());
    let rows = output.rows.into_iter().map(|row| {
        assert_eq!(row.size_bytes, 8 << 20);
        assert!(row.unit_stated);
        let rates = row.rates.into_iter();
        let rates = rates.map(|rate| (rate.test, rate.rate.bytes_per_s / 1024.0));
        (row.record_bytes, rates.collect())
    });
    rows.collect()
}

const SIX: [IozoneTest; 6] = [
    IozoneTest::Write,
    IozoneTest::Rewrite,
    IozoneTest::Read,
    IozoneTest::Reread,
    IozoneTest::RandomRead,
    IozoneTest::RandomWrite,
];

#[test]
fn iozone_tables() {
    let with = |tests: &[IozoneTest], kib: &[u32]| -> Vec<(IozoneTest, f64)> {
        tests
            .iter()
            .copied()
            .zip(kib.iter().copied().map(f64::from))
            .collect()
    };
    assert_eq!(
        table(fixture!("iozone-3.489-4k.txt")),
        [(
            4096,
            with(&SIX, &[9491, 12_760, 9944, 12_450, 11_808, 10_064])
        )]
    );
    assert_eq!(
        table(fixture!("iozone-3.489-4k-1m.txt")),
        [
            (
                4096,
                with(&SIX, &[8623, 12_250, 12_913, 11_732, 11_705, 12_847])
            ),
            (
                1 << 20,
                with(&SIX, &[9382, 11_735, 10_128, 10_956, 11_808, 13_382])
            ),
        ]
    );
}

/// Tests of the first line of a table.
fn tests(text: &str) -> Vec<IozoneTest> {
    let (_, rates) = table(text).remove(0);
    rates.into_iter().map(|(test, _)| test).collect()
}

#[test]
fn iozone_with_gaps_between_columns() {
    use IozoneTest::{RandomRead, RandomWrite, Rewrite, StrideRead, Write};
    let no_read = fixture!("iozone-3.489-no-read.txt");
    assert_eq!(tests(no_read), [Write, Rewrite, RandomRead, RandomWrite]);
    let stride = fixture!("iozone-3.489-stride-excel.txt");
    assert_eq!(tests(stride), [Write, Rewrite, StrideRead]);
    // Without the command line, places alone tell.
    for text in [no_read, stride] {
        let without: Vec<_> = text
            .lines()
            .filter(|line| !line.contains("Command"))
            .collect();
        assert_eq!(tests(&without.join("\n")), tests(text));
    }
}

#[test]
fn iozone_with_all_columns() {
    let rows = table(fixture!("iozone-3.489-all.txt"));
    assert_eq!(rows[0].1.len(), 13);
    assert_eq!(rows[0].1[8], (IozoneTest::StrideRead, 12_521.0));
    assert_eq!(rows[0].1[12], (IozoneTest::Freread, 12_316_176.0));
}

#[test]
fn iozone_in_operations_is_not_taken_for_a_rate() {
    let error = read_iozone(fixture!("iozone-3.489-ops.txt"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("line 31"), "{error}");
    assert!(error.contains("kBytes/sec"), "{error}");
}

#[test]
fn iozone_threads() {
    let output = read_iozone(fixture!("iozone-3.489-threads.txt")).unwrap();
    assert!(output.rows.is_empty());
    let tests: Vec<_> = output.threads.iter().map(|block| block.test).collect();
    assert_eq!(tests, SIX);
    let first = &output.threads[0];
    assert_eq!(first.threads_count, 4);
    assert!(close(first.children.bytes_per_s, 12_992.28 * 1024.0));
    assert_eq!(first.children.printed, "12992.28 kB/sec");
    let printed = |rate: &Option<cardmark_peers::Rate>| rate.clone().unwrap().printed;
    assert_eq!(printed(&first.parent), "11076.07 kB/sec");
    assert_eq!(printed(&first.min), "2861.77 kB/sec");
    assert_eq!(printed(&first.max), "3654.46 kB/sec");
    assert_eq!(printed(&first.avg), "3248.07 kB/sec");
    assert_eq!(first.min_transfer_bytes, Some(3208 * 1024));
    let last = &output.threads[5];
    assert_eq!(printed(&last.parent), "10048.33 kB/sec");
}

#[test]
fn fio_json() {
    let readings = read_fio(fixture!("fio-3.33-randrw.json")).unwrap();
    let [read, write] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(
        (read.direction, write.direction),
        (FioDirection::Read, FioDirection::Write)
    );
    assert_eq!(read.job, "test");
    assert_eq!((read.bytes, write.bytes), (8_159_232, 8_617_984));
    assert_eq!(read.span_ns, 709_000_000);
    assert_eq!(read.rate.bytes_per_s, 11_508_084.0);
    assert_eq!(read.operations_per_s, 2_809.590_973);
    assert_eq!(
        (read.operations_count, write.operations_count),
        (Some(1992), Some(2104))
    );
    assert_eq!(read.errno, 0);
}

#[test]
fn fio_terse() {
    let readings = read_fio(fixture!("fio-3.33-agnostics-terse.txt")).unwrap();
    let found: Vec<_> = readings
        .iter()
        .map(|reading| {
            let kib = reading.rate.bytes_per_s / 1024.0;
            (
                reading.job.as_str(),
                reading.direction,
                kib,
                reading.operations_per_s,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("prepare-file", FioDirection::Write, 11_628.0, 22.0),
            ("seq-write", FioDirection::Write, 12_449.0, 3.0),
            ("seq-read", FioDirection::Read, 12_449.0, 3.0),
            ("rand-4k-write", FioDirection::Write, 12_468.0, 3117.0),
            ("rand-4k-read", FioDirection::Read, 12_449.0, 3112.0),
        ]
    );
    assert_eq!(readings[3].span_ns, 1_314_000_000);
    assert_eq!(readings[3].bytes, 16 << 20);
}

#[test]
fn ddrescue_screens() {
    let cases = [
        (
            fixture!("ddrescue-1.27-read.txt"),
            60_000_000,
            15_000_000.0,
            3,
        ),
        (
            fixture!("ddrescue-1.27-write.txt"),
            62_914_000,
            15_728_000.0,
            3,
        ),
        (
            fixture!("ddrescue-1.27-fill.txt"),
            48_000_000,
            20_480_000.0,
            2,
        ),
        (
            fixture!("ddrescue-1.27-fast.txt"),
            6_442_000_000,
            306_000_000.0,
            20,
        ),
        (
            fixture!("ddrescue-1.27-read-slow.txt"),
            1_000_000,
            200_000.0,
            4,
        ),
        (
            fixture!("ddrescue-1.27-read-binary.txt"),
            976 * 1024,
            195.0 * 1024.0,
            4,
        ),
    ];
    for (text, bytes, rate, seconds) in cases {
        let readings = read_ddrescue(text).unwrap();
        let [reading] = readings.as_slice() else {
            panic!()
        };
        assert_eq!(reading.bytes, Some(bytes));
        assert_eq!(reading.average_rate.bytes_per_s, rate);
        assert_eq!(reading.span_ns, seconds * 1_000_000_000);
    }
}

#[test]
fn ddrescue_log() {
    let readings = read_ddrescue(fixture!("ddrescue-1.27-rates.log")).unwrap();
    let [reading] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(reading.bytes, None);
    assert_eq!(reading.average_rate.bytes_per_s, 19_595_264.0);
    assert_eq!(reading.span_ns, 3_000_000_000);
}
