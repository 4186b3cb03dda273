//! Lock files that all users of a host share, and the notes of their holders.

use std::fs::{File, Permissions, TryLockError};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::holder::Holder;
use super::note::{NOTE_BYTES, Note};

/// Two locks, so that turns alternate: a job that waits holds `next`, and a job that has just given its turn back
/// must get `next` before `now`.
#[derive(Debug)]
pub(super) struct Lock {
    pub(super) now: LockFile,
    pub(super) next: LockFile,
}

impl Lock {
    /// The lock at this path; `None` if no file can be opened or created there.
    pub(super) fn at(path: &Path) -> Option<Self> {
        Some(Self {
            now: LockFile::open(path)?,
            next: LockFile::open(&with_suffix(path, "next"))?,
        })
    }
}

/// The path with a further part of its name. A slash in it would lead elsewhere.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix.replace('/', "!"));
    PathBuf::from(name)
}

/// A file whose lock ends with its process.
#[derive(Debug)]
pub(super) struct LockFile {
    pub(super) file: File,
    /// True if the holder may describe itself in the file.
    is_ours: bool,
}

impl LockFile {
    /// Opens the file, or creates it. A file of another user can be locked without writing to it.
    pub(super) fn open(path: &Path) -> Option<Self> {
        existing(path)
            .or_else(|| new(path))
            .or_else(|| existing(path))
    }

    /// Opens the file, if there is one.
    pub(super) fn existing(path: &Path) -> Option<Self> {
        existing(path)
    }

    /// Returns whether the holder may describe itself in the file: only the holder wrote into it.
    pub(super) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Tries to lock. Nothing waits for a file that cannot be locked at all.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self.file.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Ends the lock, if it is held.
    pub(super) fn give(&self) {
        // A file that cannot be unlocked cannot be locked either.
        let _ = self.file.unlock();
    }

    /// Describes the holder. Without the right to write, others learn only its process and user.
    pub(super) fn describe(&self, note: &Note<'_>) {
        if self.is_ours {
            // A waiting job then knows less; nothing else depends on it.
            let _ = self.file.write_all_at(&note.bytes(), 0);
        }
    }

    /// The process that holds the lock, if the kernel shows it, and its description, if it is of that process.
    pub(super) fn holder(&self) -> Option<(Holder, Option<String>)> {
        let holder = Holder::of(&self.file)?;
        let mut bytes = vec![0; NOTE_BYTES];
        let length = self.file.read_at(&mut bytes, 0).unwrap_or(0);
        bytes.truncate(length);
        let text = String::from_utf8(bytes).ok();
        let is_of =
            |text: &String| Note::parse(text).is_some_and(|note| note.process == holder.process);
        Some((holder.clone(), text.filter(is_of)))
    }
}

/// Everybody may put something with that name there: a pipe must not keep us waiting.
fn flags() -> i32 {
    (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed()
}

fn existing(path: &Path) -> Option<LockFile> {
    let mut options = File::options();
    options.read(true).custom_flags(flags());
    let file = options.open(path).ok().filter(is_plain)?;
    if is_ours(&file)
        && let Ok(file) = options.write(true).open(path)
        && is_plain(&file)
        && is_ours(&file)
    {
        return Some(LockFile {
            file,
            is_ours: true,
        });
    }
    Some(LockFile {
        file,
        is_ours: false,
    })
}

fn new(path: &Path) -> Option<LockFile> {
    let mut options = File::options();
    let made = options.read(true).write(true).create_new(true).open(path);
    let file = made.ok()?;
    // Whatever the user's mask is: a user who cannot read it cannot wait for us.
    let _ = file.set_permissions(Permissions::from_mode(0o644));
    Some(LockFile {
        file,
        is_ours: true,
    })
}

/// Returns whether it is a regular file: in a directory that everybody may write, the name could be anything.
fn is_plain(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Returns whether notes may be written: to a file of this user with one name, empty or with a note. Another one
/// could be a link to a file that root must not change, or one that `CARDMARK_LOCK_FILE` names by mistake.
fn is_ours(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    let is_own = metadata.uid() == geteuid().as_raw() && metadata.nlink() == 1;
    is_own && (metadata.len() == 0 || Note::is_in(file))
}
