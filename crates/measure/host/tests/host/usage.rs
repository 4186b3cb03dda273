//! Users of a block device: holders and systems that few machines have.

mod unseen;

use std::path::Path;

use cardmark_host::{LoopBacking, MadeKind, Root, Use, usage};
use cardmark_testkit::trees::{
    PC_NVME, PI3_STICK, Tree, btrfs_two, pc_crypt, pi3_stick, pi4, pi4_overlay,
};
use cardmark_testkit::{LoopDevice, needs};

/// Location of a virtual device in sysfs.
const DM: &str = "virtual/block/dm-0";

use crate::used;

/// The uses as people read them.
#[track_caller]
fn told(tree: &Tree, name: &str) -> Vec<String> {
    used(&tree.root(), name)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// The device must not be written, and all of these reasons are reported.
#[track_caller]
fn assert_used(tree: &Tree, name: &str, said: &[&str]) {
    let told = told(tree, name);
    assert!(!told.is_empty(), "{name} may be written");
    for part in said {
        assert!(
            told.iter().any(|line| line == part),
            "no `{part}` in {told:#?}"
        );
    }
}

#[track_caller]
fn assert_idle(tree: &Tree, name: &str) {
    assert_eq!(told(tree, name), <[&str; 0]>::default(), "{name}");
}

/// A Raspberry Pi that runs from its card, with an idle stick of two partitions.
fn idle_stick() -> Tree {
    let mut tree = pi3_stick();
    tree.partition(&format!("{PI3_STICK}/sda2"), "8:2", 1000)
        .mounts("22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n")
        .file("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
    tree
}

/// A device above the stick's first partition, of the device mapper, with that identifier.
fn mapped(id: &str) -> Tree {
    let mut tree = idle_stick();
    tree.disk(DM, "254:0", 900)
        .file(&format!("/sys/devices/{DM}/dm/uuid"), id)
        .file(&format!("/sys/devices/{DM}/dm/name"), "title\n")
        .holder(&format!("{PI3_STICK}/sda1"), DM);
    tree
}

#[test]
fn an_idle_disk_and_its_parts_may_be_written() {
    for name in ["sda", "sda1", "sda2"] {
        assert_idle(&idle_stick(), name);
    }
}

#[test]
fn a_mounted_partition_keeps_its_disk_and_its_neighbours() {
    let mut tree = pi3_stick();
    tree.partition(&format!("{PI3_STICK}/sda2"), "8:2", 1000);
    for name in ["sda", "sda1", "sda2"] {
        assert_used(&tree, name, &["sda1 is mounted at /media/pi/USB STICK"]);
    }
}

#[test]
fn a_mount_that_only_another_process_sees_counts() {
    let mut tree = idle_stick();
    tree.file(
        "/proc/812/mountinfo",
        "500 499 179:2 / / rw - ext4 /dev/root rw\n501 500 8:2 / /data rw - vfat /dev/sdb2 rw\n",
    );
    let said = "sda2 is mounted at /data, visible to process 812 but not to this one";
    assert_used(&tree, "sda", &[said]);
    assert_eq!(told(&tree, "sda").len(), 1);
}

#[test]
fn a_volume_of_lvm_holds_the_disk() {
    let tree = mapped("LVM-abcdef\n");
    for name in ["sda", "sda1", "sda2"] {
        assert_used(
            &tree,
            name,
            &["sda1 is part of dm-0, an LVM volume `title`"],
        );
    }
    let held = used(&tree.root(), "sda");
    let is_lvm = |one: &Use| {
        matches!(
            one,
            Use::Made {
                kind: MadeKind::Lvm,
                ..
            }
        )
    };
    assert!(held.iter().all(is_lvm), "{held:?}");
}

#[test]
fn an_encrypted_device_holds_the_disk() {
    let tree = mapped("CRYPT-LUKS2-abcdef-title\n");
    let said = "sda1 is part of dm-0, an encrypted device `title`";
    assert_used(&tree, "sda", &[said]);
}

#[test]
fn anything_else_of_the_device_mapper_holds_the_disk() {
    let tree = mapped("mpath-360000\n");
    let said = "sda1 is part of dm-0, a device of the device mapper `title`";
    assert_used(&tree, "sda", &[said]);
}

#[test]
fn what_is_made_from_what_is_made_counts() {
    let mut tree = mapped("CRYPT-LUKS2-abcdef-title\n");
    let above = "virtual/block/dm-1";
    tree.disk(above, "254:1", 800)
        .file(&format!("/sys/devices/{above}/dm/uuid"), "LVM-x\n")
        .holder(DM, above)
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 254:1 / /srv rw - xfs /dev/mapper/x rw\n",
        );
    let said = [
        "dm-1 is mounted at /srv",
        "dm-0 is part of dm-1, an LVM volume",
        "sda1 is part of dm-0, an encrypted device `title`",
    ];
    assert_used(&tree, "sda2", &said);
}

#[test]
fn an_array_holds_its_disks() {
    let mut tree = idle_stick();
    tree.disk("virtual/block/md127", "9:127", 900)
        .file("/sys/devices/virtual/block/md127/md/level", "raid1\n")
        .holder(PI3_STICK, "virtual/block/md127");
    assert_used(&tree, "sda", &["sda is part of md127, a RAID array"]);
}

#[test]
fn bcache_holds_its_disks_also_while_it_waits() {
    let mut tree = idle_stick();
    tree.directory(&format!("/sys/devices/{PI3_STICK}/sda2/bcache"));
    let waits = "sda2 is part of bcache, a cache device (bcache)";
    assert_used(&tree, "sda", &[waits]);
    let mut tree = idle_stick();
    tree.disk("virtual/block/bcache0", "251:0", 900)
        .holder(&format!("{PI3_STICK}/sda1"), "virtual/block/bcache0");
    let held = "sda1 is part of bcache0, a cache device (bcache)";
    assert_used(&tree, "sda2", &[held]);
}

#[test]
fn a_member_of_btrfs_counts_whichever_device_is_named() {
    let mut tree = btrfs_two();
    tree.partition("pci0/ata1/block/sda/sda1", "8:1", 100);
    for name in ["sda", "sda1", "sda2", "sdb"] {
        assert_used(&tree, name, &[]);
    }
    assert_used(&tree, "sdb", &["sdb is mounted at /"]);
    assert_used(&tree, "sdc", &["sdc is mounted at /srv"]);
    // Even if no mount is visible.
    tree.mounts("30 1 0:33 / / rw - btrfs /dev/sda2 rw\n");
    let said = "the kernel keeps a filesystem open on sdc (btrfs)";
    assert_used(&tree, "sdc", &[said]);
}

#[test]
fn a_member_of_bcachefs_counts() {
    let mut tree = idle_stick();
    tree.link(
        "/sys/fs/bcachefs/0000-11/dev-1/block",
        &format!("/sys/devices/{PI3_STICK}"),
    );
    let said = "the kernel keeps a filesystem open on sda (bcachefs)";
    assert_used(&tree, "sda1", &[said]);
    let mut tree = idle_stick();
    tree.mounts(
        "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
         30 22 0:50 / /pool rw - bcachefs /dev/sdz:/dev/sda2 rw\n",
    );
    assert_used(&tree, "sda", &["sda2 is mounted at /pool"]);
}

#[test]
fn a_filesystem_that_the_kernel_keeps_open_counts() {
    let mut tree = idle_stick();
    tree.directory("/sys/fs/f2fs/sda1");
    let said = "the kernel keeps a filesystem open on sda1 (f2fs)";
    assert_used(&tree, "sda2", &[said]);
}

#[test]
fn swap_counts_by_number_and_by_name() {
    let line = |path: &str, kind: &str| format!("Filename\tType\n{path}  {kind}  1  0  -2\n");
    let mut tree = idle_stick();
    tree.file("/proc/swaps", &line("/dev/sda1", "partition"));
    assert_used(&tree, "sda", &["sda1 is in use as swap space"]);
    // A name of udev's; and one that is not visible here.
    tree.stat("block 0:6 8:2 /dev/disk/by-label/SWAP");
    tree.file("/proc/swaps", &line("/dev/disk/by-label/SWAP", "partition"));
    assert_used(&tree, "sda", &["sda2 is in use as swap space"]);
    tree.file("/proc/swaps", &line("/dev/nowhere", "partition"));
    let said = "cannot determine who uses it: swap space /dev/nowhere is on no known device";
    assert_used(&tree, "sda", &[said]);
    tree.file("/proc/swaps", &line("/swapfile", "file"));
    assert_idle(&tree, "sda");
    let mut tree = mapped("LVM-x\n");
    tree.file("/proc/swaps", &line("/dev/dm-0", "partition"));
    assert_used(&tree, "sda", &["dm-0 is in use as swap space"]);
}

#[test]
fn the_disk_below_the_system_is_found_directly_and_through_its_parts() {
    let said = "the system runs from it: / lies on mmcblk0p2";
    for name in ["mmcblk0", "mmcblk0p1", "mmcblk0p2"] {
        assert_used(&pi4(), name, &[said]);
        assert_used(
            &pi4_overlay(),
            name,
            &["mmcblk0p2 is mounted at /media/root-rw"],
        );
    }
    assert_used(&pi4_overlay(), "mmcblk0p1", &[said]);
}

#[test]
fn the_disk_below_the_system_is_found_through_volumes_and_encryption() {
    let mut tree = pc_crypt();
    let part = format!("{PC_NVME}/nvme0n1p3");
    tree.partition(&format!("{PC_NVME}/nvme0n1p1"), "259:1", 1000);
    // Even if the kernel does not show the holders.
    let said = "the system runs from it: / lies on nvme0n1p3";
    for name in ["nvme0n1", "nvme0n1p1", "nvme0n1p3"] {
        assert_used(&tree, name, &[said]);
    }
    tree.holder_only(&part, "virtual/block/dm-0")
        .holder_only("virtual/block/dm-0", "virtual/block/dm-1");
    assert_used(&tree, "nvme0n1p1", &["dm-1 is mounted at /"]);
    for name in ["dm-0", "dm-1"] {
        assert_used(&tree, name, &["dm-1 is mounted at /"]);
    }
}

#[test]
fn the_disks_below_the_system_are_found_through_an_array() {
    let (one, two, array) = ("ata1/block/sda", "ata2/block/sdb", "virtual/block/md0");
    let mut tree = Tree::new();
    tree.disk(one, "8:0", 1000)
        .partition(&format!("{one}/sda1"), "8:1", 100)
        .partition(&format!("{one}/sda2"), "8:2", 900)
        .disk(two, "8:16", 900)
        .disk(array, "9:0", 890)
        .file(&format!("/sys/devices/{array}/md/level"), "raid1\n")
        .slave(array, &format!("{one}/sda2"))
        .slave(array, two)
        .mounts("22 1 9:0 / / rw - ext4 /dev/md0 rw\n")
        .stat("directory 9:0 - /");
    for name in ["sda", "sda1", "sda2", "sdb", "md0"] {
        assert_used(&tree, name, &[]);
        assert!(told(&tree, name)[0].starts_with("the system runs from it"));
    }
}

#[test]
fn the_disks_below_the_system_are_found_through_btrfs() {
    let tree = btrfs_two();
    for (name, on) in [("sda", "sda2"), ("sdb", "sdb")] {
        let said = format!("the system runs from it: / lies on {on}");
        assert_used(&tree, name, &[&said]);
    }
}

#[test]
fn boot_on_a_disk_of_its_own_counts() {
    let mut tree = idle_stick();
    tree.stat("directory 8:1 - /boot");
    let said = "the system runs from it: /boot lies on sda1";
    assert_used(&tree, "sda2", &[said]);
}

#[test]
fn hardware_partitions_of_an_emmc_are_never_written() {
    let mut tree = idle_stick();
    let card = "platform/mmc1/mmc1:0001/block/mmcblk1";
    tree.disk(card, "179:32", 62_000_000);
    for (index, part) in ["mmcblk1boot0", "mmcblk1boot1", "mmcblk1gp0", "mmcblk1rpmb"]
        .into_iter()
        .enumerate()
    {
        tree.disk(
            &format!("{card}/{part}"),
            &format!("179:{}", 64 + index),
            8192,
        );
        let said =
            format!("{part} is a hardware partition of an eMMC: the board may start from it");
        assert_used(&tree, part, &[&said]);
    }
    assert_idle(&tree, "mmcblk1");
}

#[test]
fn what_is_no_storage_of_its_own_is_never_written() {
    let mut tree = idle_stick();
    for (index, (name, reason)) in [
        ("zram0", "memory, no storage"),
        ("ram0", "memory, no storage"),
        (
            "nbd0",
            "reached through a network: who else uses it is not visible here",
        ),
        (
            "mtdblock0",
            "flash memory of the board: the board may start from it",
        ),
        ("sr0", "a drive for discs or floppies"),
    ]
    .into_iter()
    .enumerate()
    {
        tree.disk(
            &format!("virtual/block/{name}"),
            &format!("240:{index}"),
            2048,
        );
        assert_used(&tree, name, &[&format!("{name} is {reason}")]);
    }
}

#[test]
fn protection_and_a_missing_medium_are_told() {
    let mut tree = idle_stick();
    tree.file(&format!("/sys/devices/{PI3_STICK}/ro"), "1\n");
    for name in ["sda", "sda1"] {
        assert_used(&tree, name, &["sda is write-protected"]);
    }
    let mut tree = idle_stick();
    tree.file(&format!("/sys/devices/{PI3_STICK}/size"), "0\n");
    assert_used(&tree, "sda", &["sda has no medium: its size is 0"]);
    tree.remove(&format!("/sys/devices/{PI3_STICK}/size"));
    assert_used(&tree, "sda", &["sda has no medium: its size is 0"]);
}

#[test]
fn a_process_that_could_write_counts_and_a_reader_does_not() {
    let mut tree = idle_stick();
    tree.opened(77, "/dev/sda", "0100000")
        .stat("block 0:6 8:0 /proc/77/fd/3");
    assert_idle(&tree, "sda1");
    let mut tree = idle_stick();
    tree.opened(78, "/dev/sda", "0140002")
        .stat("block 0:6 8:0 /proc/78/fd/3");
    let said = "process 78 (qemu-system-arm) has sda open for writing";
    assert_used(&tree, "sda1", &[said]);
}

#[test]
fn a_loop_device_whose_file_was_named_elsewhere_counts_by_its_name() {
    let mut tree = idle_stick();
    let folder = "/sys/devices/virtual/block/loop3";
    tree.disk("pci0/block/cciss!c0d0", "104:0", 900)
        .disk("virtual/block/loop3", "7:3", 900)
        // Nothing is visible there; the kernel writes `!` for `/` in names.
        .file(&format!("{folder}/loop/backing_file"), "/dev/cciss/c0d0\n")
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 7:3 / /mnt rw - ext4 /dev/loop3 rw\n",
        );
    let said = [
        "cciss!c0d0 is part of loop3, a loop device",
        "loop3 is mounted at /mnt",
    ];
    assert_used(&tree, "cciss!c0d0", &said);
    tree.file(&format!("{folder}/loop/backing_file"), "/dev/sda2\n");
    let said = ["sda2 is part of loop3, a loop device"];
    assert_used(&tree, "sda1", &said);
    assert_idle(&tree, "cciss!c0d0");
}

#[test]
fn a_swap_file_below_a_loop_device_counts() {
    let mut tree = idle_stick();
    let folder = "/sys/devices/virtual/block/loop3";
    tree.disk("virtual/block/loop3", "7:3", 2048)
        .file(&format!("{folder}/loop/backing_file"), "/home/pi/image\n")
        .stat("file 179:2 1048576 /home/pi/image");
    assert_idle(&tree, "loop3");
    tree.file("/proc/swaps", "Filename\n/home/pi/image file 1 0 -2\n");
    assert_used(&tree, "loop3", &["/home/pi/image is in use as swap space"]);
}

/// A loop device in that tree: its number, and the path and the identity of its file.
fn attach(tree: &mut Tree, number: u32, path: &str) {
    let device = format!("virtual/block/loop{number}");
    tree.disk(&device, &format!("7:{number}"), 2048).file(
        &format!("/sys/devices/{device}/loop/backing_file"),
        &format!("{path}\n"),
    );
}

/// Two loop devices whose files have different paths and the same inode.
fn two_names() -> Tree {
    let mut tree = idle_stick();
    attach(&mut tree, 3, "/home/pi/image");
    attach(&mut tree, 4, "/srv/bound/image");
    tree.stat("file 179:2 1048576#77 /home/pi/image")
        .stat("file 179:2 1048576#77 /srv/bound/image");
    tree
}

#[test]
fn loop_devices_share_a_file_by_device_and_inode() {
    let tree = two_names();
    assert_used(
        &tree,
        "loop3",
        &["loop3 and loop4 have the same backing file"],
    );
    assert_used(
        &tree,
        "loop4",
        &["loop4 and loop3 have the same backing file"],
    );
    // The same inode number on another device, and another inode number, are other files.
    for other in ["8:1 1048576#77", "179:2 1048576#78"] {
        let mut tree = idle_stick();
        attach(&mut tree, 3, "/home/pi/image");
        attach(&mut tree, 4, "/srv/bound/image");
        tree.stat("file 179:2 1048576#77 /home/pi/image")
            .stat(&format!("file {other} /srv/bound/image"));
        assert_idle(&tree, "loop3");
    }
}

#[test]
fn what_uses_the_other_loop_device_counts() {
    let mut tree = two_names();
    tree.partition("virtual/block/loop4/loop4p1", "259:7", 1000)
        .mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 259:7 / /mnt rw - ext4 /dev/loop4p1 rw\n",
        );
    assert_used(&tree, "loop3", &["loop4p1 is mounted at /mnt"]);
}

#[test]
fn the_kernel_decides_which_file_a_loop_device_has() {
    let mut tree = idle_stick();
    attach(&mut tree, 3, "/home/pi/image");
    attach(&mut tree, 4, "/gone/image (deleted)");
    tree.stat("file 179:2 1048576#77 /home/pi/image");
    let backing = |inode| LoopBacking {
        device_id: (179, 2),
        inode,
        block_id: None,
    };
    let told = |third: Option<LoopBacking>, fourth: Option<LoopBacking>| -> Vec<String> {
        let ask = |name: &str| if name == "loop3" { third } else { fourth };
        let uses = usage(&tree.root(), "loop3", &ask);
        uses.iter().map(ToString::to_string).collect()
    };
    let unclear = |detail: &str| format!("cannot determine who uses it: {detail}");
    assert_eq!(told(Some(backing(77)), Some(backing(78))), [""; 0]);
    assert_eq!(
        told(Some(backing(77)), Some(backing(77))),
        ["loop3 and loop4 have the same backing file"]
    );
    assert_eq!(
        told(Some(backing(77)), None),
        [unclear(
            "loop4 may have the same backing file as loop3: its backing file does not answer"
        )]
    );
    let unseen = unclear("cannot find the backing file of loop3 at the path that losetup shows");
    for answer in [None, Some(backing(76))] {
        let told = told(answer, Some(backing(78)));
        assert!(told.contains(&unseen), "{told:?}");
    }
    let on_device = |inode| LoopBacking {
        block_id: Some((8, 2)),
        ..backing(inode)
    };
    let ask = |name: &str| (name == "loop4").then(|| on_device(5));
    let uses = usage(&tree.root(), "sda", &ask);
    assert_eq!(uses[0].to_string(), "sda2 is part of loop4, a loop device");
}

#[test]
fn a_file_on_an_overlay_may_be_another_one_of_its_size() {
    let idle = |stated: &str| {
        let mut tree = idle_stick();
        attach(&mut tree, 3, "/home/pi/image");
        attach(&mut tree, 4, "/merged/image");
        tree.mounts(
            "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
             30 22 0:50 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n",
        )
        .stat("file 179:2 1048576#77 /home/pi/image")
        .stat(stated);
        told(&tree, "loop3").is_empty() && told(&tree, "loop4").is_empty()
    };
    assert!(!idle("file 0:50 1048576#99 /merged/image"));
    let another_size = "file 0:50 1048577#99 /merged/image";
    assert!(idle(another_size));
}

#[test]
fn a_process_that_could_write_the_file_counts() {
    let image = |inode: u64, flags: &str| {
        let mut tree = idle_stick();
        attach(&mut tree, 3, "/home/pi/image");
        tree.opened(78, "/home/pi/other name", flags)
            .stat("file 179:2 1048576#77 /home/pi/image")
            .stat(&format!("file 179:2 1048576#{inode} /proc/78/fd/3"));
        tree
    };
    assert_idle(&image(77, "0100000"), "loop3");
    assert_idle(&image(78, "0100002"), "loop3");
    for flags in ["0100001", "0102001", "0100002"] {
        let said = "process 78 (qemu-system-arm) has /home/pi/image open for writing";
        assert_used(&image(77, flags), "loop3", &[said]);
    }
}

#[test]
fn a_file_on_a_server_is_not_looked_at() {
    let mut tree = idle_stick();
    attach(&mut tree, 3, "/home/pi/image");
    tree.mounts(
        "22 1 0:60 / / rw - nfs4 server:/ rw\n23 22 179:2 / /home rw - ext4 /dev/root rw\n",
    )
    .opened(78, "/srv/file", "0100002")
    .stat("file 179:2 1048576#77 /home/pi/image")
    .stat("file 179:2 1048576#77 /proc/78/fd/3");
    let told = told(&tree, "loop3");
    assert!(!told.iter().any(|line| line.contains("78")), "{told:?}");
}

#[test]
fn a_mapping_that_can_be_written_counts_without_an_open_file() {
    let maps = |line: &str| {
        let mut tree = idle_stick();
        attach(&mut tree, 3, "/home/pi/image");
        tree.file("/proc/78/comm", "qemu\n")
            .file("/proc/78/maps", &format!("nonsense\n{line}\n"))
            .stat("file 179:2 1048576#77 /home/pi/image");
        tree
    };
    let said = "process 78 (qemu) has /home/pi/image mapped into memory for writing";
    let mapped = maps("7f00-7f10 rw-s 00000000 b3:02 77                 /home/pi/my image");
    assert_used(&mapped, "loop3", &[said]);
    for harmless in [
        "7f00-7f10 r--s 00000000 b3:02 77 /home/pi/image",
        "7f00-7f10 rw-p 00000000 b3:02 77 /home/pi/image",
        "7f00-7f10 rw-s 00000000 b3:02 78 /home/pi/image",
        "7f00-7f10 rw-s 00000000 b3:03 77 /home/pi/image",
        "7f00-7f10 rw-p 00000000 00:00 0",
    ] {
        assert_idle(&maps(harmless), "loop3");
    }
    // The mapping itself shows the number of the file if the list shows another, as on btrfs.
    let mut tree = maps("7f00-7f10 rw-s 00000000 00:21 77 /home/pi/image");
    tree.stat("file 179:2 1048576#77 /proc/78/map_files/7f00-7f10");
    assert_used(&tree, "loop3", &[said]);
}

#[test]
fn a_mapped_device_with_the_inode_number_of_the_file_is_no_use() {
    let mut tree = idle_stick();
    attach(&mut tree, 3, "/home/pi/image");
    // On btrfs the list of mappings shows another number than the file has.
    tree.mounts("22 1 0:21 / / rw - btrfs /dev/root rw\n")
        .file("/proc/78/comm", "Xorg\n")
        .file(
            "/proc/78/maps",
            "7f00-7f10 rw-s 00000000 00:06 77 /dev/dri/card0\n",
        )
        .stat("file 0:33 1048576#77 /home/pi/image");
    let said = "process 78 (Xorg) has /home/pi/image mapped into memory for writing";
    assert_used(&tree, "loop3", &[said]);
    tree.stat("character 0:6 226:0 /proc/78/map_files/7f00-7f10");
    let told = told(&tree, "loop3");
    assert!(!told.iter().any(|line| line == said), "{told:?}");
}

#[test]
fn a_swap_file_counts_by_device_and_inode() {
    let mut tree = two_names();
    tree.remove("/sys/class/block/loop4")
        .file("/proc/swaps", "Filename\n/srv/bound/image file 1 0 -2\n");
    assert_used(
        &tree,
        "loop3",
        &["/srv/bound/image is in use as swap space"],
    );
    tree.file("/proc/swaps", "Filename\n/gone\\040(deleted) file 1 0 -2\n");
    let said = "cannot determine who uses it: the swap file /gone (deleted) is not visible here";
    assert_used(&tree, "loop3", &[said]);
}

#[test]
fn what_cannot_be_known_counts() {
    let mut tree = idle_stick();
    let unseen = "cannot determine who uses it: ";
    assert_used(
        &tree,
        "sdz",
        &[&format!("{unseen}sysfs shows no block device sdz")],
    );
    tree.file(
        "/proc/self/mountinfo",
        "22 1 nonsense\n22 1 179:2 / / rw - ext4 /dev/root rw\n",
    );
    let mounts = format!("{unseen}the list of mounts is missing or not understood");
    assert_used(&tree, "sda", &[&mounts]);
    tree.remove("/proc/self/mountinfo");
    assert_used(&tree, "sda", &[&mounts]);
    let mut tree = idle_stick();
    tree.remove("/sys");
    assert_used(&tree, "sda", &[]);
    let mut tree = idle_stick();
    tree.remove(&format!("/sys/devices/{PI3_STICK}/sda2/dev"));
    let number = format!("{unseen}sysfs does not show the number of sda2");
    assert_used(&tree, "sda", &[&number]);
    let mut tree = mapped("LVM-x\n");
    tree.remove("/sys/class/block/dm-0");
    let holder = format!("{unseen}sda1 is held by dm-0, unknown");
    assert_used(&tree, "sda", &[&holder]);
    let mut tree = idle_stick();
    tree.disk(DM, "254:0", 900)
        .directory(&format!("/sys/devices/{DM}/dm"));
    let below = format!("{unseen}sysfs shows no device below dm-0");
    assert_used(&tree, "dm-0", &[&below]);
}

#[test]
fn an_idle_volume_may_be_written_when_it_has_its_disks_to_itself() {
    let mut tree = mapped("LVM-x\n");
    assert_idle(&tree, "dm-0");
    let other = "virtual/block/dm-1";
    tree.disk(other, "254:1", 100)
        .file(&format!("/sys/devices/{other}/dm/uuid"), "LVM-y\n")
        .holder(&format!("{PI3_STICK}/sda2"), other);
    assert_used(&tree, "dm-0", &["sda2 is part of dm-1, an LVM volume"]);
}

#[test]
fn a_loop_device_of_this_machine_is_idle_and_its_disk_is_not() {
    needs!(Root, LoopDevice);
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let device = LoopDevice::attach(file.path(), false);
    let name = device.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(used(&Root::system(), name), []);
    let root = cardmark_host::resolve(&Root::system(), Path::new("/")).unwrap();
    for disk in root.disks {
        let uses = used(&Root::system(), &disk.name);
        assert!(matches!(uses[0], Use::System { .. }), "{uses:?}");
    }
}
