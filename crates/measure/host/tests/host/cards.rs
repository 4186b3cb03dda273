//! Identity of cards.

use std::path::Path;

use cardmark_core::{NoSample, Sample};
use cardmark_host::{Root, card_identity, device_info};
use cardmark_testkit::trees::{PI4_CARD, pi3_stick, pi4};
use cardmark_testkit::{LoopDevice, needs};

/// A CID as a host shows it that leaves out the checksum, and as one that does not.
const CID: &str = "035344534236344780a1b2c3d4016700\n";
const CID_WITH_CHECKSUM: &str = "035344534236344780a1b2c3d40167a9\n";

#[test]
fn a_card_is_its_cid_whatever_the_host_shows_of_the_checksum() {
    let identity = |cid: &str| {
        let mut tree = pi4();
        tree.file(&format!("/sys/devices/{PI4_CARD}/device/cid"), cid);
        card_identity(&tree.root(), "mmcblk0").unwrap()
    };
    let card = identity(CID);
    assert_eq!(card, identity(CID_WITH_CHECKSUM));
    // The result of `xxd -r -p | sha256sum` for the digits.
    assert_eq!(card.sample, Ok(Sample::of_card("4858cd")));
    let other = identity("035344534236344780a1b2c3d5016700\n");
    assert_ne!(other.history, card.history);
    assert_ne!(other.sample, card.sample);
}

#[test]
fn a_cid_that_is_none_is_not_believed() {
    for text in [
        "035344\n",
        "0353445342363447é0a1b2c3d401670\n",
        "not hexadecimal digits, but 32.\n",
    ] {
        let mut tree = pi4();
        tree.file(&format!("/sys/devices/{PI4_CARD}/device/cid"), text);
        let by_serial = card_identity(&pi4().root(), "mmcblk0");
        assert_eq!(card_identity(&tree.root(), "mmcblk0"), by_serial, "{text}");
    }
}

#[test]
fn a_partition_is_its_disk_and_another_size_another_card() {
    let tree = pi4();
    let whole = card_identity(&tree.root(), "mmcblk0").unwrap();
    assert_eq!(
        card_identity(&tree.root(), "mmcblk0p2"),
        Some(whole.clone())
    );
    let mut larger = pi4();
    larger.file(&format!("/sys/devices/{PI4_CARD}/size"), "124667904\n");
    let larger = card_identity(&larger.root(), "mmcblk0").unwrap();
    assert_eq!(larger.sample, whole.sample);
    assert_ne!(larger.history, whole.history);
}

#[test]
fn a_disk_that_says_no_serial_number_has_no_identity() {
    let tree = pi3_stick();
    assert_eq!(card_identity(&tree.root(), "sda"), None);
    assert_eq!(card_identity(&tree.root(), "sdq"), None);
    let info = device_info(&tree.root(), "sda");
    assert_eq!(
        (info.sample, info.no_sample),
        (None, Some(NoSample::Absent))
    );
}

#[test]
fn no_serial_number_is_in_what_a_record_holds() {
    let mut tree = pi4();
    tree.file(&format!("/sys/devices/{PI4_CARD}/device/cid"), CID);
    let info = format!("{:?}", device_info(&tree.root(), "mmcblk0"));
    assert!(info.contains("sample: Some("), "{info}");
    assert!(
        !info.contains("a1b2c3d4") && !info.contains("0badcafe"),
        "{info}"
    );
}

#[test]
fn a_card_whose_serial_number_is_zero_or_soon_guessed_has_no_sample_id() {
    for (serial, has_id) in [("00000000", false), ("0000ffff", false), ("00010000", true)] {
        let mut tree = pi4();
        let cid = format!("035344534236344780{serial}016700\n");
        let device = format!("/sys/devices/{PI4_CARD}/device");
        tree.file(&format!("{device}/cid"), &cid)
            .file(&format!("{device}/type"), "SD\n");
        let info = device_info(&tree.root(), "mmcblk0");
        assert_eq!(info.sample.is_some(), has_id, "{serial}: {info:?}");
        let reason = (!has_id).then_some(NoSample::Low);
        assert_eq!(info.no_sample, reason, "{serial}");
    }
}

#[test]
fn a_loop_device_is_its_file_and_no_card() {
    needs!(Root, LoopDevice);
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = scratch.path().join(name);
        std::fs::File::create(&path)
            .unwrap()
            .set_len(1 << 20)
            .unwrap();
        path
    };
    let identity = |file: &Path| {
        let device = LoopDevice::attach(file, false);
        let name = device.path().file_name().unwrap().to_str().unwrap();
        card_identity(&Root::system(), name).unwrap()
    };
    let (one, two) = (file("one"), file("two"));
    let first = identity(&one);
    assert_eq!(first.sample, Err(NoSample::File));
    let moved = scratch.path().join("moved");
    std::fs::rename(&one, &moved).unwrap();
    assert_eq!(
        identity(&moved),
        first,
        "also under another name and number"
    );
    assert_ne!(identity(&two), first);
}
