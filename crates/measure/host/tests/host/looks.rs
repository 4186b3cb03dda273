//! Looks at boards: states of filesystems, counts, and the kernel's log.

use cardmark_core::{FilesystemLook, KernelFault, LogCount, Look, PowerLook};
use cardmark_host::read_look;
use cardmark_testkit::trees::{
    PC_NVME, PI4_CARD, RK3399_CARD, Tree, btrfs_two, emmc_board, pc_crypt, pi3_overclocked, pi4,
    pi4_overlay,
};

use crate::resolved;

const ERRORS: &str = "/sys/fs/ext4/mmcblk0p2";

fn look(tree: &Tree) -> Look {
    look_from(tree, None)
}

fn look_from(tree: &Tree, log_from: Option<u64>) -> Look {
    let root = tree.root();
    read_look(&root, &resolved(&root, "/"), log_from)
}

#[track_caller]
fn filesystem(look: &Look, point: &str) -> FilesystemLook {
    let mut all = look.filesystems.iter();
    all.find(|one| one.point == point).unwrap().clone()
}

/// The Pi 4 with these options of the mount and of the filesystem on `/`.
fn mounted(own: &str, of_filesystem: &str) -> Look {
    let mut tree = pi4();
    tree.mounts(&format!(
        "22 1 179:2 / / {own},noatime shared:1 - ext4 /dev/root {of_filesystem},errors=remount-ro\n\
         66 22 179:1 / /boot rw,relatime shared:34 - vfat /dev/mmcblk0p1 rw,flush\n"
    ));
    look(&tree)
}

#[test]
fn a_pi_shows_its_counts() {
    let mut tree = pi4();
    tree.file("/proc/uptime", "86461.27 300000.11\n")
        .file("/proc/sys/kernel/random/boot_id", "6a0e-77\n")
        .file("/proc/sys/kernel/arch", "armv7l\n")
        .file(&format!("/sys/devices/{PI4_CARD}/diskseq"), "9\n")
        .file(&format!("{ERRORS}/errors_count"), "12\n")
        .file(&format!("{ERRORS}/first_error_time"), "1777816920\n")
        .file(&format!("{ERRORS}/last_error_time"), "0\n")
        .file(&format!("{ERRORS}/lifetime_write_kbytes"), "1000\n")
        .link("/dev/disk/by-uuid/0f-12", "/dev/mmcblk0p2");
    let look = look(&tree);
    assert_eq!(look.uptime_s, Some(86_461));
    assert_eq!(look.boot_id.as_deref(), Some("6a0e-77"));
    assert_eq!(look.at_s, None, "the time is the caller's");
    let disk = &look.disks[0];
    assert_eq!(disk.name, "mmcblk0");
    assert_eq!(disk.model.as_deref(), Some("SD32G"));
    assert_eq!(disk.counted_bytes, Some(160 * 512));
    assert_eq!(disk.wraps_bytes, Some(1 << 41));
    assert_eq!(disk.sequence, Some(9));
    assert!(disk.is_own_id && !disk.is_emmc);
    let root = filesystem(&look, "/");
    assert_eq!(root.id.as_deref(), Some("0f-12"));
    assert_eq!(root.errors_count, Some(12));
    assert_eq!(root.first_error_s, Some(1_777_816_920));
    assert_eq!(root.last_error_s, None);
    assert_eq!(root.lifetime_bytes, Some(1_024_000));
    assert_eq!(filesystem(&look, "/boot").kind, "vfat");
    assert_eq!(look.filesystems.len(), 2, "memory is none");
    tree.file("/proc/sys/kernel/arch", "aarch64\n");
    assert_eq!(self::look(&tree).disks[0].wraps_bytes, None);
}

#[test]
fn a_filesystem_is_read_only_as_a_whole_or_not() {
    for (own, of_filesystem, is_read_only, is_stopped) in [
        ("rw", "rw", false, false),
        ("ro", "ro", true, false),
        // The kernel made it read-only: the mount stays as it was.
        ("rw", "ro", true, true),
        // A service sees all mounts read-only.
        ("ro", "rw", false, false),
        // ext4 since Linux 6.15.
        ("rw", "rw,emergency_ro", true, true),
        ("ro", "rw,shutdown", true, true),
    ] {
        let root = filesystem(&mounted(own, of_filesystem), "/");
        let found = (root.is_read_only, root.is_stopped);
        assert_eq!(found, (is_read_only, is_stopped), "{own} {of_filesystem}");
    }
}

#[test]
fn the_table_of_filesystems_says_which_should_be_writable() {
    let mut tree = pi4();
    tree.file(
        "/etc/fstab",
        "proc /proc proc defaults 0 0\n# /dev/x / ext4 ro 0 0\n\
         PARTUUID=1-02 / ext4 defaults,noatime,errors=remount-ro 0 1\n\
         PARTUUID=1-01  /boot  vfat  ro,defaults  0  2\n\
         none swap swap sw 0 0\n",
    );
    let look = look(&tree);
    assert_eq!(filesystem(&look, "/").stated_writable, Some(true));
    assert_eq!(filesystem(&look, "/boot").stated_writable, Some(false));
    let mut without = pi4();
    without.file("/etc/fstab", "PARTUUID=1-02 /mnt/USB\\040STICK ext4\n");
    assert_eq!(filesystem(&self::look(&without), "/").stated_writable, None);
}

fn count(
    of: &str,
    fault: KernelFault,
    is_before: bool,
    count: u64,
    span_us: (u64, u64),
) -> LogCount {
    LogCount {
        of: of.to_owned(),
        fault,
        is_before,
        count,
        first_us: span_us.0,
        last_us: span_us.1,
    }
}

#[test]
fn lines_of_the_log_are_counted_by_operation_from_a_line_on() {
    let mut tree = pi4();
    tree.file(
        "/dev/kmsg",
        "6,100,1000000,-;mmc0: new ultra high speed DDR50 SDXC card at address aaaa\n\
         3,101,2000000,-;I/O error, dev mmcblk0, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1\n\
         3,102,3000000,-;I/O error, dev sda, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1\n\
         3,103,4000000,-;I/O error, dev mmcblk0, sector 8 op 0x1:(WRITE) flags 0x0 phys_seg 1\n\
         13,104,5000000,-;I/O error, dev mmcblk0, sector 8 op 0x0:(READ) written by a program\n\
         3,105,6000000,-;I/O error, dev mmcblk0, sector 9 op 0x1:(WRITE) flags 0x0 phys_seg 1\n\
         4,106,7000000,-;EXT4-fs error (device mmcblk0p2): ext4_find_entry:1455: inode #2: comm ls\n\
         6,107,8000000,-;mmc0: card aaaa removed\n\
         6,108,9000000,-;mmc0: new ultra high speed DDR50 SDXC card at address aaaa\n\
         4,109,9500000,-;mmc0: Timeout waiting for hardware interrupt.\n",
    );
    let all = look(&tree).log;
    assert_eq!((all.oldest, all.next), (Some(100), Some(110)));
    use KernelFault::{Filesystem, Link, Read, Write};
    let expected = [
        count("mmcblk0p2", Filesystem, true, 1, (7_000_000, 7_000_000)),
        count("mmcblk0", Read, true, 1, (2_000_000, 2_000_000)),
        count("mmcblk0", Write, true, 2, (4_000_000, 6_000_000)),
        count("mmcblk0", Link, false, 1, (9_500_000, 9_500_000)),
        count("mmcblk0", Link, true, 1, (8_000_000, 8_000_000)),
    ];
    assert_eq!(all.counts, expected);
    let later = look_from(&tree, Some(109)).log;
    assert_eq!(
        later.counts,
        [count("mmcblk0", Link, false, 1, (9_500_000, 9_500_000))]
    );
    assert_eq!(later.next, Some(110));
    let none = look_from(&tree, Some(110)).log;
    assert_eq!((none.counts, none.oldest), (Vec::new(), Some(100)));
    tree.remove("/dev/kmsg");
    assert_eq!(look(&tree).log.next, None);
}

#[test]
fn the_supply_is_low_now_or_was_before() {
    let low = |is_low, was_low| PowerLook { is_low, was_low };
    let mut tree = pi4();
    assert_eq!(look(&tree).power, low(Some(true), Some(true)));
    for (flags, expected) in [
        ("50000\n", low(Some(false), Some(true))),
        ("0\n", low(Some(false), Some(false))),
        ("80000\n", low(Some(false), Some(false))),
        ("what\n", low(None, None)),
    ] {
        tree.file(
            "/sys/devices/platform/soc/soc:firmware/get_throttled",
            flags,
        );
        assert_eq!(look(&tree).power, expected, "{flags}");
    }
    // Its log says so.
    assert_eq!(look(&pi3_overclocked()).power.was_low, Some(true));
    assert_eq!(look(&emmc_board()).power, low(None, None));
}

#[test]
fn an_emmc_reports_its_life() {
    let mut tree = emmc_board();
    let used = |tree: &Tree| {
        let disk = look(tree).disks[0].clone();
        assert!(disk.is_emmc);
        disk.health.unwrap().used_percent
    };
    assert_eq!(used(&tree), Some(20));
    let life = format!("/sys/devices/{RK3399_CARD}/device/life_time");
    tree.file(&life, "0x0b 0x01\n");
    assert_eq!(used(&tree), Some(110));
}

#[test]
fn filesystems_above_and_beside_the_target_are_found() {
    let crypt = look(&pc_crypt());
    assert!(
        crypt.filesystems.iter().any(|one| one.point == "/"),
        "{crypt:?}"
    );
    let nvme = PC_NVME.rsplit('/').next();
    assert_eq!(crypt.disks.first().map(|disk| disk.name.as_str()), nvme);
    let overlay = look(&pi4_overlay());
    assert_eq!(filesystem(&overlay, "/media/root-rw").kind, "ext4");
}

#[test]
fn btrfs_counts_errors_of_all_its_devices() {
    let mut tree = btrfs_two();
    let pool = "/sys/fs/btrfs/00000000-1111-2222-3333-444444444444/devinfo";
    let stats = |write, flush| {
        format!(
            "write_errs {write}\nread_errs 0\nflush_errs {flush}\ncorruption_errs 0\ngeneration_errs 0\n"
        )
    };
    assert_eq!(filesystem(&look(&tree), "/").errors_count, None);
    tree.file(&format!("{pool}/1/error_stats"), &stats(2, 1))
        .file(&format!("{pool}/2/error_stats"), &stats(0, 4));
    assert_eq!(filesystem(&look(&tree), "/").errors_count, Some(7));
}
