//! As people paste it: other versions, other languages, forums; and what contradicts itself.

use crate::{K, M, close, fixture, ids, import, kinds, metric, one, reason, value};
use cardmark_core::FindingKind;

#[test]
fn hdparm_of_other_versions() {
    let text = "here is mine:\r\n\r\n> /dev/hda:\r\n\
        > Timing buffer-cache reads:   128 MB in  1.24 seconds =103.23 MB/sec\r\n\
        > Timing buffered disk reads:  66 MB in  3,06 seconds =  21,57 MB/sec\r\n\
        Timing O_DIRECT disk reads (offset 4 GB):  66 MB in  3.06 seconds =  21.57 MB/sec";
    let one = one(text);
    assert_eq!(
        ids(&one),
        ["hdparm_T", "hdparm_t", "hdparm_t_direct_from_4g"]
    );
    let disk = metric(&one, "hdparm_t");
    assert!(close(disk.value, 21.57 * M));
    assert_eq!(disk.printed.clone().unwrap().text, "21,57 MB/sec");
}

const SIX: [&str; 6] = [
    "iozone_write",
    "iozone_rewrite",
    "iozone_read",
    "iozone_reread",
    "iozone_random_read",
    "iozone_random_write",
];

/// Lines of one copy in 40.4 seconds.
const COPIES: [&str; 10] = [
    "419430400 bytes (419 MB, 400 MiB) copied, 40.4 s, 10.4 MB/s",
    "419430400 bytes (419 MB) copied, 40.4 s, 10.4 MB/s",
    "> 419430400 bytes (419 MB) copied, 40.400000 seconds, 10.4 MB/s\r",
    "419430400 Bytes (419 MB, 400 MiB) kopiert, 40,4 s, 10,4 MB/s",
    "419430400 octets (419 MB, 400 MiB) copiés, 40,4 s, 10,4 MB/s",
    "419430400字节（419 MB，400 MiB）已复制，40.4 s，10.4 MB/s",
    // busybox, whose megabytes are binary
    "419430400 bytes (400.0MB) copied, 40.400000 seconds, 9.9MB/s",
    "419430400 байт (419 MB, 400 MiB) скопирован, 40,4 с, 10,4 MB/с",
    "419430400字节(419 MB)已复制，40.4 秒，10.4 MB/秒",
    "419430400\u{a0}bytes (419\u{a0}MB) copied, 40.4\u{a0}s, 10.4\u{a0}MB/s",
];

#[test]
fn dd_of_other_versions_and_languages() {
    for copy in COPIES {
        let text = format!("$ dd if=/dev/zero of=test bs=8k count=50k conv=fsync\n{copy}\n$");
        assert!(
            close(value(&one(&text), "dd_write"), 419_430_400.0 / 40.4),
            "{copy}"
        );
    }
}

#[test]
fn dd_of_macos() {
    let copy = "1073741824 bytes transferred in 1.640524 secs (654511500 bytes/sec)";
    let metric = one(copy).metrics.remove(0);
    assert_eq!((metric.id.as_str(), metric.value), ("dd_1g", 654_511_500.0));
    let bad = copy.replace("6545", "6445");
    assert!(reason(&bad).contains("agree"), "{}", reason(&bad));
}

#[test]
fn the_command_of_a_copy_gives_its_direction() {
    let copy = "104857600 bytes (105 MB, 100 MiB) copied, 10.1 s, 10.4 MB/s";
    let id = |command: &str| one(&format!("$ {command}\n{copy}")).metrics.remove(0);
    for (command, expected, is_doubtful) in [
        ("dd if=/dev/mmcblk0 of=random.img", "dd_read_100m", false),
        (
            "dd if=/dev/mmcblk0 of=/dev/zero iflag=direct",
            "dd_read_100m",
            false,
        ),
        ("dd if=test bs=1M > /dev/null", "dd_read_100m", true),
        (
            "echo 3 > drop_caches\ndd if=test of=/dev/null",
            "dd_read_100m",
            false,
        ),
        (
            "dd if=/dev/urandom of=test conv=notrunc,fdatasync",
            "dd_write_100m",
            false,
        ),
        (
            "dd if=/dev/zero of=test oflag=dsync",
            "dd_write_100m",
            false,
        ),
        ("dd if=/dev/zero of=test bs=1M; sync", "dd_write_100m", true),
        ("dd if=random.img of=/dev/mmcblk0", "dd_write_100m", true),
        (
            "dd if=random.img of=/dev/sdb oflag=direct",
            "dd_write_100m",
            false,
        ),
        (
            "xzcat a.xz | sudo dd of=/dev/sdb1 conv=fsync",
            "dd_write_100m",
            false,
        ),
        ("dd if=/dev/sda of=/dev/sdb conv=fsync", "dd_100m", false),
    ] {
        let metric = id(command);
        assert_eq!(metric.id, expected, "{command}");
        let warnings: &[&str] = if is_doubtful {
            &["doubtful_figure"]
        } else {
            &[]
        };
        assert_eq!(metric.warnings, warnings, "{command}");
    }
    let text = format!("dd if=/dev/zero of=/dev/null bs=1M count=100\n{copy}");
    assert!(reason(&text).contains("a file or device"));
    assert_eq!(import(&text), []);
}

#[test]
fn hdparm_of_busybox() {
    let text = "Timing buffer-cache reads:    14 MB in 0.53 seconds = 26762 kB/s\n\
        Timing buffered disk reads:    2 MB in 4.31 seconds = 474 kB/s";
    let one = one(text);
    assert_eq!(ids(&one), ["hdparm_T", "hdparm_t"]);
    assert_eq!(value(&one, "hdparm_t"), 474.0 * K);
}

#[test]
fn quoted_and_with_spaces_of_web_pages() {
    for text in [
        fixture!("iozone-3.489-no-read.txt"),
        fixture!("iozone-3.489-threads.txt"),
    ] {
        for mark in ["> ", ">> ", "| ", "\t"] {
            let quoted = changed(text, |line| format!("{mark}{line}"));
            assert_eq!(ids(&one(&quoted)), ids(&one(text)), "{mark}");
        }
        let spaces = text.replace(' ', "\u{a0}");
        assert_eq!(one(&spaces).metrics, one(text).metrics);
    }
}

#[test]
fn dd_several_times() {
    let records = "51200+0 records in\n51200+0 records out\n";
    let text = format!("{records}{}\n{records}{}\n", COPIES[0], COPIES[1]);
    assert_eq!(import(&text).len(), 2);
    // The counts of the first are missing; it is a copy nevertheless.
    let text = format!("{}\n{records}{}\n", COPIES[0], COPIES[1]);
    assert_eq!(import(&text).len(), 2);
    // Ended on a whole second.
    let copy = "419430400 bytes (419 MB, 400 MiB) copied, 40 s, 10.5 MB/s\n";
    assert_eq!(import(&format!("{records}{copy}{records}{copy}")).len(), 2);
    // Stopped during its progress: whole seconds are less precise than the rate.
    let text = "35160064 bytes (35 MB, 34 MiB) copied, 3 s, 11.6 MB/s";
    assert_eq!(one(text).metrics[0].value, 11.6e6);
}

#[test]
fn hdparm_and_dd_that_contradict_themselves_are_refused() {
    let (timing, copy) = (fixture!("hdparm-9.65-t.txt"), fixture!("dd-9.1-fsync.txt"));
    for (text, from, to, word) in [
        (timing, "20.62 MB/sec", "20.62 kB/sec", "agree"),
        (timing, "20.62", "21.62", "agree"),
        (timing, "MB/sec", "GB/sec", "MB/sec or kB/sec"),
        (copy, "11.4 MB/s", "11.9 MB/s", "agree"),
        (copy, "11.4 MB/s", "11.4 kB/s", "agree"),
        (copy, "11.4 MB/s", "11.4MB/s", "agree"),
        (copy, "11.4 MB/s", "11.4 XB/s", "a rate such as"),
        (copy, "11.4 MB/s", "Infinity B/s", "a rate such as"),
        (copy, "3.67295 s", "3.67295 min", "seconds"),
    ] {
        let text = text.replace(from, to);
        assert!(reason(&text).contains(word), "{to}: {}", reason(&text));
        assert_eq!(import(&text), []);
    }
}

/// The text with each line changed.
fn changed(text: &str, change: impl Fn(&str) -> String) -> String {
    let lines: Vec<String> = text.lines().map(change).collect();
    lines.join("\r\n")
}

#[test]
fn iozone_with_spaces_dropped() {
    let text = fixture!("iozone-3.489-no-read.txt");
    let one_space = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for changed in [
        changed(text, |line| line.trim().to_owned()),
        changed(text, one_space),
        // Without the command line, only positions identify the columns.
        changed(text, |line| line.replace("Command line used", "")),
    ] {
        assert_eq!(ids(&one(&changed)), ids(&one(text)));
    }
    let lost = changed(text, |line| {
        one_space(&line.replace("Command line used", ""))
    });
    assert!(reason(&lost).contains("under the headings"));
    assert!(reason(fixture!("iozone-3.489-ops.txt")).contains("kBytes/sec"));
}

#[test]
fn iozone_of_an_old_version() {
    let text = "
        Output is in Kbytes/sec
                                                            random  random    bkwd   record   stride
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
          102400       4    1512    1563    5210     5205    4890     618
";
    let table = one(text);
    assert_eq!(ids(&table), SIX);
    let last = metric(&table, SIX[5]);
    assert_eq!(last.value, 618.0 * K);
    assert_eq!(last.printed.clone().unwrap().text, "618 kB/sec");
    let without = one(&text.replace("Output is in Kbytes/sec", ""));
    assert_eq!(kinds(&without), [FindingKind::AmbiguousUnit]);
    assert_eq!(without.metrics[5].printed.clone().unwrap().text, "618");
}

#[test]
fn blocks_of_iozone_that_are_damaged() {
    for (text, word) in [
        (
            "Children see throughput for 4 jugglers = 1.00 kB/sec",
            "a known test",
        ),
        (
            "Children see throughput for 4 readers = 1.00 ops/sec",
            "a rate in kB/sec",
        ),
        ("Min xfer = 1.00 kB", "before this"),
    ] {
        assert!(reason(text).contains(word), "{text}");
    }
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
    let runs = import(text);
    let rates: Vec<f64> = runs.iter().map(|run| value(run, "ddrescue")).collect();
    assert_eq!(rates, [15e6, 2e6]);
    for (text, word) in [
        ("average rate: 15 M/s\nrun time: 1s", "a rate such as"),
        ("average rate: 15 MB/s", "run time"),
    ] {
        assert!(reason(text).contains(word), "{text}");
    }
}
