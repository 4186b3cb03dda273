//! Arguments that name what a command writes. Their types lead to the path only through a check.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cardmark_session::file::{Destination, folder};

use crate::error::CommandError;

/// File that a command writes.
#[derive(Clone, Debug)]
pub(crate) struct WrittenFile(PathBuf);

impl WrittenFile {
    /// Checks it before anything is measured.
    pub(crate) fn destination(&self) -> Result<Destination, CommandError> {
        Destination::named(&self.0)
    }

    /// Checks it as a file that is read, and written only if that is possible.
    pub(crate) fn read_first(&self) -> Result<Destination, CommandError> {
        Destination::at(&self.0)
    }

    /// Ending of its name.
    pub(crate) fn ending(&self) -> Option<&str> {
        self.0.extension()?.to_str()
    }
}

impl From<OsString> for WrittenFile {
    fn from(name: OsString) -> Self {
        Self(name.into())
    }
}

/// Folder that a command writes into.
#[derive(Clone, Debug)]
pub(crate) struct WrittenFolder(PathBuf);

impl WrittenFolder {
    /// Checks it before anything is measured. It may be missing.
    pub(crate) fn checked(&self) -> Result<&Path, CommandError> {
        folder(&self.0).map(|()| &*self.0)
    }
}

impl From<OsString> for WrittenFolder {
    fn from(name: OsString) -> Self {
        Self(name.into())
    }
}

#[cfg(test)]
mod tests;
