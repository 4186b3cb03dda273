//! Everything whose content lies on the same disks as a block device.

use std::path::Path;

use crate::backing::{self, AskLoop, BackingFile, FileId, Loop, kernel_name};
use crate::block::{Below, BlockDevice};
use crate::mounts::parse_mounts;
use crate::root::{DeviceNumber, FileKind, Root, Stat};

/// A device with all that lies below it and all that is made from the same disks.
pub(crate) struct Stack {
    /// The device, then the devices below it, down to its disks.
    pub(crate) chain: Vec<BlockDevice>,
    /// The chain, all partitions of its disks, and everything made from any of them.
    pub(crate) members: Vec<BlockDevice>,
    /// Devices made from a member without leading to the device: below, above.
    pub(crate) made: Vec<(BlockDevice, BlockDevice)>,
    /// Files below loop devices of the chain.
    pub(crate) files: Vec<BackingFile>,
    /// Loop devices with the same file: one of the chain, and the other one.
    pub(crate) sharing: Vec<(BlockDevice, BlockDevice)>,
    /// Loop devices that may have the same file: one of the chain, the other one, and why that is unknown.
    pub(crate) may_share: Vec<(BlockDevice, BlockDevice, String)>,
    /// Loop devices of the chain on another block device.
    pub(crate) indirect: Vec<String>,
    /// Facts that cannot be determined.
    pub(crate) unclear: Vec<String>,
}

impl Stack {
    pub(crate) fn of(root: &Root, device: &BlockDevice, ask: AskLoop<'_>) -> Self {
        let mounts = root.list("/proc/self/mountinfo").unwrap_or_default();
        let loops = Loop::all(root, &parse_mounts(&mounts), ask);
        let mut stack = Self {
            chain: Vec::new(),
            members: Vec::new(),
            made: Vec::new(),
            files: Vec::new(),
            sharing: Vec::new(),
            may_share: Vec::new(),
            indirect: Vec::new(),
            unclear: Vec::new(),
        };
        stack.descend(root, &loops, device);
        stack.rise(root, &loops);
        stack
    }

    /// Returns whether the device leads down from the examined one.
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
        match found.below() {
            backing::Below::File(file) => self.files.push(file),
            backing::Below::Block(number) => {
                self.indirect.push(device.name.clone());
                match BlockDevice::by_number(root, number) {
                    Some(below) => self.descend(root, loops, &below),
                    None => self.unclear(format!("sysfs shows no block device {number}")),
                }
            }
            backing::Below::Unclear(detail) => self.unclear(detail),
        }
    }

    fn rise(&mut self, root: &Root, loops: &[Loop]) {
        let mut waiting = self.chain.clone();
        waiting.extend(self.sharers(loops));
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
    }

    /// Other loop devices that have a file of the chain: whoever uses one of them uses its content.
    fn sharers(&mut self, loops: &[Loop]) -> Vec<BlockDevice> {
        let is_loop = |part: &&BlockDevice| part.below() == Some(Below::File);
        let Some(own) = self.chain.iter().find(is_loop).cloned() else {
            return Vec::new();
        };
        let others = loops
            .iter()
            .filter(|other| !self.chain.contains(&other.device));
        let mut sharing = Vec::new();
        for other in others.collect::<Vec<_>>() {
            for file in self.files.clone() {
                match other.shares(&file) {
                    Ok(true) => sharing.push(other.device.clone()),
                    Ok(false) => {}
                    Err(reason) => {
                        let pair = (own.clone(), other.device.clone(), reason);
                        self.may_share.push(pair);
                    }
                }
            }
        }
        let pairs = sharing.iter().map(|other| (own.clone(), other.clone()));
        self.sharing = pairs.collect();
        sharing
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

    /// The name of the member, or the path of the file below a loop device, that this is.
    pub(crate) fn used_by(&self, stat: Stat) -> Option<String> {
        if let FileKind::Block(number) = stat.kind {
            return Some(self.by_number(number)?.name.clone());
        }
        let mut files = self.files.iter();
        let file = files.find(|file| file.id == FileId::from(stat))?;
        Some(file.path.display().to_string())
    }

    /// The member of that name.
    pub(crate) fn by_name(&self, name: &str) -> Option<&BlockDevice> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns the member at a path below `/dev`: by its number, or, if the path was written down in another
    /// tree of mounts, by its name.
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
