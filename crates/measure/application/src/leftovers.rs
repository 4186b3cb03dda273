//! Leftovers of killed runs.

use std::fs::DirEntry;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::files::{is_at, open_folder};
use crate::folder::PREFIX;
use crate::packages::{FILE, NEW, PACKAGE};
use crate::safety::refuse_unsafe;

/// Suffixes of our files after the name of their workload.
const ENDINGS: [&str; 5] = ["db", "db-journal", "db-wal", "db-shm", "log"];

/// Folders of killed runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Folders that were removed.
    pub removed: Vec<PathBuf>,
    /// Folders that have a name like ours but belong to another user, contain other files, or cannot be
    /// removed.
    pub kept: Vec<PathBuf>,
}

/// Removes the leftovers of killed runs of this user from a directory. Keeps folders that are in use, and
/// those that contain anything unknown.
///
/// # Errors
/// If the directory cannot be listed; [`UnsafeDirectory`](crate::UnsafeDirectory) if others could swap root's
/// files.
pub fn clear_leftovers(directory: &Path) -> io::Result<Leftovers> {
    let directory = directory.canonicalize()?;
    refuse_unsafe(&directory)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in directory.read_dir()? {
        let entry = entry?;
        let is_named_so = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_named_so && is_folder(&entry) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let mut leftovers = Leftovers::default();
    for path in paths {
        match clear(&path) {
            Some(true) => leftovers.removed.push(path),
            Some(false) => leftovers.kept.push(path),
            None => {}
        }
    }
    Ok(leftovers)
}

/// Returns true if the folder was removed; `None` if it is in use, or no longer exists.
fn clear(path: &Path) -> Option<bool> {
    let folder = match open_folder(path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(_) => return Some(false),
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return None,
        Err(_) => return Some(false),
    }
    if matches!(is_at(&folder, path), Ok(false)) {
        return None;
    }
    let user = geteuid().as_raw();
    let is_mine = folder.metadata().is_ok_and(|held| held.uid() == user);
    Some(is_mine && is_ours(path) && std::fs::remove_dir_all(path).is_ok())
}

/// True if a folder contains only our own kinds of files: databases, logs, folders of packages.
fn is_ours(folder: &Path) -> bool {
    all(folder, |entry, name| {
        if is_folder(entry) {
            is_id(name) && all(&entry.path(), is_package)
        } else {
            let parts = name.split_once('.');
            is_file(entry) && parts.is_some_and(|(id, end)| is_id(id) && ENDINGS.contains(&end))
        }
    })
}

fn is_package(entry: &DirEntry, name: &str) -> bool {
    is_folder(entry)
        && is_numbered(name, PACKAGE)
        && all(&entry.path(), |entry, name| {
            let new = name.strip_suffix(NEW).and_then(|n| n.strip_suffix('.'));
            is_file(entry) && is_numbered(new.unwrap_or(name), FILE)
        })
}

/// True if all entries of a folder are known.
fn all(folder: &Path, is_known: impl Fn(&DirEntry, &str) -> bool) -> bool {
    let is_known = |entry: io::Result<DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| is_known(&entry, name))
        })
    };
    folder
        .read_dir()
        .is_ok_and(|mut entries| entries.all(is_known))
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// True if this is a valid name of a workload.
fn is_id(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !name.is_empty() && name.chars().all(is_part)
}

/// True for the word followed by a number of two digits or more.
fn is_numbered(name: &str, word: &str) -> bool {
    let number = name.strip_prefix(word).unwrap_or("");
    number.len() >= 2 && number.bytes().all(|digit| digit.is_ascii_digit())
}
