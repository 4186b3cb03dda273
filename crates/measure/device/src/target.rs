//! Opening of targets.

use std::ffi::{CString, c_int};
use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, FileType, IFlags, Mode, OFlags, StatxFlags, major, minor};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use crate::clock::since_boot_ns;
use crate::error::OpenError;

/// Alignment if the system reports none, bytes.
const DEFAULT_ALIGNMENT_BYTES: u32 = 4096;
/// `f_type` of btrfs.
const BTRFS_MAGIC: u64 = 0x9123_683e;
/// Number of names to try for the file if nameless files are not supported.
const NAMES_COUNT: u32 = 64;
/// `BLKGETSIZE64`: `_IOR(0x12, 114, size_t)`, which fills a `u64` on every machine.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
/// `BLKROGET`: `_IO(0x12, 94)`, which fills an `int`.
const BLKROGET: Opcode = opcode::none(0x12, 94);

/// Something open to be measured.
#[derive(Debug)]
pub struct OpenTarget {
    pub(crate) file: File,
    /// True if O_DIRECT was accepted; if not, the page cache is in use.
    pub direct: bool,
    /// True if the file had a name for a moment, because nameless files are not supported here.
    pub named: bool,
    /// True if copy-on-write is off for the file; only requested on btrfs.
    pub nocow: bool,
    /// Offsets and sizes must be multiples of this number of bytes.
    pub alignment_bytes: u32,
    /// Required alignment of memory, bytes; a power of two.
    pub memory_alignment_bytes: u32,
    /// Size of the device, or the maximum size of the file, bytes.
    pub size_bytes: u64,
    /// Major and minor number of the opened object, to be compared with the intended one: those of a device, or
    /// for a file those of its directory, as returned by `stat`.
    // Not those of the file: overlayfs has others for files than for directories.
    pub device_id: (u32, u32),
}

/// A file of our own in a directory, that vanishes when it is closed, also after a crash.
#[derive(Debug)]
pub struct TestFile(OpenTarget);

impl TestFile {
    /// Creates an empty file for up to `bytes` bytes in `directory`. Nothing is preallocated.
    ///
    /// # Errors
    /// If the directory does not exist, is not writable, or has no room for even an empty file. Free space is
    /// not checked: see [`free_bytes`].
    pub fn create(directory: &Path, bytes: u64) -> Result<Self, OpenError> {
        let fail = |errno| OpenError::of_directory(directory, errno);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(directory, flags, Mode::empty()).map_err(fail)?;
        let device = rustix::fs::fstat(&parent).map_err(fail)?.st_dev;
        let (fd, named) = create_nameless(&parent)
            .map(|fd| (fd, false))
            .or_else(|errno| {
                if is_not_offered(errno) {
                    create_named(&parent).map(|fd| (fd, true))
                } else {
                    Err(errno)
                }
            })
            .map_err(|errno| OpenError::of_new_file(directory, errno))?;
        let nocow = is_on_btrfs(&fd) && set_nocow(&fd);
        let direct = set_direct(&fd);
        Ok(Self(OpenTarget::new(
            fd,
            Facts {
                direct,
                named,
                nocow,
                size_bytes: bytes,
                device,
            },
        )))
    }
}

impl Deref for TestFile {
    type Target = OpenTarget;

    fn deref(&self) -> &OpenTarget {
        &self.0
    }
}

impl From<TestFile> for OpenTarget {
    fn from(file: TestFile) -> Self {
        file.0
    }
}

/// Opens a block device for reading alone.
///
/// # Errors
/// If there is no such block device, the user may not read it, or it has no medium.
pub fn open_device_readonly(path: &Path) -> Result<OpenTarget, OpenError> {
    let (fd, direct) = open_block(path, OFlags::RDONLY)?;
    device_target(path, fd, direct)
}

/// Opens a block device for reading and writing, exclusively: as long as the target is open, the device and its
/// parts cannot be mounted or used in another way that requires exclusive access.
///
/// Does not check whether the content of the device is still needed.
///
/// # Errors
/// If there is no such block device, it or a part of it is in use, it is write-protected, the user may not
/// write it, or it has no medium.
pub fn open_device_for_writing(path: &Path) -> Result<OpenTarget, OpenError> {
    let flags = OFlags::RDWR | OFlags::EXCL;
    let (fd, direct) = open_block(path, flags)?;
    // Most drivers let a device that is write-protected be opened, and refuse each write.
    if is_write_protected(&fd).map_err(|errno| OpenError::of_written_device(path, errno))? {
        return Err(OpenError::WriteProtected {
            path: path.to_owned(),
        });
    }
    device_target(path, fd, direct)
}

/// Checks whether the block device, or a part of it, is in exclusive use, by claiming it for a moment: any
/// mount, swap or larger device made from it claims it, even if no process sees that. Nothing is written.
/// Returns its major and minor number.
///
/// # Errors
/// [`OpenError::Busy`] if it is in use; otherwise as [`open_device_readonly`].
pub fn claim_device(path: &Path) -> Result<(u32, u32), OpenError> {
    let (fd, _) = open_block(path, OFlags::RDONLY | OFlags::EXCL)?;
    let opened = rustix::fs::fstat(&fd).map_err(|errno| OpenError::of_device(path, errno))?;
    Ok((major(opened.st_rdev), minor(opened.st_rdev)))
}

/// Opens a block device, with O_DIRECT if that is accepted; also returns whether it was.
fn open_block(path: &Path, flags: OFlags) -> Result<(OwnedFd, bool), OpenError> {
    let fail = |errno| {
        if flags.contains(OFlags::RDWR) {
            OpenError::of_written_device(path, errno)
        } else {
            OpenError::of_device(path, errno)
        }
    };
    let is_block =
        |stat: &rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let not_block = || OpenError::NotBlockDevice {
        path: path.to_owned(),
    };
    // Checked first: opening a pipe waits, and opening some character devices has side effects.
    if !is_block(&rustix::fs::stat(path).map_err(fail)?) {
        return Err(not_block());
    }
    let plain = flags | OFlags::CLOEXEC;
    let (fd, direct) = rustix::fs::open(path, plain | OFlags::DIRECT, Mode::empty())
        .map(|fd| (fd, true))
        .or_else(|errno| match errno {
            Errno::INVAL => rustix::fs::open(path, plain, Mode::empty()).map(|fd| (fd, false)),
            other => Err(other),
        })
        .map_err(fail)?;
    if !is_block(&rustix::fs::fstat(&fd).map_err(fail)?) {
        return Err(not_block());
    }
    Ok((fd, direct))
}

fn device_target(path: &Path, fd: OwnedFd, direct: bool) -> Result<OpenTarget, OpenError> {
    let fail = |errno| OpenError::of_device(path, errno);
    let facts = Facts {
        direct,
        named: false,
        nocow: false,
        size_bytes: device_bytes(&fd).map_err(fail)?,
        device: rustix::fs::fstat(&fd).map_err(fail)?.st_rdev,
    };
    Ok(OpenTarget::new(fd, facts))
}

/// Room on a filesystem for an ordinary user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// Used and free bytes together; blocks reserved for root count as neither, as in `df`.
    pub size_bytes: u64,
}

/// Returns the room on the filesystem of `path`.
///
/// # Errors
/// If the system call fails.
pub fn room(path: &Path) -> Result<Room, OpenError> {
    let stat = rustix::fs::statvfs(path).map_err(|errno| OpenError::of_directory(path, errno))?;
    let used = stat.f_blocks.saturating_sub(stat.f_bfree);
    let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
    Ok(Room {
        free_bytes: bytes(stat.f_bavail),
        size_bytes: bytes(used.saturating_add(stat.f_bavail)),
    })
}

/// Returns the bytes that this user may still write on the filesystem of `path`.
///
/// # Errors
/// If the system call fails.
pub fn free_bytes(path: &Path) -> Result<u64, OpenError> {
    room(path).map(|room| room.free_bytes)
}

/// Properties of the opened object.
struct Facts {
    direct: bool,
    named: bool,
    nocow: bool,
    size_bytes: u64,
    device: rustix::fs::Dev,
}

impl OpenTarget {
    fn new(fd: OwnedFd, facts: Facts) -> Self {
        let (memory_alignment_bytes, alignment_bytes) = alignments(&fd);
        Self {
            file: fd.into(),
            direct: facts.direct,
            named: facts.named,
            nocow: facts.nocow,
            alignment_bytes,
            memory_alignment_bytes,
            size_bytes: facts.size_bytes,
            device_id: (major(facts.device), minor(facts.device)),
        }
    }
}

impl AsFd for OpenTarget {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns whether the error is one of filesystems and kernels without nameless files.
fn is_not_offered(errno: Errno) -> bool {
    // ENOENT: kernels that do not know the flag create nothing; the directory itself is open.
    matches!(
        errno,
        Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::NOSYS | Errno::INVAL
    )
}

fn create_nameless(parent: &OwnedFd) -> Result<OwnedFd, Errno> {
    // O_EXCL: the file cannot be given a name later.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
    rustix::fs::openat(parent, c".", flags, Mode::RUSR | Mode::WUSR)
}

/// Creates a file under a unique name, and removes the name at once. O_DIRECT is requested later: an open with
/// it can leave a file behind when it is refused.
fn create_named(parent: &OwnedFd) -> Result<OwnedFd, Errno> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut last = Errno::EXIST;
    for _ in 0..NAMES_COUNT {
        let count = NEXT.fetch_add(1, Ordering::Relaxed);
        let number = cardmark_core::mix(since_boot_ns() ^ (u64::from(count) << 48));
        let name = format!(".cardmark-{}-{:08x}", std::process::id(), number >> 32);
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        match rustix::fs::openat(parent, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => {
                rustix::fs::unlinkat(parent, &name, AtFlags::empty())?;
                return Ok(fd);
            }
            Err(Errno::EXIST) => last = Errno::EXIST,
            Err(other) => return Err(other),
        }
    }
    Err(last)
}

/// Asks for O_DIRECT; whether it was accepted.
pub(crate) fn set_direct(fd: &OwnedFd) -> bool {
    let Ok(flags) = rustix::fs::fcntl_getfl(fd) else {
        return false;
    };
    rustix::fs::fcntl_setfl(fd, flags | OFlags::DIRECT).is_ok()
        && rustix::fs::fcntl_getfl(fd).is_ok_and(|now| now.contains(OFlags::DIRECT))
}

fn is_on_btrfs(fd: &OwnedFd) -> bool {
    // The field's type differs between machines; the number has 32 bits.
    rustix::fs::fstatfs(fd).is_ok_and(|stat| stat.f_type as u64 & 0xffff_ffff == BTRFS_MAGIC)
}

fn set_nocow(fd: &OwnedFd) -> bool {
    let Ok(flags) = rustix::fs::ioctl_getflags(fd) else {
        return false;
    };
    rustix::fs::ioctl_setflags(fd, flags | IFlags::NOCOW).is_ok()
        && rustix::fs::ioctl_getflags(fd).is_ok_and(|now| now.contains(IFlags::NOCOW))
}

/// Returns the alignment of memory and of offsets: from statx (Linux 6.1), the device's block size, or the
/// default.
pub(crate) fn alignments(fd: impl AsFd) -> (u32, u32) {
    let mask = StatxFlags::DIOALIGN;
    if let Ok(stat) = rustix::fs::statx(&fd, c"", AtFlags::EMPTY_PATH, mask) {
        let (memory, offset) = (stat.stx_dio_mem_align, stat.stx_dio_offset_align);
        if StatxFlags::from_bits_retain(stat.stx_mask).contains(mask)
            && memory.is_power_of_two()
            && offset.is_power_of_two()
        {
            return (memory, offset);
        }
    }
    let block = rustix::fs::ioctl_blksszget(&fd)
        .ok()
        .filter(|block| block.is_power_of_two());
    let block = block.unwrap_or(DEFAULT_ALIGNMENT_BYTES);
    (block, block)
}

fn device_bytes(fd: &OwnedFd) -> Result<u64, Errno> {
    // SAFETY: for this opcode the kernel writes one `u64`.
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

fn is_write_protected(fd: &OwnedFd) -> Result<bool, Errno> {
    // SAFETY: for this opcode the kernel writes one `int`.
    unsafe { ioctl(fd, Getter::<BLKROGET, c_int>::new()) }.map(|value| value != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_name_loses_it_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let parent = rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap();
        let first = create_named(&parent).unwrap();
        let second = create_named(&parent).unwrap();
        assert_eq!(rustix::fs::fstat(&first).unwrap().st_nlink, 0);
        assert_ne!(
            rustix::fs::fstat(&first).unwrap().st_ino,
            rustix::fs::fstat(&second).unwrap().st_ino
        );
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_size_of_a_file_is_not_that_of_a_device() {
        let file: OwnedFd = tempfile::tempfile().unwrap().into();
        assert_eq!(device_bytes(&file), Err(Errno::NOTTY));
    }
}
