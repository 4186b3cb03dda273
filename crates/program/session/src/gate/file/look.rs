//! Kind of file that a path leads to, without opening it.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use rustix::process::geteuid;

use crate::error::{CommandError, Exit};

/// Most links that lead from one to the next; the kernel's limit.
const MOST_LINKS: usize = 40;
/// Major and minor number of /dev/null.
const NULL: (u32, u32) = (1, 3);
/// A folder with both bits is shared: everybody may add files, and only their owners remove them.
const SHARED: u32 = 0o1002;
/// Folders that hold no files of people.
const KERNEL_FOLDERS: [&str; 3] = ["/dev", "/proc", "/sys"];
/// Memory for files, in one of them.
const SHARED_MEMORY: &str = "/dev/shm";

/// Destination that a path leads to.
pub(super) enum Leads {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// /dev/null, by any name.
    Nothing,
    /// A regular file at a path without links, or a place for one.
    File(PathBuf, Option<Metadata>),
}

/// Follows a path and its links.
///
/// # Errors
/// If it leads to something that is neither a regular file, nor a place for one, nor an output.
pub(super) fn look(path: &Path) -> Result<Leads, String> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = folder_of(&path)?;
        path = folder.join(path.file_name().unwrap_or_default());
        if let Some(output) = own_output(&path) {
            return Ok(output);
        }
        if folder.starts_with("/proc") {
            return in_proc(&path);
        }
        let known = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                refuse_kernel_folder(&folder)?;
                return Ok(Leads::File(path, None));
            }
            known => known.map_err(|error| error.to_string())?,
        };
        refuse_planted(&folder, &known)?;
        if known.is_symlink() {
            let target = fs::read_link(&path).map_err(|error| error.to_string())?;
            path = folder.join(target);
        } else if is_null(&known) {
            return Ok(Leads::Nothing);
        } else if known.is_file() {
            refuse_kernel_folder(&folder)?;
            return Ok(Leads::File(path, Some(known)));
        } else {
            return Err(kind(&known).to_owned());
        }
    }
    Err("too many links lead from one to the next".to_owned())
}

/// Folder of a path, without links.
fn folder_of(path: &Path) -> Result<PathBuf, String> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    if path.file_name().is_none() || bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        return Err("it is a directory".to_owned());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let found = folder.canonicalize();
    let found = found.map_err(|error| format!("its folder cannot be used: {error}"))?;
    match found.is_dir() {
        true => Ok(found),
        false => Err("its folder is none".to_owned()),
    }
}

/// Standard output or standard error, under a name that the kernel gives them.
fn own_output(path: &Path) -> Option<Leads> {
    let own = Path::new("/proc/self").canonicalize().ok()?;
    let folder = path.parent()?;
    if !folder.starts_with(own) || !folder.ends_with("fd") {
        return None;
    }
    match path.file_name()?.to_str()? {
        "1" => Some(Leads::Output),
        "2" => Some(Leads::Error),
        _ => None,
    }
}

/// Files in /proc are the kernel's, or open files of some process.
fn in_proc(path: &Path) -> Result<Leads, String> {
    match fs::metadata(path) {
        Ok(known) if is_null(&known) => Ok(Leads::Nothing),
        Ok(known) if !known.is_file() => Err(kind(&known).to_owned()),
        _ => Err("it is a file of the kernel, or an open file of a program".to_owned()),
    }
}

/// Refuses folders that hold devices or files of the kernel. A device that is not there is a mistake, and no name for a
/// file.
pub(super) fn refuse_kernel_folder(folder: &Path) -> Result<(), String> {
    let is_in = |known: &&&str| folder.starts_with(known);
    match KERNEL_FOLDERS.iter().find(is_in) {
        Some(known) if !folder.starts_with(SHARED_MEMORY) => Err(format!(
            "{known} holds no files of people, and it is no device that is here"
        )),
        _ => Ok(()),
    }
}

/// Refuses a file or link that another user put into a folder that everybody may write to, as the kernel does for programs
/// that open it.
fn refuse_planted(folder: &Path, known: &Metadata) -> Result<(), String> {
    let folder = fs::metadata(folder).map_err(|error| error.to_string())?;
    let is_own = known.uid() == geteuid().as_raw() || known.uid() == folder.uid();
    match folder.mode() & SHARED == SHARED && !is_own {
        true => {
            Err("another user put it there, into a folder that everybody may write to".to_owned())
        }
        false => Ok(()),
    }
}

fn is_null(known: &Metadata) -> bool {
    let number = (major(known.rdev()), minor(known.rdev()));
    known.file_type().is_char_device() && number == NULL
}

/// Description of what is there.
pub(super) fn kind(known: &Metadata) -> &'static str {
    let kind = known.file_type();
    match () {
        () if kind.is_file() => "it is a file",
        () if kind.is_dir() => "it is a directory",
        () if kind.is_block_device() => "it is a block device",
        () if kind.is_char_device() => "it is a character device",
        () if kind.is_fifo() => "it is a FIFO",
        () if kind.is_socket() => "it is a socket",
        () => "it is no regular file",
    }
}

/// The error for a path that may not be written. Nothing was opened.
pub(super) fn refused(path: &Path, cause: &str) -> CommandError {
    let what = format!("cannot write to `{}`", path.display());
    CommandError::new(Exit::Usage, what).because(cause)
}
