//! Everything whose content lies on the same disks as a block device.

use std::path::{Path, PathBuf};

use crate::block::{Below, BlockDevice, is_numbered};
use crate::root::{DeviceNumber, FileKind, Root, path_of};

/// A device with all that lies below it and all that is made from the same disks.
pub(crate) struct Stack {
    /// The device, then what lies below it, down to its disks.
    pub(crate) chain: Vec<BlockDevice>,
    /// The chain, all partitions of its disks, and what is made from any of them.
    pub(crate) members: Vec<BlockDevice>,
    /// What is made from a member without leading to the device: below, above.
    pub(crate) made: Vec<(BlockDevice, BlockDevice)>,
    /// The files that loop devices of the chain stand on.
    pub(crate) files: Vec<PathBuf>,
    /// Loop devices of the chain that stand on another block device.
    pub(crate) indirect: Vec<String>,
    /// What cannot be known.
    pub(crate) unclear: Vec<String>,
}

/// A loop device that has a file.
struct Loop {
    device: BlockDevice,
    path: PathBuf,
    kind: Option<FileKind>,
}

impl Stack {
    pub(crate) fn of(root: &Root, device: &BlockDevice) -> Self {
        let loops = loops(root);
        let mut stack = Self {
            chain: Vec::new(),
            members: Vec::new(),
            made: Vec::new(),
            files: Vec::new(),
            indirect: Vec::new(),
            unclear: Vec::new(),
        };
        stack.descend(root, &loops, device);
        stack.rise(root, &loops);
        stack
    }

    /// Whether the device leads down from the one that is looked at.
    fn leads_down(&self, device: &BlockDevice) -> bool {
        self.chain.contains(device)
    }

    fn descend(&mut self, root: &Root, loops: &[Loop], device: &BlockDevice) {
        if self.leads_down(device) {
            return;
        }
        self.chain.push(device.clone());
        match device.below() {
            None => self.unclear(format!("sysfs does not show the disk of {}", device.name)),
            Some(Below::Disk(disk)) => self.descend(root, loops, &disk),
            Some(Below::Members(_, names)) => {
                if names.is_empty() {
                    self.unclear(format!("sysfs shows no device below {}", device.name));
                }
                for name in names {
                    match BlockDevice::by_name(root, &name) {
                        Some(member) => self.descend(root, loops, &member),
                        None => self.unclear(format!("sysfs shows no block device {name}")),
                    }
                }
            }
            Some(Below::File) => self.descend_file(root, loops, device),
            Some(Below::Memory(_) | Below::Network | Below::Nothing) => {}
        }
    }

    /// A loop device without a file is empty, and has nothing below it.
    fn descend_file(&mut self, root: &Root, loops: &[Loop], device: &BlockDevice) {
        let Some(found) = loops.iter().find(|other| other.device == *device) else {
            return;
        };
        match found.kind {
            Some(FileKind::File { size_bytes }) if device.fits_file(size_bytes) => {
                self.files.push(found.path.clone());
            }
            Some(FileKind::Block(number)) => {
                self.indirect.push(device.name.clone());
                match BlockDevice::by_number(root, number) {
                    Some(below) => self.descend(root, loops, &below),
                    None => self.unclear(format!("sysfs shows no block device {number}")),
                }
            }
            _ => self.unclear(format!(
                "the file of {} is not to be seen here",
                device.name
            )),
        }
    }

    fn rise(&mut self, root: &Root, loops: &[Loop]) {
        let mut waiting = self.chain.clone();
        while let Some(device) = waiting.pop() {
            if self.members.contains(&device) {
                continue;
            }
            waiting.extend(device.partitions());
            for name in device.holders() {
                match BlockDevice::by_name(root, &name) {
                    Some(holder) => waiting.push(self.above(&device, holder)),
                    None => self.unclear(format!("{} is held by {name}, unknown", device.name)),
                }
            }
            let on_it = loops.iter().filter(|other| other.stands_on(&device));
            for other in on_it {
                waiting.push(self.above(&device, other.device.clone()));
            }
            self.members.push(device);
        }
        let shares = |other: &&Loop| self.files.contains(&other.path);
        let sharing: Vec<BlockDevice> = loops
            .iter()
            .filter(shares)
            .map(|other| other.device.clone())
            .collect();
        for other in sharing {
            if !self.members.contains(&other) {
                let first = self.chain[0].clone();
                self.above(&first, other.clone());
                self.members.push(other);
            }
        }
    }

    /// Notes that the one is made from the other, unless it leads to the device.
    fn above(&mut self, below: &BlockDevice, above: BlockDevice) -> BlockDevice {
        let pair = (below.clone(), above.clone());
        if !self.leads_down(&above) && !self.made.contains(&pair) {
            self.made.push(pair);
        }
        above
    }

    fn unclear(&mut self, detail: String) {
        if !self.unclear.contains(&detail) {
            self.unclear.push(detail);
        }
    }

    /// The member of that number.
    pub(crate) fn by_number(&self, number: DeviceNumber) -> Option<&BlockDevice> {
        let mut members = self.members.iter();
        members.find(|member| member.device_number() == Some(number))
    }

    /// The member of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<&BlockDevice> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The member that a path below `/dev` means: by its number, or, where the path was written
    /// down in another tree of mounts, by its name.
    pub(crate) fn by_path(&self, root: &Root, path: &Path) -> Option<&BlockDevice> {
        if !path.starts_with("/dev") {
            return None;
        }
        let found = match root.stat(path).map(|stat| stat.kind) {
            Ok(FileKind::Block(number)) => self.by_number(number),
            _ => None,
        };
        found.or_else(|| self.by_name(&kernel_name(path)?))
    }
}

impl Loop {
    fn stands_on(&self, device: &BlockDevice) -> bool {
        match self.kind {
            Some(FileKind::Block(number)) => device.device_number() == Some(number),
            // Set up where another tree of mounts was seen.
            _ => kernel_name(&self.path).is_some_and(|name| name == device.name),
        }
    }
}

/// The kernel's name that a path below `/dev` ends in.
pub(crate) fn kernel_name(path: &Path) -> Option<String> {
    let below = path.strip_prefix("/dev").ok()?.to_str()?;
    Some(below.replace('/', "!"))
}

fn loops(root: &Root) -> Vec<Loop> {
    let names = root.names("/sys/class/block");
    let found = names.iter().filter(|name| is_numbered(name, "loop"));
    found
        .filter_map(|name| {
            let device = BlockDevice::by_name(root, name)?;
            let path = path_of(device.path("loop/backing_file"))?;
            let path = root.canonical(&path).unwrap_or(path);
            let kind = root.stat(&path).ok().map(|stat| stat.kind);
            Some(Loop { device, path, kind })
        })
        .collect()
}
