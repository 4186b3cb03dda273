//! As people paste it: other versions, other languages, forums.

use cardmark_peers::{
    HdparmTest, IozoneTest, read_dd, read_ddrescue, read_fio, read_hdparm, read_iozone,
};

use crate::fixture;

const MIB: f64 = 1_048_576.0;

fn close(left: f64, right: f64) -> bool {
    (left / right - 1.0).abs() < 1e-9
}

#[test]
fn hdparm_of_other_versions() {
    let text = "here is mine:\r\n\r\n> /dev/hda:\r\n\
        > Timing buffer-cache reads:   128 MB in  1.24 seconds =103.23 MB/sec\r\n\
        > Timing buffered disk reads:  66 MB in  3,06 seconds =  21,57 MB/sec\r\n\
        Timing O_DIRECT disk reads (offset 4 GB):  66 MB in  3.06 seconds =  21.57 MB/sec";
    let readings = read_hdparm(text).unwrap();
    let [cached, disk, direct] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(cached.test, HdparmTest::Cached);
    assert_eq!(cached.rate.printed, "103.23 MB/sec");
    assert_eq!(disk.test, HdparmTest::Disk);
    assert!(close(disk.rate.bytes_per_s, 21.57 * MIB));
    assert_eq!(disk.rate.printed, "21,57 MB/sec");
    assert!(direct.direct);
    assert_eq!(direct.offset_bytes, Some(4 << 30));
    assert_eq!(disk.offset_bytes, None);
}

/// Lines of one copy in 40.4 seconds.
const COPIES: [&str; 7] = [
    "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s",
    "419430400 bytes (419 MB) copied, 40.4 s, 10.4 MB/s",
    "> 419430400 bytes (419 MB) copied, 40.400000 seconds, 10.4 MB/s\r",
    "419430400 Bytes (419 MB, 400 MiB) kopiert, 40,4 s, 10,4 MB/s",
    "419430400 octets (419 MB, 400 MiB) copiés, 40,4 s, 10,4 MB/s",
    "419430400字节（419 MB，400 MiB）已复制，40.4 s，10.4 MB/s",
    // busybox, whose megabytes are binary
    "419430400 bytes (400.0MB) copied, 40.400000 seconds, 9.9MB/s",
];

#[test]
fn dd_of_other_versions_and_languages() {
    for copy in COPIES {
        let text = format!("$ dd if=/dev/zero of=test bs=8k count=50k conv=fsync\n{copy}\n$");
        let readings = read_dd(&text).unwrap();
        let [reading] = readings.as_slice() else {
            panic!("{copy}")
        };
        assert_eq!(reading.bytes, 419_430_400);
        assert_eq!(reading.span_ns, 40_400_000_000);
        assert!(
            close(reading.rate.bytes_per_s, 419_430_400.0 / 40.4),
            "{copy}"
        );
    }
}

#[test]
fn dd_several_times() {
    let records = "51200+0 records in\n51200+0 records out\n";
    let text = format!("{records}{}\n{records}{}\n", COPIES[0], COPIES[1]);
    assert_eq!(read_dd(&text).unwrap().len(), 2);
    // The counts of the first are missing; it is a copy nevertheless.
    let text = format!("{}\n{records}{}\n", COPIES[0], COPIES[1]);
    assert_eq!(read_dd(&text).unwrap().len(), 2);
}

#[test]
fn dd_that_ended_on_a_whole_second() {
    let records = "51200+0 records in\n51200+0 records out\n";
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40 s, 10.5 MB/s\n";
    let text = format!("{records}{copy}{records}{copy}");
    assert_eq!(read_dd(&text).unwrap().len(), 2);
}

#[test]
fn dd_that_was_stopped_while_it_told_its_progress() {
    // Whole seconds say less than the rate.
    let text = "35160064 bytes (35 MB, 34 MiB) copied, 3 s, 11.6 MB/s";
    assert_eq!(read_dd(text).unwrap()[0].rate.bytes_per_s, 11.6e6);
}

/// The table of a fixture, changed line by line.
fn table(text: &str, change: impl Fn(&str) -> String) -> Vec<IozoneTest> {
    let changed: Vec<String> = text.lines().map(change).collect();
    let output = read_iozone(&changed.join("\r\n")).unwrap();
    output.rows[0].rates.iter().map(|rate| rate.test).collect()
}

#[test]
fn iozone_with_spaces_dropped() {
    use IozoneTest::{RandomRead, RandomWrite, Rewrite, Write};
    let text = fixture!("iozone-3.489-no-read.txt");
    let expected = [Write, Rewrite, RandomRead, RandomWrite];
    assert_eq!(table(text, |line| line.trim().to_owned()), expected);
    let one_space = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(table(text, one_space), expected);
}

#[test]
fn iozone_that_nothing_tells_the_columns_of_is_refused() {
    let text = fixture!("iozone-3.489-no-read.txt");
    let changed: Vec<String> = text
        .lines()
        .filter(|line| !line.contains("Command line"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let error = read_iozone(&changed.join("\n")).unwrap_err().to_string();
    assert!(error.contains("under the headings"), "{error}");
}

#[test]
fn iozone_of_an_old_version() {
    let text = "
        Output is in Kbytes/sec
                                                            random  random    bkwd   record   stride
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
          102400       4    1512    1563    5210     5205    4890     618
";
    let output = read_iozone(text).unwrap();
    let row = &output.rows[0];
    assert_eq!((row.size_bytes, row.record_bytes), (100 << 20, 4096));
    assert!(row.unit_stated);
    let last = row.rates.last().unwrap();
    assert_eq!(last.test, IozoneTest::RandomWrite);
    assert_eq!(last.rate.bytes_per_s, 618.0 * 1024.0);
    assert_eq!(last.rate.printed, "618");
    let without_unit = text.replace("Output is in Kbytes/sec", "");
    assert!(!read_iozone(&without_unit).unwrap().rows[0].unit_stated);
}

#[test]
fn fio_behind_warnings_and_of_version_2() {
    let text = format!(
        "fio: this platform does not support process shared mutexes\r\n{}\r\ndone",
        fixture!("fio-3.33-randrw.json")
    );
    assert_eq!(read_fio(&text).unwrap().len(), 2);
    let old = r#"{ "fio version": "fio-2.1.11", "jobs": [ { "jobname": "old", "error": 5,
        "read": { "io_bytes": 16384, "bw": 12440, "iops": 3110.1, "runtime": 1317 },
        "write": { "io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0 } } ] }"#;
    let readings = read_fio(old).unwrap();
    let [reading] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(reading.bytes, 16 << 20);
    assert_eq!(reading.rate.bytes_per_s, 12_440.0 * 1024.0);
    assert_eq!(reading.rate.printed, "12440 KiB/s");
    assert_eq!((reading.operations_count, reading.errno), (None, 5));
}

#[test]
fn fio_without_its_indents() {
    let lines = fixture!("fio-3.33-agnostics.json").lines().map(str::trim);
    let text = lines.collect::<Vec<_>>().join("\r\n");
    assert_eq!(read_fio(&text).unwrap().len(), 5);
}

#[test]
fn fio_of_several_kinds_in_one_text() {
    let text = [
        fixture!("fio-3.33-terse-write.txt"),
        fixture!("fio-3.33-randrw.json"),
        fixture!("fio-3.33-terse-read.txt"),
        fixture!("fio-3.33-randrw.json"),
    ];
    assert_eq!(read_fio(&text.concat()).unwrap().len(), 6);
}

#[test]
fn ddrescue_of_other_versions_and_several_runs() {
    let text = "GNU ddrescue 1.19\n\
        rescued:     1073 MB,  errsize:       0 B,  current rate:     9437 kB/s\n   \
        ipos:     1073 MB,   errors:       0,    average rate:       15 MB/s\n   \
        opos:     1073 MB, run time:    1.15 m,  successful read:       0 s ago\n\
        Finished\n\
        GNU ddrescue 1.27\n\
        rescued:    7516 MB,   bad areas:        0,        run time:      1h  2m\n\
        average rate:   2000 kB/s\n";
    let readings = read_ddrescue(text).unwrap();
    let [old, new] = readings.as_slice() else {
        panic!()
    };
    assert_eq!(old.bytes, Some(1_073_000_000));
    assert_eq!(old.average_rate.bytes_per_s, 15e6);
    assert_eq!(old.span_ns, 69_000_000_000);
    assert_eq!(new.average_rate.printed, "2000 kB/s");
    assert_eq!(new.span_ns, 3_720_000_000_000);
}
