//! Layers between a directory and its disk.

use cardmark_core::FindingKind;

use crate::{assert_unknown, disks, finds, layers, resolved};
use cardmark_testkit::trees::{Tree, btrfs_two, pc_crypt, pi4, pi4_loop, pi4_overlay};

const LOOP: &str = "/sys/devices/virtual/block/loop0";

#[test]
fn crypt_and_volumes_count_the_topmost_once() {
    let tree = pc_crypt();
    let resolution = resolved(&tree.root(), "/home");
    let expected = [
        "mount",
        "dm dm-1",
        "dm dm-0",
        "partition nvme0n1p3",
        "disk nvme0n1",
    ];
    assert_eq!(layers(&resolution), expected);
    assert_eq!(resolution.counted, ["dm-1"]);
    assert_eq!(disks(&resolution), ["nvme0n1"]);
    assert_eq!(
        resolution.disks[0].model.as_deref(),
        Some("INVENTED NVMe 512GB")
    );
    assert_eq!(resolution.findings, []);
}

#[test]
fn a_mirror_names_both_disks_and_counts_once() {
    let (one, two) = ("pci0/ata1/block/sda", "pci0/ata2/block/sdb");
    let mut tree = Tree::new();
    tree.disk(one, "8:0", 1000)
        .partition(&format!("{one}/sda1"), "8:1", 900)
        .disk(two, "8:16", 900)
        .disk("virtual/block/md0", "9:0", 890)
        .file("/sys/devices/virtual/block/md0/md/level", "raid1\n")
        .slave("virtual/block/md0", &format!("{one}/sda1"))
        .slave("virtual/block/md0", two);
    let resolution = resolved(&tree.root(), "/dev/md0");
    assert_eq!(
        layers(&resolution),
        ["md md0", "partition sda1", "disk sda", "disk sdb"]
    );
    assert_eq!(resolution.counted, ["md0"]);
    assert_eq!(disks(&resolution), ["sda", "sdb"]);
}

#[test]
fn volumes_on_two_partitions_of_one_disk_name_it_once() {
    let one = "pci0/ata1/block/sda";
    let mut tree = Tree::new();
    tree.disk(one, "8:0", 1000)
        .partition(&format!("{one}/sda1"), "8:1", 400)
        .partition(&format!("{one}/sda2"), "8:2", 400)
        .disk("virtual/block/dm-0", "254:0", 790)
        .directory("/sys/devices/virtual/block/dm-0/dm")
        .slave("virtual/block/dm-0", &format!("{one}/sda1"))
        .slave("virtual/block/dm-0", &format!("{one}/sda2"));
    let resolution = resolved(&tree.root(), "/dev/dm-0");
    assert_eq!(
        layers(&resolution),
        ["dm dm-0", "partition sda1", "disk sda", "partition sda2"]
    );
    assert_eq!(disks(&resolution), ["sda"]);
}

#[test]
fn a_volume_without_anything_below_is_its_own_lowest_device() {
    let mut tree = Tree::new();
    tree.disk("virtual/block/dm-0", "254:0", 790)
        .directory("/sys/devices/virtual/block/dm-0/dm");
    let resolution = resolved(&tree.root(), "/dev/dm-0");
    assert_eq!(
        (disks(&resolution), resolution.counted.len()),
        (vec!["dm-0"], 1)
    );
    assert!(finds(&resolution, FindingKind::UnknownDevice));
}

#[test]
fn btrfs_counts_all_its_devices() {
    let tree = btrfs_two();
    for path in ["/home", "/var/lib/machines/a"] {
        let resolution = resolved(&tree.root(), path);
        let expected = ["mount", "btrfs", "partition sda2", "disk sda", "disk sdb"];
        assert_eq!(layers(&resolution), expected);
        assert_eq!(resolution.counted, ["sda2", "sdb"]);
        assert_eq!(disks(&resolution), ["sda", "sdb"]);
        assert_eq!(
            resolution.mount_options,
            ["rw", "relatime", "compress=zstd:1", "ssd"]
        );
        assert_eq!(resolution.findings, []);
    }
    assert_eq!(resolved(&tree.root(), "/srv/x").counted, ["sdc"]);
}

#[test]
fn btrfs_whose_source_says_nothing_is_known_only_when_alone() {
    let mut tree = btrfs_two();
    tree.mounts("30 1 0:33 /@ / rw,relatime - btrfs /dev/root rw,subvol=/@\n");
    tree.stat("directory 0:33 - /dev/nothing");
    assert_unknown(&resolved(&tree.root(), "/home"));
    tree.remove("/sys/fs/btrfs/55555555-6666-7777-8888-999999999999");
    assert_eq!(resolved(&tree.root(), "/home").counted, ["sda2", "sdb"]);
}

#[test]
fn btrfs_whose_source_is_no_member_is_unknown() {
    let mut tree = btrfs_two();
    tree.mounts("30 1 0:33 /@ / rw,relatime - btrfs /dev/sda rw,subvol=/@\n");
    assert_unknown(&resolved(&tree.root(), "/home"));
}

#[test]
fn a_missing_member_of_btrfs_makes_it_uncountable() {
    let mut tree = btrfs_two();
    tree.remove("/sys/class/block/sdb");
    let resolution = resolved(&tree.root(), "/home");
    assert!(resolution.counted.is_empty());
    assert!(finds(&resolution, FindingKind::UnknownDevice));
}

#[test]
fn an_overlay_lies_where_its_upper_directory_lies() {
    let tree = pi4_overlay();
    let resolution = resolved(&tree.root(), "/etc/x");
    let expected = [
        "mount",
        "overlay",
        "mount",
        "partition mmcblk0p2",
        "disk mmcblk0",
    ];
    assert_eq!(layers(&resolution), expected);
    assert_eq!(resolution.filesystem.as_deref(), Some("overlay"));
    assert_eq!(resolution.counted, ["mmcblk0p2"]);
    assert_eq!(resolution.findings, []);
}

#[test]
fn an_overlay_of_another_tree_of_mounts_is_unknown() {
    let missing = "upperdir=/var/lib/docker/1/diff,workdir=/var/lib/docker/1/work";
    let apart = "upperdir=/media/root-rw/overlay,workdir=/boot/work";
    let relative = "upperdir=media/root-rw/overlay,workdir=media/root-rw/overlay-workdir/_";
    let inside = "upperdir=/etc/upper,workdir=/etc/work";
    let none = "lowerdir=/media/root-rw/overlay";
    for options in [missing, apart, relative, inside, none] {
        let mut tree = Tree::new();
        tree.disk("mmcblk0", "179:0", 1000)
            .partition("mmcblk0/mmcblk0p2", "179:2", 900)
            .mounts(&format!(
                "22 1 0:60 / / rw - overlay overlay rw,{options}\n"
            ))
            .stat("directory 0:60 - /etc")
            .stat("directory 179:2 - /media/root-rw/overlay")
            .stat("directory 179:2 - /media/root-rw/overlay-workdir/_")
            .stat("directory 179:1 - /boot/work");
        let resolution = resolved(&tree.root(), "/etc");
        assert_eq!(layers(&resolution), ["mount", "overlay"], "{options}");
        assert_unknown(&resolution);
    }
}

#[test]
fn an_overlay_whose_work_directory_is_not_in_use_is_unknown() {
    let mut tree = pi4_overlay();
    tree.stat("file 179:2 0 /media/root-rw/overlay-workdir/_/work");
    assert_unknown(&resolved(&tree.root(), "/etc"));
}

#[test]
fn a_live_system_writes_to_memory() {
    let mut tree = pi4_overlay();
    tree.mounts(
        "22 1 0:60 / / rw - overlay overlay rw,upperdir=/cow/upper,workdir=/cow/work\n\
         23 22 0:61 / /cow rw - tmpfs tmpfs rw\n",
    )
    .stat("directory 0:61 - /cow");
    let resolution = resolved(&tree.root(), "/etc");
    assert_eq!(layers(&resolution), ["mount", "overlay", "mount", "memory"]);
    assert!(resolution.memory_backed);
    assert_unknown(&resolution);
}

#[test]
fn a_loop_device_counts_itself_and_leads_to_the_disk_of_its_file() {
    let tree = pi4_loop();
    let resolution = resolved(&tree.root(), "/mnt/x");
    let expected = [
        "mount",
        "loop loop0",
        "mount",
        "partition mmcblk0p2",
        "disk mmcblk0",
    ];
    assert_eq!(layers(&resolution), expected);
    assert_eq!(resolution.filesystem.as_deref(), Some("ext4"));
    assert_eq!(resolution.mount_options, ["rw", "relatime"]);
    assert_eq!(resolution.counted, ["loop0"]);
    assert_eq!(disks(&resolution), ["mmcblk0"]);
    assert_eq!(resolution.findings, []);
}

#[test]
fn a_loop_device_through_the_page_cache_is_said_to_be_so() {
    let mut tree = pi4_loop();
    tree.file(&format!("{LOOP}/loop/dio"), "0\n");
    let resolution = resolved(&tree.root(), "/dev/loop0");
    assert!(finds(&resolution, FindingKind::Buffered));
    assert_eq!(resolution.filesystem, None);
}

#[test]
fn a_loop_device_on_a_file_in_fuse_is_not_said_to_be_cached() {
    let mut tree = pi4_loop();
    tree.file(&format!("{LOOP}/loop/dio"), "0\n")
        .file(&format!("{LOOP}/loop/backing_file"), "/card/disk\n")
        .mounts("70 1 0:50 / /card rw - fuse.cardmark-simfs simfs rw\n")
        .stat("file 0:50 1049000 /card/disk");
    let resolution = resolved(&tree.root(), "/dev/loop0");
    assert_eq!(layers(&resolution), ["loop loop0", "mount"]);
    assert_eq!(resolution.counted, ["loop0"]);
    assert_eq!(disks(&resolution), ["loop0"], "the lowest that is known");
    assert!(!finds(&resolution, FindingKind::Buffered));
    assert!(finds(&resolution, FindingKind::UnknownDevice));
}

#[test]
fn a_loop_device_on_a_part_of_its_file_is_followed() {
    let mut tree = pi4_loop();
    tree.file(&format!("{LOOP}/loop/offset"), "4096\n")
        .file(&format!("{LOOP}/loop/sizelimit"), "524288\n")
        .file(&format!("{LOOP}/size"), "1024\n");
    assert_eq!(disks(&resolved(&tree.root(), "/mnt")), ["mmcblk0"]);
}

#[test]
fn a_loop_device_whose_file_is_not_to_be_seen_ends_the_way() {
    let deleted: fn(&mut Tree) = |tree| {
        tree.file(
            &format!("{LOOP}/loop/backing_file"),
            "/gone.img (deleted)\n",
        );
    };
    let another_size: fn(&mut Tree) = |tree| {
        tree.file(&format!("{LOOP}/size"), "4096\n");
    };
    let unset: fn(&mut Tree) = |tree| {
        tree.remove(&format!("{LOOP}/loop"));
    };
    for change in [deleted, another_size, unset] {
        let mut tree = pi4_loop();
        change(&mut tree);
        let resolution = resolved(&tree.root(), "/mnt");
        assert_eq!(layers(&resolution), ["mount", "loop loop0"]);
        assert_eq!(resolution.counted, ["loop0"]);
        assert_eq!(disks(&resolution), ["loop0"]);
        assert!(finds(&resolution, FindingKind::UnknownDevice));
    }
}

#[test]
fn a_loop_device_on_a_block_device_is_followed() {
    let mut tree = pi4_loop();
    tree.file(&format!("{LOOP}/loop/backing_file"), "/dev/mmcblk0p2\n");
    let resolution = resolved(&tree.root(), "/dev/loop0");
    assert_eq!(
        layers(&resolution),
        ["loop loop0", "partition mmcblk0p2", "disk mmcblk0"]
    );
}

#[test]
fn a_circle_of_loop_devices_ends() {
    let mut tree = pi4_loop();
    tree.stat("file 7:0 1049000 /circle.img")
        .file(&format!("{LOOP}/loop/backing_file"), "/circle.img\n");
    let resolution = resolved(&tree.root(), "/mnt");
    assert_eq!(resolution.counted, ["loop0"]);
    assert!(finds(&resolution, FindingKind::UnknownDevice));
}

#[test]
fn compressed_memory_is_no_disk() {
    let mut tree = pi4();
    tree.disk("virtual/block/zram0", "253:0", 8000)
        .file("/sys/devices/virtual/block/zram0/queue/iostats", "0\n")
        .mounts(
            "22 1 179:2 / / rw - ext4 /dev/root rw\n\
             70 22 253:0 / /var/log rw,relatime - ext4 /dev/zram0 rw\n",
        )
        .stat("directory 253:0 - /var/log");
    let resolution = resolved(&tree.root(), "/var/log");
    assert_eq!(layers(&resolution), ["mount", "zram zram0"]);
    assert!(resolution.memory_backed);
    assert_eq!(resolution.counted, ["zram0"]);
}

#[test]
fn a_network_block_device_is_on_another_computer() {
    let mut tree = Tree::new();
    tree.disk("virtual/block/nbd0", "43:0", 8000);
    let resolution = resolved(&tree.root(), "/dev/nbd0");
    assert_eq!(layers(&resolution), ["network nbd0"]);
    assert!(resolution.network);
}

#[test]
fn many_devices_of_one_filesystem_are_not_taken_for_a_circle() {
    let mut tree = Tree::new();
    tree.mounts("30 1 0:33 / / rw - btrfs /dev/sd10 rw\n")
        .stat("directory 0:33 - /data");
    for index in 10..50 {
        let disk = format!("ata/sd{index}");
        tree.disk(&disk, &format!("8:{index}"), 100)
            .directory(&format!("/sys/fs/btrfs/a/devices/sd{index}"));
    }
    let resolution = resolved(&tree.root(), "/data");
    assert_eq!(
        (resolution.counted.len(), resolution.findings.len()),
        (40, 0)
    );
}
