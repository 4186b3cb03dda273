//! Files that a person names. Reading has a limit. Every path that a command writes passes [`Destination`] or [`folder`]:
//! regular files only, written beside their place and renamed; nothing that is no regular file is opened.

mod destination;
mod look;
mod marks;

use std::io::{Error, Read};
use std::path::Path;

pub use destination::{Destination, Place};
use look::refused;

use crate::error::CommandError;

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

/// Writes a regular file, or replaces it. The former content stays if that fails.
/// # Errors
/// If the path leads to anything else, or the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    match Destination::at(path)? {
        Destination::File(place) => place.write(bytes),
        Destination::Nothing => Ok(()),
        Destination::Output | Destination::Error => {
            Err(refused(path, "it is an output of this program"))
        }
    }
}

/// Checks the folder that a person named for files of a command. It may be missing.
/// # Errors
/// If it is no folder, or no file can be made in it.
pub fn folder(path: &Path) -> Result<(), CommandError> {
    let refuse = |cause: &str| refused(path, cause).hint("name a folder that you may write to");
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let above = path.parent().and_then(|above| above.canonicalize().ok());
            let checked = above.map_or(Ok(()), |above| look::refuse_kernel_folder(&above));
            return checked.map_err(|cause| refuse(&cause));
        }
        Err(error) => return Err(refuse(&error.to_string())),
        Ok(found) if !found.is_dir() => return Err(refuse(look::kind(&found))),
        Ok(_) => {}
    }
    let checked = path
        .canonicalize()
        .map_err(|error| error.to_string())
        .and_then(|path| look::refuse_kernel_folder(&path).map(|()| path))
        .and_then(|path| destination::try_folder(&path).map_err(|error| error.to_string()));
    checked.map_err(|cause| refuse(&cause))
}

#[cfg(test)]
mod tests;
