//! Model, size and serial number.

use cardmark_host::{Root, disk_identity};
use cardmark_testkit::trees::{PC_NVME, PI3_STICK, PI4_CARD, Tree, pc_crypt, pi3_stick, pi4};
use cardmark_testkit::{LoopDevice, needs};

/// Returns the reported model, size and serial number.
fn told(tree: &Tree, name: &str) -> (Option<String>, u64, Option<String>) {
    let identity = disk_identity(&tree.root(), name);
    (identity.model, identity.size_bytes, identity.serial)
}

fn words(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_card_tells_its_name_and_number() {
    let mut tree = pi4();
    tree.file(&format!("/sys/devices/{PI4_CARD}/diskseq"), "7\n")
        .file(
            &format!("/sys/devices/{PI4_CARD}/mmcblk0p2/start"),
            "532480\n",
        );
    let expected = (words("SD32G"), 62_333_952 * 512, words("0x0badcafe"));
    assert_eq!(told(&tree, "mmcblk0"), expected);
    let card = disk_identity(&tree.root(), "mmcblk0");
    assert_eq!((card.device_id, card.diskseq), (Some((179, 0)), Some(7)));
    let file = card.serial_path.as_ref().unwrap();
    assert!(file.ends_with("mmcblk0/device/serial"), "{file:?}");
    let parts: Vec<(&str, u64, u64)> = card
        .partitions
        .iter()
        .map(|part| (part.name.as_str(), part.start_bytes, part.size_bytes))
        .collect();
    let expected = [
        ("mmcblk0p1", 0, 524_288 * 512),
        ("mmcblk0p2", 532_480 * 512, 61_801_472 * 512),
    ];
    assert_eq!(parts, expected);
    let part = disk_identity(&tree.root(), "mmcblk0p2");
    assert_eq!(part.device_id, Some((179, 2)));
    assert_eq!(
        (part.disk.as_str(), part.disk_id),
        ("mmcblk0", card.device_id)
    );
    assert_eq!(
        (part.model, part.size_bytes),
        (card.model, 61_801_472 * 512)
    );
    assert_eq!((part.serial, part.diskseq), (card.serial, card.diskseq));
}

#[test]
fn anything_that_changes_changes_the_identity() {
    let mut tree = pi4();
    let before = disk_identity(&tree.root(), "mmcblk0p2");
    assert_eq!(disk_identity(&tree.root(), "mmcblk0p2"), before);
    for (file, text) in [
        ("diskseq", "8"),
        ("device/serial", "0x0badcaff"),
        ("mmcblk0p2/start", "540672"),
        ("mmcblk0p1/size", "524289"),
    ] {
        let last = disk_identity(&tree.root(), "mmcblk0p2");
        tree.file(&format!("/sys/devices/{PI4_CARD}/{file}"), text);
        assert_ne!(disk_identity(&tree.root(), "mmcblk0p2"), last, "{file}");
    }
}

#[test]
fn a_stick_tells_what_it_is_or_else_what_its_bridge_is() {
    let mut tree = pi3_stick();
    let usb = "/sys/devices/platform/soc/3f980000.usb/usb1/1-1/1-1.2";
    tree.file(&format!("{usb}/idVendor"), "0781\n")
        .file(&format!("{usb}/serial"), "INVENTED0001\n");
    let size = 60_062_500 * 512;
    let expected = (words("SanDisk Ultra"), size, words("INVENTED0001"));
    assert_eq!(told(&tree, "sda"), expected);
    assert_eq!(told(&tree, "sda1").2, words("INVENTED0001"));
    let page = format!("/sys/devices/{PI3_STICK}/device/vpd_pg80");
    tree.file(&page, "\0\u{1}\0\u{3}XYZ");
    assert_eq!(told(&tree, "sda").2, words("INVENTED0001"), "another page");
    tree.bytes(&page, b"\0\x80\0\x0a  INV-02  trailing");
    assert_eq!(told(&tree, "sda").2, words("INV-02"));
    tree.bytes(&page, b"\0\x80\0\xffshort");
    assert_eq!(told(&tree, "sda").2, words("INVENTED0001"), "cut off");
}

#[test]
fn disks_of_other_kinds_tell_theirs() {
    let mut tree = pc_crypt();
    tree.file(
        &format!("/sys/devices/{PC_NVME}/device/serial"),
        "INV123        \n",
    )
    .disk("virtio1/block/vda", "253:0", 2048)
    .file("/sys/devices/virtio1/block/vda/serial", "disk-1\n")
    .file("/sys/devices/virtio1/block/vda/device/vendor", "0x1af4\n")
    .file("/sys/devices/virtual/block/dm-1/dm/uuid", "LVM-abc\n");
    let size = 1_000_215_216 * 512;
    let expected = (words("INVENTED NVMe 512GB"), size, words("INV123"));
    assert_eq!(told(&tree, "nvme0n1"), expected);
    assert_eq!(told(&tree, "vda"), (None, 2048 * 512, words("disk-1")));
    assert_eq!(told(&tree, "dm-1").2, words("LVM-abc"));
    assert_eq!(told(&tree, "sdz"), (None, 0, None));
}

#[test]
fn what_a_device_says_is_no_command_to_the_terminal() {
    let mut tree = pi4();
    let device = format!("/sys/devices/{PI4_CARD}/device");
    tree.file(&format!("{device}/name"), "SD\u{1b}[2JX\n")
        .file(&format!("{device}/serial"), "1\n2\n");
    let (model, _, serial) = told(&tree, "mmcblk0");
    assert_eq!((model, serial), (words("SD?[2JX"), words("1?2")));
}

#[test]
fn a_loop_device_of_this_machine_tells_its_file() {
    needs!(LoopDevice);
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let mut device = LoopDevice::attach(file.path(), false);
    let name = device
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let look = || disk_identity(&Root::system(), &name);
    let before = look();
    let path = device.file().display().to_string();
    assert_eq!(before.model, Some(format!("loop device on {path}")));
    assert_eq!(
        (before.serial.as_ref(), before.size_bytes),
        (Some(&path), 1 << 20)
    );
    assert_eq!(look(), before);
    device.change_file(file.path());
    let after = look();
    assert!(after.diskseq > before.diskseq, "{after:?}");
    assert_eq!(after.serial, before.serial);
}
