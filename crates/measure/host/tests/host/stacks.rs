//! Stacks of several layers: the disks at their bottom, and the devices that count each request once.

use cardmark_core::{FindingKind, LayerKind};
use cardmark_host::Use;
use cardmark_testkit::trees::{PI3_STICK, Tree, pc_uas, pi3_stick, pi4, pi4_ddr50, pi5_nvme};

use crate::{assert_unknown, disks, finds, layers, resolved, used};

/// btrfs on a volume of LVM on a mirror of one partition each of two disks.
fn nas() -> Tree {
    let (one, two) = ("pci0/ata1/block/sda", "pci0/ata2/block/sdb");
    let (array, volume) = ("virtual/block/md127", "virtual/block/dm-0");
    let mut tree = Tree::new();
    tree.disk(one, "8:0", 1000)
        .partition(&format!("{one}/sda1"), "8:1", 900)
        .disk(two, "8:16", 1000)
        .partition(&format!("{two}/sdb1"), "8:17", 900)
        .disk("pci0/ata3/block/sdc", "8:32", 1000)
        .disk(array, "9:127", 890)
        .file(&format!("/sys/devices/{array}/md/level"), "raid1\n")
        .holder(&format!("{one}/sda1"), array)
        .holder(&format!("{two}/sdb1"), array)
        .disk(volume, "254:0", 800)
        .file(&format!("/sys/devices/{volume}/dm/uuid"), "LVM-invented\n")
        .file(&format!("/sys/devices/{volume}/dm/name"), "nas-data\n")
        .holder(array, volume)
        .directory("/sys/fs/btrfs/00000000-1111-2222-3333-444444444444/devices/dm-0")
        .mounts("30 1 0:33 /@ /data rw,relatime - btrfs /dev/mapper/nas-data rw,subvol=/@\n")
        .stat("block 0:6 254:0 /dev/mapper/nas-data")
        .stat("directory 0:33 - /data");
    tree
}

#[test]
fn btrfs_on_a_volume_on_a_mirror_leads_to_both_disks() {
    let tree = nas();
    let resolution = resolved(&tree.root(), "/data/films");
    let expected = [
        "mount",
        "btrfs",
        "dm dm-0",
        "md md127",
        "partition sda1",
        "disk sda",
        "partition sdb1",
        "disk sdb",
    ];
    assert_eq!(layers(&resolution), expected);
    assert_eq!(resolution.counted, ["dm-0"]);
    assert_eq!(disks(&resolution), ["sda", "sdb"]);
    assert_eq!(resolution.findings, []);
}

#[test]
fn where_one_layer_cannot_be_seen_no_other_disk_is_named() {
    let mut tree = nas();
    tree.remove("/sys/class/block/sdb1");
    let resolution = resolved(&tree.root(), "/data");
    assert_eq!(disks(&resolution), ["sda"]);
    assert!(finds(&resolution, FindingKind::UnknownDevice));
    let mut tree = nas();
    tree.remove("/sys/devices/virtual/block/dm-0/slaves");
    let resolution = resolved(&tree.root(), "/data");
    assert_eq!(disks(&resolution), ["dm-0"], "the lowest that is known");
    assert!(finds(&resolution, FindingKind::UnknownDevice));
    let mut tree = nas();
    tree.remove("/sys/fs/btrfs");
    assert_unknown(&resolved(&tree.root(), "/data"));
}

#[test]
fn a_subdirectory_mounted_elsewhere_lies_where_it_is() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
         80 22 8:1 / /media/usb rw,relatime - vfat /dev/sda1 rw,flush\n\
         81 22 179:2 /var/cache /media/usb/cache rw,relatime - ext4 /dev/root rw\n\
         82 22 8:1 /home /home rw,relatime - vfat /dev/sda1 rw,flush\n",
    )
    .stat("directory 8:1 - /home")
    .stat("directory 8:1 - /media/usb")
    .stat("directory 179:2 - /media/usb/cache");
    let root = tree.root();
    assert_eq!(disks(&resolved(&root, "/home/anna")), ["sda"]);
    assert_eq!(disks(&resolved(&root, "/media/usb/x")), ["sda"]);
    assert_eq!(disks(&resolved(&root, "/media/usb/cache")), ["mmcblk0"]);
    assert_eq!(resolved(&root, "/home").filesystem.as_deref(), Some("vfat"));
}

#[test]
fn an_overlay_above_the_card_that_writes_to_a_stick_lies_on_the_stick() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 0:60 / / rw - overlay overlay rw,lowerdir=/card,upperdir=/usb/upper,\
         workdir=/usb/work\n\
         23 22 179:2 / /card ro - ext4 /dev/mmcblk0p2 ro\n\
         24 22 8:1 / /usb rw - ext4 /dev/sda1 rw\n",
    )
    .stat("directory 0:60 - /etc")
    .stat("directory 179:2 - /card")
    .stat("directory 8:1 - /usb");
    let resolution = resolved(&tree.root(), "/etc");
    assert_eq!(disks(&resolution), ["sda"]);
    assert_eq!(resolution.counted, ["sda1"]);
    assert_eq!(
        layers(&resolution),
        ["mount", "overlay", "mount", "partition sda1", "disk sda"]
    );
}

#[test]
fn several_ways_to_one_disk_are_one_disk() {
    let (one, two) = ("pci0/host1/block/sda", "pci1/host2/block/sdb");
    let (paths, part) = ("virtual/block/dm-0", "virtual/block/dm-1");
    let mut tree = Tree::new();
    tree.disk(one, "8:0", 1000)
        .disk(two, "8:16", 1000)
        .disk(paths, "254:0", 1000)
        .file(&format!("/sys/devices/{paths}/dm/uuid"), "mpath-360000\n")
        .slave(paths, one)
        .slave(paths, two)
        .disk(part, "254:1", 900)
        .file(
            &format!("/sys/devices/{part}/dm/uuid"),
            "part1-mpath-360000\n",
        )
        .slave(part, paths);
    let resolution = resolved(&tree.root(), "/dev/dm-1");
    assert_eq!(layers(&resolution), ["dm dm-1", "dm dm-0", "disk sda"]);
    assert_eq!(disks(&resolution), ["sda"]);
    assert_eq!(resolution.counted, ["dm-1"]);
    assert_eq!(resolution.findings, []);
    tree.remove("/sys/class/block/sda");
    assert_eq!(disks(&resolved(&tree.root(), "/dev/dm-1")), ["sdb"]);
    tree.remove("/sys/class/block/sdb");
    let resolution = resolved(&tree.root(), "/dev/dm-1");
    assert_eq!(disks(&resolution), [""; 0]);
    assert!(finds(&resolution, FindingKind::UnknownDevice));
}

#[test]
fn compressed_swap_beside_the_card_does_not_matter() {
    let mut tree = pi4();
    tree.disk("virtual/block/zram0", "253:0", 8000).file(
        "/proc/swaps",
        "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0  partition  1  0  100\n",
    );
    let resolution = resolved(&tree.root(), "/home");
    assert_eq!(disks(&resolution), ["mmcblk0"]);
    assert!(!resolution.memory_backed);
    let mut uses = used(&tree.root(), "mmcblk0").into_iter();
    assert!(uses.all(|one| !matches!(one, Use::Swap { .. } | Use::Unclear { .. })));
}

#[test]
fn disks_behind_a_network_are_said_to_be_so() {
    let by_transport = |transport: &str| {
        let mut tree = Tree::new();
        let disk = "virtual/nvme-fabrics/ctl/nvme0/nvme0n1";
        tree.disk(disk, "259:0", 1000).file(
            &format!("/sys/devices/{disk}/device/transport"),
            &format!("{transport}\n"),
        );
        resolved(&tree.root(), "/dev/nvme0n1").network
    };
    assert!(["tcp", "rdma", "fc"].into_iter().all(by_transport));
    assert!(!by_transport("pcie"));
    let iscsi = "platform/host5/session1/target5:0:0/5:0:0:0/block/sdb";
    let mut tree = Tree::new();
    tree.disk(iscsi, "8:16", 1000);
    let resolution = resolved(&tree.root(), "/dev/sdb");
    assert_eq!(layers(&resolution), ["network sdb"]);
    assert!(resolution.network);
    let said = used(&tree.root(), "sdb");
    assert!(matches!(said[0], Use::Unsuitable { .. }), "{said:?}");
}

#[test]
fn a_circle_with_branches_ends() {
    let mut tree = Tree::new();
    for index in 0..6 {
        let device = format!("virtual/block/dm-{index}");
        tree.disk(&device, &format!("254:{index}"), 100)
            .directory(&format!("/sys/devices/{device}/dm"));
    }
    for above in 0..6 {
        for below in 0..6 {
            let name = |index: u32| format!("virtual/block/dm-{index}");
            tree.slave(&name(above), &name(below));
        }
    }
    let resolution = resolved(&tree.root(), "/dev/dm-0");
    assert!(finds(&resolution, FindingKind::UnknownDevice));
    assert_eq!(disks(&resolution), [""; 0]);
}

#[test]
fn partitions_tell_where_they_begin() {
    let start = |tree: &Tree, path: &str| {
        let resolution = resolved(&tree.root(), path);
        let mut layers = resolution.layers.into_iter();
        layers
            .find(|layer| layer.kind == LayerKind::Partition)
            .unwrap()
            .start_bytes
    };
    assert_eq!(start(&pi4_ddr50(), "/"), Some(532_480 * 512));
    assert_eq!(start(&pi4_ddr50(), "/boot"), Some(8192 * 512));
    assert_eq!(start(&pi5_nvme(), "/"), Some(1_056_768 * 512));
    assert_eq!(start(&pi4(), "/"), None);
    let disk = resolved(&pc_uas().root(), "/dev/sda");
    assert_eq!(disk.layers[0].start_bytes, None);
    assert!(PI3_STICK.contains("usb1"));
}

#[test]
fn a_list_of_mounts_that_is_too_long_is_not_believed() {
    let mut tree = pi4();
    let line = "22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw\n";
    tree.mounts(&line.repeat(90_000));
    let said = used(&tree.root(), "mmcblk0");
    assert!(
        said.iter().any(|one| matches!(one, Use::Unclear { .. })),
        "{said:?}"
    );
    let resolution = resolved(&tree.root(), "/home");
    assert_eq!(disks(&resolution), ["mmcblk0"], "by its number");
    assert_unknown(&resolved(&tree.root(), "/tmp"));
}

#[test]
fn a_list_of_swap_spaces_that_cannot_be_read_speaks_against_writing() {
    let mut tree = pi3_stick();
    tree.directory("/proc/swaps");
    let said: Vec<String> = used(&tree.root(), "sda")
        .iter()
        .map(ToString::to_string)
        .collect();
    let unseen = "cannot determine who uses it: the list of swap spaces cannot be read";
    assert!(said.iter().any(|line| line == unseen), "{said:?}");
}
