//! Files of journals: drafts, locks, directories.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::fsync;
use rustix::io::Errno;

use crate::JournalError;

/// Extension of journals.
pub(crate) const EXTENSION: &str = "journal";
/// Extension of journals until their first line is durable.
pub(crate) const DRAFT_EXTENSION: &str = "journal-new";
/// Number of attempts to lock a file, with a pause between them: `recover` locks it for a moment to check
/// whether it is in use.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// A file that is locked until this value is dropped.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Locks a file, or reports that another process holds it.
    pub(crate) fn new(file: File, path: &Path) -> Result<Self, JournalError> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(live(path)),
            Err(TryLockError::Error(error)) => Err(failed("lock", path)(error)),
        }
    }

    /// Returns whether the path still refers to this file.
    pub(crate) fn is_named(&self, path: &Path) -> bool {
        match (self.metadata(), fs::symlink_metadata(path)) {
            (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

/// Closing the file is not enough: a child process shares the lock until it executes its program.
impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn live(path: &Path) -> JournalError {
    JournalError::Live {
        path: path.to_owned(),
    }
}

/// Repeats an attempt for a moment while another process holds the file.
pub(crate) fn patiently<T>(
    attempt: impl Fn() -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    for _ in 1..LOCK_TRIES {
        match attempt() {
            Err(JournalError::Live { .. }) => sleep(LOCK_PAUSE),
            other => return other,
        }
    }
    attempt()
}

/// Opens a draft for appending and locks it; content left by a crash is removed.
pub(crate) fn open_draft(draft: &Path) -> Result<LockedFile, JournalError> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    patiently(|| {
        let file = options.open(draft).map_err(failed("make", draft))?;
        let file = LockedFile::new(file, draft)?;
        // Between opening and locking, `recover` may have removed it.
        if !file.is_named(draft) {
            return Err(live(draft));
        }
        file.set_len(0).map_err(failed("empty", draft))?;
        Ok(file)
    })
}

/// Refuses a journal that a process holds; a missing one is free.
pub(crate) fn refuse_live(path: &Path) -> Result<(), JournalError> {
    match File::open(path) {
        Ok(file) => LockedFile::new(file, path).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("open", path)(error)),
    }
}

/// Makes a directory only its owner can enter, parents included.
pub(crate) fn make_directory(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    // Some filesystems have nothing to sync in a directory and return an error.
    match fsync(File::open(dir)?) {
        Err(Errno::INVAL) => Ok(()),
        other => Ok(other?),
    }
}

pub(crate) fn failed<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> JournalError + 'a {
    move |source| JournalError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
