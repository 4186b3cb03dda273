//! Processes that can write to a block device or to the file of a loop device, as a virtual machine
//! writes to its disk.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::backing::{BackingFile, FileId, is_stacked};
use crate::filesystems::is_remote;
use crate::mounts::Mount;
use crate::root::{DeviceNumber, FileKind, Root, Stat, names_in, open_file};
use crate::stack::Stack;
use crate::usage::processes;
use crate::uses::Use;

/// Bits of the flags in `fdinfo` that hold the access mode; 0 is read-only.
const WAY_BITS: u32 = 0o3;
/// Filesystems that show other device numbers on files than in the list of mounts.
const OWN_NUMBERS: &[&str] = &["bcachefs", "btrfs", "overlay"];

/// Search for processes that have a device or file open for writing.
pub(crate) struct Openers<'a> {
    pub(crate) root: &'a Root,
    pub(crate) stack: &'a Stack,
    /// The mounts of all namespaces, by their number.
    pub(crate) mounts: &'a BTreeMap<u32, Mount>,
}

/// What was found.
pub(crate) enum Opening {
    /// A use.
    Known(Use),
    /// It cannot be seen whether it is one, and why.
    Unclear(String),
}

impl Openers<'_> {
    /// Every other process that can write, as far as this one may see.
    pub(crate) fn all(&self) -> Vec<Opening> {
        let own = std::process::id();
        let others = processes(self.root).into_iter().filter(|id| *id != own);
        others
            .flat_map(|process| {
                let mut found = self.opened_by(process);
                if !self.stack.files.is_empty() {
                    found.extend(self.mapped_by(process));
                }
                found
            })
            .collect()
    }

    fn opened_by(&self, process: u32) -> Vec<Opening> {
        let folder = self.root.path(format!("/proc/{process}/fd"));
        let numbers = names_in(folder).into_iter();
        numbers
            .filter_map(|number| self.opened_as(process, &number))
            .collect()
    }

    /// What the process has open under that number, if it can write there.
    fn opened_as(&self, process: u32, number: &str) -> Option<Opening> {
        let path = PathBuf::from(format!("/proc/{process}/fd/{number}"));
        let named = std::fs::read_link(self.root.path(&path)).ok()?;
        // Pipes, sockets and the like have no path.
        if !named.is_absolute() {
            return None;
        }
        let info = self.root.text(format!("/proc/{process}/fdinfo/{number}"))?;
        let mount = mount_of(&info).and_then(|id| self.mounts.get(&id));
        let may_look = named.starts_with("/dev") || self.answers(mount);
        if !writes(&info) || !may_look {
            return None;
        }
        let stat = self.root.stat(&path).ok()?;
        let command = || self.command(process);
        match stat.kind {
            FileKind::Block(device) => {
                let device = self.stack.by_number(device)?.name.clone();
                Some(Opening::Known(Use::Opened {
                    device,
                    process,
                    command: command(),
                }))
            }
            FileKind::File { size_bytes } => {
                if let Some(file) = self.file(stat) {
                    return Some(Opening::Known(Use::Opened {
                        device: file.path.display().to_string(),
                        process,
                        command: command(),
                    }));
                }
                let stacked = mount.is_some_and(|mount| is_stacked(&mount.filesystem));
                let may_be =
                    |file: &&BackingFile| file.may_be(stat.into(), Some(size_bytes), stacked);
                let file = self.stack.files.iter().find(may_be)?;
                Some(Opening::Unclear(format!(
                    "process {process} ({}) may have {} open for writing: an overlay hides the \
                     numbers of its files",
                    command(),
                    file.path.display()
                )))
            }
            _ => None,
        }
    }

    /// Whether `stat` answers for a file on that mount: a server that is gone does not. Files on
    /// other filesystems than those of the loop device's file cannot be that one.
    fn answers(&self, mount: Option<&Mount>) -> bool {
        let files = &self.stack.files;
        let Some(mount) = mount else {
            // Without a place in any tree of mounts, such as files in a filesystem that was
            // unmounted lazily.
            return !files.is_empty();
        };
        let filesystem = mount.filesystem.as_str();
        files.iter().any(|file| file.id.device == mount.device)
            || !is_remote(filesystem) && !filesystem.starts_with("fuse")
    }

    /// Shared mappings that can be written: they stay when the file is closed.
    fn mapped_by(&self, process: u32) -> Vec<Opening> {
        let path = self.root.path(format!("/proc/{process}/maps"));
        let Ok(file) = open_file(path) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            let Some(file) = parse_map(&line).and_then(|map| self.mapped(process, map)) else {
                continue;
            };
            found.push(Opening::Known(Use::Mapped {
                file: file.path.display().to_string(),
                process,
                command: self.command(process),
            }));
        }
        found
    }

    /// The file of the mapping, if it is that of the loop device. The list shows the number of the
    /// filesystem, which differs from that of the file on btrfs; the mapping itself shows both.
    fn mapped(&self, process: u32, map: Map<'_>) -> Option<&BackingFile> {
        let mut files = self.stack.files.iter();
        let is_inode = |file: &&BackingFile| file.id.inode == map.inode;
        if !self.stack.files.iter().any(|file| is_inode(&file)) {
            return None;
        }
        let path = format!("/proc/{process}/map_files/{}", map.range);
        match self.root.stat(path.as_ref()) {
            Ok(stat) if matches!(stat.kind, FileKind::File { .. }) => self.file(stat),
            _ => {
                let by_list = |file: &&BackingFile| {
                    let shows_own = self.has_own_numbers(file.id.device);
                    is_inode(file) && (shows_own || file.id.device == map.device)
                };
                files.find(by_list)
            }
        }
    }

    /// Whether the list of mounts does not show that number, or shows one of btrfs or the like.
    fn has_own_numbers(&self, device: DeviceNumber) -> bool {
        let mut mounts = self.mounts.values().filter(|mount| mount.device == device);
        mounts.all(|mount| OWN_NUMBERS.contains(&mount.filesystem.as_str()))
    }

    /// The file of the loop device that this is.
    fn file(&self, stat: Stat) -> Option<&BackingFile> {
        let mut files = self.stack.files.iter();
        files.find(|file| file.id == FileId::from(stat))
    }

    fn command(&self, process: u32) -> String {
        let command = self.root.line(format!("/proc/{process}/comm"));
        command.unwrap_or_default()
    }
}

/// Whether the text of `fdinfo` shows a file opened for writing.
fn writes(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & WAY_BITS != 0)
}

/// The number of the mount in the text of `fdinfo`.
fn mount_of(info: &str) -> Option<u32> {
    let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    id?.trim().parse().ok()
}

/// A mapping that is shared and can be written.
#[derive(Clone, Copy)]
struct Map<'a> {
    range: &'a str,
    device: DeviceNumber,
    inode: u64,
}

/// A line of `maps`: `7f00-7f10 rw-s 00000000 b3:02 131 /home/pi/disk.img`; none if others do not
/// see what is written there.
fn parse_map(line: &str) -> Option<Map<'_>> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights) = (fields.next()?, fields.next()?);
    let (device, inode) = (fields.nth(1)?, fields.next()?);
    if !rights.contains('w') || !rights.contains('s') {
        return None;
    }
    let (major, minor) = device.split_once(':')?;
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    Some(Map {
        range,
        device: DeviceNumber::from((number(major)?, number(minor)?)),
        inode: inode.parse().ok()?,
    })
}
