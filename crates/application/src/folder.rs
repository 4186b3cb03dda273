//! The folder that applications work in.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;

use crate::files::{is_at, open_folder};
use crate::safety::refuse_unsafe;

/// What our folders are called, before a few letters drawn at random.
pub(crate) const PREFIX: &str = ".cardmark-application-";
/// So many new folders may be lost to other runs that clear up.
const TRIES: u32 = 10;
/// Between two tries, so that runs do not keep step.
const PAUSE: Duration = Duration::from_millis(10);

/// A folder of our own, locked while it is used, and removed with all it holds when dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Its lock tells other runs that it is in use.
    _locked: File,
    device_id: (u32, u32),
}

impl WorkFolder {
    /// Makes a folder in that directory, which only this user may enter.
    ///
    /// # Errors
    /// The system's, where this user may not, or nothing may be written there;
    /// [`UnsafeDirectory`](crate::UnsafeDirectory) where others could swap root's files.
    pub fn create(directory: &Path) -> io::Result<Self> {
        // Without links on the way: databases follow none.
        let directory = directory.canonicalize()?;
        refuse_unsafe(&directory)?;
        for _ in 0..TRIES {
            if let Some(folder) = Self::try_create(&directory)? {
                return Ok(folder);
            }
            std::thread::sleep(PAUSE);
        }
        let what = format!(
            "other runs remove each new folder in `{}`",
            directory.display()
        );
        Err(io::Error::new(ErrorKind::WouldBlock, what))
    }

    /// Makes a folder; `None` if another run took it for a leftover before it was locked.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the device that its filesystem says it is on.
    #[must_use]
    pub fn device_id(&self) -> (u32, u32) {
        self.device_id
    }
}

/// Locks a new folder; whether it is ours now, and still there.
fn lock(folder: &File, path: &Path) -> io::Result<bool> {
    // Where locks are not offered the folder is left alone by others all the same: they ask for it too.
    let locked = flock(folder, FlockOperation::NonBlockingLockExclusive);
    Ok(locked != Err(Errno::WOULDBLOCK) && is_at(folder, path)?)
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What stays is removed by the next run there.
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
