//! Names of files that processes write, as the kernel reports them.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, readlink};

// The C library of Rust's own: glibc or musl.
unsafe extern "C" {
    fn fanotify_init(flags: c_uint, event_flags: c_uint) -> c_int;
    fn fanotify_mark(
        queue: c_int,
        flags: c_uint,
        mask: u64,
        folder: c_int,
        path: *const c_char,
    ) -> c_int;
}

const FAN_CLOEXEC: c_uint = 1;
const FAN_NONBLOCK: c_uint = 2;
const FAN_MARK_ADD: c_uint = 1;
/// Since Linux 4.20: the whole filesystem, by all its mounts.
const FAN_MARK_FILESYSTEM: c_uint = 0x100;
const FAN_MODIFY: u64 = 2;
const AT_FDCWD: c_int = -100;
/// `struct fanotify_event_metadata`: length (4 bytes), version, reserved, its own length (2), mask (8), descriptor (4),
/// process (4).
const EVENT_BYTES: usize = 24;
const BATCH_BYTES: usize = 16_384;

/// Observes who writes to the files of some filesystems. Nothing waits for it.
#[derive(Debug)]
pub struct ModifiedFiles {
    queue: OwnedFd,
}

impl ModifiedFiles {
    /// Begins to observe the filesystems with these mount points.
    ///
    /// # Errors
    /// If this user or kernel cannot observe one of them.
    pub fn observe<'a>(points: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        // A FIFO would wait for a reader.
        let flags = OFlags::RDONLY | OFlags::LARGEFILE | OFlags::CLOEXEC | OFlags::NONBLOCK;
        // SAFETY: two numbers; the result is an error or a descriptor that nobody else has.
        let queue = unsafe { fanotify_init(FAN_CLOEXEC | FAN_NONBLOCK, flags.bits()) };
        if queue < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open, and owned by nobody.
        let queue = unsafe { OwnedFd::from_raw_fd(queue) };
        for point in points {
            let path = CString::new(point.as_os_str().as_bytes())?;
            let flags = FAN_MARK_ADD | FAN_MARK_FILESYSTEM;
            let number = queue.as_raw_fd();
            // SAFETY: the path ends with NUL and outlives the call.
            let done = unsafe { fanotify_mark(number, flags, FAN_MODIFY, AT_FDCWD, path.as_ptr()) };
            if done != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Self { queue })
    }

    /// Returns processes and the files that they have written since the last call, each pair at least once.
    pub fn take(&mut self) -> Vec<(u32, PathBuf)> {
        let mut found = Vec::new();
        let mut batch = [0_u8; BATCH_BYTES];
        while let Ok(length) = rustix::io::read(self.queue.as_fd(), &mut batch) {
            let mut rest = batch.get(..length).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            while let Some(event) = rest.first_chunk::<EVENT_BYTES>() {
                let size = u32::from_ne_bytes([event[0], event[1], event[2], event[3]]);
                found.extend(written(event));
                let size = usize::try_from(size).unwrap_or(0).max(EVENT_BYTES);
                rest = rest.get(size..).unwrap_or_default();
            }
        }
        found
    }
}

/// Process and file of an event; `None` if the queue was too long, or the process is in another container.
fn written(event: &[u8; EVENT_BYTES]) -> Option<(u32, PathBuf)> {
    let number = |at: usize| {
        let bytes = event.get(at..)?.first_chunk::<4>()?;
        Some(i32::from_ne_bytes(*bytes))
    };
    let descriptor = number(16).filter(|descriptor| *descriptor >= 0)?;
    // SAFETY: the kernel opened it for this event, and nothing else owns it.
    let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = readlink(link, Vec::new()).ok()?.into_bytes();
    let process = u32::try_from(number(20)?).ok().filter(|id| *id > 0)?;
    Some((process, PathBuf::from(std::ffi::OsString::from_vec(name))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cardmark_testkit::{Mount, needs};

    use super::*;

    #[test]
    fn who_writes_which_file_is_seen() {
        needs!(Root, LoopDevice, Ext4);
        let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
        let card = Mount::ext4_in_memory(scratch.path(), 16 << 20);
        let before = card.folder().join("before");
        fs::write(&before, "a").unwrap();
        let mut observed = ModifiedFiles::observe([card.folder()].into_iter()).unwrap();
        assert_eq!(observed.take(), []);
        let file = card.folder().join("a b");
        fs::write(&file, "text").unwrap();
        fs::read(&before).unwrap();
        fs::write(scratch.path().join("elsewhere"), "text").unwrap();
        let name = file.canonicalize().unwrap();
        assert_eq!(observed.take(), [(std::process::id(), name)]);
        assert_eq!(observed.take(), []);
        let missing = ModifiedFiles::observe([Path::new("/nothing/here")].into_iter());
        assert!(missing.is_err());
    }
}
