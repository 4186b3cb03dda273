//! Processes that can write to a block device or to the file of a loop device, as a virtual machine
//! writes to its disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use crate::backing::{BackingFile, FileId, UNCOMPARABLE, is_stacked, may_be_stacked};
use crate::filesystems::is_remote;
use crate::mounts::{Mount, unescape};
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
/// Number of looks while open files are not visible, and the pause between.
const LOOKS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);
/// `/proc/PID/ns/pid` in the first PID namespace (`PID_NS_INIT_INO`); processes of all others are visible there.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";
/// Link in `/proc/PID/fd` of an `io_uring`.
const RING: &str = "anon_inode:[io_uring]";

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

/// A thread. Each may have its own table of descriptors, and outlive the first thread of its process.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    id: u32,
    pub(crate) process: u32,
}

impl Task {
    pub(crate) fn path(self, name: &str) -> PathBuf {
        let Self { id, process } = self;
        match id == process {
            true => format!("/proc/{process}/{name}"),
            false => format!("/proc/{process}/task/{id}/{name}"),
        }
        .into()
    }
}

/// Findings of one look at all processes.
#[derive(Default)]
struct Look {
    found: Vec<Opening>,
    /// True if not all open files are visible.
    is_denied: bool,
    /// Reasons for which open files are not visible that may be gone in a moment.
    passing: BTreeSet<String>,
}

impl Openers<'_> {
    /// Returns every other process that can write, plus a single entry for each kind of file that is not visible.
    pub(crate) fn all(&self) -> Vec<Opening> {
        let mut look = self.look();
        // What is in flight may arrive at a process that was looked at before.
        for _ in 1..LOOKS {
            if look.passing.is_empty() {
                break;
            }
            thread::sleep(PAUSE);
            look = self.look();
        }
        let sees_all = sees_all(self.root);
        let mut unseen = look.passing;
        if !sees_all && (look.is_denied || self.hides_processes()) {
            unseen.insert("open files of other users' processes are not visible".to_owned());
        }
        if !is_first_namespace(self.root) {
            let detail = "processes outside of this container (PID namespace) are not visible";
            unseen.insert(detail.to_owned());
        }
        look.found.extend(unseen.into_iter().map(Opening::Unclear));
        look.found
    }

    fn look(&self) -> Look {
        let own = std::process::id();
        let mut look = Look::default();
        for process in processes(self.root).into_iter().filter(|id| *id != own) {
            let mut errors = Vec::new();
            // Threads share their memory, but the first one may have ended and show none.
            let mut has_maps = self.stack.files.is_empty();
            for task in tasks(self.root, process) {
                errors.extend(self.opened_by(task, &mut look).err());
                if !has_maps {
                    match self.mapped_by(task, &mut look.found) {
                        Ok(is_any) => has_maps = is_any,
                        Err(error) => errors.push(error),
                    }
                }
            }
            if !look.is_denied && errors.iter().any(is_denial) {
                look.is_denied = may_have_files(self.root, process);
            }
        }
        look
    }

    /// Returns whether `/proc` was mounted so that it may not list the processes of other users.
    fn hides_processes(&self) -> bool {
        let mut mounts = self.mounts.values();
        mounts.any(|mount| {
            let hides = |value: &Path| !["0", "off"].map(Path::new).contains(&value);
            mount.filesystem == "proc" && mount.option("hidepid").is_some_and(hides)
        })
    }

    /// Adds the files that the task can write; an error if they are not all visible.
    fn opened_by(&self, task: Task, look: &mut Look) -> io::Result<()> {
        let folder = self.root.path(task.path("fd"));
        let mut result = Ok(());
        let mut paths = BTreeSet::new();
        let mut rings = Vec::new();
        for entry in fs::read_dir(folder)?.flatten() {
            let number = entry.file_name().to_string_lossy().into_owned();
            let named = match fs::read_link(entry.path()) {
                Ok(named) => named,
                Err(error) if is_denial(&error) => {
                    result = Err(error);
                    continue;
                }
                // Closed in the meantime.
                Err(_) => continue,
            };
            if named.is_absolute() {
                look.found.extend(self.opened_as(task, &number, &named));
                paths.insert(named);
            } else if named == Path::new(RING) {
                rings.push(number);
            } else if named.to_string_lossy().starts_with("socket:") {
                let info = self.info(task, &number).unwrap_or_default();
                if field_of(&info, "scm_fds:").is_some_and(|count| count != "0") {
                    look.passing.insert(format!(
                        "a socket of process {} ({}) contains open files that are not visible",
                        task.process,
                        self.command(task.process)
                    ));
                }
            }
        }
        for ring in rings {
            let registered = registered_in(&self.info(task, &ring).unwrap_or_default());
            for path in registered.into_iter().filter(|path| !paths.contains(path)) {
                self.registered(task, &path, look);
            }
        }
        result
    }

    fn info(&self, task: Task, number: &str) -> Option<String> {
        self.root.text(task.path(&format!("fdinfo/{number}")))
    }

    /// Returns the file of that path that the task has open under that number, if it can write to it. `fdinfo` costs
    /// most, and is read only if needed.
    fn opened_as(&self, task: Task, number: &str, named: &Path) -> Option<Opening> {
        let path = task.path(&format!("fd/{number}"));
        if only_reads(&self.root.path(&path)) {
            return None;
        }
        let mut info = None;
        // Outside of /dev, `stat` could wait for a server: check the mount first.
        if !named.starts_with("/dev") {
            let answers = |info: &String| writes(info) && self.answers(self.mount(info));
            info = Some(self.info(task, number).filter(answers)?);
        }
        let stat = self.root.stat(&path).ok()?;
        if !self.is_candidate(stat) {
            return None;
        }
        let info = info.or_else(|| self.info(task, number));
        let info = info.filter(|info| writes(info))?;
        self.opening(task.process, stat, self.mount(&info), named)
    }

    /// Adds the file that is registered with an `io_uring`, and no longer open under a number, if it is of the stack
    /// or cannot be found.
    fn registered(&self, task: Task, named: &Path, look: &mut Look) {
        let mut mounts = self.mounts.values();
        if mounts.any(|mount| may_wait(mount) && named.starts_with(&mount.point)) {
            return;
        }
        let below = named.strip_prefix("/").unwrap_or(named);
        match self.root.stat(&task.path("root").join(below)) {
            Ok(stat) if self.is_candidate(stat) => {
                let opening = self.opening(task.process, stat, None, named);
                look.found.extend(opening);
            }
            Ok(_) => {}
            Err(_) => {
                look.passing.insert(format!(
                    "process {} ({}) uses a file that is not visible through io_uring",
                    task.process,
                    self.command(task.process)
                ));
            }
        }
    }

    /// Returns whether it is a device of the stack or, by its numbers and size, may be a file of the stack.
    fn is_candidate(&self, stat: Stat) -> bool {
        match stat.kind {
            FileKind::Block(device) => self.stack.by_number(device).is_some(),
            FileKind::File { size_bytes } => self.stack.files.iter().any(|file| {
                file.id == FileId::from(stat) || file.may_be(stat.into(), size_bytes, true)
            }),
            _ => false,
        }
    }

    /// The use that a process makes by having this open for writing.
    fn opening(
        &self,
        process: u32,
        stat: Stat,
        mount: Option<&Mount>,
        named: &Path,
    ) -> Option<Opening> {
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
                let is_stacked = match mount {
                    Some(mount) => is_stacked(&mount.filesystem),
                    None => {
                        !is_memory_object(named)
                            && may_be_stacked(self.mounts.values(), stat.device)
                    }
                };
                let may_be = |file: &&BackingFile| file.may_be(stat.into(), size_bytes, is_stacked);
                let file = self.stack.files.iter().find(may_be)?;
                Some(self.may_write(process, file, "open"))
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
        files.iter().any(|file| file.id.device == mount.device) || !may_wait(mount)
    }

    /// Adds shared mappings that can be written: they stay when the file is closed. Returns whether the task has any
    /// mapping; an error if they are not visible.
    fn mapped_by(&self, task: Task, found: &mut Vec<Opening>) -> io::Result<bool> {
        let file = open_file(self.root.path(task.path("maps")))?;
        let mut is_any = false;
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            is_any = true;
            let line = String::from_utf8_lossy(&line);
            found.extend(parse_map(&line).and_then(|map| self.mapped(task, map)));
        }
        Ok(is_any)
    }

    /// The use of a mapping, if it is or may be of the file of the loop device. The list shows the number of the
    /// filesystem, which differs from that of the file on btrfs; the mapping itself shows both.
    fn mapped(&self, task: Task, map: Map<'_>) -> Option<Opening> {
        let process = task.process;
        let known = |file: &BackingFile| {
            Opening::Known(Use::Mapped {
                file: file.path.display().to_string(),
                process,
                command: self.command(process),
            })
        };
        let is_inode = |file: &&BackingFile| file.id.inode == map.inode;
        let mut files = self.stack.files.iter();
        let mut mounts = self.mounts.values();
        let is_stacked =
            mounts.any(|mount| mount.device == map.device && is_stacked(&mount.filesystem));
        if !is_stacked && !self.stack.files.iter().any(|file| is_inode(&file)) {
            return None;
        }
        // Not below `task`, but every thread has it.
        let path = format!("/proc/{}/map_files/{}", task.id, map.range);
        match self.root.stat(path.as_ref()) {
            Ok(
                stat @ Stat {
                    kind: FileKind::File { size_bytes },
                    ..
                },
            ) => self.file(stat).map(known).or_else(|| {
                let file = files.find(|file| file.may_be(stat.into(), size_bytes, is_stacked))?;
                Some(self.may_write(process, file, "mapped"))
            }),
            // A device, for example of a graphics card.
            Ok(_) => None,
            Err(_) => {
                let by_list = |file: &&BackingFile| {
                    let shows_own = self.has_own_numbers(file.id.device);
                    is_inode(file) && (shows_own || file.id.device == map.device)
                };
                files.find(by_list).map(known)
            }
        }
    }

    /// A process that has a file which may be that one.
    fn may_write(&self, process: u32, file: &BackingFile, how: &str) -> Opening {
        Opening::Unclear(format!(
            "process {process} ({}) may have {} {how} for writing: {UNCOMPARABLE}",
            self.command(process),
            file.path.display()
        ))
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

/// The threads of a process.
pub(crate) fn tasks(root: &Root, process: u32) -> Vec<Task> {
    let names = root.names(format!("/proc/{process}/task"));
    let mut ids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    if !ids.contains(&process) {
        ids.push(process);
    }
    ids.into_iter().map(|id| Task { id, process }).collect()
}

/// Returns whether this program runs in the first PID namespace, or the kernel has no others.
fn is_first_namespace(root: &Root) -> bool {
    match fs::read_link(root.path("/proc/self/ns/pid")) {
        Ok(link) => link == Path::new(FIRST_NAMESPACE),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Returns whether `stat` of a file on that mount may wait for a server.
fn may_wait(mount: &Mount) -> bool {
    is_remote(&mount.filesystem) || mount.filesystem.starts_with("fuse")
}

/// Returns whether the link is of memory that the kernel keeps as a file, such as `/memfd:pulse (deleted)`.
fn is_memory_object(named: &Path) -> bool {
    named.parent() == Some(Path::new("/")) && named.to_string_lossy().ends_with(" (deleted)")
}

/// The paths in the table of registered files in the `fdinfo` of an `io_uring`: `    0: /home/pi/disk.img`.
fn registered_in(info: &str) -> BTreeSet<PathBuf> {
    let lines = info
        .lines()
        .skip_while(|line| !line.starts_with("UserFiles:"));
    let rows = lines.skip(1).map_while(|line| {
        let (index, path) = line.trim_start().split_once(": ")?;
        index.parse::<u32>().ok().map(|_| path)
    });
    let paths = rows.map(|path| PathBuf::from(unescape(path.as_bytes())));
    paths.filter(|path| path.is_absolute()).collect()
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
    let flags = field_of(info, "flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok());
    flags.is_some_and(|flags| flags & WAY_BITS != 0)
}

/// The number of the mount in the text of `fdinfo`.
fn mount_of(info: &str) -> Option<u32> {
    field_of(info, "mnt_id:")?.parse().ok()
}

/// The value of a line in the text of `fdinfo`.
fn field_of<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
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
