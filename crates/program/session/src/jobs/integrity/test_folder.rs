//! The folder of the files of a verify in a directory.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use crate::error::{CommandError, Exit};

/// File with the seed of the test; locked while it runs.
const MARK: &str = "cardmark-test";
/// Line in it after an orderly end.
const ENDED: &str = "ended";

/// A folder of our files.
pub(crate) struct TestFolder {
    path: PathBuf,
    /// The seed of the test, if it could be read.
    seed: Option<u64>,
    /// Locked; none where there is no folder.
    mark: Option<File>,
}

impl TestFolder {
    /// Finds nothing, or files of ours that no other test works on.
    pub(crate) fn find(path: &Path) -> Result<Self, CommandError> {
        let mut found = Self {
            path: path.to_owned(),
            seed: None,
            mark: None,
        };
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return Ok(found);
        };
        let is_ours = metadata.is_dir() && is_own(path, metadata.uid());
        if !is_ours || !holds_ours(path).map_err(|error| unusable(path, &error))? {
            let what = format!("`{}` is there already", path.display());
            return Err(CommandError::new(Exit::Refused, what)
                .because("it holds something else than the files of a test of yours")
                .hint("move it away, or verify another directory; nothing was written"));
        }
        let mut mark = match open(&path.join(MARK), false) {
            Ok(mark) => mark,
            // It was killed before there was one: the folder holds nothing that is worth anything.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                open(&path.join(MARK), true).map_err(|error| unusable(path, &error))?
            }
            Err(error) => return Err(unusable(path, &error)),
        };
        if flock(&mark, FlockOperation::NonBlockingLockExclusive).is_err() {
            let what = format!("another test works in `{}`", path.display());
            return Err(CommandError::new(Exit::Refused, what).hint("wait until it has ended"));
        }
        let mut text = String::new();
        mark.read_to_string(&mut text)
            .map_err(|error| unusable(path, &error))?;
        found.seed = seed_of(&text);
        found.mark = Some(mark);
        Ok(found)
    }

    /// Returns whether it holds the files of a test with that seed; also if there is neither.
    pub(crate) fn belongs_to(&self, seed: Option<u64>) -> bool {
        self.seed == seed && (self.mark.is_some() == seed.is_some())
    }

    /// The folder of a test with that seed, new or not.
    pub(crate) fn make(path: &Path, seed: u64) -> Result<Self, CommandError> {
        let made = match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        let marked = made.and_then(|()| {
            let mut mark = open(&path.join(MARK), true)?;
            flock(&mark, FlockOperation::NonBlockingLockExclusive)?;
            mark.write_all(format!("{seed:016x}\n").as_bytes())?;
            mark.sync_all()?;
            Ok(mark)
        });
        let mark = marked.map_err(|error: io::Error| unusable(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            seed: Some(seed),
            mark: Some(mark),
        })
    }

    /// Returns the seed of the test at that path, and whether it was ended in order, without writing; `None` if no test
    /// was there.
    pub(crate) fn mark_of(path: &Path) -> Option<(u64, bool)> {
        let text = fs::read_to_string(path.join(MARK)).ok()?;
        Some((seed_of(&text)?, text.lines().any(|line| line == ENDED)))
    }

    /// Notes that the test was ended in order.
    pub(crate) fn note_end(&self) -> io::Result<()> {
        let Some(mut mark) = self.mark.as_ref() else {
            return Ok(());
        };
        mark.write_all(format!("{ENDED}\n").as_bytes())?;
        mark.sync_all()
    }

    /// Takes it away, with all that is in it: files of ours, as was seen.
    pub(crate) fn remove(self) -> Result<(), CommandError> {
        let Some(mark) = self.mark else {
            return Ok(());
        };
        // Filesystems in user space may keep the names of open files.
        drop(mark);
        fs::remove_dir_all(&self.path).map_err(|error| {
            let what = format!("cannot remove `{}`", self.path.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })
    }
}

/// Returns the seed in a mark.
fn seed_of(text: &str) -> Option<u64> {
    u64::from_str_radix(text.lines().next()?.trim(), 16).ok()
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(create).mode(0o600);
    let nofollow = OFlags::NOFOLLOW.bits().cast_signed();
    options.custom_flags(nofollow).open(path)
}

/// Returns whether a file of that owner, beside or in that folder, is ours. Filesystems without owners, such as
/// those of most cards, show one that was named when they were mounted: the same for a file that is made
/// there now.
fn is_own(path: &Path, owner: u32) -> bool {
    let shown = || {
        let folder = path.parent().unwrap_or(path);
        let made = tempfile::Builder::new()
            .prefix(".cardmark-owner-")
            .tempfile_in(folder);
        made.and_then(|file| file.as_file().metadata())
    };
    owner == geteuid().as_raw() || shown().is_ok_and(|made| made.uid() == owner)
}

/// Returns whether all files in it have names of ours.
fn holds_ours(path: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_suffix(".blocks");
        let is_numbered = number.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        if !(name == MARK || is_numbered) || !entry.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn unusable(path: &Path, error: &io::Error) -> CommandError {
    let what = format!("cannot use `{}`", path.display());
    CommandError::new(Exit::Trouble, what).because(error.to_string())
}
