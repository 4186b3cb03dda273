//! The folder that applications work in.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, major, minor};

/// What our folders are called, before a few letters drawn at random.
const PREFIX: &str = ".cardmark-application-";
/// What our folders hold.
const ENDINGS: [&str; 5] = [".db", ".db-journal", ".db-wal", ".db-shm", ".log"];
/// What files of packages are called before the number.
const PACKAGE: &str = "package-";

/// A folder of our own, locked while it is used, and removed with all it holds when dropped.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Its lock tells other runs that it is in use.
    _locked: File,
    device_id: (u32, u32),
}

impl WorkFolder {
    /// Makes a folder in that directory.
    ///
    /// # Errors
    /// The system's, where this user may not, or nothing may be written there.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(directory)?;
        let locked = File::open(made.path())?;
        // Where locks are not offered the folder is left alone by others all the same: they ask for it too.
        let _ = flock(&locked, FlockOperation::NonBlockingLockExclusive);
        let device = locked.metadata()?.dev();
        Ok(Self {
            path: made.keep(),
            _locked: locked,
            device_id: (major(device), minor(device)),
        })
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

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What stays is removed by the next run there.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Folders of runs that were killed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// These are gone now.
    pub removed: Vec<PathBuf>,
    /// These are named like ours but hold something else, or cannot be removed.
    pub kept: Vec<PathBuf>,
}

/// Removes what runs that were killed left in a directory. What is in use stays, and what does not look
/// like ours in every part.
///
/// # Errors
/// When the directory cannot be listed.
pub fn clear_leftovers(directory: &Path) -> io::Result<Leftovers> {
    let mut leftovers = Leftovers::default();
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in directory.read_dir()? {
        let entry = entry?;
        let is_named_so = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_named_so && entry.file_type()?.is_dir() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    for path in paths {
        let Ok(folder) = File::open(&path) else {
            leftovers.kept.push(path);
            continue;
        };
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Ok(()) if is_ours(&path) && std::fs::remove_dir_all(&path).is_ok() => {
                leftovers.removed.push(path);
            }
            _ => leftovers.kept.push(path),
        }
    }
    Ok(leftovers)
}

/// Whether all that a folder holds is what we make there.
fn is_ours(folder: &Path) -> bool {
    let all = |folder: &Path, is_known: &dyn Fn(&std::fs::DirEntry, &str) -> bool| {
        folder.read_dir().is_ok_and(|mut entries| {
            entries.all(|entry| {
                entry.is_ok_and(|entry| is_known(&entry, &entry.file_name().to_string_lossy()))
            })
        })
    };
    let is_dir = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let is_package =
        |entry: &std::fs::DirEntry, name: &str| is_dir(entry) && name.starts_with(PACKAGE);
    all(folder, &|entry, name| {
        if is_dir(entry) {
            all(&entry.path(), &is_package)
        } else {
            ENDINGS.iter().any(|ending| name.ends_with(ending))
        }
    })
}
