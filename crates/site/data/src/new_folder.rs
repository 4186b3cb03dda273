//! A folder that is there as a whole or not at all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{DataError, at};
use crate::files::sync_folder;

/// A folder that is written beside its place. Dropped before [`NewFolder::finish`], it leaves nothing.
#[derive(Debug)]
pub struct NewFolder {
    work: PathBuf,
    place: PathBuf,
}

impl NewFolder {
    /// Begins a folder, and removes what a killed process left of it.
    ///
    /// # Errors
    /// If the folder is there already, or none can be made beside it.
    pub fn begin(place: &Path) -> Result<Self, DataError> {
        if place.exists() {
            return Err(DataError::Exists(place.to_owned()));
        }
        let mut name = OsString::from(".");
        name.push(place.file_name().unwrap_or_default());
        name.push(".unfinished");
        let work = place.with_file_name(name);
        if work.exists() {
            std::fs::remove_dir_all(&work).map_err(at(&work))?;
        }
        std::fs::create_dir_all(&work).map_err(at(&work))?;
        Ok(Self {
            work,
            place: place.to_owned(),
        })
    }

    /// The folder to write into.
    pub fn path(&self) -> &Path {
        &self.work
    }

    /// Gives the folder its name. Its files have to be durable.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn finish(self) -> Result<(), DataError> {
        std::fs::rename(&self.work, &self.place).map_err(at(&self.place))?;
        match self.place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_folder(parent),
            _ => sync_folder(Path::new(".")),
        }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // After `finish` it is not there any more; what cannot be removed now is removed by the next one.
        let _ = std::fs::remove_dir_all(&self.work);
    }
}
