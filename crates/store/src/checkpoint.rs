//! Progress of a long test, in a file that is intact at any time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file with the progress of a test.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
}

impl Checkpoint {
    /// Returns the checkpoint of that name in that folder, and creates the folder if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn in_folder(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            path: folder.join(name),
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the last saved text, if any.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Saves a text in place of the previous one, durably: after a loss of power one of the two is present,
    /// intact.
    ///
    /// # Errors
    /// If it cannot be written; the previous text is then still there.
    pub fn save(&self, text: &str) -> io::Result<()> {
        let draft = self.path.with_extension("draft");
        let mut file = File::create(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        self.sync_folder()
    }

    /// Forgets it.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        match self.path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_last_is_found_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let of =
            || Checkpoint::in_folder(&folder.path().join("tests"), "card-verify.json").unwrap();
        assert_eq!(of().load().unwrap(), None);
        of().save("first").unwrap();
        of().save("second").unwrap();
        assert_eq!(of().load().unwrap().as_deref(), Some("second"));
        of().remove().unwrap();
        of().remove().unwrap();
        assert_eq!(of().load().unwrap(), None);
    }
}
