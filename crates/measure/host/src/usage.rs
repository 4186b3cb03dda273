//! Users of a block device: reasons against writing to it.
//!
//! Examines the device, its disk, all partitions of that disk, and everything made from any of them. Facts that
//! cannot be determined count as a use, because an unnoticed use destroys data.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::backing::{AskLoop, kernel_name};
use crate::block::{Below, BlockDevice, is_numbered};
use crate::filesystems::device_name;
use crate::mounts::{Mount, parse_mounts, unescape};
use crate::openers::{Openers, Opening, processes, tasks};
use crate::root::{FileKind, Root, Stat, names_in, path_of};
use crate::stack::Stack;
use crate::uses::{MadeKind, Use};
use crate::{ResolveError, resolve};

/// Returns all reasons against writing to the block device of that name; the gravest first. Empty: no reason is
/// visible, and everything relevant was visible.
///
/// A user of the device that cannot be seen (ZFS; a mount that no process sees) holds it exclusively: that must
/// be checked on the device itself.
///
/// `ask` returns the object below a loop device; two of them with the same file share their content, whatever
/// their paths are.
#[must_use]
pub fn usage(root: &Root, name: &str, ask: AskLoop<'_>) -> Vec<Use> {
    let Some(device) = BlockDevice::by_name(root, name) else {
        let detail = format!("sysfs shows no block device {name}");
        return vec![Use::Unclear { detail }];
    };
    let mut found = Found {
        root,
        stack: Stack::of(root, &device, ask),
        all_mounts: BTreeMap::new(),
        uses: BTreeSet::new(),
    };
    for detail in found.stack.unclear.clone() {
        found.unclear(detail);
    }
    found.themselves();
    found.made();
    let mounts = found.all_mounts();
    found.covered(&mounts);
    found.mounted(&mounts);
    found.pools(&mounts);
    found.kept_open();
    found.swap();
    found.system();
    found.served();
    found.opened();
    found.into_uses()
}

/// Settings that contain the path of a device or file, below `/sys`: USB gadgets, as a Raspberry Pi Zero can be; targets of
/// iSCSI; targets of NVMe.
const SERVED: &[&str] = &[
    "class/udc/*/device/gadget*/lun*/file",
    "kernel/config/usb_gadget/*/functions/mass_storage.*/lun.*/file",
    "kernel/config/target/core/*/*/udev_path",
    "kernel/config/nvmet/subsystems/*/namespaces/*/device_path",
];

struct Found<'a> {
    root: &'a Root,
    stack: Stack,
    /// The mounts of all namespaces, by their number.
    all_mounts: BTreeMap<u32, Mount>,
    uses: BTreeSet<Use>,
}

/// A mount, and the process that sees it if this one does not.
struct Seen {
    mount: Mount,
    process: Option<u32>,
}

impl Found<'_> {
    /// A reported mount point implies an open filesystem, which is therefore not listed separately.
    fn into_uses(self) -> Vec<Use> {
        let is_mounted = |name: &str| {
            let mut uses = self.uses.iter();
            uses.any(|one| matches!(one, Use::Mounted { device, .. } if device == name))
        };
        let is_news = |one: &&Use| match one {
            Use::Filesystem { device, .. } => !is_mounted(device),
            _ => true,
        };
        self.uses.iter().filter(is_news).cloned().collect()
    }

    fn add(&mut self, one: Use) {
        self.uses.insert(one);
    }

    fn unclear(&mut self, detail: impl Into<String>) {
        let detail = detail.into();
        self.add(Use::Unclear { detail });
    }

    /// Adds properties of the devices themselves.
    fn themselves(&mut self) {
        for member in self.stack.members.clone() {
            if member.device_number().is_none() {
                self.unclear(format!("sysfs does not show the number of {}", member.name));
            }
        }
        for part in self.stack.chain.clone() {
            let device = part.name.clone();
            if part.flag("ro") == Some(true) {
                self.add(Use::ReadOnly {
                    device: device.clone(),
                });
            }
            if part.size_bytes().is_none_or(|size| size == 0) {
                self.add(Use::NoMedium {
                    device: device.clone(),
                });
            }
            let is_indirect = self.stack.indirect.contains(&device);
            let indirect = "a loop device on another block device: name that one";
            if let Some(reason) = unsuitable(&part).or(is_indirect.then_some(indirect)) {
                self.add(Use::Unsuitable { device, reason });
            }
        }
    }

    /// Volumes, arrays, loop devices that are made from the same disks.
    fn made(&mut self) {
        for (below, above) in self.stack.made.clone() {
            self.add(Use::Made {
                device: below.name.clone(),
                kind: MadeKind::of(&above),
                title: above.text("dm/name"),
                holder: above.name,
            });
        }
        for (device, other) in self.stack.sharing.clone() {
            self.add(Use::SameFile {
                device: device.name,
                other: other.name,
            });
        }
        for (device, other, reason) in self.stack.may_share.clone() {
            self.add(Use::MaySameFile {
                device: device.name,
                other: other.name,
                reason,
            });
        }
        // A member of bcache that waits for the others has no holder yet.
        let has_cache = |part: &BlockDevice| is_numbered(&part.name, "bcache");
        let leads_to_cache = self.stack.chain.iter().any(has_cache);
        for member in self.stack.members.clone() {
            if !has_cache(&member) && !leads_to_cache && member.path("bcache").exists() {
                self.add(Use::Made {
                    device: member.name,
                    holder: "bcache".to_owned(),
                    kind: MadeKind::Bcache,
                    title: None,
                });
            }
        }
    }

    /// The mounts of all namespaces that a process lives in.
    fn all_mounts(&mut self) -> Vec<Seen> {
        let own = self.root.list("/proc/self/mountinfo").unwrap_or_default();
        let mut all: Vec<Seen> = parse_mounts(&own)
            .into_iter()
            .map(|mount| Seen {
                mount,
                process: None,
            })
            .collect();
        let lines = own
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        for seen in &all {
            self.all_mounts.insert(seen.mount.id, seen.mount.clone());
        }
        if all.is_empty() || lines.count() != all.len() {
            self.unclear("the list of mounts is missing or not understood");
        }
        let mut texts = BTreeSet::from([own]);
        let mut views = BTreeSet::new();
        let processes = processes(self.root).into_iter();
        for task in processes.flat_map(|process| tasks(self.root, process)) {
            let link = |name| fs::read_link(self.root.path(task.path(name))).ok();
            // Seen from another root directory, a namespace has fewer mounts.
            if let Some(view) = link("ns/mnt").zip(link("root"))
                && !views.insert(view)
            {
                continue;
            }
            match self.root.list(task.path("mountinfo")) {
                Ok(text) if !texts.contains(&text) => {
                    for mount in parse_mounts(&text) {
                        self.all_mounts.insert(mount.id, mount.clone());
                        let is_new = |seen: &Seen| {
                            (seen.mount.device, &seen.mount.point) != (mount.device, &mount.point)
                        };
                        if all.iter().all(is_new) {
                            let process = Some(task.process);
                            all.push(Seen { mount, process });
                        }
                    }
                    texts.insert(text);
                }
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    self.unclear("the mounts of other users' processes are not shown");
                }
                // One that has just ended sees nothing any more.
                _ => {}
            }
        }
        all
    }

    /// Notes mounts that hide the processes or devices of the kernel's lists.
    fn covered(&mut self, mounts: &[Seen]) {
        for Seen { mount, process } in mounts {
            let point = &mount.point;
            let hides_swap = point == Path::new("/proc") && mount.option("subset").is_some();
            if process.is_none() && (hides_swap || is_list(point)) {
                self.unclear(format!("a mount hides part of {}", point.display()));
            }
        }
    }

    /// Mounts of members, by number. Filesystems over several devices have numbers of their own;
    /// there the source names one of them, or several with colons between.
    fn mounted(&mut self, mounts: &[Seen]) {
        for seen in mounts {
            let mount = &seen.mount;
            let source = mount.source.to_string_lossy();
            let member = self.stack.by_number(mount.device).or_else(|| {
                let mut sources = source.split(':');
                let by_path = |path| self.stack.by_path(self.root, Path::new(path));
                sources
                    .find_map(by_path)
                    .filter(|_| mount.device.is_anonymous())
            });
            if let Some(member) = member {
                let device = member.name.clone();
                self.add_mount(device, seen);
            }
        }
    }

    fn add_mount(&mut self, device: String, seen: &Seen) {
        self.add(Use::Mounted {
            device,
            directory: seen.mount.point.clone(),
            process: seen.process,
        });
    }

    /// Filesystems over several devices that the kernel has open: btrfs and bcachefs.
    fn pools(&mut self, mounts: &[Seen]) {
        let pools = self.root.path("/sys/fs/btrfs");
        for id in names_in(&pools) {
            let devices = names_in(pools.join(id).join("devices"));
            let Some(member) = devices.iter().find_map(|name| self.stack.by_name(name)) else {
                continue;
            };
            let device = member.name.clone();
            let is_source = |seen: &&Seen| {
                let named = || device_name(self.root, &seen.mount.source);
                seen.mount.filesystem == "btrfs"
                    && named().is_some_and(|name| devices.contains(&name))
            };
            for seen in mounts.iter().filter(is_source).collect::<Vec<_>>() {
                self.add_mount(device.clone(), seen);
            }
            self.add_filesystem(device, "btrfs");
        }
        let pools = self.root.path("/sys/fs/bcachefs");
        for pool in names_in(&pools).into_iter().map(|id| pools.join(id)) {
            for entry in names_in(&pool) {
                let block = fs::canonicalize(pool.join(entry).join("block"));
                let name = block
                    .ok()
                    .and_then(|path| path.file_name().map(ToOwned::to_owned));
                let name = name.and_then(|name| name.into_string().ok());
                if name
                    .as_ref()
                    .is_some_and(|name| self.stack.by_name(name).is_some())
                {
                    self.add_filesystem(name.unwrap_or_default(), "bcachefs");
                }
            }
        }
    }

    fn add_filesystem(&mut self, device: String, filesystem: &str) {
        self.add(Use::Filesystem {
            device,
            filesystem: filesystem.to_owned(),
        });
    }

    /// Adds filesystems that are still open. Most have a directory for each open device, and keep it longer
    /// than the visible mount: as long as an overlay or an open file needs them.
    fn kept_open(&mut self) {
        for filesystem in self.root.names("/sys/fs") {
            for name in self.root.names(format!("/sys/fs/{filesystem}")) {
                if self.stack.by_name(&name).is_some() {
                    self.add_filesystem(name, &filesystem);
                }
            }
        }
    }

    /// Adds swap on members, and in a file below the device. A swap file on a member requires that to be
    /// mounted.
    fn swap(&mut self) {
        let table = self.root.list("/proc/swaps").unwrap_or_else(|error| {
            // Only a kernel that knows no swap space has no such list.
            if error.kind() != std::io::ErrorKind::NotFound {
                self.unclear("the list of swap spaces cannot be read");
            }
            Vec::new()
        });
        for line in table.split(|byte| *byte == b'\n').skip(1) {
            let mut fields = line
                .split(u8::is_ascii_whitespace)
                .filter(|field| !field.is_empty());
            let (Some(path), Some(kind)) = (fields.next(), fields.next()) else {
                continue;
            };
            let path = PathBuf::from(unescape(path));
            let member = self.stack.by_path(self.root, &path);
            if let Some(device) = member.map(|member| member.name.clone()) {
                self.add(Use::Swap { device });
            } else if kind == b"file" {
                self.swap_file(&path);
            } else if kind == b"partition" && !self.is_other_device(&path) {
                self.unclear(format!(
                    "swap space {} is on no known device",
                    path.display()
                ));
            }
        }
    }

    /// Adds a swap file that is also the file of a loop device, under any name.
    fn swap_file(&mut self, path: &Path) {
        if self.stack.files.is_empty() {
            return;
        }
        let shown = path.display();
        let is_file = |stat: &Stat| matches!(stat.kind, FileKind::File { .. });
        let Some(stat) = self.root.stat(path).ok().filter(is_file) else {
            self.unclear(format!("the swap file {shown} is not visible here"));
            return;
        };
        if self.stack.used_by(stat).is_some() {
            let device = shown.to_string();
            self.add(Use::Swap { device });
        }
    }

    fn is_other_device(&self, path: &Path) -> bool {
        let by_name = || BlockDevice::by_name(self.root, &kernel_name(path)?);
        device_name(self.root, path).is_some() || by_name().is_some()
    }

    /// Adds the disks that the system runs from. Visible or not, the kernel holds them exclusively.
    fn system(&mut self) {
        for directory in ["/", "/boot", "/usr"].map(PathBuf::from) {
            match resolve(self.root, &directory) {
                Ok(resolution) => {
                    let layers = resolution
                        .layers
                        .into_iter()
                        .filter_map(|layer| layer.device);
                    let disks = resolution.disks.into_iter().map(|disk| disk.name);
                    let below: Vec<String> = layers.chain(disks).collect();
                    let member = below.iter().find(|name| self.stack.by_name(name).is_some());
                    if let Some(device) = member.cloned() {
                        self.add(Use::System { device, directory });
                    }
                }
                Err(ResolveError::Unreadable { .. }) if directory != Path::new("/") => {}
                Err(error) => self.unclear(error.to_string()),
            }
        }
    }

    /// Adds what the kernel has open for other computers, which no process shows.
    fn served(&mut self) {
        let settings = SERVED.iter().flat_map(|pattern| self.matching(pattern));
        for setting in settings.collect::<Vec<_>>() {
            let Some(path) = path_of(self.root.path(&setting)) else {
                continue;
            };
            match self.root.stat(&path) {
                Ok(stat) if matches!(stat.kind, FileKind::File { .. } | FileKind::Block(_)) => {
                    if let Some(device) = self.stack.used_by(stat) {
                        self.add(Use::Served { device, setting });
                    }
                }
                _ => self.unclear(format!(
                    "{} is served to another computer, but not visible here",
                    path.display()
                )),
            }
        }
    }

    /// The paths below `/sys` of that pattern, in which a name that ends in `*` stands for all that begin so.
    fn matching(&self, pattern: &str) -> Vec<PathBuf> {
        let mut found = vec![PathBuf::from("/sys")];
        for part in pattern.split('/') {
            let names = |folder: &PathBuf| match part.strip_suffix('*') {
                None => vec![folder.join(part)],
                Some(start) => {
                    let names = self.root.names(folder).into_iter();
                    let names = names.filter(|name| name.starts_with(start));
                    names.map(|name| folder.join(name)).collect()
                }
            };
            found = found.iter().flat_map(names).collect();
        }
        found
    }

    /// Processes that have the device, or the file of a loop device, open for writing.
    fn opened(&mut self) {
        let openers = Openers {
            root: self.root,
            stack: &self.stack,
            mounts: &self.all_mounts,
        };
        for opening in openers.all() {
            match opening {
                Opening::Known(one) => self.add(one),
                Opening::Unclear(detail) => self.unclear(detail),
            }
        }
    }
}

/// Returns whether the kernel lists processes, swap spaces or block devices at or below that path.
fn is_list(point: &Path) -> bool {
    let below = point.strip_prefix("/proc").ok();
    let name = below.and_then(|below| below.iter().next()?.to_str());
    name.is_some_and(|name| name == "swaps" || name.parse::<u32>().is_ok())
        || ["/sys/class/block", "/sys/block", "/sys/dev"]
            .iter()
            .any(|list| point.starts_with(list))
}

/// Returns the reason why a device is never tested by writing, however idle it is.
fn unsuitable(device: &BlockDevice) -> Option<&'static str> {
    let is_any = |kinds: &[&str]| kinds.iter().any(|kind| is_numbered(&device.name, kind));
    if device.is_hardware_part() {
        return Some("a hardware partition of an eMMC: the board may start from it");
    }
    if is_any(&["mtdblock", "ubiblock"]) {
        return Some("flash memory of the board: the board may start from it");
    }
    if is_any(&["sr", "fd"]) {
        return Some("a drive for discs or floppies");
    }
    match device.below() {
        Some(Below::Memory(_)) => Some("memory, no storage"),
        Some(Below::Network) => {
            Some("reached through a network: who else uses it is not visible here")
        }
        _ => None,
    }
}
