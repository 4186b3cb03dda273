//! Identity of a disk, as its owner can read it: model, size, serial number.

use std::path::{Path, PathBuf};

use crate::Root;
use crate::block::BlockDevice;
use crate::root::{attribute_of, path_of, text_of};

/// Distinguishes disks. For the terminal and for comparison on this machine only: serial numbers never enter a
/// record.
///
/// Two equal identities mean that the disk was not changed in between, as far as the kernel can detect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskIdentity {
    /// The kernel's name of the device, such as `mmcblk0p2`.
    pub name: String,
    /// Major and minor number of the device; `None` if the device does not exist.
    pub device_id: Option<(u32, u32)>,
    /// The kernel's name of the disk it is or belongs to, such as `mmcblk0`.
    pub disk: String,
    /// Major and minor number of that disk.
    pub disk_id: Option<(u32, u32)>,
    /// Model of the disk.
    pub model: Option<String>,
    /// Size of the device; 0 if it has no medium.
    pub size_bytes: u64,
    /// Serial number of the disk; of a loop device, the path of its file. Of a card in a USB
    /// reader it may be that of the reader.
    pub serial: Option<String>,
    /// File in sysfs with the serial number.
    pub serial_path: Option<PathBuf>,
    /// Rises whenever a medium is changed or a loop device gets another file (Linux 5.15).
    pub diskseq: Option<u64>,
    /// All partitions of the disk.
    pub partitions: Vec<Partition>,
}

/// A partition that the kernel knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The kernel's name.
    pub name: String,
    /// Start on its disk, bytes.
    pub start_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
}

/// Returns the disk that the block device of that name is, or is a part of. For a missing device, only the name
/// is returned.
#[must_use]
pub fn disk_identity(root: &Root, name: &str) -> DiskIdentity {
    let mut identity = DiskIdentity {
        name: name.to_owned(),
        device_id: None,
        disk: name.to_owned(),
        disk_id: None,
        model: None,
        size_bytes: 0,
        serial: None,
        serial_path: None,
        diskseq: None,
        partitions: Vec::new(),
    };
    let Some(device) = BlockDevice::by_name(root, name) else {
        return identity;
    };
    let disk = device.disk().unwrap_or_else(|| device.clone());
    identity.device_id = number_pair(&device);
    identity.disk_id = number_pair(&disk);
    identity.model = model(&disk).map(|text| printable(&text));
    identity.size_bytes = device.size_bytes().unwrap_or(0);
    if let Some((text, attribute)) = serial(&disk) {
        identity.serial = Some(printable(&text));
        identity.serial_path = Some(attribute);
    }
    identity.diskseq = disk.number("diskseq");
    identity.partitions = disk.partitions().iter().map(partition).collect();
    identity.disk = disk.name;
    identity
}

fn number_pair(device: &BlockDevice) -> Option<(u32, u32)> {
    let number = device.device_number()?;
    Some((number.major, number.minor))
}

fn partition(device: &BlockDevice) -> Partition {
    Partition {
        name: device.name.clone(),
        start_bytes: device.start_bytes().unwrap_or(0),
        size_bytes: device.size_bytes().unwrap_or(0),
    }
}

fn model(disk: &BlockDevice) -> Option<String> {
    match path_of(disk.path("loop/backing_file")) {
        Some(file) => Some(format!("loop device on {}", file.display())),
        None => disk.model(),
    }
}

/// Returns the serial number and the file that contains it. The disk's own number takes precedence over that of
/// the USB bridge in front of it.
fn serial(disk: &BlockDevice) -> Option<(String, PathBuf)> {
    let backing = disk.path("loop/backing_file");
    if let Some(file) = path_of(&backing) {
        return Some((file.display().to_string(), backing));
    }
    // virtio; cards and NVMe; made by the device mapper or by md.
    for attribute in ["serial", "device/serial", "dm/uuid", "md/uuid"] {
        if let Some(text) = disk.text(attribute) {
            return Some((text, disk.path(attribute)));
        }
    }
    let page = disk.path("device/vpd_pg80");
    if let Some(text) = page_serial(&page) {
        return Some((text, page));
    }
    let of_bridge = disk.usb_directory()?.join("serial");
    Some((text_of(&of_bridge)?, of_bridge))
}

/// Returns the text of page 0x80 of SCSI's vital product data: after four bytes of header, the last two of them
/// with its length.
fn page_serial(path: &Path) -> Option<String> {
    let page = attribute_of(path)?;
    let [_, 0x80, high, low, text @ ..] = page.as_slice() else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    let text = String::from_utf8_lossy(text.get(..length)?);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Removes characters that a terminal would take for commands from a device's text.
fn printable(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '?' } else { c };
    text.trim().chars().map(plain).collect()
}
