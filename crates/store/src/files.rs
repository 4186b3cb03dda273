//! Files of journals: drafts, locks, directories.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock, fsync};
use rustix::io::Errno;

use crate::JournalError;

/// Extension of journals.
pub(crate) const EXTENSION: &str = "journal";
/// Extension of journals until their first line is durable.
pub(crate) const DRAFT_EXTENSION: &str = "journal-new";
/// Number of attempts to lock a draft, with a pause between them: `recover` locks it for a moment to check
/// whether it is in use.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Opens a draft for appending and locks it; content left by a crash is removed.
pub(crate) fn open_locked(draft: &Path) -> Result<File, JournalError> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    for _ in 0..LOCK_TRIES {
        let file = options.open(draft).map_err(failed("make", draft))?;
        match try_lock(&file) {
            // Between opening and locking, `recover` may have removed it.
            Ok(()) if is_named(&file, draft) => {
                file.set_len(0).map_err(failed("empty", draft))?;
                return Ok(file);
            }
            Ok(()) | Err(Errno::WOULDBLOCK) => sleep(LOCK_PAUSE),
            Err(errno) => return Err(failed("lock", draft)(errno.into())),
        }
    }
    Err(JournalError::Live {
        path: draft.to_owned(),
    })
}

/// Locks a file; `WOULDBLOCK` if it is already locked.
pub(crate) fn try_lock(file: &File) -> Result<(), Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Returns whether the path still refers to this file.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Refuses a journal that a process holds; a missing one is free.
pub(crate) fn refuse_live(path: &Path) -> Result<(), JournalError> {
    match File::open(path) {
        Ok(file) => lock(&file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("open", path)(error)),
    }
}

/// Locks a file, or reports that another process holds it.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    try_lock(file).map_err(|errno| match errno {
        Errno::WOULDBLOCK => JournalError::Live {
            path: path.to_owned(),
        },
        other => failed("lock", path)(other.into()),
    })
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
