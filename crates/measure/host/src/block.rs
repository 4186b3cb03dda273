//! Block devices in sysfs.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::LayerKind;

use crate::root::{DeviceNumber, Root, line_of, names_in, number_of, shown, text_of};

/// Bytes of a sector in sysfs, independent of the device's own blocks.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A block device and its directory in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    /// The kernel's name.
    pub(crate) name: String,
    directory: PathBuf,
}

/// Devices directly below a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// It is a part of this disk.
    Disk(BlockDevice),
    /// It is a loop device on a file.
    File,
    /// It is made from these, by `dm`, `md` or `bcache`.
    Members(LayerKind, Vec<String>),
    /// It is memory: `zram` or `memory`.
    Memory(LayerKind),
    /// It is reached through the network.
    Network,
    /// Nothing: it is a disk.
    Nothing,
}

impl BlockDevice {
    /// The device of that number.
    pub(crate) fn by_number(root: &Root, number: DeviceNumber) -> Option<Self> {
        let device = Self::at(&root.path(format!("/sys/dev/block/{number}")))?;
        device.says_number(number).then_some(device)
    }

    /// The device of that name.
    pub(crate) fn by_name(root: &Root, name: &str) -> Option<Self> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        Self::at(&root.path("/sys/class/block").join(name)).filter(|device| device.name == name)
    }

    fn at(path: &Path) -> Option<Self> {
        let directory = fs::canonicalize(path).ok()?;
        let name = directory.file_name()?.to_str()?.to_owned();
        Some(Self { name, directory })
    }

    fn says_number(&self, number: DeviceNumber) -> bool {
        self.text("dev")
            .is_none_or(|text| text.parse() == Ok(number))
    }

    /// Its number.
    pub(crate) fn device_number(&self) -> Option<DeviceNumber> {
        self.text("dev")?.parse().ok()
    }

    /// The path of an attribute.
    pub(crate) fn path(&self, attribute: &str) -> PathBuf {
        self.directory.join(attribute)
    }

    /// The text of an attribute.
    pub(crate) fn text(&self, attribute: &str) -> Option<String> {
        text_of(self.path(attribute))
    }

    /// Returns the model. Cards have `name`; SCSI and USB have `vendor` and `model`; NVMe has `model`.
    pub(crate) fn model(&self) -> Option<String> {
        let line = |attribute| line_of(self.path(attribute));
        match (line("device/vendor"), line("device/model")) {
            // A value that is not text, such as virtio's "0x1af4", is an id.
            (Some(vendor), Some(model)) if !vendor.starts_with("0x") && vendor != "ATA" => {
                Some(format!("{vendor} {model}"))
            }
            (_, Some(model)) => Some(model),
            (_, None) => self
                .name
                .starts_with("mmcblk")
                .then(|| line("device/name"))?,
        }
    }

    /// The number in an attribute.
    pub(crate) fn number(&self, attribute: &str) -> Option<u64> {
        number_of(self.path(attribute))
    }

    /// A yes or no in an attribute.
    pub(crate) fn flag(&self, attribute: &str) -> Option<bool> {
        self.number(attribute).map(|value| value != 0)
    }

    /// Its size.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        self.number("size")?.checked_mul(SECTOR_BYTES)
    }

    /// Returns the start of a partition on its disk, in bytes.
    pub(crate) fn start_bytes(&self) -> Option<u64> {
        let sectors = self.number("start").filter(|_| self.is_partition())?;
        sectors.checked_mul(SECTOR_BYTES)
    }

    /// Returns whether it is a partition. If sysfs has no such entry: partitions have the name of their disk as
    /// a prefix, lie inside it, and have no queue of their own.
    pub(crate) fn is_partition(&self) -> bool {
        let has_queue = |directory: &Path| directory.join("queue").exists();
        let is_inside = || {
            let disk = self.directory.parent();
            disk.is_some_and(|disk| self.name.starts_with(name_of(disk)) && has_queue(disk))
        };
        self.path("partition").exists() || (is_inside() && !has_queue(&self.directory))
    }

    /// Returns the disk it is a part of; itself if it is no partition.
    pub(crate) fn disk(&self) -> Option<Self> {
        if !self.is_partition() {
            return Some(self.clone());
        }
        let disk = Self::at(self.directory.parent()?)?;
        // Every block device has these; the parent of an unknown thing might not be one.
        (disk.path("queue").exists() || disk.path("size").exists()).then_some(disk)
    }

    /// The partitions of a disk that the kernel knows.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        let inside = names_in(&self.directory).into_iter();
        inside
            .filter_map(|name| Self::at(&self.directory.join(name)))
            .filter(|device| device.directory.starts_with(&self.directory))
            .filter(Self::is_partition)
            .collect()
    }

    /// The names of the devices that the kernel has made from it.
    pub(crate) fn holders(&self) -> Vec<String> {
        names_in(self.path("holders"))
    }

    /// Returns whether it is one of the small partitions of an eMMC that are separate devices: boot partitions
    /// and those with keys.
    pub(crate) fn is_hardware_part(&self) -> bool {
        let is_card = |name: &str| is_numbered(name, "mmcblk");
        self.name.starts_with("mmcblk") && self.disk().is_some_and(|disk| !is_card(&disk.name))
    }

    /// The directories of the devices that it hangs on, the nearest first.
    pub(crate) fn above(&self) -> impl Iterator<Item = &Path> {
        let is_device = |directory: &&Path| name_of(directory) != "devices";
        self.directory.ancestors().skip(1).take_while(is_device)
    }

    /// The directory in sysfs of the USB device that it belongs to.
    pub(crate) fn usb_directory(&self) -> Option<&Path> {
        self.above()
            .find(|directory| directory.join("idVendor").exists())
    }

    /// Returns whether the path to it contains a USB bus.
    pub(crate) fn is_usb(&self) -> bool {
        self.above()
            .any(|directory| is_numbered(name_of(directory), "usb"))
    }

    /// Returns whether all devices below it are paths to a single disk.
    pub(crate) fn is_multipath(&self) -> bool {
        self.text("dm/uuid")
            .is_some_and(|id| id.starts_with("mpath-"))
    }

    /// Returns whether it is reached through a network though it looks like a disk: NVMe over fabrics, iSCSI,
    /// Fibre Channel.
    fn is_on_network(&self) -> bool {
        let is_remote = |name: &str| is_numbered(name, "session") || name.starts_with("rport-");
        let transport = self.text("device/transport").unwrap_or_default();
        ["tcp", "rdma", "fc"].contains(&transport.as_str())
            || self.above().map(name_of).any(is_remote)
    }

    /// Returns whether the kernel keeps counts for it. If they are turned off by hand, they do not change; but
    /// zram, which has the switch off from the start, counts nevertheless.
    pub(crate) fn keeps_counts(&self) -> bool {
        let disk = self.disk().unwrap_or_else(|| self.clone());
        let is_on = disk.flag("queue/iostats") != Some(false) || is_numbered(&disk.name, "zram");
        self.path("stat").exists() && is_on
    }

    /// Returns whether it is a loop device that fits on a file of that size.
    pub(crate) fn fits_file(&self, file_bytes: u64) -> bool {
        let offset = self.number("loop/offset").unwrap_or(0);
        let limit = self.number("loop/sizelimit").filter(|limit| *limit > 0);
        let Some(rest) = file_bytes.checked_sub(offset) else {
            return false;
        };
        let expected = rest.min(limit.unwrap_or(u64::MAX));
        self.size_bytes() == Some(expected / SECTOR_BYTES * SECTOR_BYTES)
    }

    /// Returns the devices directly below.
    pub(crate) fn below(&self) -> Option<Below> {
        if self.is_partition() {
            return self.disk().map(Below::Disk);
        }
        let members = || names_in(self.path("slaves"));
        let below = if self.path("dm").exists() {
            Below::Members(LayerKind::Dm, members())
        } else if self.path("md").exists() {
            Below::Members(LayerKind::Md, members())
        } else if is_numbered(&self.name, "bcache") {
            Below::Members(LayerKind::Bcache, members())
        } else if is_numbered(&self.name, "loop") {
            Below::File
        } else if is_numbered(&self.name, "zram") {
            Below::Memory(LayerKind::Zram)
        } else if is_numbered(&self.name, "ram") {
            Below::Memory(LayerKind::Memory)
        } else if ["nbd", "rbd", "drbd"]
            .iter()
            .any(|kind| is_numbered(&self.name, kind))
            || self.is_on_network()
        {
            Below::Network
        } else {
            Below::Nothing
        };
        Some(below)
    }
}

/// The last part of a path.
pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Returns whether the name is the prefix and a number.
pub(crate) fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The driver of a device, by the kernel's name.
pub(crate) fn driver_of(directory: &Path) -> Option<String> {
    let link = fs::read_link(directory.join("driver")).ok()?;
    shown(name_of(&link))
}
