//! Loop devices and the files or devices below them.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

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

/// Pause before the second look at loop devices without an answer: they are being attached or detached.
const PAUSE: Duration = Duration::from_millis(50);

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
    /// True if its filesystem lies or may lie over others, which know the same file by other numbers.
    pub(crate) is_stacked: bool,
}

impl BackingFile {
    /// Returns whether another file of that size may be identical although its numbers differ: one of the two is
    /// or may be on a stacked filesystem.
    pub(crate) fn may_be(&self, other: FileId, size_bytes: u64, is_stacked: bool) -> bool {
        self.id != other && (self.is_stacked || is_stacked) && size_bytes == self.size_bytes
    }
}

/// Returns whether files of this device number may be files of another filesystem: a mount of it is stacked, or
/// no mount of it is visible. A filesystem on a block device of its own is never stacked.
pub(crate) fn may_be_stacked<'a>(
    mut mounts: impl Iterator<Item = &'a Mount>,
    device: DeviceNumber,
) -> bool {
    let mut is_visible = false;
    let is_stacked = mounts.any(|mount| {
        let is_holder = mount.device == device;
        is_visible |= is_holder;
        is_holder && is_stacked(&mount.filesystem)
    });
    is_stacked || !is_visible && device.is_anonymous()
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
    /// All loop devices that have a file. Those without an answer of the kernel are looked at twice.
    pub(crate) fn all(root: &Root, mounts: &[Mount], ask: AskLoop<'_>) -> Vec<Self> {
        let names = root.names("/sys/class/block");
        let look = |name: &str| Self::look(root, mounts, name, ask);
        let loops = names.iter().filter(|name| is_numbered(name, "loop"));
        let mut found: Vec<Self> = loops.filter_map(|name| look(name)).collect();
        if found.iter().any(|one| one.asked.is_none()) {
            thread::sleep(PAUSE);
            let again = |one: Self| match one.asked {
                Some(_) => Some(one),
                None => look(&one.device.name),
            };
            found = found.into_iter().filter_map(again).collect();
        }
        found
    }

    /// The loop device of that name; `None` if it has no file.
    fn look(root: &Root, mounts: &[Mount], name: &str, ask: AskLoop<'_>) -> Option<Self> {
        let device = BlockDevice::by_name(root, name)?;
        backing_path(root, &device)?;
        let asked = ask(name);
        // Detached in the meantime, or with another file.
        let path = backing_path(root, &device)?;
        let stat = root.stat(&path).ok();
        let is_stacked = asked.is_some_and(|asked| {
            let id = asked.file_id();
            let seen = stat.filter(|stat| FileId::from(*stat) == id);
            match seen.and_then(|stat| holding_mount(mounts, &path, stat.device)) {
                Some(mount) => is_stacked(&mount.filesystem),
                None => may_be_stacked(mounts.iter(), id.device),
            }
        });
        Some(Self {
            device,
            path,
            stat,
            asked,
            is_stacked,
        })
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

    /// Returns whether it stands on this file; an error contains the reason why that is unknown. A file of
    /// another size is another file.
    pub(crate) fn shares(&self, file: &BackingFile) -> Result<bool, String> {
        let Some(asked) = self.asked else {
            return match self.device.fits_file(file.size_bytes) {
                true => Err("its backing file does not answer".to_owned()),
                false => Ok(false),
            };
        };
        if asked.block_id.is_some() {
            return Ok(false);
        }
        let id = asked.file_id();
        let is_size = match self.stat {
            Some(stat) if FileId::from(stat) == id => {
                stat.kind
                    == FileKind::File {
                        size_bytes: file.size_bytes,
                    }
            }
            // Not visible here: only the device shows how long it was.
            _ => self.device.fits_file(file.size_bytes),
        };
        if is_size && file.may_be(id, file.size_bytes, self.is_stacked) {
            return Err(UNCOMPARABLE.to_owned());
        }
        Ok(id == file.id)
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

/// Reason for which files of different numbers may be identical.
pub(crate) const UNCOMPARABLE: &str =
    "overlay filesystems, and those of other containers, change inode numbers";

/// Message if the file of the loop device of that name is missing or another one.
pub(crate) fn lost_file(name: &str) -> String {
    format!("cannot find the backing file of {name} at the path that losetup shows")
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
