//! Selection of lines, and removal of private data from them.

use super::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[track_caller]
fn assert_kept(line: &str, name: &str) {
    let kept = storage_message(line, &names(&[name]));
    assert_eq!(kept.as_deref(), Some(line));
}

#[test]
fn trouble_with_the_disk_is_kept() {
    for (line, name) in [
        (
            "I/O error, dev sda, sector 124667903 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2",
            "sda",
        ),
        (
            "Buffer I/O error on dev mmcblk0p2, logical block 0, async page read",
            "mmcblk0p2",
        ),
        ("mmc0: running CQE recovery", "mmc0"),
        ("mmc0: Timeout waiting for hardware interrupt.", "mmc0"),
        ("mmc0: Card stuck being busy! __mmc_poll_for_busy", "mmc0"),
        ("mmcblk0: error -110 sending status command", "mmcblk0"),
        ("mmc0: tuning execution failed: -5", "mmc0"),
        (
            "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd",
            "usb 2-1",
        ),
        ("usb 1-1.2: USB disconnect, device number 5", "usb 1-1.2"),
        (
            "sd 6:0:0:0: [sdb] tag#5 uas_eh_abort_handler 0 uas-tag 6 inflight: CMD OUT",
            "6:0:0:0",
        ),
        (
            "nvme nvme0: I/O 12 QID 3 timeout, completion polled",
            "nvme0",
        ),
        (
            "nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10",
            "nvme0",
        ),
        (
            "ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen",
            "ata1",
        ),
        ("EXT4-fs (sda1): Remounting filesystem read-only", "sda1"),
        ("Aborting journal on device sda1-8.", "sda1"),
    ] {
        assert_kept(line, name);
    }
}

#[test]
fn what_is_no_trouble_or_of_others_is_not_kept() {
    let ours = names(&["mmc0", "sda", "sda1", "usb 2-1", "nvme0", "ata1"]);
    for line in [
        "",
        "mmc0: new high speed SDHC card at address aaaa",
        "mmc0: Command Queue Engine enabled",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
        "EXT4-fs (sda1): unmounting filesystem.",
        "usb 2-1: SerialNumber: FAIL1234",
        "mmc10: running CQE recovery",
        "mmc0x: running CQE recovery",
        "I/O error, dev sdaa, sector 1",
        "I/O error, dev sda10, sector 1",
        "usb 2-1.4: USB disconnect, device number 9",
        "usb 12-1: USB disconnect, device number 9",
        "nvme nvme01: timeout",
        "ata11.00: failed command: READ DMA",
        "sda: a mirror, not an err",
        "Out of memory: error",
        "operation not supported error, dev sda, sector 16906 op 0x9:(WRITE_ZEROES) flags 0x9000800 phys_seg 0 prio class 2",
        "critical target error, dev sda, sector 2048 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2",
        "mmc0: host does not support reading read-only switch, assuming write-enable",
    ] {
        assert_eq!(storage_message(line, &ours), None, "{line}");
    }
    assert_eq!(storage_message("error", &names(&[""])), None);
}

#[test]
fn what_is_private_is_taken_out() {
    for (line, kept) in [
        (
            "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #123: comm my backup: x",
            "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #123",
        ),
        (
            "EXT4-fs error (device sda1): f:1: inode #2: block 8: path /home/anna/a b: bad entry",
            "EXT4-fs error (device sda1): f:1: inode #2: block 8",
        ),
        ("sda1: error in /home/anna now", "sda1: error in … now"),
        ("sda1: error (/home/anna) now", "sda1: error … now"),
        ("sda1: error file=/home/anna now", "sda1: error … now"),
        (
            "sda1: error 'anna smith' and \"x y\" now",
            "sda1: error … and … now",
        ),
        ("sda1: error in \"anna smith", "sda1: error in …"),
        (
            "sda1: error at 0xffffff80deadbeef now",
            "sda1: error at … now",
        ),
        ("sda1: error ffff8801deadbeef now", "sda1: error … now"),
        (
            "sda1: error disk S3X1NX0J123456 now",
            "sda1: error disk … now",
        ),
        ("sda1: error 12345678901234567890 now", "sda1: error … now"),
        (
            "BTRFS error (device sda1): fsid 027f624e-eb4c-41a9-9f3e-d6980422a244: bad",
            "BTRFS error (device sda1): fsid … bad",
        ),
        ("sda1: error from anna@host now", "sda1: error from … now"),
        ("sda1: error \u{1b}[31m", "sda1: error ?[31m"),
    ] {
        let told = storage_message(line, &names(&["sda1"]));
        assert_eq!(told.as_deref(), Some(kept), "{line}");
    }
    let long = format!("sda1: error {}", "word ".repeat(1000));
    let kept = storage_message(&long, &names(&["sda1"])).unwrap();
    assert_eq!(kept.chars().count(), MOST_CHARS);
}

#[test]
fn no_line_makes_it_panic_and_no_path_remains() {
    let lines = [
        "EXT4-fs error (device sda1): f:1: inode #2: comm a: path /home/anna: \"x\" 'y' 0xdeadbeef",
        "sda1: error at 027f624e-eb4c-41a9-9f3e-d6980422a244 /home/anna user@host é… 123456789012345",
    ];
    let ours = names(&["sda1", "é", "…"]);
    for line in lines {
        for (at, _) in line.char_indices() {
            for extra in ["é", "\0", "\"", "'", " /", "…", "0x", "\u{1b}", " comm "] {
                let (before, after) = line.split_at(at);
                for text in [
                    format!("{before}{extra}{after}"),
                    format!("{before}{extra}"),
                ] {
                    let kept = storage_message(&text, &ours).unwrap_or_default();
                    assert!(kept.chars().count() <= MOST_CHARS, "{text}: {kept}");
                    assert!(!kept.contains(char::is_control), "{text}: {kept}");
                    assert!(!kept.contains(" /"), "{text}: {kept}");
                }
            }
        }
    }
}
