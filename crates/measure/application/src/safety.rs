//! Safe directories for root: others must not be able to replace its files with links.

use std::error::Error;
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Write permission for group and others.
const WRITABLE: u32 = 0o022;
/// Users cannot rename or remove files of other users.
const STICKY: u32 = 0o1000;

/// A directory in which others could replace root's files with links.
#[derive(Debug)]
pub struct UnsafeDirectory {
    path: PathBuf,
    why: Why,
}

/// Users who could do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The owner, with this user number.
    Owner(u32),
    /// Every user with write permission by this mode.
    Mode(u32),
}

impl UnsafeDirectory {
    /// Returns advice for the user.
    pub fn hint(&self) -> &'static str {
        match self.why {
            Why::Owner(_) => {
                "run it as that user, without sudo, or use a directory that belongs to root"
            }
            Why::Mode(_) => "use a directory that only root may write to",
        }
    }
}

impl fmt::Display for UnsafeDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root cannot work safely in `{}`", self.path.display())
    }
}

impl Error for UnsafeDirectory {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(user) => write!(
                f,
                "it belongs to user {user}, who could replace root's files with links"
            ),
            Self::Mode(mode) => write!(
                f,
                "other users may write there (mode {mode:04o}) and could replace root's files with links"
            ),
        }
    }
}

impl Error for Why {}

/// Rejects a directory in which others could swap root's files.
pub(crate) fn refuse_unsafe(directory: &Path) -> io::Result<()> {
    let found = directory.metadata()?;
    let is_root = rustix::process::geteuid().is_root();
    match danger(found.uid(), found.mode() & 0o7777).filter(|_| is_root) {
        None => Ok(()),
        Some(why) => Err(io::Error::other(UnsafeDirectory {
            path: directory.to_owned(),
            why,
        })),
    }
}

/// Returns the danger to root in a directory of this owner and mode.
fn danger(owner: u32, mode: u32) -> Option<Why> {
    if owner != 0 {
        return Some(Why::Owner(owner));
    }
    (mode & WRITABLE != 0 && mode & STICKY == 0).then_some(Why::Mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_rename_in_is_dangerous() {
        for mode in [0o755, 0o700, 0o1777, 0o1775] {
            assert_eq!(danger(0, mode), None, "{mode:o}");
            assert_eq!(danger(1000, mode), Some(Why::Owner(1000)), "{mode:o}");
        }
        for mode in [0o777, 0o775, 0o757] {
            assert_eq!(danger(0, mode), Some(Why::Mode(mode)), "{mode:o}");
        }
    }
}
