//! Loop devices and the files or devices below them.

use std::path::{Path, PathBuf};

use crate::block::{BlockDevice, is_numbered};
use crate::mounts::{Mount, holding_mount};
use crate::root::{DeviceNumber, FileKind, Root, Stat, path_of};

/// Identity of the file or device below a loop device, as the kernel knows it. The path in sysfs is only a
/// name: it may be renamed, deleted, or seen from another mount namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// Major and minor number of the device that holds the file, as `stat` shows them.
    pub device_id: (u32, u32),
    /// Inode number of the file.
    pub inode: u64,
    /// Major and minor number of the block device, if it stands on one instead of a file.
    pub block_id: Option<(u32, u32)>,
}

/// Asks the kernel for the file or device below the loop device of that name; `None` if it does not answer.
pub type AskLoop<'a> = &'a dyn Fn(&str) -> Option<LoopBacking>;

/// Returns the backing file that the path in sysfs shows. For fixture trees, which have no kernel to ask.
#[must_use]
pub fn loop_backing_by_path(root: &Root, name: &str) -> Option<LoopBacking> {
    let device = BlockDevice::by_name(root, name)?;
    let stat = root.stat(&backing_path(root, &device)?).ok()?;
    let id = |number: DeviceNumber| (number.major, number.minor);
    Some(LoopBacking {
        device_id: id(stat.device),
        inode: stat.inode,
        block_id: match stat.kind {
            FileKind::Block(number) => Some(id(number)),
            FileKind::File { .. } => None,
            _ => return None,
        },
    })
}

/// A file by device and inode: all hard links, and all paths through bind mounts, have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) device: DeviceNumber,
    pub(crate) inode: u64,
}

impl From<Stat> for FileId {
    fn from(stat: Stat) -> Self {
        Self {
            device: stat.device,
            inode: stat.inode,
        }
    }
}

/// The file of a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackingFile {
    /// Its name, to be shown.
    pub(crate) path: PathBuf,
    pub(crate) id: FileId,
    pub(crate) size_bytes: u64,
    /// True if its filesystem lies over others, which know the same file by other numbers.
    pub(crate) is_stacked: bool,
}

impl BackingFile {
    /// Returns whether another file may be identical although its numbers differ: one of the two is on a
    /// stacked filesystem, and both have the same size, as far as it is known.
    pub(crate) fn may_be(&self, other: FileId, size: Option<u64>, is_stacked: bool) -> bool {
        self.id != other
            && (self.is_stacked || is_stacked)
            && size.is_none_or(|size| size == self.size_bytes)
    }
}

/// Returns whether a filesystem of this type shows files of others under its own numbers.
pub(crate) fn is_stacked(filesystem: &str) -> bool {
    ["aufs", "ecryptfs", "overlay", "unionfs"].contains(&filesystem)
}

/// A loop device that has a file.
pub(crate) struct Loop {
    pub(crate) device: BlockDevice,
    pub(crate) path: PathBuf,
    /// Object at that path now.
    stat: Option<Stat>,
    /// The kernel's answer; absent if it gives none.
    asked: Option<LoopBacking>,
    is_stacked: bool,
}

/// Object below a loop device.
pub(crate) enum Below {
    File(BackingFile),
    Block(DeviceNumber),
    /// Unknown, and why.
    Unclear(String),
}

impl Loop {
    /// All loop devices that have a file.
    pub(crate) fn all(root: &Root, mounts: &[Mount], ask: AskLoop<'_>) -> Vec<Self> {
        let names = root.names("/sys/class/block");
        let loops = names.iter().filter(|name| is_numbered(name, "loop"));
        let found = loops.filter_map(|name| BlockDevice::by_name(root, name));
        found
            .filter_map(|device| {
                let path = backing_path(root, &device)?;
                let asked = ask(&device.name);
                // Detached in the meantime.
                if asked.is_none() && backing_path(root, &device).is_none() {
                    return None;
                }
                let stat = root.stat(&path).ok();
                let holder = stat.and_then(|stat| holding_mount(mounts, &path, stat.device));
                let is_stacked = holder.is_some_and(|mount| is_stacked(&mount.filesystem))
                    || asked.is_some_and(|asked| on_stacked(mounts, asked));
                Some(Self {
                    device,
                    path,
                    stat,
                    asked,
                    is_stacked,
                })
            })
            .collect()
    }

    /// Returns the file or device below it. The file is known only if the kernel's answer and the path agree.
    pub(crate) fn below(&self) -> Below {
        let name = &self.device.name;
        let Some(asked) = self.asked else {
            return match self.stat.map(|stat| stat.kind) {
                Some(FileKind::Block(number)) => Below::Block(number),
                _ => Below::Unclear(lost_file(name)),
            };
        };
        if let Some(number) = asked.block_id {
            return Below::Block(number.into());
        }
        match self.stat {
            Some(
                stat @ Stat {
                    kind: FileKind::File { size_bytes },
                    ..
                },
            ) if FileId::from(stat) == asked.file_id() && self.device.fits_file(size_bytes) => {
                Below::File(BackingFile {
                    path: self.path.clone(),
                    id: asked.file_id(),
                    size_bytes,
                    is_stacked: self.is_stacked,
                })
            }
            _ => Below::Unclear(lost_file(name)),
        }
    }

    /// Returns whether it stands on this block device.
    pub(crate) fn stands_on(&self, device: &BlockDevice) -> bool {
        let number = device.device_number();
        let by_path = || match self.stat.map(|stat| stat.kind) {
            Some(FileKind::Block(other)) => number == Some(other),
            // Set up in another tree of mounts.
            _ => kernel_name(&self.path).is_some_and(|name| name == device.name),
        };
        match self.asked {
            Some(asked) => asked
                .block_id
                .is_some_and(|id| number == Some(DeviceNumber::from(id))),
            None => by_path(),
        }
    }

    /// Returns whether it stands on this file; an error contains the reason why that is unknown.
    pub(crate) fn shares(&self, file: &BackingFile) -> Result<bool, String> {
        let name = &self.device.name;
        let Some(asked) = self.asked else {
            return Err(format!("cannot query the backing file of {name}"));
        };
        if asked.block_id.is_none() && file.may_be(asked.file_id(), self.size(), self.is_stacked) {
            let shown = file.path.display();
            return Err(format!(
                "{name} may use {shown} too: overlay filesystems change inode numbers"
            ));
        }
        Ok(asked.block_id.is_none() && asked.file_id() == file.id)
    }

    /// Size of its file, bytes; `None` if it is not exactly known.
    fn size(&self) -> Option<u64> {
        let asked = self.asked?;
        let seen = self
            .stat
            .filter(|stat| FileId::from(*stat) == asked.file_id());
        match seen.map(|stat| stat.kind) {
            Some(FileKind::File { size_bytes }) => Some(size_bytes),
            _ => None,
        }
    }
}

impl LoopBacking {
    fn file_id(self) -> FileId {
        FileId {
            device: self.device_id.into(),
            inode: self.inode,
        }
    }
}

/// Message if the file of the loop device of that name is missing or another one.
pub(crate) fn lost_file(name: &str) -> String {
    format!("cannot find the backing file of {name} at the path that losetup shows")
}

fn on_stacked(mounts: &[Mount], backing: LoopBacking) -> bool {
    let device = DeviceNumber::from(backing.device_id);
    let mut holders = mounts.iter().filter(|mount| mount.device == device);
    holders.any(|mount| is_stacked(&mount.filesystem))
}

fn backing_path(root: &Root, device: &BlockDevice) -> Option<PathBuf> {
    let path = path_of(device.path("loop/backing_file"))?;
    Some(root.canonical(&path).unwrap_or(path))
}

/// The kernel's name that a path below `/dev` ends in.
pub(crate) fn kernel_name(path: &Path) -> Option<String> {
    let below = path.strip_prefix("/dev").ok()?.to_str()?;
    Some(below.replace('/', "!"))
}
