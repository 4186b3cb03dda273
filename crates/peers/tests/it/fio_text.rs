//! fio's human output: what it printed, its figures written down by hand, and what people make of
//! it.
//!
//! The texts are from issue trackers (fio 34, fio-cdm 1, cloud-hypervisor 4387, bcachefs 478,
//! armbian 10613), some without their end. Those of 3.33 come with the JSON that the same run
//! printed (`--output-format=normal,json`).

use cardmark_peers::{
    FioDirection, FioLatency, FioReading, FioSetup, FioTextReading, read_fio, read_fio_text,
};

use crate::fixture;

const KIB: f64 = 1024.0;

fn close(left: f64, right: f64) -> bool {
    (left / right - 1.0).abs() < 1e-9
}

fn error(text: &str) -> String {
    read_fio_text(text).unwrap_err().to_string()
}

fn one(text: &str) -> FioTextReading {
    let [reading]: [FioTextReading; 1] = read_fio_text(text).unwrap().try_into().unwrap();
    reading
}

fn setup(mode: &str, block_bytes: u64, queue_depth: u32, engine: &str) -> Option<FioSetup> {
    Some(FioSetup {
        mode: mode.to_owned(),
        block_bytes: Some(block_bytes),
        queue_depth,
        engine: engine.to_owned(),
    })
}

/// A percentile of the completions.
fn completed_ns(reading: &FioTextReading, percent: f64) -> Option<u64> {
    let mut known = reading.percentiles.iter();
    let found = known.find(|it| it.latency == FioLatency::Completion && it.percent == percent);
    found.map(|percentile| percentile.at_most_ns)
}

#[test]
fn fio_2_with_a_name_and_a_setup() {
    let reading = one(fixture!("fio-2.1.14-write.txt"));
    assert_eq!(reading.job.as_deref(), Some("seqwrite4"));
    assert_eq!((reading.group, reading.jobs_count), (Some(0), Some(1)));
    assert_eq!(reading.errno, Some(0));
    assert_eq!(reading.setup, setup("write", 4096, 1, "sync"));
    assert_eq!(reading.direction, FioDirection::Write);
    // 8904.95 KiB a second; what is printed for decimals is none.
    assert_eq!(reading.rate.bytes_per_s, 8904.0 * KIB);
    assert_eq!(reading.rate.printed, "8904.1KB/s");
    assert!(!reading.unit_stated);
    assert_eq!(reading.operations_per_s, 2226.0);
    assert_eq!(reading.operations_count, None);
    assert_eq!(reading.bytes, 1 << 30);
    assert_eq!(reading.span_ns, 117_752_000_000);
    assert_eq!(reading.percentiles.len(), 17);
    assert_eq!(completed_ns(&reading, 1.0), Some(99_000));
    assert_eq!(completed_ns(&reading, 99.99), Some(284_672_000));
}

#[test]
fn fio_2_with_a_rate_in_bytes() {
    let reading = one(fixture!("fio-2-rand-read.txt"));
    assert_eq!(reading.job.as_deref(), Some("Rand-Read-4K"));
    assert_eq!(reading.group, Some(4));
    assert_eq!(reading.setup, None);
    assert_eq!(reading.direction, FioDirection::Read);
    assert_eq!(reading.rate.bytes_per_s, 384_042.0);
    assert!(reading.unit_stated);
    assert_eq!(reading.bytes, 22_504 * 1024);
    assert_eq!(reading.operations_count, Some(5626));
    assert!(close(reading.operations_per_s, 5626.0 / 60.004));
    assert_eq!(completed_ns(&reading, 50.0), Some(9_000_000));
    assert_eq!(completed_ns(&reading, 99.99), Some(330_000_000));
}

#[test]
fn fio_3_without_latencies() {
    let reading = one(fixture!("fio-3.16-rand-read.txt"));
    assert_eq!(reading.setup, setup("randread", 4096, 64, "libaio"));
    assert!(close(reading.rate.bytes_per_s, 52.8 * KIB * KIB));
    assert_eq!(reading.rate.printed, "52.8MiB/s");
    assert!(reading.unit_stated);
    assert_eq!(reading.operations_count, Some(202_678));
    assert!(close(reading.operations_per_s, 202_678.0 / 15.005));
    assert_eq!(reading.bytes, 792 << 20);
    assert_eq!(reading.span_ns, 15_005_000_000);
    assert!(reading.percentiles.is_empty());
}

#[test]
fn fio_3_with_latencies_in_three_units() {
    let reading = one(fixture!("fio-3.28-rand-write.txt"));
    assert_eq!(reading.job.as_deref(), Some("Max throughput"));
    assert!(close(reading.rate.bytes_per_s, 69.1 * KIB * KIB));
    // No number of operations in this text.
    assert_eq!(reading.operations_per_s, 17_700.0);
    assert_eq!(completed_ns(&reading, 99.0), Some(194_000));
    assert_eq!(completed_ns(&reading, 99.5), Some(13_960_000));
    let reading = one(fixture!("fio-3.41-write.txt"));
    assert_eq!(reading.setup, setup("write", 1 << 20, 32, "psync"));
    assert_eq!(completed_ns(&reading, 95.0), Some(22_000_000));
    assert_eq!(completed_ns(&reading, 99.99), Some(575_000_000));
    let text = "mixed: (groupid=0, jobs=1): err= 0: pid=1: Sat Jun 24 12:07:54 2017\n\
        read: IOPS=20.0k, BW=78.1MiB/s (81.9MB/s)(80.0KiB/1msec)\n\
        clat (nsec): min=38318, max=93171, avg=46002.60, stdev=11469.56\n\
        lat (nsec): min=38501, max=93370, avg=46190.10, stdev=11469.60\n\
        clat percentiles (nsec):\n     \
         |  1.00th=[38144],  5.00th=[38144], 99.99th=[92672]\n\
        lat percentiles (usec):\n | 50.00th=[ 48]\n\
        sync percentiles (usec):\n | 50.00th=[ 12]\n";
    let reading = one(text);
    assert_eq!(completed_ns(&reading, 1.0), Some(38_144));
    assert_eq!(reading.percentiles.len(), 4);
    assert_eq!(reading.percentiles[3].latency, FioLatency::Total);
    assert_eq!(reading.percentiles[3].at_most_ns, 48_000);
}

/// The human output of a run says what its JSON says, within what it is shortened to.
fn same(text: &str, json: &str) {
    let (shown, exact) = (read_fio_text(text).unwrap(), read_fio(json).unwrap());
    assert_eq!(shown.len(), exact.len());
    for (shown, exact) in shown.iter().zip(&exact) {
        let FioReading {
            job,
            direction,
            span_ns,
            operations_count,
            ..
        } = exact;
        assert_eq!(shown.job.as_ref(), Some(job));
        assert_eq!(shown.direction, *direction);
        assert_eq!(shown.span_ns, *span_ns);
        assert_eq!(shown.operations_count, *operations_count);
        assert_eq!(shown.bytes, exact.bytes);
        assert!((shown.operations_per_s - exact.operations_per_s).abs() < 1e-6);
        let off = shown.rate.bytes_per_s / exact.rate.bytes_per_s - 1.0;
        assert!(off.abs() < 0.006, "{job}: {off}");
        assert!(shown.setup.is_some());
    }
}

#[test]
fn fio_says_the_same_in_both_formats() {
    same(
        fixture!("fio-3.33-randrw.txt"),
        fixture!("fio-3.33-randrw-run.json"),
    );
    same(
        fixture!("fio-3.33-agnostics.txt"),
        fixture!("fio-3.33-agnostics-run.json"),
    );
}

#[test]
fn fio_of_several_jobs_and_groups() {
    let readings = read_fio_text(fixture!("fio-3.33-agnostics.txt")).unwrap();
    let found: Vec<_> = readings
        .iter()
        .map(|reading| {
            let setup = reading.setup.clone().unwrap();
            (reading.group, setup.mode, setup.block_bytes)
        })
        .collect();
    let expected = |group, mode: &str, block| (Some(group), mode.to_owned(), Some(block));
    assert_eq!(
        found,
        [
            expected(0, "write", 512 << 10),
            expected(1, "write", 4 << 20),
            expected(2, "read", 4 << 20),
            expected(3, "randwrite", 4096),
            expected(4, "randread", 4096),
        ]
    );
    assert_eq!(completed_ns(&readings[0], 1.0), Some(490_000));
    assert_eq!(completed_ns(&readings[3], 99.0), Some(7_766_016));
}

#[test]
fn fio_with_jobs_summed() {
    let header = "sum: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, \
        (T) 1024KiB-1024KiB, ioengine=libaio, iodepth=64\n";
    let job = "sum: (groupid=0, jobs=4): err= 0: pid=2530: Wed Apr 27 22:01:57 2022\n  \
        read: IOPS=396, BW=397MiB/s (416MB/s)(4188MiB/10559msec)\n";
    let expected = setup("read", 1 << 20, 64, "libaio");
    assert_eq!(one(&format!("{header}...\n{job}")).setup, expected);
    assert_eq!(one(&format!("{header}...\n{job}")).jobs_count, Some(4));
    // Not all of the four are there, or one was told something else.
    assert_eq!(one(&format!("{header}{job}")).setup, None);
    let other = header.replace("iodepth=64", "iodepth=1");
    assert_eq!(one(&format!("{header}...\n{other}{job}")).setup, None);
}

#[test]
fn fio_as_people_paste_it() {
    // Lines of figures alone.
    let text = "> read: IOPS=510k, BW=1992MiB/s (2089MB/s)(9963MiB/5001msec)\r\n\
        > write: IOPS=25.7k, BW=100MiB/s (105MB/s)(1506MiB/15001msec)\r\n\
        > read : io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec";
    let readings = read_fio_text(text).unwrap();
    assert_eq!(readings.len(), 3);
    assert_eq!(readings[0].job, None);
    assert_eq!(readings[0].operations_per_s, 510_000.0);
    assert_eq!(readings[2].rate.bytes_per_s, 24_035.0 * KIB);
    assert_eq!(readings[2].operations_per_s, 6008.0);
    // A range of block sizes, and operations under way at the end of a ramp.
    let header = "a: (g=0): rw=write, bs=512-64K/512-64K/512-64K, ioengine=sync, iodepth=1\n";
    let job = "a: (groupid=0, jobs=1): err= 5 (file:io_u.c:1, error=Input/output error): pid=9\n  \
        write: IOPS=96, BW=97.6MiB/s (102MB/s)(1524MiB/15610msec)\n  \
        issued rwt: total=0,1509,0, short=0,0,0, dropped=0,0,0\n";
    let reading = one(&format!("{header}{job}"));
    assert_eq!(reading.errno, Some(5));
    assert_eq!(reading.setup.unwrap().block_bytes, None);
    assert_eq!(reading.operations_count, Some(1509));
    let header = header
        .replace("512-64K", "1M-1M")
        .replace("iodepth=1", "iodepth=16");
    assert!(one(&format!("{header}{job}")).setup.is_some());
    // Trims, and both directions in one.
    let text = "a: (groupid=0, jobs=1): err= 0: pid=9\n\
        mixed: IOPS=0, BW=0 (0)(0B/5101msec)\nclat percentiles (usec):\n| 1.00th=[ 1]";
    assert!(error(text).contains("IOPS="));
}

#[test]
fn fio_chooses_the_unit_that_says_more() {
    let text = "read: IOPS=3319, BW=12.0MiB/s (13.6MB/s)(130MiB/10000msec)";
    let reading = one(text);
    assert_eq!(reading.rate.bytes_per_s, 13_600_000.0);
    assert_eq!(reading.rate.printed, "13.6MB/s");
}

#[test]
fn fio_that_contradicts_itself_is_refused() {
    let text = fixture!("fio-3.33-randrw.txt");
    for (from, to, word) in [
        ("BW=11.0MiB/s", "BW=11.0KiB/s", "figures that agree"),
        ("(12.5MB/s)", "(12.5MiB/s)", "figures that agree"),
        ("BW=11.0MiB/s", "BW=11.0Mibit/s", "units that are known"),
        ("BW=11.0MiB/s", "BW=11.0M/s", "units that are known"),
        ("(11.5MB/s)(", "(11.5kB/s)(", "figures that agree"),
        ("(3916KiB/349msec", "(3916MiB/349msec", "figures that agree"),
        ("(3916KiB/349msec", "(3916KiB/349sec", "figures that agree"),
        ("IOPS=2805", "IOPS=2805k", "block size"),
        ("IOPS=2805", "IOPS=2815", "numbers of operations"),
        ("bs=(R) 4096B-4096B", "bs=(R) 4096KiB-4096KiB", "block size"),
        ("total=979,1069", "total=979;1069", "`total=`"),
        ("iodepth=64", "iodepth=many", "iodepth=…"),
        ("jobs=1): err= 0", "jobs=one): err= 0", "groupid=0"),
    ] {
        let said = error(&text.replace(from, to));
        assert!(said.contains(word), "{to}: {said}");
    }
    assert!(error("hello").contains("BW="));
}

#[test]
fn fio_percentiles_are_those_of_the_line_above() {
    let text = fixture!("fio-3.28-rand-write.txt");
    for (from, to, word) in [
        (
            "percentiles (usec)",
            "percentiles (msec)",
            "between min and max",
        ),
        (
            "percentiles (usec)",
            "percentiles (nsec)",
            "between min and max",
        ),
        (
            "percentiles (usec)",
            "percentiles (sec)",
            "nsec, usec or msec",
        ),
        ("    clat percentiles (usec):\n", "", "above this"),
        ("99.99th=[32637]", "99.99th=[32637", "percentiles such as"),
    ] {
        let said = error(&text.replace(from, to));
        assert!(said.contains(word), "{to}: {said}");
    }
}

#[test]
fn fio_figures_do_not_go_to_another_job() {
    let text = fixture!("fio-3.33-agnostics.txt");
    let without = |word: &str| -> String {
        let kept = text.lines().filter(|line| !line.contains(word));
        kept.collect::<Vec<_>>().join("\n")
    };
    let said = error(&without("seq-read: (groupid"));
    assert!(said.contains("before this"), "{said}");
    // Without its setup, or the line of its figures, a job keeps what is its own.
    let readings = read_fio_text(&without("seq-read: (g=")).unwrap();
    assert_eq!(readings[2].setup, None);
    assert!(readings[3].setup.is_some());
    assert_eq!(read_fio_text(&without("IOPS=17,")).unwrap().len(), 4);
    let randrw = fixture!("fio-3.33-randrw.txt");
    let once = |count: usize| randrw.repeat(count);
    assert_eq!(read_fio_text(&once(3)).unwrap().len(), 6);
}
