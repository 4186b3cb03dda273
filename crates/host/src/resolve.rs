//! From a target down to the disk.
//!
//! Never names a wrong disk: where the host cannot say for sure, the way ends there, a finding
//! says so, and nothing is counted.

use std::io;
use std::path::{Path, PathBuf};

use cardmark_core::{DeviceInfo, Finding, FindingKind, Layer, Severity, TargetKind};

use crate::block::{Below, BlockDevice};
use crate::devices::device_info;
use crate::mounts::{Mount, holding_mount, parse_mounts};
use crate::root::{DeviceNumber, FileKind, Root, Stat, names_in, path_of};

/// Layers followed downwards at most; more can only be a circle.
const MOST_LAYERS: usize = 24;

/// What lies below a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Directory or device.
    pub kind: TargetKind,
    /// From the target down to the disk.
    pub layers: Vec<Layer>,
    /// Type of the filesystem that holds the directory, such as `ext4`.
    pub filesystem: Option<String>,
    /// Options of mount and filesystem that bear on speed, such as `noatime` or `commit=30`;
    /// never paths or names.
    pub mount_options: Vec<String>,
    /// Whether mount, filesystem or device are read-only.
    pub read_only: bool,
    /// The kernel's names of the block devices whose counters, summed, count each request once:
    /// the topmost ones. Empty where that cannot be known.
    ///
    /// btrfs with more than one device counts all of them; with mirrored data (RAID1, DUP) each
    /// byte is then written, and counted, as often as there are copies.
    pub counted: Vec<String>,
    /// The lowest block devices that are known: the disks, or a loop device whose file cannot be
    /// followed.
    pub disks: Vec<DeviceInfo>,
    /// Whether data end up in memory (tmpfs, zram).
    pub memory_backed: bool,
    /// Whether data go to another computer or to the host of a virtual machine.
    pub network: bool,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

/// Why a path is no target.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It cannot be looked at.
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is neither a directory nor a block device.
    #[error("{} is neither a directory nor a block device", path.display())]
    WrongKind {
        /// The path as given.
        path: PathBuf,
    },
}

/// What lies below a directory or a block device.
///
/// # Errors
/// Where the path cannot be looked at, or is neither.
pub fn resolve(root: &Root, path: &Path) -> Result<Resolution, ResolveError> {
    let unreadable = |source| ResolveError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let stat = root.stat(path).map_err(unreadable)?;
    let mut walk = Walk::new(root);
    match stat.kind {
        FileKind::Directory => {
            let canonical = root.canonical(path).map_err(unreadable)?;
            walk.path(&canonical, stat, true);
        }
        FileKind::Block(number) => {
            walk.out.kind = TargetKind::Device;
            walk.number(number, true);
        }
        FileKind::File { .. } | FileKind::Other => {
            return Err(ResolveError::WrongKind {
                path: path.to_owned(),
            });
        }
    }
    Ok(walk.finish())
}

/// The way down. `counting` holds until the first block device: those above see our requests
/// once, those below may see them split, copied or merged.
struct Walk<'a> {
    root: &'a Root,
    mounts: Vec<Mount>,
    depth: usize,
    is_uncountable: bool,
    out: Resolution,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Root) -> Self {
        let text = std::fs::read(root.path("/proc/self/mountinfo")).unwrap_or_default();
        Self {
            root,
            mounts: parse_mounts(&text),
            depth: 0,
            is_uncountable: false,
            out: Resolution {
                kind: TargetKind::Directory,
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

    fn finish(mut self) -> Resolution {
        if self.is_uncountable {
            self.out.counted.clear();
        }
        self.out
    }

    /// A directory, or a file below a loop device.
    fn path(&mut self, path: &Path, stat: Stat, counting: bool) {
        let mount = holding_mount(&self.mounts, path, stat.device).cloned();
        self.layer("mount", None);
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
            _ if MEMORY.contains(&name) => {
                self.layer("memory", None);
                self.out.memory_backed = true;
                self.unknown(
                    counting,
                    format!("{name} keeps its files in memory, on no device"),
                );
            }
            _ if REMOTE.contains(&name) => {
                self.layer("network", None);
                self.out.network = true;
                self.unknown(counting, format!("{name} stores on another computer"));
            }
            _ => self.unknown(
                counting,
                format!("{name} does not show the device below it"),
            ),
        }
    }

    /// What is written to an overlay goes to its upper directory. The option names it as it was
    /// seen where the overlay was mounted, which may have been another tree of mounts, such as
    /// that outside a container. It is believed only where upper and work directory are both
    /// found, on one filesystem, the work directory being in use.
    fn overlay(&mut self, mount: &Mount, counting: bool) {
        self.layer("overlay", None);
        let Some((path, stat)) = self.upper_directory(mount) else {
            self.unknown(
                counting,
                "the writable directory of the overlay is not to be seen here",
            );
            return;
        };
        self.path(&path, stat, counting);
    }

    fn upper_directory(&self, mount: &Mount) -> Option<(PathBuf, Stat)> {
        let directory = |path: &Path| {
            let path = path
                .is_absolute()
                .then(|| self.root.canonical(path).ok())??;
            let stat = self.root.stat(&path).ok()?;
            (stat.kind == FileKind::Directory && stat.device != mount.device)
                .then_some((path, stat))
        };
        let upper = directory(mount.option("upperdir")?)?;
        let work = directory(mount.option("workdir")?)?;
        let in_use = directory(&work.0.join("work")).is_some();
        (in_use && upper.1.device == work.1.device).then_some(upper)
    }

    /// The source of the mount is one of the filesystem's devices; sysfs knows all of them.
    fn btrfs(&mut self, mount: &Mount, counting: bool) {
        self.layer("btrfs", None);
        let members = self.btrfs_members(&mount.source);
        if members.is_empty() {
            self.unknown(
                counting,
                "the devices of the btrfs filesystem are not to be seen here",
            );
        }
        for name in members {
            self.name(&name, counting);
        }
    }

    fn btrfs_members(&self, source: &Path) -> Vec<String> {
        let pools = self.root.path("/sys/fs/btrfs");
        let devices = names_in(&pools)
            .into_iter()
            .map(|id| pools.join(id).join("devices"));
        let mut pools: Vec<Vec<String>> = devices.map(names_in).collect();
        let source = match self.root.stat(source).map(|stat| stat.kind) {
            Ok(FileKind::Block(number)) => BlockDevice::by_number(self.root, number),
            _ => None,
        };
        match source {
            Some(device) => pools.retain(|names| names.contains(&device.name)),
            // A name such as /dev/root says nothing; one filesystem alone can be meant then.
            None => pools.retain(|names| !names.is_empty()),
        }
        if pools.len() == 1 {
            pools.swap_remove(0)
        } else {
            Vec::new()
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
                self.layer("partition", Some(device));
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
                self.layer("network", Some(device));
                self.disk(device);
            }
            Some(Below::Nothing) => {
                self.layer("disk", Some(device));
                self.disk(device);
            }
            None => {
                self.layer("partition", Some(device));
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

    fn members(&mut self, device: &BlockDevice, kind: &str, members: &[String]) {
        self.layer(kind, Some(device));
        if members.is_empty() {
            self.disk(device);
            self.unknown(
                false,
                format!("sysfs shows no device below {}", device.name),
            );
        }
        for member in members {
            self.name(member, false);
        }
    }

    /// The file of a loop device is named as it was seen where it was set up. It is believed only
    /// where a file of that size, or a block device, is found under that name.
    fn loop_file(&mut self, device: &BlockDevice) {
        self.layer("loop", Some(device));
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
            )) if is_size_of_loop(device, size_bytes) => {
                self.buffered_loop(device, &path, stat);
                self.path(&path, stat, false);
            }
            _ => {
                self.disk(device);
                self.unknown(
                    false,
                    format!("the file of {} is not to be seen here", device.name),
                );
            }
        }
    }

    /// A loop device goes through the page cache of its file unless told otherwise. What FUSE
    /// does with the file is its own affair.
    fn buffered_loop(&mut self, device: &BlockDevice, path: &Path, stat: Stat) {
        let mount = holding_mount(&self.mounts, path, stat.device);
        let is_fuse = mount.is_some_and(|mount| mount.filesystem.starts_with("fuse"));
        if device.flag("loop/dio") == Some(false) && !is_fuse {
            let detail = format!("{} goes through the page cache of its file", device.name);
            self.find(FindingKind::Buffered, Severity::Warning, detail);
        }
    }

    fn layer(&mut self, kind: &str, device: Option<&BlockDevice>) {
        let layer = Layer {
            kind: kind.to_owned(),
            device: device.map(|device| device.name.clone()),
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
        if self.depth == MOST_LAYERS {
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

/// Whether a loop device of this size fits on a file of that size.
fn is_size_of_loop(device: &BlockDevice, file_bytes: u64) -> bool {
    let offset = device.number("loop/offset").unwrap_or(0);
    let limit = device.number("loop/sizelimit").filter(|limit| *limit > 0);
    let Some(rest) = file_bytes.checked_sub(offset) else {
        return false;
    };
    let expected = rest.min(limit.unwrap_or(u64::MAX));
    device.size_bytes() == Some(expected / 512 * 512)
}

const MEMORY: &[&str] = &["tmpfs", "ramfs", "rootfs", "devtmpfs", "hugetlbfs"];

const REMOTE: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.ceph",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "lustre",
    "nfs",
    "nfs4",
    "prl_fs",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
];
