//! Errors of opening a target.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use thiserror::Error;

use crate::object::{number, number_of};

/// Reason why a target could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The path is not a directory.
    #[error("`{path}` is not a directory", path = path.display())]
    NotDirectory {
        /// Path of the target.
        path: PathBuf,
    },
    /// The path is not a block device.
    #[error("`{path}` is not a block device", path = path.display())]
    NotBlockDevice {
        /// Path of the target.
        path: PathBuf,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist", path = path.display())]
    Missing {
        /// Path of the target.
        path: PathBuf,
    },
    /// The directory is there, but holds no files of users, such as `/proc`.
    #[error("`{path}` takes no files: name a directory on the card", path = path.display())]
    TakesNoFiles {
        /// Path of the target.
        path: PathBuf,
    },
    /// The user may not write there.
    #[error("no permission to write in `{path}`", path = path.display())]
    NotWritable {
        /// Path of the target.
        path: PathBuf,
    },
    /// The user may not read it.
    #[error("no permission to read `{path}`", path = path.display())]
    NotReadable {
        /// Path of the target.
        path: PathBuf,
    },
    /// The filesystem is mounted read-only.
    #[error("the filesystem of `{path}` is read-only", path = path.display())]
    ReadOnly {
        /// Path of the target.
        path: PathBuf,
    },
    /// The user may not write to the device.
    #[error("no permission to write to `{path}`", path = path.display())]
    DeviceNotWritable {
        /// Path of the target.
        path: PathBuf,
    },
    /// The device is write-protected.
    #[error("`{path}` is write-protected", path = path.display())]
    WriteProtected {
        /// Path of the target.
        path: PathBuf,
    },
    /// The device, or a part of it, is in exclusive use.
    #[error("`{path}` or a part of it is in use", path = path.display())]
    Busy {
        /// Path of the target.
        path: PathBuf,
    },
    /// Filesystem or quota have no room for even an empty file.
    #[error("no room for another file in `{path}`", path = path.display())]
    NoSpace {
        /// Path of the target.
        path: PathBuf,
    },
    /// The reader has no card, or the device is gone.
    #[error("no medium in `{path}`", path = path.display())]
    NoMedium {
        /// Path of the target.
        path: PathBuf,
    },
    /// Any other error of the system.
    #[error("cannot open `{path}`", path = path.display())]
    Other {
        /// Path of the target.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl OpenError {
    /// Returns the path of the target.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::NotDirectory { path }
            | Self::NotBlockDevice { path }
            | Self::Missing { path }
            | Self::TakesNoFiles { path }
            | Self::NotWritable { path }
            | Self::NotReadable { path }
            | Self::ReadOnly { path }
            | Self::DeviceNotWritable { path }
            | Self::WriteProtected { path }
            | Self::Busy { path }
            | Self::NoSpace { path }
            | Self::NoMedium { path }
            | Self::Other { path, .. } => path,
        }
    }

    /// The system's error number that comes nearest.
    pub(crate) fn errno(&self) -> cardmark_core::Errno {
        let errno = match self {
            Self::NotDirectory { .. } => Errno::NOTDIR,
            Self::NotBlockDevice { .. } => Errno::NOTBLK,
            Self::Missing { .. } | Self::TakesNoFiles { .. } => Errno::NOENT,
            Self::NotWritable { .. }
            | Self::NotReadable { .. }
            | Self::DeviceNotWritable { .. } => Errno::ACCESS,
            Self::ReadOnly { .. } | Self::WriteProtected { .. } => Errno::ROFS,
            Self::Busy { .. } => Errno::BUSY,
            Self::NoSpace { .. } => Errno::NOSPC,
            Self::NoMedium { .. } => Errno::NOMEDIUM,
            Self::Other { source, .. } => {
                return number_of(source, Errno::IO);
            }
        };
        number(errno)
    }

    /// Interprets `errno` of creating a file in the directory `path`.
    #[must_use]
    pub fn of_directory(path: &Path, errno: Errno) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::NOTDIR => Self::NotDirectory { path },
            Errno::NOENT => Self::Missing { path },
            Errno::ACCESS | Errno::PERM => Self::NotWritable { path },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace { path },
            other => Self::Other {
                path,
                source: other.into(),
            },
        }
    }

    /// Interprets `errno` of creating a file in a directory that could be opened.
    pub(crate) fn of_new_file(path: &Path, errno: Errno) -> Self {
        match Self::of_directory(path, errno) {
            Self::Missing { path } => Self::TakesNoFiles { path },
            other => other,
        }
    }

    /// Interprets `errno` of opening the device `path`.
    pub(crate) fn of_device(path: &Path, errno: Errno) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::NOENT | Errno::NOTDIR => Self::Missing { path },
            Errno::ACCESS | Errno::PERM => Self::NotReadable { path },
            Errno::BUSY => Self::Busy { path },
            Errno::ROFS => Self::WriteProtected { path },
            Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV => Self::NoMedium { path },
            other => Self::Other {
                path,
                source: other.into(),
            },
        }
    }

    /// Interprets `errno` of opening the device `path` for writing. The kernel also returns EACCES for a
    /// write-protected device; in that case the user does not lack a permission.
    pub(crate) fn of_written_device(path: &Path, errno: Errno) -> Self {
        let may_write = || access(path, Access::WRITE_OK).is_ok();
        let path = path.to_owned();
        match errno {
            Errno::ACCESS if may_write() => Self::WriteProtected { path },
            Errno::ACCESS | Errno::PERM => Self::DeviceNotWritable { path },
            other => Self::of_device(&path, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart() {
        let of = |errno| OpenError::of_directory(Path::new("/card"), errno);
        assert!(matches!(of(Errno::ROFS), OpenError::ReadOnly { .. }));
        assert!(matches!(of(Errno::ACCESS), OpenError::NotWritable { .. }));
        assert!(matches!(of(Errno::PERM), OpenError::NotWritable { .. }));
        assert!(matches!(of(Errno::NOSPC), OpenError::NoSpace { .. }));
        assert!(matches!(of(Errno::DQUOT), OpenError::NoSpace { .. }));
        assert!(matches!(of(Errno::IO), OpenError::Other { .. }));
        assert_eq!(of(Errno::IO).path(), Path::new("/card"));
        assert_eq!(
            of(Errno::ROFS).to_string(),
            "the filesystem of `/card` is read-only"
        );
        let of = |errno| OpenError::of_device(Path::new("/dev/sdx"), errno);
        assert!(matches!(of(Errno::NOMEDIUM), OpenError::NoMedium { .. }));
        assert!(matches!(of(Errno::ACCESS), OpenError::NotReadable { .. }));
        assert!(matches!(of(Errno::BUSY), OpenError::Busy { .. }));
        let of = |errno| OpenError::of_written_device(Path::new("/nowhere/sdx"), errno);
        for errno in [Errno::ACCESS, Errno::PERM] {
            assert!(matches!(of(errno), OpenError::DeviceNotWritable { .. }));
        }
        assert!(matches!(of(Errno::ROFS), OpenError::WriteProtected { .. }));
        assert!(matches!(of(Errno::BUSY), OpenError::Busy { .. }));
    }
}
