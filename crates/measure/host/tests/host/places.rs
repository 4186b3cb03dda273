//! The beginner's list.

use cardmark_host::mounted_directories;

use cardmark_testkit::trees::{Tree, btrfs_two, pi3_stick, pi4, pi4_loop, pi4_overlay};

fn listed(tree: &Tree) -> Vec<(String, String, bool, bool)> {
    mounted_directories(&tree.root())
        .into_iter()
        .map(|place| {
            let directory = place.directory.to_str().unwrap().to_owned();
            (directory, place.device, place.removable, place.writable)
        })
        .collect()
}

fn row(directory: &str, device: &str, removable: bool) -> (String, String, bool, bool) {
    (directory.to_owned(), device.to_owned(), removable, true)
}

#[test]
fn boot_memory_and_servers_are_left_out() {
    assert_eq!(listed(&pi4()), [row("/", "mmcblk0p2", true)]);
    let stick = row("/media/pi/USB STICK", "sda1", true);
    assert_eq!(listed(&pi3_stick()), [row("/", "mmcblk0p2", true), stick]);
    assert_eq!(listed(&Tree::new()), []);
}

#[test]
fn a_place_says_what_it_lies_on() {
    let tree = pi3_stick();
    let places = mounted_directories(&tree.root());
    let stick = places.iter().find(|place| place.device == "sda1").unwrap();
    assert_eq!(stick.filesystem, "vfat");
    assert_eq!(stick.size_bytes, Some(60_060_452 * 512));
    assert_eq!(stick.disk.name, "sda");
    assert_eq!(stick.disk.model.as_deref(), Some("SanDisk Ultra"));
}

#[test]
fn removable_and_writable_places_come_first() {
    let mut tree = Tree::new();
    tree.disk("pci0/ata1/block/sda", "8:0", 1000)
        .disk("pci0/usb2/2-1/block/sdb", "8:16", 1000)
        .disk("pci0/usb2/2-2/block/sdc", "8:32", 1000)
        .mounts(
            "22 1 8:0 / / rw - ext4 /dev/sda rw\n\
             23 22 8:16 / /mnt/b ro - ext4 /dev/sdb rw\n\
             24 22 8:32 / /mnt/c rw - ext4 /dev/sdc rw\n",
        )
        .stat("directory 8:0 - /")
        .stat("directory 8:16 - /mnt/b")
        .stat("directory 8:32 - /mnt/c");
    let directories: Vec<String> = listed(&tree).into_iter().map(|place| place.0).collect();
    assert_eq!(directories, ["/mnt/c", "/mnt/b", "/"]);
}

#[test]
fn each_filesystem_is_listed_once_at_its_shortest_mount_point() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 179:2 / / rw - ext4 /dev/root rw\n\
         70 22 8:1 /music /srv/very/long rw - vfat /dev/sda1 rw\n\
         71 22 8:1 / /srv rw - vfat /dev/sda1 rw\n",
    )
    .stat("directory 8:1 - /srv");
    assert_eq!(
        listed(&tree),
        [row("/", "mmcblk0p2", true), row("/srv", "sda1", true)]
    );
}

#[test]
fn covered_mounts_are_left_out() {
    let mut tree = pi3_stick();
    tree.mounts(
        "22 1 179:2 / / rw - ext4 /dev/root rw\n\
         70 22 8:1 / /srv/a rw - vfat /dev/sda1 rw\n\
         71 22 0:70 / /srv rw - tmpfs tmpfs rw\n",
    )
    .stat("directory 0:70 - /srv");
    assert_eq!(listed(&tree), [row("/", "mmcblk0p2", true)]);
}

#[test]
fn btrfs_overlay_and_loop_devices_are_listed() {
    assert_eq!(
        listed(&btrfs_two()),
        [row("/", "sda2", false), row("/srv", "sdc", false)]
    );
    let mut overlay = pi4_overlay();
    overlay.stat("directory 0:60 - /.");
    assert_eq!(listed(&overlay).len(), 1);
    assert_eq!(
        listed(&pi4_loop()),
        [row("/", "mmcblk0p2", true), row("/mnt", "loop0", true)]
    );
}
