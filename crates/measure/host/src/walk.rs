//! The walk from a target down to the disk.

use std::path::Path;

use cardmark_core::{DeviceInfo, Finding, FindingKind, Layer, LayerKind, Severity, TargetKind};

use crate::backing::lost_file;
use crate::block::{Below, BlockDevice};
use crate::devices::device_info;
use crate::filesystems::{btrfs_members, is_memory, is_remote, is_simulated_card, upper_directory};
use crate::mounts::{Mount, holding_mount, parse_mounts};
use crate::root::{DeviceNumber, FileKind, Root, Stat, path_of};

/// Layers followed downwards at most; more can only be a circle.
const MOST_LAYERS: usize = 24;
/// Steps taken in all; a circle with branches would take no end of them.
const MOST_STEPS: usize = 4096;

/// Devices below a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Directory or device.
    pub kind: TargetKind,
    /// Major and minor number from `stat`: those of a device, or for a directory those of the device that holds
    /// it. To be compared with the object opened later.
    pub device_id: (u32, u32),
    /// From the target down to the disk.
    pub layers: Vec<Layer>,
    /// Type of the filesystem that holds the directory, such as `ext4`.
    pub filesystem: Option<String>,
    /// Options of mount and filesystem that bear on speed, such as `noatime` or `commit=30`;
    /// never paths or names.
    pub mount_options: Vec<String>,
    /// True if mount, filesystem or device are read-only.
    pub read_only: bool,
    /// The kernel's names of the block devices whose counters, summed, count each request once: the topmost
    /// ones. Empty if that is unknown.
    ///
    /// For btrfs with more than one device, all of them are counted; with mirrored data (RAID1, DUP) each byte
    /// is then written, and counted, once for each copy.
    pub counted: Vec<String>,
    /// The lowest block devices that are known: the disks, or a loop device whose file cannot be
    /// followed.
    pub disks: Vec<DeviceInfo>,
    /// True if data end up in memory (tmpfs, zram).
    pub memory_backed: bool,
    /// True if data go to another computer or to the host of a virtual machine.
    pub network: bool,
    /// Observations on the way.
    pub findings: Vec<Finding>,
}

/// The way down. `counting` holds until the first block device: those above see our requests
/// once, those below may see them split, copied or merged.
pub(crate) struct Walk<'a> {
    root: &'a Root,
    mounts: Vec<Mount>,
    depth: usize,
    steps: usize,
    is_uncountable: bool,
    out: Resolution,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(root: &'a Root) -> Self {
        let text = root.list("/proc/self/mountinfo").unwrap_or_default();
        Self {
            root,
            mounts: parse_mounts(&text),
            depth: 0,
            steps: 0,
            is_uncountable: false,
            out: Resolution {
                kind: TargetKind::Directory,
                device_id: (0, 0),
                layers: Vec::new(),
                filesystem: None,
                mount_options: Vec::new(),
                read_only: false,
                counted: Vec::new(),
                disks: Vec::new(),
                memory_backed: false,
                network: false,
                findings: Vec::new(),
            },
        }
    }

    pub(crate) fn finish(mut self) -> Resolution {
        if self.is_uncountable {
            self.out.counted.clear();
        }
        self.out
    }

    /// The target is this directory.
    pub(crate) fn directory(&mut self, path: &Path, stat: Stat) {
        self.out.device_id = (stat.device.major, stat.device.minor);
        self.path(path, stat, true);
    }

    /// The target is the block device of this number.
    pub(crate) fn device(&mut self, number: DeviceNumber) {
        self.out.kind = TargetKind::Device;
        self.out.device_id = (number.major, number.minor);
        self.number(number, true);
    }

    /// A directory, or a file below a loop device.
    fn path(&mut self, path: &Path, stat: Stat, counting: bool) {
        let mount = holding_mount(&self.mounts, path, stat.device).cloned();
        self.layer(LayerKind::Mount, None);
        if let Some(mount) = &mount
            && self.out.filesystem.is_none()
            && self.out.kind == TargetKind::Directory
        {
            self.out.filesystem = Some(mount.filesystem.clone());
            self.out.mount_options = mount.speed_options();
            self.out.read_only = mount.is_read_only();
        }
        self.deeper(counting, |walk| match mount {
            Some(mount) => walk.filesystem(&mount, stat, counting),
            None if stat.device.is_anonymous() => {
                walk.unknown(counting, "the list of mounts does not name the filesystem");
            }
            None => walk.number(stat.device, counting),
        });
    }

    fn filesystem(&mut self, mount: &Mount, stat: Stat, counting: bool) {
        let name = mount.filesystem.as_str();
        match name {
            "overlay" => self.overlay(mount, counting),
            "btrfs" => self.btrfs(mount, counting),
            _ if !stat.device.is_anonymous() => self.number(stat.device, counting),
            _ if is_memory(name) => {
                self.layer(LayerKind::Memory, None);
                self.out.memory_backed = true;
                self.unknown(
                    counting,
                    format!("{name} keeps its files in memory, on no device"),
                );
            }
            _ if is_remote(name) => {
                self.layer(LayerKind::Network, None);
                self.out.network = true;
                self.unknown(counting, format!("{name} stores on another computer"));
            }
            _ if is_simulated_card(mount) => {
                self.is_uncountable |= counting;
                let detail = "the device is a card that cardmark-simfs simulates";
                self.find(FindingKind::Unverified, Severity::Note, detail);
            }
            _ => self.unknown(
                counting,
                format!("{name} does not show the device below it"),
            ),
        }
    }

    /// Writes to an overlay go to its upper directory.
    fn overlay(&mut self, mount: &Mount, counting: bool) {
        self.layer(LayerKind::Overlay, None);
        let Some((path, stat)) = upper_directory(self.root, mount) else {
            self.unknown(
                counting,
                "the writable directory of the overlay is not visible here",
            );
            return;
        };
        self.path(&path, stat, counting);
    }

    /// The source of the mount is one of the filesystem's devices; sysfs knows all of them.
    fn btrfs(&mut self, mount: &Mount, counting: bool) {
        self.layer(LayerKind::Btrfs, None);
        let members = btrfs_members(self.root, &mount.source);
        if members.is_empty() {
            self.unknown(
                counting,
                "the devices of the btrfs filesystem are not visible here",
            );
        }
        for name in members {
            self.name(&name, counting);
        }
    }

    fn number(&mut self, number: DeviceNumber, counting: bool) {
        match BlockDevice::by_number(self.root, number) {
            Some(device) => self.block(&device, counting),
            None => self.unknown(counting, format!("sysfs shows no block device {number}")),
        }
    }

    fn name(&mut self, name: &str, counting: bool) {
        match BlockDevice::by_name(self.root, name) {
            Some(device) => self.block(&device, counting),
            None => self.unknown(counting, format!("sysfs shows no block device {name}")),
        }
    }

    fn block(&mut self, device: &BlockDevice, counting: bool) {
        if counting {
            self.count(device);
        }
        self.deeper(counting, |walk| walk.below(device));
    }

    fn below(&mut self, device: &BlockDevice) {
        match device.below() {
            Some(Below::Disk(disk)) => {
                self.layer(LayerKind::Partition, Some(device));
                self.block(&disk, false);
            }
            Some(Below::File) => self.loop_file(device),
            Some(Below::Members(kind, members)) => self.members(device, kind, &members),
            Some(Below::Memory(kind)) => {
                self.out.memory_backed = true;
                self.layer(kind, Some(device));
                self.disk(device);
            }
            Some(Below::Network) => {
                self.out.network = true;
                self.layer(LayerKind::Network, Some(device));
                self.disk(device);
            }
            Some(Below::Nothing) => {
                self.layer(LayerKind::Disk, Some(device));
                self.disk(device);
            }
            None => {
                self.layer(LayerKind::Partition, Some(device));
                self.disk(device);
                self.unknown(
                    false,
                    format!("sysfs does not show the disk of {}", device.name),
                );
            }
        }
    }

    fn count(&mut self, device: &BlockDevice) {
        let has_own = device.path("stat").exists();
        let counted = if has_own {
            Some(device.clone())
        } else {
            device.disk()
        };
        self.out.read_only |= device.flag("ro") == Some(true);
        let Some(counted) = counted.filter(BlockDevice::keeps_counts) else {
            self.is_uncountable = true;
            let detail = format!("the kernel keeps no counts for {}", device.name);
            self.find(FindingKind::Unverified, Severity::Warning, detail);
            return;
        };
        if !self.out.counted.contains(&counted.name) {
            self.out.counted.push(counted.name);
        }
    }

    fn members(&mut self, device: &BlockDevice, kind: LayerKind, members: &[String]) {
        self.layer(kind, Some(device));
        if members.is_empty() {
            self.disk(device);
            self.unknown(
                false,
                format!("sysfs shows no device below {}", device.name),
            );
        }
        // Of several paths to one disk the first that is there will do.
        let is_there = |name: &&String| BlockDevice::by_name(self.root, name).is_some();
        let first = members.iter().find(is_there).or(members.first());
        let followed = match first.filter(|_| device.is_multipath()) {
            Some(name) => std::slice::from_ref(name),
            None => members,
        };
        for member in followed {
            self.name(member, false);
        }
    }

    /// Follows a loop device to its file. The file's name is the one at the time of setup, and is accepted only
    /// if a file of that size, or a block device, is found under that name.
    fn loop_file(&mut self, device: &BlockDevice) {
        self.layer(LayerKind::Loop, Some(device));
        let file = path_of(device.path("loop/backing_file"));
        let file = file.and_then(|path| self.root.canonical(&path).ok());
        let found = file.and_then(|path| Some((self.root.stat(&path).ok()?, path)));
        match found {
            Some((
                Stat {
                    kind: FileKind::Block(number),
                    ..
                },
                _,
            )) => self.number(number, false),
            Some((
                stat @ Stat {
                    kind: FileKind::File { size_bytes },
                    ..
                },
                path,
            )) if device.fits_file(size_bytes) => {
                self.buffered_loop(device, &path, stat);
                self.path(&path, stat, false);
                // If its file leads to no device, it is itself the lowest known one.
                if self.out.disks.is_empty() {
                    self.disk(device);
                }
            }
            _ => {
                self.disk(device);
                self.unknown(false, lost_file(&device.name));
            }
        }
    }

    /// A loop device uses the page cache of its file unless configured otherwise. The treatment of the file by
    /// FUSE is unknown.
    fn buffered_loop(&mut self, device: &BlockDevice, path: &Path, stat: Stat) {
        let mount = holding_mount(&self.mounts, path, stat.device);
        let is_fuse = mount.is_some_and(|mount| mount.filesystem.starts_with("fuse"));
        if device.flag("loop/dio") == Some(false) && !is_fuse {
            let detail = format!("{} goes through the page cache of its file", device.name);
            self.find(FindingKind::Buffered, Severity::Warning, detail);
        }
    }

    fn layer(&mut self, kind: LayerKind, device: Option<&BlockDevice>) {
        let layer = Layer {
            kind,
            device: device.map(|device| device.name.clone()),
            start_bytes: device.and_then(BlockDevice::start_bytes),
        };
        // Two parts of one disk lead to it twice.
        if device.is_none() || !self.out.layers.contains(&layer) {
            self.out.layers.push(layer);
        }
    }

    fn disk(&mut self, device: &BlockDevice) {
        if !self.out.disks.iter().any(|disk| disk.name == device.name) {
            self.out.disks.push(device_info(self.root, &device.name));
        }
    }

    fn deeper(&mut self, counting: bool, follow: impl FnOnce(&mut Self)) {
        self.steps += 1;
        if self.depth == MOST_LAYERS || self.steps > MOST_STEPS {
            self.unknown(counting, "the layers below the target do not end");
            return;
        }
        self.depth += 1;
        follow(self);
        self.depth -= 1;
    }

    fn unknown(&mut self, counting: bool, detail: impl Into<String>) {
        self.is_uncountable |= counting;
        self.find(FindingKind::UnknownDevice, Severity::Warning, detail);
    }

    fn find(&mut self, kind: FindingKind, severity: Severity, detail: impl Into<String>) {
        let finding = Finding::new(kind, severity, detail);
        if !self.out.findings.contains(&finding) {
            self.out.findings.push(finding);
        }
    }
}
