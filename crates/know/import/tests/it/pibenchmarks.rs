//! PiBenchmarks' tables: from web pages those of the script as it was in 2020 and as it is; the
//! others composed as the script prints them, with figures of our other fixtures and its issue 27.

use crate::{K, M, close, fixture, ids, import, metric, one, reason, value};

const OLD: &str = fixture!("pibenchmarks-2020-table.txt");
const TERMINAL: &str = fixture!("pibenchmarks-2024-terminal.txt");

#[test]
fn figures_are_shown_as_printed() {
    let table = one(TERMINAL);
    let fio = metric(&table, "pibenchmarks_fio_rand_read");
    assert_eq!(fio.rate_bytes_per_s, Some(12_440.0 * K));
    let printed = fio.printed.clone().unwrap();
    assert_eq!(printed.text, "3110 IOPS (12440 KB/s)");
    assert_eq!(printed.meaning.as_deref(), Some("3110 IOPS (12440 KiB/s)"));
}

#[test]
fn a_test_that_failed_has_no_result() {
    // The present script, without hdparm and with busybox' dd.
    let text = "HDParm  Disk Read\nHDParm  Cached Disk Read  MB/sec MB/sec\n\
        DD  Disk Write  seconds. 283.7MB/s\nIOZone  4k read  12 KB/s";
    assert_eq!(ids(&one(text)), ["pibenchmarks_iozone_read"]);
}

#[test]
fn facts_of_board_and_drive_are_kept() {
    let table = one(TERMINAL);
    assert_eq!(table.labels["made"], "08/2019");
    assert_eq!(table.labels["class"], "A1 Class 10 U1");
    let system = table.host.unwrap().system;
    assert_eq!(system.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    let drive =
        "Drive information: Manufacturer: Kingston - Model: SA400S3 - Size: 240 GB - Class: SSD";
    let table = one(&format!("{drive}\n{OLD}"));
    assert_eq!(table.device.unwrap().model.as_deref(), Some("SA400S3"));
    assert_eq!(table.labels["size"], "240 GB");
}

#[test]
fn a_unit_stays_open_without_the_tools_own_line() {
    let without: Vec<&str> = TERMINAL
        .lines()
        .filter(|it| !it.contains("Timing"))
        .collect();
    let table = one(&without.join("\n"));
    assert!(!ids(&table).contains(&"pibenchmarks_hdparm_cached"));
    let own = "Timing buffered disk reads:  86 MB in  3.02 seconds =  28.48 MB/sec\n\
        545259520 bytes (545 MB, 520 MiB) copied, 44.3 s, 12.3 MB/s\n";
    let table = one(&format!("{own}{OLD}"));
    assert!(close(value(&table, "pibenchmarks_hdparm_disk"), 28.48 * M));
    assert!(close(
        value(&table, "pibenchmarks_dd"),
        545_259_520.0 / 44.3
    ));
}

#[test]
fn damaged_rows_are_refused() {
    for (from, to, word) in [
        ("2380 IOPS (9523 KB/s)", "2380 IOPS (9523 MB/s)", "IOPS"),
        ("2380 IOPS (9523 KB/s)", "2381 IOPS (9523 KB/s)", "agree"),
        ("7050 KB/s", "7050 MB/s", "KB/s"),
        ("28.48 MB/s", "28.48 GB/s", "MB/sec, kB/sec"),
        ("12.3 MB/s", "12.3 XB/s", "a rate such as"),
    ] {
        let text = OLD.replace(from, to);
        assert_ne!(text, OLD);
        let reason = reason(&text);
        assert!(reason.contains(word), "{to}: {reason}");
        assert_eq!(import(&text).len(), 1);
    }
}
