//! Files of users: read up to a limit, written all or nothing.

use std::fs::{OpenOptions, Permissions};
use std::io::{Error, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::{CommandError, Exit};

/// Mode of a new file before the user's mask applies.
const NEW_FILE_MODE: u32 = 0o666;

/// Reads a file of at most `limit_bytes`. Devices such as /dev/zero have no end.
/// # Errors
/// If the system refuses it.
pub fn read(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(Error::other(format!(
            "it has more than {limit_bytes} bytes"
        )));
    }
    Ok(bytes)
}

/// Writes a file: all or nothing, what was there stays if the new one cannot be written. A new file
/// gets the permissions of any new file, another keeps its own.
/// # Errors
/// If the system refuses it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let written = match std::fs::metadata(path) {
        // A pipe or a terminal must not be replaced.
        Ok(known) if !known.is_file() => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut open| open.write_all(bytes)),
        Ok(known) => replace(path, bytes, Some(known.permissions())),
        Err(_) => replace(path, bytes, None),
    };
    written.map_err(|error| {
        CommandError::new(Exit::Trouble, format!("cannot write `{}`", path.display()))
            .because(error.to_string())
    })
}

fn replace(path: &Path, bytes: &[u8], own: Option<Permissions>) -> Result<(), Error> {
    // Not the link but what it points to.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(NEW_FILE_MODE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    if let Some(own) = own {
        file.as_file().set_permissions(own)?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_like_any_new_file_and_an_old_one_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, path) = (folder.path().join("plain"), folder.path().join("page.html"));
        std::fs::write(&plain, "").unwrap();
        write(&path, b"one").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        std::fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(mode(&path), 0o604);
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 2, "nothing else is left");
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("page.html"), folder.path().join("link"));
        std::fs::write(&path, "old").unwrap();
        symlink(&path, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }

    #[test]
    fn what_was_there_stays_when_writing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("inside"), "old").unwrap();
        let error = write(&path, b"new").unwrap_err();
        assert_eq!(error.exit, Exit::Trouble);
        assert_eq!(std::fs::read(path.join("inside")).unwrap(), b"old");
        let missing = folder.path().join("no/such/page.html");
        assert!(write(&missing, b"new").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
