//! The filesystem: a directory with one file.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;

use crate::card::Card;

/// Name of the file.
pub(crate) const NAME: &str = "card";
const CARD: INodeNo = INodeNo(2);
const BLOCK_BYTES: u32 = 4096;
/// Nothing changes, so the kernel may remember it: questions would come between requests.
const TTL: Duration = Duration::from_secs(1 << 30);
/// Requests that the kernel hands on without waiting for answers.
const MOST_REQUESTS: u16 = 512;
/// The largest request, bytes; the kernel cuts it to `fs.fuse.max_pages_limit` pages.
const MOST_BYTES: u32 = 1 << 20;

/// The directory and its file.
pub(crate) struct Files {
    card: Arc<Card>,
    owner: (u32, u32),
}

impl Files {
    pub(crate) fn new(card: Arc<Card>) -> Self {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        Self {
            card,
            owner: (user, group),
        }
    }

    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, perm, nlink, size) = match ino {
            INodeNo::ROOT => (FileType::Directory, 0o755, 2, 0),
            CARD => (FileType::RegularFile, 0o600, 1, self.card.size_bytes()),
            _ => return None,
        };
        Some(FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        })
    }

    fn tell(&self, ino: INodeNo, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without it a loop device waits for each answer before it asks again.
        let wanted = InitFlags::FUSE_ASYNC_DIO;
        let missing = || io::Error::other("the kernel's FUSE knows no asynchronous direct I/O");
        config.add_capabilities(wanted).map_err(|_| missing())?;
        let out_of_range = |_| io::Error::from(io::ErrorKind::InvalidInput);
        config
            .set_max_background(MOST_REQUESTS)
            .map_err(out_of_range)?;
        config
            .set_congestion_threshold(MOST_REQUESTS)
            .map_err(out_of_range)?;
        config.set_max_write(MOST_BYTES).map_err(|_| missing())?;
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(CARD) {
            Some(attributes) if parent == INodeNo::ROOT && name == NAME => {
                reply.entry(&TTL, &attributes, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.tell(ino, reply);
    }

    /// A card keeps its size and knows no times.
    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
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
        self.tell(ino, reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // Past the page cache; and writes do not wait for one another.
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.card.read(request.pid(), offset, size, reply);
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.card.write(request.pid(), offset, data, reply);
    }

    fn flush(&self, request: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.card.flush(request.pid(), reply);
    }

    fn fsync(&self, request: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.card.flush(request.pid(), reply);
    }

    fn fallocate(
        &self,
        request: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if u32::try_from(mode) == Ok(hole.bits()) {
            self.card.discard(request.pid(), offset, length, reply);
        } else {
            // As cards do: zeros are written.
            reply.error(Errno::EOPNOTSUPP);
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (CARD, FileType::RegularFile, NAME),
        ];
        let told = usize::try_from(offset).unwrap_or(usize::MAX);
        for ((ino, kind, name), next) in entries.into_iter().zip(1..).skip(told) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = self.card.size_bytes() / u64::from(BLOCK_BYTES);
        reply.statfs(blocks, 0, 0, 1, 0, BLOCK_BYTES, 255, BLOCK_BYTES);
    }
}
