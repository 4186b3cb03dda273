//! Destination of what a command writes.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use cardmark_store::Places;
use rustix::fs::{Access, OFlags, access};
use tempfile::NamedTempFile;

use super::look::{Leads, look, refused};
use super::marks::refuse_store;
use crate::error::{CommandError, Exit};

/// Mode of a new file before the user's mask applies.
const NEW_MODE: u32 = 0o666;
/// Mode of a file that only its owner may read.
const PRIVATE_MODE: u32 = 0o600;
/// Beginning of the name that a file has until it is complete.
const DRAFT: &str = ".cardmark-";

/// Destination of what a command writes, as a person named it. Checked; nothing is open yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// /dev/null.
    Nothing,
    /// A regular file.
    File(Place),
}

/// Place of a regular file, which may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As the person named it.
    named: PathBuf,
    /// Without links.
    path: PathBuf,
}

impl Destination {
    /// Checks a path before there is anything to write: it leads to a regular file or to a place for one, which can be
    /// made, or to an output. `-` is standard output.
    ///
    /// # Errors
    /// If it leads to anything else, such as a device, FIFO, socket, directory or file of the store.
    pub fn named(path: &Path) -> Result<Self, CommandError> {
        let found = Self::at(path)?;
        if let Self::File(place) = &found {
            place.try_out().map_err(|cause| {
                refused(path, &cause).hint("name a file in a folder that you may write to")
            })?;
        }
        Ok(found)
    }

    /// Checks only where a path leads to: what is there may be read-only.
    ///
    /// # Errors
    /// As [`Destination::named`].
    pub fn at(path: &Path) -> Result<Self, CommandError> {
        if path.as_os_str() == "-" {
            return Ok(Self::Output);
        }
        let places = Places::from_environment().ok().flatten();
        Self::beside(path, places.as_ref()).map_err(|cause| {
            refused(path, &cause).hint("name a new or a regular file, or `-` for standard output")
        })
    }

    /// Checks a path; the store is at those places.
    pub(super) fn beside(path: &Path, places: Option<&Places>) -> Result<Self, String> {
        Ok(match look(path)? {
            Leads::Output => Self::Output,
            Leads::Error => Self::Error,
            Leads::Nothing => Self::Nothing,
            Leads::File(found, known) => {
                refuse_store(&found, known.as_ref(), places)?;
                Self::File(Place {
                    named: path.to_owned(),
                    path: found,
                })
            }
        })
    }
}

impl Place {
    #[cfg(test)]
    pub(super) fn unchecked(path: &Path) -> Self {
        let mut leads = path.to_owned();
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name())
            && let Ok(folder) = folder.canonicalize()
        {
            leads = folder.join(name);
        }
        Self {
            named: path.to_owned(),
            path: leads,
        }
    }

    /// Path as the person named it.
    #[must_use]
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// Path without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file all or nothing. One that is there keeps its owner and mode.
    ///
    /// # Errors
    /// If the path leads elsewhere by now, or the system refuses it.
    pub fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let written = self.whole(bytes, NEW_MODE)?;
        written
            .persist(&self.path)
            .map(drop)
            .map_err(|error| self.failed(&error.error))
    }

    /// Writes a new file that only its owner may read.
    ///
    /// # Errors
    /// If it is there already, or the system refuses it.
    pub fn write_new_private(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let exists = || refused(&self.named, "the file exists").hint("name a new file");
        if self.known()?.is_some() {
            return Err(exists());
        }
        let written = self.whole(bytes, PRIVATE_MODE)?;
        match written.persist_noclobber(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists()),
            Err(error) => Err(self.failed(&error.error)),
        }
    }

    /// Opens the file for reading and appending, or makes it.
    ///
    /// # Errors
    /// If the path leads elsewhere by now, or the system refuses it.
    pub fn append(&self) -> Result<File, CommandError> {
        // A link, FIFO or device that takes the place after the check is neither followed nor waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = File::options();
        options
            .read(true)
            .append(true)
            .custom_flags(flags.bits().cast_signed());
        let is_new = self.known()?.is_none();
        let opened = options.create_new(is_new).open(&self.path);
        let file = opened.map_err(|error| self.failed(&error))?;
        let found = file.metadata().map_err(|error| self.failed(&error))?;
        match found.is_file() {
            true => Ok(file),
            false => Err(refused(&self.named, super::look::kind(&found))),
        }
    }

    /// Looks again; returns the file that is there.
    fn known(&self) -> Result<Option<Metadata>, CommandError> {
        let elsewhere = || refused(&self.named, "it leads elsewhere since it was checked");
        match Destination::at(&self.named)? {
            Destination::File(place) if place.path == self.path => {
                Ok(std::fs::symlink_metadata(&self.path).ok())
            }
            _ => Err(elsewhere()),
        }
    }

    /// The complete file, still under another name.
    fn whole(&self, bytes: &[u8], mode: u32) -> Result<NamedTempFile, CommandError> {
        let known = self.known()?;
        let written = draft(self.folder(), mode, known.as_ref()).and_then(|mut file| {
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            Ok(file)
        });
        written.map_err(|error| self.failed(&error))
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Makes a file beside the place, with the owner of the one that is there, and removes it.
    fn try_out(&self) -> Result<(), String> {
        let known = std::fs::symlink_metadata(&self.path).ok();
        if known.is_some() && access(&self.path, Access::WRITE_OK).is_err() {
            return Err("the file is write-protected".to_owned());
        }
        let tried = draft(self.folder(), NEW_MODE, known.as_ref());
        tried.map(drop).map_err(|error| {
            format!("no file can be made beside it, and nothing is overwritten in place: {error}")
        })
    }

    fn failed(&self, error: &io::Error) -> CommandError {
        let what = format!("cannot write `{}`", self.named.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    }
}

/// Makes a file in a folder, and removes it.
pub(super) fn try_folder(folder: &Path) -> io::Result<()> {
    draft(folder, PRIVATE_MODE, None).map(drop)
}

/// An empty file with that mode, or with owner and mode of the one that it will replace. Gone if it is dropped.
fn draft(folder: &Path, mode: u32, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mode = replaced.map_or(mode, |_| PRIVATE_MODE);
    let file = tempfile::Builder::new()
        .prefix(DRAFT)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    if let Some(known) = replaced {
        let made = file.as_file().metadata()?;
        if (made.uid(), made.gid()) != (known.uid(), known.gid()) {
            fchown(file.as_file(), Some(known.uid()), Some(known.gid()))
                .map_err(|error| io::Error::other(format!("its owner cannot be kept: {error}")))?;
        }
        // Filesystems without modes refuse a change, and show the same mode for all files.
        if file.as_file().metadata()?.mode() != known.mode() {
            file.as_file().set_permissions(known.permissions())?;
        }
    }
    Ok(file)
}
