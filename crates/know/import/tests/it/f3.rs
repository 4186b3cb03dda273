//! f3, as people paste it and contradicting itself.
//!
//! The texts are those that users sent to its issue tracker (69, 86, 123, 158, 180, 204, 287),
//! without its legal notice and advice. Only that of f3write and f3read 10.0 is made up, in the
//! format of the source.

use crate::{M, close, fixture, ids, import, one, reason, value};

#[test]
fn f3_as_people_paste_it() {
    // Old capitals, progress in the middle, files left out, quoted.
    let text = "> Free space: 58.19 GB\r\n> Creating file 1.h2w ... OK!\r\n> \r\n\
        > Creating file 28.h2w ... 47.40% -- 31.86 MB/s -- 15:20\r\n\
        > Creating file 59.h2w ... OK!\r\n> Free space: 1.12 MB\r\n\
        > Average Writing speed: 33.60 MB/s\r\n";
    assert!(close(value(&one(text), "f3_write"), 33.60 * M));
    // The end alone.
    let rates = "Average writing speed: 7.78 MB/s\nAverage reading speed: 17.99 MB/s";
    assert_eq!(ids(&one(rates)), ["f3_write", "f3_read"]);
    // Without a rate.
    for none in [
        "Writing speed not available",
        "Average sequential write speed: NO DATA",
    ] {
        assert_eq!(import(none), []);
    }
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
    let records = import(&text.concat());
    let ids: Vec<_> = records.iter().map(ids).collect();
    let read = ["f3_read", "f3_ok", "f3_lost"];
    let probe = ["f3_usable", "f3_announced"];
    let expected = [
        [&["f3_write"], &read[..], &probe[..]].concat(),
        [&probe[..], &read[..]].concat(),
    ];
    assert_eq!(ids, expected);
}

#[test]
fn f3_that_contradicts_itself_is_refused() {
    let lost = fixture!("f3-7-read-lost.txt");
    let limbo = fixture!("f3-8.0-probe-limbo.txt");
    for (text, from, to, word) in [
        (lost, "(87349728 sectors)", "(87349727 sectors)", "sum"),
        (
            lost,
            "41.65 GB (87349735",
            "41.65 MB (87349735",
            "in sectors",
        ),
        (
            lost,
            "\t     Overwritten",
            "\t     overrun",
            "in their order",
        ),
        (limbo, "type limbo", "type chain", "follows from the sizes"),
        (limbo, "type limbo", "type devil", "counterfeit"),
        (limbo, "(2^41 Bytes)", "(2^40 Bytes)", "exactly"),
        (limbo, "2.00 TB", "2.00 GB", "exactly"),
        (limbo, "512.00 Byte ", "512.00 KB ", "exactly"),
        (limbo, "Announced size", "Pronounced size", "from `*Usable"),
    ] {
        let reason = reason(&text.replace(from, to));
        assert!(reason.contains(word), "{to}: {reason}");
    }
}

#[test]
fn f3_with_unknown_units_is_refused() {
    for wrong in ["8.09 MiB/s", "8.09 Mbit/s", "8.09", "8.09 MB", "fast"] {
        let reason = reason(&format!("Average writing speed: {wrong}"));
        assert!(reason.contains("a rate such as"), "{wrong}: {reason}");
    }
}

#[test]
fn sizes_of_f3probe_show_the_size_of_a_block() {
    let whole = fixture!("f3-10.0-probe-real.txt");
    let (short, _) = whole.split_once("\tApproximate cache size").unwrap();
    assert_eq!(one(short).metrics, one(whole).metrics);
    // A damaged device has no usable block that shows it.
    let whole = fixture!("f3-8.0-probe-damaged.txt");
    let (short, _) = whole.split_once("\tApproximate cache size").unwrap();
    assert!(
        reason(short).contains("Physical block size"),
        "{}",
        reason(short)
    );
}
