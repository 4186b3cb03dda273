//! The filesystem behind [`crate::FuseDir`]: files and folders.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, OpenFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::switches::Switches;

const BLOCK_BYTES: u32 = 4096;
/// Size that the filesystem reports, bytes.
const SIZE_BYTES: u64 = 4 << 30;
/// Nothing is remembered by the kernel.
const TTL: Duration = Duration::ZERO;

/// The files.
pub(crate) struct Files {
    scratch: PathBuf,
    switches: Arc<Switches>,
    nodes: Mutex<Nodes>,
    owner: (u32, u32),
}

#[derive(Default)]
struct Nodes {
    last: u64,
    by_number: HashMap<u64, Node>,
}

struct Node {
    content: Arc<File>,
    size_bytes: u64,
    name: Option<OsString>,
    opened_count: usize,
    parent: INodeNo,
    is_folder: bool,
}

impl Nodes {
    fn number_of(&self, parent: INodeNo, name: &OsStr) -> Option<u64> {
        let mut named = self.by_number.iter();
        named
            .find(|(_, node)| node.parent == parent && node.name.as_deref() == Some(name))
            .map(|(number, _)| *number)
    }

    /// Adds an empty file or folder; returns its number.
    fn add(&mut self, parent: INodeNo, name: &OsStr, content: File, is_folder: bool) -> u64 {
        self.last = self.last.max(u64::from(INodeNo::ROOT)) + 1;
        let node = Node {
            content: Arc::new(content),
            size_bytes: 0,
            name: Some(name.to_owned()),
            opened_count: usize::from(!is_folder),
            parent,
            is_folder,
        };
        self.by_number.insert(self.last, node);
        self.last
    }

    fn tell(&self, switches: &Switches) {
        let named = |node: &&Node| node.name.is_some();
        let names_count = self.by_number.values().filter(named).count();
        switches.set_counts(self.by_number.len(), names_count);
    }

    /// Removes files that have neither a name nor an open handle.
    fn tidy(&mut self) {
        self.by_number
            .retain(|_, node| node.name.is_some() || node.opened_count > 0);
    }
}

impl Files {
    pub(crate) fn new(scratch: &Path, switches: Arc<Switches>) -> Self {
        let owner = (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        );
        Self {
            scratch: scratch.to_owned(),
            switches,
            nodes: Mutex::default(),
            owner,
        }
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap()
    }

    fn attributes(&self, ino: INodeNo, nodes: &Nodes) -> Option<FileAttr> {
        let node = nodes.by_number.get(&u64::from(ino));
        if node.is_none() && ino != INodeNo::ROOT {
            return None;
        }
        let size = node.map_or(0, |node| node.size_bytes);
        let file = node.filter(|node| !node.is_folder);
        Some(FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: file.map_or(FileType::Directory, |_| FileType::RegularFile),
            perm: if file.is_some() { 0o600 } else { 0o755 },
            nlink: file.map_or(2, |node| u32::from(node.name.is_some())),
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        })
    }

    fn content(&self, ino: INodeNo) -> Result<Arc<File>, Errno> {
        let nodes = self.nodes();
        let node = nodes.by_number.get(&u64::from(ino)).ok_or(Errno::ENOENT)?;
        Ok(Arc::clone(&node.content))
    }

    fn read_some(&self, ino: INodeNo, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        self.switches.pass(None)?;
        self.switches.volatile().check()?;
        let content = self.content(ino)?;
        let mut bytes = vec![0; size as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match content.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(_) => return Err(Errno::EIO),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn write_all(&self, ino: INodeNo, offset: u64, data: &[u8]) -> Result<u32, Errno> {
        let end = offset + data.len() as u64;
        self.switches.pass(Some(end))?;
        let content = self.content(ino)?;
        self.switches.volatile().write(&content, data, offset)?;
        if let Some(node) = self.nodes().by_number.get_mut(&u64::from(ino)) {
            node.size_bytes = node.size_bytes.max(end);
        }
        u32::try_from(data.len()).map_err(|_| Errno::EINVAL)
    }
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let nodes = self.nodes();
        let found = nodes.number_of(parent, name).map(INodeNo);
        match found.and_then(|ino| self.attributes(ino, &nodes)) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino, &self.nodes()) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut nodes = self.nodes();
        if let (Some(size), Some(node)) = (size, nodes.by_number.get_mut(&u64::from(ino))) {
            if node.content.set_len(size).is_err() {
                return reply.error(Errno::EIO);
            }
            node.size_bytes = size;
        }
        match self.attributes(ino, &nodes) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        let Ok(content) = tempfile::tempfile_in(&self.scratch) else {
            return reply.error(Errno::EIO);
        };
        let mut nodes = self.nodes();
        if nodes.number_of(parent, name).is_some() {
            return reply.error(Errno::EEXIST);
        }
        let number = nodes.add(parent, name, content, true);
        nodes.tell(&self.switches);
        match self.attributes(INodeNo(number), &nodes) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(Errno::EIO),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let Ok(content) = tempfile::tempfile_in(&self.scratch) else {
            return reply.error(Errno::EIO);
        };
        let mut nodes = self.nodes();
        if nodes.number_of(parent, name).is_some() {
            return reply.error(Errno::EEXIST);
        }
        let number = nodes.add(parent, name, content, false);
        nodes.tell(&self.switches);
        match self.attributes(INodeNo(number), &nodes) {
            Some(attributes) => {
                let handle = FileHandle(number);
                reply.created(
                    &TTL,
                    &attributes,
                    Generation(0),
                    handle,
                    FopenFlags::empty(),
                );
            }
            None => reply.error(Errno::EIO),
        }
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.nodes().by_number.get_mut(&u64::from(ino)) {
            Some(node) => {
                node.opened_count += 1;
                reply.opened(FileHandle(u64::from(ino)), FopenFlags::empty());
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let mut nodes = self.nodes();
        if let Some(node) = nodes.by_number.get_mut(&u64::from(ino)) {
            node.opened_count -= 1;
        }
        nodes.tidy();
        nodes.tell(&self.switches);
        reply.ok();
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let nodes = self.nodes();
        let number = nodes.number_of(parent, name).map(INodeNo);
        let mut all = nodes.by_number.values();
        if all.any(|node| node.name.is_some() && Some(node.parent) == number) {
            return reply.error(Errno::ENOTEMPTY);
        }
        drop(nodes);
        self.unlink(request, parent, name, reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut nodes = self.nodes();
        let number = nodes.number_of(parent, name);
        match number.and_then(|number| nodes.by_number.get_mut(&number)) {
            Some(node) => {
                node.name = None;
                nodes.tidy();
                nodes.tell(&self.switches);
                reply.ok();
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read_some(ino, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.write_all(ino, offset, data) {
            Ok(count) => reply.written(count),
            Err(errno) => reply.error(errno),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.switches.pass_sync() {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let nodes = self.nodes();
        let named = nodes.by_number.iter().filter_map(|(number, node)| {
            let name = node.name.clone().filter(|_| node.parent == ino)?;
            let kind = match node.is_folder {
                true => FileType::Directory,
                false => FileType::RegularFile,
            };
            Some((INodeNo(*number), kind, name))
        });
        let dots = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, name.into()));
        let entries = dots.into_iter().chain(named).zip(1..);
        for ((ino, kind, name), next) in entries.skip(usize::try_from(offset).unwrap_or(0)) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    /// Takes no part in the operations that fail, hang or are counted. Holes are not supported.
    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode != 0 {
            reply.error(Errno::EOPNOTSUPP);
            return;
        }
        match self.nodes().by_number.get_mut(&u64::from(ino)) {
            Some(node) => {
                node.size_bytes = node.size_bytes.max(offset + length);
                reply.ok();
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = SIZE_BYTES / u64::from(BLOCK_BYTES);
        reply.statfs(
            blocks,
            blocks,
            blocks,
            1000,
            1000,
            BLOCK_BYTES,
            255,
            BLOCK_BYTES,
        );
    }
}
