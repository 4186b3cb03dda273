//! Path from a target down to the disk.
//!
//! Never names a wrong disk: if the host cannot determine it for certain, the path ends there, a finding
//! reports that, and nothing is counted.

use std::io;
use std::path::{Path, PathBuf};

use crate::root::{FileKind, Root};
use crate::walk::{Resolution, Walk};

/// Reason why a path is no target.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It cannot be inspected.
    #[error("cannot inspect {}: {source}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is neither a directory nor a block device.
    #[error("{} is neither a directory nor a block device", path.display())]
    WrongKind {
        /// The path as given.
        path: PathBuf,
    },
}

/// Returns the devices below a directory or a block device.
///
/// # Errors
/// If the path cannot be inspected, or is neither.
pub fn resolve(root: &Root, path: &Path) -> Result<Resolution, ResolveError> {
    let unreadable = |source| ResolveError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let stat = root.stat(path).map_err(unreadable)?;
    let mut walk = Walk::new(root);
    match stat.kind {
        FileKind::Directory => {
            let canonical = root.canonical(path).map_err(unreadable)?;
            walk.directory(&canonical, stat);
        }
        FileKind::Block(number) => {
            walk.device(number);
        }
        FileKind::File { .. } | FileKind::Other => {
            return Err(ResolveError::WrongKind {
                path: path.to_owned(),
            });
        }
    }
    Ok(walk.finish())
}
