//! Directories and devices on plain disks.

use std::path::Path;

use cardmark_core::{FindingKind, TargetKind};
use cardmark_host::{ResolveError, resolve};

use crate::{assert_unknown, disks, finds, layers, resolved};
use cardmark_testkit::trees::{PI4_CARD, Tree, pi3_stick, pi4};

#[test]
fn a_home_on_the_card_lies_on_the_root_partition() {
    let tree = pi4();
    let resolution = resolved(&tree.root(), "/home/../home/pi/");
    assert_eq!(resolution.kind, TargetKind::Directory);
    assert_eq!(resolution.device_id, (179, 2));
    assert_eq!(
        layers(&resolution),
        ["mount", "partition mmcblk0p2", "disk mmcblk0"]
    );
    assert_eq!(resolution.filesystem.as_deref(), Some("ext4"));
    assert_eq!(resolution.mount_options, ["rw", "noatime"]);
    assert_eq!(resolution.counted, ["mmcblk0p2"]);
    assert_eq!(disks(&resolution), ["mmcblk0"]);
    assert_eq!(resolution.findings, []);
    assert!(!resolution.memory_backed && !resolution.network && !resolution.read_only);
}

#[test]
fn another_partition_of_the_card_is_told_apart() {
    let tree = pi4();
    let resolution = resolved(&tree.root(), "/boot");
    assert_eq!(resolution.counted, ["mmcblk0p1"]);
    assert_eq!(resolution.filesystem.as_deref(), Some("vfat"));
    assert_eq!(resolution.mount_options, ["rw", "relatime", "flush"]);
}

#[test]
fn a_mount_point_with_a_space_is_found() {
    let tree = pi3_stick();
    let resolution = resolved(&tree.root(), "/media/pi/USB STICK/photos");
    assert_eq!(layers(&resolution), ["mount", "partition sda1", "disk sda"]);
    assert_eq!(resolution.counted, ["sda1"]);
    assert_eq!(resolution.disks[0].model.as_deref(), Some("SanDisk Ultra"));
    assert_eq!(resolution.disks[0].removable, Some(true));
}

#[test]
fn a_device_node_is_a_target_of_its_own() {
    let tree = pi4();
    let whole = resolved(&tree.root(), "/dev/mmcblk0");
    assert_eq!(whole.kind, TargetKind::Device);
    assert_eq!(whole.device_id, (179, 0));
    assert_eq!(layers(&whole), ["disk mmcblk0"]);
    assert_eq!(
        (whole.counted.as_slice(), whole.filesystem),
        (&["mmcblk0".to_owned()][..], None)
    );
    let part = resolved(&tree.root(), "/dev/mmcblk0p2");
    assert_eq!(layers(&part), ["partition mmcblk0p2", "disk mmcblk0"]);
    assert_eq!(part.counted, ["mmcblk0p2"]);
    assert_eq!(disks(&part), ["mmcblk0"]);
}

#[test]
fn a_write_protected_device_is_said_to_be_so() {
    let mut tree = pi4();
    tree.file(&format!("/sys/devices/{PI4_CARD}/ro"), "1\n");
    assert!(resolved(&tree.root(), "/dev/mmcblk0").read_only);
}

#[test]
fn a_read_only_mount_is_said_to_be_so() {
    let mut tree = pi4();
    tree.mounts("22 1 179:2 / / ro,noatime shared:1 - ext4 /dev/root rw\n");
    assert!(resolved(&tree.root(), "/home").read_only);
}

#[test]
fn files_and_missing_paths_are_no_targets() {
    let mut tree = pi4();
    tree.stat("file 179:2 10 /home/pi/a.txt");
    let root = tree.root();
    let file = resolve(&root, Path::new("/home/pi/a.txt"));
    assert!(matches!(file, Err(ResolveError::WrongKind { .. })));
    let empty = Tree::new();
    let missing = resolve(&empty.root(), Path::new("/nowhere"));
    assert!(matches!(&missing, Err(ResolveError::Unreadable { .. })));
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .starts_with("cannot inspect /nowhere: ")
    );
}

#[test]
fn a_partition_without_counters_of_its_own_counts_its_disk() {
    let mut tree = pi4();
    tree.remove(&format!("/sys/devices/{PI4_CARD}/mmcblk0p2/stat"));
    assert_eq!(resolved(&tree.root(), "/home").counted, ["mmcblk0"]);
}

#[test]
fn counters_turned_off_count_nothing() {
    let mut tree = pi4();
    tree.file(&format!("/sys/devices/{PI4_CARD}/queue/iostats"), "0\n");
    let resolution = resolved(&tree.root(), "/home");
    assert!(resolution.counted.is_empty());
    assert!(finds(&resolution, FindingKind::Unverified));
    assert_eq!(disks(&resolution), ["mmcblk0"]);
}

#[test]
fn a_bind_mount_lies_where_its_source_lies() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
         81 22 8:1 /music /srv/music rw,relatime shared:50 - vfat /dev/sda1 rw\n",
    )
    .stat("directory 8:1 - /srv/music");
    assert_eq!(resolved(&tree.root(), "/srv/music/a").counted, ["sda1"]);
    assert_eq!(resolved(&tree.root(), "/srv").counted, ["mmcblk0p2"]);
}

#[test]
fn a_mount_that_shadows_another_wins() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
         80 22 8:1 / /mnt/a/b rw,relatime - vfat /dev/sda1 rw\n\
         81 22 0:70 / /mnt/a rw,relatime - tmpfs tmpfs rw\n",
    )
    .stat("directory 0:70 - /mnt/a/b");
    let resolution = resolved(&tree.root(), "/mnt/a/b");
    assert!(resolution.memory_backed);
    assert_unknown(&resolution);
}

#[test]
fn a_directory_entered_before_it_was_covered_is_where_the_kernel_says() {
    let mut tree = pi3_stick();
    tree.stat("directory 179:2 - /media/pi/USB STICK/old");
    let resolution = resolved(&tree.root(), "/media/pi/USB STICK/old");
    assert_eq!(resolution.counted, ["mmcblk0p2"]);
    assert_eq!(resolution.filesystem.as_deref(), Some("ext4"));
}

#[test]
fn memory_is_said_plainly() {
    let tree = pi4();
    let resolution = resolved(&tree.root(), "/tmp/x");
    assert_eq!(layers(&resolution), ["mount", "memory"]);
    assert!(resolution.memory_backed && !resolution.network);
    assert_unknown(&resolution);
}

#[test]
fn other_computers_are_said_plainly() {
    let tree = pi3_stick();
    for path in ["/mnt/nas", "/mnt/box/home"] {
        let resolution = resolved(&tree.root(), path);
        assert_eq!(layers(&resolution), ["mount", "network"]);
        assert!(resolution.network && !resolution.memory_backed);
        assert_unknown(&resolution);
        let said = format!("{resolution:?}");
        assert!(
            ["nas:", "anna", "10.0.0.2"]
                .iter()
                .all(|secret| !said.contains(secret))
        );
    }
}

#[test]
fn filesystems_that_hide_their_device_are_unknown() {
    let tree = pi3_stick();
    let resolution = resolved(&tree.root(), "/mnt/pool");
    assert_eq!(layers(&resolution), ["mount"]);
    assert!(!resolution.network);
    assert_unknown(&resolution);
}

#[test]
fn without_a_list_of_mounts_the_device_number_is_enough() {
    let mut tree = pi4();
    tree.remove("/proc");
    let resolution = resolved(&tree.root(), "/home");
    assert_eq!(
        (resolution.counted.len(), resolution.filesystem.as_ref()),
        (1, None)
    );
    assert_unknown(&resolved(&tree.root(), "/tmp"));
}

#[test]
fn without_sysfs_nothing_is_known() {
    let mut tree = pi4();
    tree.remove("/sys");
    for path in ["/home", "/dev/mmcblk0"] {
        assert_unknown(&resolved(&tree.root(), path));
    }
}

#[test]
fn a_number_that_sysfs_gives_to_another_device_is_not_believed() {
    let mut tree = pi4();
    tree.file(&format!("/sys/devices/{PI4_CARD}/mmcblk0p2/dev"), "179:9\n");
    assert_unknown(&resolved(&tree.root(), "/home"));
}
