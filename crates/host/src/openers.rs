//! Processes that can write to a block device or to the file of a loop device, as a virtual machine
//! writes to its disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::backing::{BackingFile, FileId, is_stacked};
use crate::filesystems::is_remote;
use crate::mounts::Mount;
use crate::root::{DeviceNumber, FileKind, Root, Stat, open_file};
use crate::stack::Stack;
use crate::uses::Use;

/// Bits of the flags in `fdinfo` that hold the access mode; 0 is read-only.
const WAY_BITS: u32 = 0o3;
/// Permissions of a link in `/proc/PID/fd`: the descriptor can be read, or written.
const LINK_READS: u32 = 0o400;
const LINK_WRITES: u32 = 0o200;
/// Bit of the flags in `/proc/PID/stat` that marks a kernel thread (`PF_KTHREAD`).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Bit of `CapEff` that lets a process inspect those of other users (`CAP_SYS_PTRACE`).
const TRACE_BIT: u64 = 1 << 19;
/// Filesystems that show other device numbers on files than in the list of mounts.
const OWN_NUMBERS: &[&str] = &["bcachefs", "btrfs", "overlay"];

/// Search for processes that have a device or file open for writing.
pub(crate) struct Openers<'a> {
    pub(crate) root: &'a Root,
    pub(crate) stack: &'a Stack,
    /// The mounts of all namespaces, by their number.
    pub(crate) mounts: &'a BTreeMap<u32, Mount>,
}

/// Result of the search.
pub(crate) enum Opening {
    /// A use.
    Known(Use),
    /// It cannot be seen whether it is one, and why.
    Unclear(String),
}

impl Openers<'_> {
    /// Returns every other process that can write, plus a single entry for all processes whose files are not
    /// visible.
    pub(crate) fn all(&self) -> Vec<Opening> {
        let own = std::process::id();
        let mut found = Vec::new();
        let mut is_denied = false;
        for process in processes(self.root).into_iter().filter(|id| *id != own) {
            let mut results = vec![self.opened_by(process, &mut found)];
            if !self.stack.files.is_empty() {
                results.push(self.mapped_by(process, &mut found));
            }
            let mut errors = results.into_iter().filter_map(Result::err);
            if !is_denied && errors.any(|error| is_denial(&error)) {
                is_denied = may_have_files(self.root, process);
            }
        }
        if is_denied && !sees_all(self.root) {
            let detail = "open files of other users' processes are not visible";
            found.push(Opening::Unclear(detail.to_owned()));
        }
        found
    }

    /// Adds the files that the process can write; an error if they are not all visible.
    fn opened_by(&self, process: u32, found: &mut Vec<Opening>) -> io::Result<()> {
        let folder = self.root.path(format!("/proc/{process}/fd"));
        let mut result = Ok(());
        for entry in fs::read_dir(folder)?.flatten() {
            match self.opened_as(process, &entry.file_name().to_string_lossy()) {
                Ok(opening) => found.extend(opening),
                Err(error) if is_denial(&error) => result = Err(error),
                // Closed in the meantime.
                Err(_) => {}
            }
        }
        result
    }

    /// Returns the file that the process has open under that number, if it can write to it; an error if the
    /// path is not visible. `fdinfo` costs most, and is read only if needed.
    fn opened_as(&self, process: u32, number: &str) -> io::Result<Option<Opening>> {
        let path = PathBuf::from(format!("/proc/{process}/fd/{number}"));
        let link = self.root.path(&path);
        let named = fs::read_link(&link)?;
        // Pipes, sockets and the like have no path.
        if !named.is_absolute() || only_reads(&link) {
            return Ok(None);
        }
        let read_info = || self.root.text(format!("/proc/{process}/fdinfo/{number}"));
        // Outside of /dev, `stat` could wait for a server: check the mount first.
        let info = match named.starts_with("/dev") {
            true => None,
            false => match read_info() {
                Some(info) if writes(&info) && self.answers(self.mount(&info)) => Some(info),
                _ => return Ok(None),
            },
        };
        let Ok(stat) = self.root.stat(&path) else {
            return Ok(None);
        };
        if !self.is_candidate(stat) {
            return Ok(None);
        }
        let info = info.or_else(read_info).filter(|info| writes(info));
        Ok(info.and_then(|info| self.opening(process, stat, self.mount(&info))))
    }

    /// Returns whether it is a device of the stack or, by its numbers and size, may be a file of the stack.
    fn is_candidate(&self, stat: Stat) -> bool {
        match stat.kind {
            FileKind::Block(device) => self.stack.by_number(device).is_some(),
            FileKind::File { size_bytes } => self.stack.files.iter().any(|file| {
                file.id == FileId::from(stat) || file.may_be(stat.into(), Some(size_bytes), true)
            }),
            _ => false,
        }
    }

    /// The use that a process makes by having this open for writing.
    fn opening(&self, process: u32, stat: Stat, mount: Option<&Mount>) -> Option<Opening> {
        let command = self.command(process);
        let known = |device| {
            Some(Opening::Known(Use::Opened {
                device,
                process,
                command: command.clone(),
            }))
        };
        match stat.kind {
            FileKind::Block(device) => known(self.stack.by_number(device)?.name.clone()),
            FileKind::File { size_bytes } => {
                if let Some(file) = self.file(stat) {
                    return known(file.path.display().to_string());
                }
                let stacked = mount.is_some_and(|mount| is_stacked(&mount.filesystem));
                let may_be =
                    |file: &&BackingFile| file.may_be(stat.into(), Some(size_bytes), stacked);
                let file = self.stack.files.iter().find(may_be)?;
                Some(Opening::Unclear(format!(
                    "process {process} ({command}) may have {} open for writing: overlay \
                     filesystems change inode numbers",
                    file.path.display()
                )))
            }
            _ => None,
        }
    }

    /// The mount in the text of `fdinfo`.
    fn mount(&self, info: &str) -> Option<&Mount> {
        mount_of(info).and_then(|id| self.mounts.get(&id))
    }

    /// Returns whether `stat` answers for a file on that mount: for a server that is gone it does not. Files on
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

    /// Adds shared mappings that can be written: they stay when the file is closed. An error if
    /// they are not visible.
    fn mapped_by(&self, process: u32, found: &mut Vec<Opening>) -> io::Result<()> {
        let file = open_file(self.root.path(format!("/proc/{process}/maps")))?;
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
        Ok(())
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
            // A device, for example of a graphics card.
            Ok(_) => None,
            Err(_) => {
                let by_list = |file: &&BackingFile| {
                    let shows_own = self.has_own_numbers(file.id.device);
                    is_inode(file) && (shows_own || file.id.device == map.device)
                };
                files.find(by_list)
            }
        }
    }

    /// Returns whether the list of mounts lacks that number, or has one of btrfs or a similar filesystem.
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

/// The numbers of all processes.
pub(crate) fn processes(root: &Root) -> Vec<u32> {
    let names = root.names("/proc");
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn is_denial(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
}

/// Returns whether this process may inspect all others: it has the capability in the initial user namespace.
/// Restrictions by security modules are ignored.
fn sees_all(root: &Root) -> bool {
    let status = root.text("/proc/self/status").unwrap_or_default();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let rights = rights.and_then(|rights| u64::from_str_radix(rights.trim(), 16).ok());
    let users = root.text("/proc/self/uid_map").unwrap_or_default();
    rights.is_some_and(|rights| rights & TRACE_BIT != 0)
        && users.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

/// Returns whether the process can have open files: it is no kernel thread and has not ended.
fn may_have_files(root: &Root, process: u32) -> bool {
    let text = match root.list(format!("/proc/{process}/stat")) {
        Ok(text) => text,
        Err(error) => {
            let has_ended = error.kind() == ErrorKind::NotFound
                || error.raw_os_error() == Some(Errno::SRCH.raw_os_error());
            return !has_ended;
        }
    };
    let text = String::from_utf8_lossy(&text);
    // The name may hold spaces and brackets.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<u64>().ok())
    };
    let is_kernel = number(6).is_some_and(|flags| flags & KERNEL_THREAD != 0);
    // The first thread may end before the others.
    let has_ended = matches!(fields.first(), Some(&("Z" | "X")))
        && number(17).is_some_and(|threads| threads <= 1);
    !is_kernel && !has_ended
}

/// Returns whether the link in `/proc/PID/fd` is of a descriptor that can be read and not written.
fn only_reads(link: &Path) -> bool {
    let rights = fs::symlink_metadata(link).map(|metadata| metadata.permissions().mode());
    rights.is_ok_and(|rights| rights & (LINK_READS | LINK_WRITES) == LINK_READS)
}

/// Returns whether the text of `fdinfo` is of a file opened for writing.
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

/// Parses a line of `maps`: `7f00-7f10 rw-s 00000000 b3:02 131 /home/pi/disk.img`; `None` if others do not see
/// its writes.
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
