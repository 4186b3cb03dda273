//! f3: what it printed, its figures written down by hand, and what people make of it.
//!
//! The texts are those that users sent to its issue tracker (69, 86, 123, 158, 180, 204, 287),
//! without its legal notice and advice. Only that of f3write and f3read 10.0 is made up, in the
//! format of the source.

use cardmark_peers::{
    F3Amount, F3Operation, F3Output, F3Probe, F3Read, F3Verdict, F3Write, Rate, read_f3,
};

use crate::fixture;

const MIB: f64 = 1_048_576.0;
const SECOND_NS: u64 = 1_000_000_000;

fn close(left: f64, right: f64) -> bool {
    (left / right - 1.0).abs() < 1e-9
}

fn error(text: &str) -> String {
    read_f3(text).unwrap_err().to_string()
}

fn probe(text: &str) -> F3Probe {
    let output = read_f3(text).unwrap();
    assert!(output.writes.is_empty() && output.reads.is_empty());
    let [probe]: [F3Probe; 1] = output.probes.try_into().unwrap();
    probe
}

fn write(text: &str) -> F3Write {
    let [write]: [F3Write; 1] = read_f3(text).unwrap().writes.try_into().unwrap();
    write
}

fn read(text: &str) -> F3Read {
    let [read]: [F3Read; 1] = read_f3(text).unwrap().reads.try_into().unwrap();
    read
}

fn sectors(sectors_count: u64) -> F3Amount {
    F3Amount {
        sectors_count,
        bytes: sectors_count * 512,
    }
}

fn operation(count: u64, span_ns: u64, mean_ns: u64) -> Option<F3Operation> {
    Some(F3Operation {
        count,
        span_ns,
        mean_ns,
    })
}

#[test]
fn f3probe_of_a_counterfeit() {
    let probe = probe(fixture!("f3-8.0-probe-limbo.txt"));
    assert_eq!(probe.verdict, F3Verdict::Limbo);
    assert_eq!(probe.usable_bytes, 1 << 40);
    assert_eq!(probe.announced_bytes, 4_075_520_000 * 512);
    assert_eq!(probe.module_bytes, 1 << 41);
    assert_eq!((probe.cache_bytes, probe.block_bytes), (3 << 20, 512));
    assert_eq!(probe.reads, operation(16_505, 552_700_000, 33_000));
    assert_eq!(probe.writes, operation(80_012, 133 * SECOND_NS, 1_600_000));
    assert_eq!(probe.resets, operation(2, 2000, 1000));
}

#[test]
fn f3probe_of_a_damaged_card() {
    let probe = probe(fixture!("f3-8.0-probe-damaged.txt"));
    assert_eq!(probe.verdict, F3Verdict::Damaged);
    assert_eq!((probe.usable_bytes, probe.announced_bytes), (0, 250 << 30));
    assert_eq!((probe.module_bytes, probe.cache_bytes), (256 << 30, 0));
    assert_eq!(probe.writes, operation(2120, 13_290_000_000, 6_200_000));
    assert_eq!(probe.resets, operation(0, 0, 0));
}

#[test]
fn f3probe_of_the_real_thing() {
    let probe = probe(fixture!("f3-8.0-probe-real.txt"));
    assert_eq!(probe.verdict, F3Verdict::Real);
    assert_eq!(probe.usable_bytes, 15_728_640 * 512);
    assert_eq!(probe.announced_bytes, probe.usable_bytes);
    assert_eq!(probe.writes, operation(4_192_321, 307 * SECOND_NS, 73_000));
}

#[test]
fn f3probe_of_version_10() {
    let probe = probe(fixture!("f3-10.0-probe-real.txt"));
    assert_eq!(probe.verdict, F3Verdict::Real);
    assert_eq!(probe.usable_bytes, 1_953_506_646 * 4096);
    assert_eq!((probe.module_bytes, probe.block_bytes), (8 << 40, 4096));
    assert_eq!(probe.reads, operation(3238, 19_630_000_000, 6_000_000));
    assert_eq!(
        probe.writes,
        operation(526_551, 5645 * SECOND_NS, 10_700_000)
    );
    assert_eq!(probe.resets, None);
}

#[test]
fn f3write_with_free_space_on_both_sides() {
    let write = write(fixture!("f3-7.2-write.txt"));
    // 7.48 GB, as good as that says.
    assert_eq!(write.free_before_bytes, Some(8_031_588_844));
    assert_eq!(write.free_after_bytes, Some(0));
    let rate = write.average_rate.unwrap();
    assert!(close(rate.bytes_per_s, 8.09 * MIB));
    assert_eq!(rate.printed, "8.09 MB/s");
}

#[test]
fn f3read_that_could_not_read_all() {
    let read = read(fixture!("f3-7.2-read-partial.txt"));
    let found = read.sectors.unwrap();
    assert_eq!(found.ok, sectors(13_724_448));
    assert_eq!(found.lost, sectors(0));
    assert!(read.is_partial);
    assert!(close(read.average_rate.unwrap().bytes_per_s, 14.83 * MIB));
}

#[test]
fn f3read_that_lost_data() {
    let read = read(fixture!("f3-7-read-lost.txt"));
    let found = read.sectors.unwrap();
    assert_eq!(found.ok, sectors(35_923_289));
    assert_eq!(found.lost, sectors(87_349_735));
    assert_eq!(found.corrupted, sectors(7));
    assert_eq!(found.changed, sectors(0));
    assert_eq!(found.overwritten, sectors(87_349_728));
    assert!(!read.is_partial);
    assert_eq!(read.average_rate.unwrap().printed, "7.70 MB/s");
}

#[test]
fn f3write_and_f3read_of_version_10() {
    let output = read_f3(fixture!("f3-10.0-write-read.txt")).unwrap();
    let ([write], [read]) = (output.writes.as_slice(), output.reads.as_slice()) else {
        panic!()
    };
    assert_eq!(write.free_before_bytes, Some(5 << 29));
    assert_eq!(write.free_after_bytes, Some(0));
    let rate = |rate: &Option<Rate>| rate.clone().unwrap();
    assert!(close(rate(&write.average_rate).bytes_per_s, 18.20 * MIB));
    assert_eq!(rate(&write.average_rate).printed, "18.20 MB/s");
    let found = read.sectors.unwrap();
    assert_eq!((found.ok, found.lost), (sectors(5_242_879), sectors(1)));
    assert_eq!(found.changed, sectors(1));
    assert!(close(rate(&read.average_rate).bytes_per_s, 40.02 * MIB));
}

#[test]
fn f3_as_people_paste_it() {
    // Old capitals, progress in the middle, files left out, quoted.
    let text = "> Free space: 58.19 GB\r\n> Creating file 1.h2w ... OK!\r\n> \r\n\
        > Creating file 28.h2w ... 47.40% -- 31.86 MB/s -- 15:20\r\n\
        > Creating file 59.h2w ... OK!\r\n> Free space: 1.12 MB\r\n\
        > Average Writing speed: 33.60 MB/s\r\n";
    let whole = write(text);
    assert_eq!(whole.free_after_bytes, Some(1_174_405));
    assert!(close(whole.average_rate.unwrap().bytes_per_s, 33.60 * MIB));

    // The end alone.
    let end = write("Free space: 1.12 MB\nAverage writing speed: 33.60 MB/s");
    assert_eq!(end.free_before_bytes, None);
    assert_eq!(end.free_after_bytes, Some(1_174_405));
    let rates = "Average writing speed: 7.78 MB/s\nAverage reading speed: 17.99 MB/s";
    let output = read_f3(rates).unwrap();
    assert_eq!(output.writes[0].free_after_bytes, None);
    assert_eq!(output.reads[0].sectors, None);

    // Without a rate.
    let text = "Free space: 1.00 GB\nCreating file 1.h2w ... OK!\nFree space: 0.00 Byte\n\
        Writing speed not available";
    assert_eq!(write(text).average_rate, None);
    assert_eq!(write(text).free_before_bytes, Some(1 << 30));
    let none = write("Average sequential write speed: NO DATA");
    assert_eq!(none.average_rate, None);
}

#[test]
fn f3_several_times() {
    let text = [
        // Stopped by its user.
        "Free space: 3.00 GB\nCreating file 1.h2w ... ^C\n",
        fixture!("f3-7.2-write.txt"),
        fixture!("f3-7.2-read-partial.txt"),
        fixture!("f3-8.0-probe-damaged.txt"),
        fixture!("f3-8.0-probe-limbo.txt"),
        fixture!("f3-7-read-lost.txt"),
    ];
    let F3Output {
        writes,
        reads,
        probes,
    } = read_f3(&text.concat()).unwrap();
    assert_eq!((writes.len(), reads.len(), probes.len()), (1, 2, 2));
    assert_eq!(writes[0].free_before_bytes, Some(8_031_588_844));
    assert!(reads[0].is_partial && !reads[1].is_partial);
}

#[test]
fn f3_that_contradicts_itself_is_refused() {
    let lost = fixture!("f3-7-read-lost.txt");
    let said = error(&lost.replace("(87349728 sectors)", "(87349727 sectors)"));
    assert!(said.contains("sum"), "{said}");
    let said = error(&lost.replace("41.65 GB (87349735", "41.65 MB (87349735"));
    assert!(said.contains("in sectors"), "{said}");
    let said = error(&lost.replace("\t     Overwritten", "\t     overrun"));
    assert!(said.contains("in their order"), "{said}");

    let limbo = fixture!("f3-8.0-probe-limbo.txt");
    for (from, to, word) in [
        ("type limbo", "type chain", "follows from the sizes"),
        ("type limbo", "type devil", "counterfeit"),
        ("(2^41 Bytes)", "(2^40 Bytes)", "exactly"),
        ("2.00 TB", "2.00 GB", "exactly"),
        ("512.00 Byte ", "512.00 KB ", "exactly"),
        ("Announced size", "Pronounced size", "five lines"),
        ("= 33us", "= 33ms", "quotient"),
        ("552.7ms", "552.7us", "quotient"),
    ] {
        let said = error(&limbo.replace(from, to));
        assert!(said.contains(word), "{to}: {said}");
    }
    let new = fixture!("f3-10.0-write-read.txt");
    let said = error(&new.replace("18.20 MB/s (", "18.20 KB/s ("));
    assert!(said.contains("a rate such as"), "{said}");
}

#[test]
fn f3_with_units_that_are_not_known_is_refused() {
    for wrong in ["8.09 MiB/s", "8.09 Mbit/s", "8.09", "8.09 MB", "fast"] {
        let said = error(&format!("Average writing speed: {wrong}"));
        assert!(said.contains("a rate such as"), "{wrong}: {said}");
    }
    assert!(error("Free space: 3 apples\n").contains("a size such as"));
    assert!(error("").contains("Data OK"));
    assert!(error("Free space: 3.00 GB\nCreating file 1.h2w ... ").contains("Data OK"));
}
