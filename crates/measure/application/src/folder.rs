//! The working folder of applications.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;

use crate::files::{is_at, open_folder};
use crate::safety::refuse_unsafe;

/// Prefix of the names of our folders; random letters follow.
pub(crate) const PREFIX: &str = ".cardmark-application-";
/// Maximum number of attempts; other runs may remove new folders as leftovers.
const TRIES: u32 = 10;
/// Pause between attempts, so that runs do not stay synchronized.
const PAUSE: Duration = Duration::from_millis(10);

/// A folder of our own, locked while it is used, and removed with its content when dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// The lock shows other runs that it is in use.
    _locked: File,
    device_id: (u32, u32),
}

impl WorkFolder {
    /// Creates a folder in a directory; only this user may enter it.
    ///
    /// # Errors
    /// The system's error if this user may not write there; [`UnsafeDirectory`](crate::UnsafeDirectory) if
    /// others could swap root's files.
    pub fn create(directory: &Path) -> io::Result<Self> {
        // Without links in the path, because databases do not follow them.
        let directory = directory.canonicalize()?;
        refuse_unsafe(&directory)?;
        for _ in 0..TRIES {
            if let Some(folder) = Self::try_create(&directory)? {
                return Ok(folder);
            }
            std::thread::sleep(PAUSE);
        }
        let what = format!(
            "cannot keep a folder in `{}`: other runs remove it",
            directory.display()
        );
        Err(io::Error::new(ErrorKind::WouldBlock, what))
    }

    /// Creates a folder; `None` if another run removed it as a leftover before it was locked.
    fn try_create(directory: &Path) -> io::Result<Option<Self>> {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(directory)?;
        let locked = match open_folder(made.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if !lock(&locked, made.path())? {
            return Ok(None);
        }
        let device = locked.metadata()?.dev();
        Ok(Some(Self {
            path: made.keep(),
            _locked: locked,
            device_id: (major(device), minor(device)),
        }))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the device number of its filesystem.
    #[must_use]
    pub fn device_id(&self) -> (u32, u32) {
        self.device_id
    }
}

/// Locks a new folder. True if it is now ours and still exists.
fn lock(folder: &File, path: &Path) -> io::Result<bool> {
    // Without support for locks, other runs keep the folder too, because they also try to lock it.
    let locked = flock(folder, FlockOperation::NonBlockingLockExclusive);
    Ok(locked != Err(Errno::WOULDBLOCK) && is_at(folder, path)?)
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The next run there removes the rest.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_that_another_run_clears_up_is_not_ours() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("new");
        std::fs::create_dir(&path).unwrap();
        let (theirs, ours) = (open_folder(&path).unwrap(), open_folder(&path).unwrap());
        assert!(lock(&theirs, &path).unwrap());
        assert!(!lock(&ours, &path).unwrap(), "they hold it");
        std::fs::remove_dir(&path).unwrap();
        drop(theirs);
        assert!(!lock(&ours, &path).unwrap(), "they removed it");
    }
}
