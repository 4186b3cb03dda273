//! The journal of one run: written and synced between trials, removed once the record is stored.
//!
//! A line is `<CRC-32 of the rest, 8 hexadecimal digits> <kind> <JSON>`, its kind one of `record`
//! (the first line), `trial` and `finding`. A lock on the file marks the run as alive.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use cardmark_core::{Finding, Record, Trial};
use rustix::fs::{FlockOperation, fdatasync, flock, fsync};
use rustix::io::Errno;
use serde::Serialize;

use crate::JournalError;
use crate::checksum::crc32;

/// Extension of journals.
pub(crate) const EXTENSION: &str = "journal";
/// Extension of journals until their first line is durable.
pub(crate) const DRAFT_EXTENSION: &str = "journal-new";
/// Number of attempts to lock a draft, with a pause between them: `recover` locks it for a moment to check
/// whether it is in use.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Kind of content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Record,
    Trial,
    Finding,
}

impl LineKind {
    pub(crate) const ALL: [Self; 3] = [Self::Record, Self::Trial, Self::Finding];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Trial => "trial",
            Self::Finding => "finding",
        }
    }
}

/// The journal of a run that is under way.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length of the whole lines; a write that fails is cut back to it.
    whole_bytes: u64,
    torn: bool,
}

impl Journal {
    /// Begins the journal of a run in `dir` (made where missing). `header` is its record without
    /// trials. A journal of the same id that no run holds is replaced: only a simulated run
    /// repeats an id, and it repeats the trials too.
    ///
    /// # Errors
    /// When the file cannot be made, or a run with the same id is under way.
    pub fn create(dir: &Path, header: &Record) -> Result<Self, JournalError> {
        make_directory(dir).map_err(failed("make the directory of", dir))?;
        let path = dir.join(format!("{}.{EXTENSION}", header.id));
        let draft = path.with_extension(DRAFT_EXTENSION);
        let mut journal = Self {
            file: open_locked(&draft)?,
            path: draft.clone(),
            whole_bytes: 0,
            torn: false,
        };
        if let Err(error) = journal.take_place(&path, header) {
            // Ours: the lock is still held.
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        sync_directory(dir).map_err(failed("sync the directory of", dir))?;
        Ok(journal)
    }

    /// Writes the first line and gives the draft its name.
    fn take_place(&mut self, path: &Path, header: &Record) -> Result<(), JournalError> {
        refuse_live(path)?;
        self.line(LineKind::Record, header)?;
        fs::rename(&self.path, path).map_err(failed("make", path))?;
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Adds a trial and waits until it is durable.
    ///
    /// # Errors
    /// If it cannot be written; the earlier content stays intact.
    pub fn append(&mut self, trial: &Trial) -> Result<(), JournalError> {
        self.line(LineKind::Trial, trial)
    }

    /// Adds a finding and waits until it is durable.
    ///
    /// # Errors
    /// If it cannot be written; the earlier content stays intact.
    pub fn append_finding(&mut self, finding: &Finding) -> Result<(), JournalError> {
        self.line(LineKind::Finding, finding)
    }

    /// Removes the journal. To be called once the record is in the store.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn finish(self) -> Result<(), JournalError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn line(&mut self, kind: LineKind, content: &impl Serialize) -> Result<(), JournalError> {
        if self.torn {
            return Err(JournalError::Torn {
                path: self.path.clone(),
            });
        }
        let line = encode(kind, content).map_err(|source| JournalError::Encode {
            path: self.path.clone(),
            source,
        })?;
        if let Err(error) = self.write_durably(&line) {
            self.torn = self.file.set_len(self.whole_bytes).is_err();
            return Err(failed("write", &self.path)(error));
        }
        self.whole_bytes += line.len() as u64;
        Ok(())
    }

    fn write_durably(&self, line: &[u8]) -> io::Result<()> {
        (&self.file).write_all(line)?;
        Ok(fdatasync(&self.file)?)
    }
}

fn encode(kind: LineKind, content: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = format!("00000000 {} ", kind.name()).into_bytes();
    serde_json::to_writer(&mut line, content)?;
    let sum = format!("{:08x}", crc32(&line[9..]));
    line[..8].copy_from_slice(sum.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// The kind and the JSON of a line without its end, when it is whole.
pub(crate) fn decode(line: &[u8]) -> Option<(LineKind, &str)> {
    let (sum, rest) = line.split_at_checked(8)?;
    let body = rest.strip_prefix(b" ")?;
    let sum = std::str::from_utf8(sum).ok()?;
    if u32::from_str_radix(sum, 16).ok()? != crc32(body) {
        return None;
    }
    let (kind, json) = std::str::from_utf8(body).ok()?.split_once(' ')?;
    let kind = LineKind::ALL.into_iter().find(|each| each.name() == kind)?;
    Some((kind, json))
}

/// Opens a draft for appending and locks it; content left by a crash is removed.
fn open_locked(draft: &Path) -> Result<File, JournalError> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    for _ in 0..LOCK_TRIES {
        let file = options.open(draft).map_err(failed("make", draft))?;
        match try_lock(&file) {
            // Between opening and locking, `recover` may have removed it.
            Ok(()) if is_named(&file, draft) => {
                file.set_len(0).map_err(failed("empty", draft))?;
                return Ok(file);
            }
            Ok(()) | Err(Errno::WOULDBLOCK) => sleep(LOCK_PAUSE),
            Err(errno) => return Err(failed("lock", draft)(errno.into())),
        }
    }
    Err(JournalError::Live {
        path: draft.to_owned(),
    })
}

/// Locks a file; `WOULDBLOCK` if it is already locked.
pub(crate) fn try_lock(file: &File) -> Result<(), Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Returns whether the path still refers to this file.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Refuses when a run holds the journal; a missing one is free.
pub(crate) fn refuse_live(path: &Path) -> Result<(), JournalError> {
    match File::open(path) {
        Ok(file) => try_lock(&file).map_err(|errno| match errno {
            Errno::WOULDBLOCK => JournalError::Live {
                path: path.to_owned(),
            },
            other => failed("lock", path)(other.into()),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("open", path)(error)),
    }
}

/// Makes a directory only its owner can enter, parents included.
pub(crate) fn make_directory(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    // Some filesystems have nothing to sync in a directory and return an error.
    match fsync(File::open(dir)?) {
        Err(Errno::INVAL) => Ok(()),
        other => Ok(other?),
    }
}

pub(crate) fn failed<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> JournalError + 'a {
    move |source| JournalError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
