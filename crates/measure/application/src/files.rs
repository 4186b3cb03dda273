//! Opens our own files without following links.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a folder.
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Makes creations, renames and removals in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    open_folder(path)?.sync_all()
}

/// Opens an existing file for writing.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    open(path, OFlags::WRONLY)
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// True if the path still refers to the open file.
pub(crate) fn is_at(held: &File, path: &Path) -> io::Result<bool> {
    let held = held.metadata()?;
    match path.symlink_metadata() {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let [file, folder, to_file, to_folder] =
            ["file", "folder", "a", "b"].map(|name| scratch.path().join(name));
        std::fs::write(&file, "x").unwrap();
        std::fs::create_dir(&folder).unwrap();
        symlink(&file, &to_file).unwrap();
        symlink(&folder, &to_folder).unwrap();
        assert!(open_file(&file).is_ok() && sync_folder(&folder).is_ok());
        assert!(open_file(&to_file).is_err());
        assert!(sync_folder(&to_folder).is_err());
    }

    #[test]
    fn what_was_swapped_or_removed_is_noticed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        let held = open_folder(&path).unwrap();
        assert!(is_at(&held, &path).unwrap());
        std::fs::rename(&path, scratch.path().join("elsewhere")).unwrap();
        assert!(!is_at(&held, &path).unwrap());
        std::fs::create_dir(&path).unwrap();
        assert!(!is_at(&held, &path).unwrap());
    }
}
