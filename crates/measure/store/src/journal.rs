//! The journal of unfinished work: written and synced step by step, removed once the result is stored.
//!
//! A line is `<CRC-32 of the rest, 8 hexadecimal digits> <kind> <JSON>`. Its kind is `head` (first line: command
//! and target), `record` (second line, if the work results in a record: that record without trials), `trial`,
//! `finding`, or `state` (progress; the last one counts). A lock on the file marks the work as under way.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cardmark_core::{Finding, Record, Trial};
use rustix::fs::fdatasync;
use serde::Serialize;

use crate::JournalError;
use crate::content::{Content, JournalHead, LineKind, encode, read};
use crate::files::{
    DRAFT_EXTENSION, EXTENSION, LockedFile, failed, make_directory, open_draft, patiently,
    refuse_live, sync_directory,
};

/// Most superseded states in a journal, as a multiple of its other content, before it is
/// rewritten.
const MOST_DEAD_SHARE: u64 = 4;
/// Superseded states that never cause a journal to be rewritten, bytes.
const FREE_DEAD_BYTES: u64 = 1 << 20;

/// The journal of work that is under way.
#[derive(Debug)]
pub struct Journal {
    file: LockedFile,
    path: PathBuf,
    /// Whole lines without states, for a rewrite.
    lines: Vec<u8>,
    /// Length of the whole lines in the file; a write that fails is cut back to it.
    whole_bytes: u64,
    /// Length of the last state's line.
    state_bytes: u64,
    torn: bool,
}

impl Journal {
    /// Begins the journal `NAME.journal` in `dir` (created if missing) with its first lines. A journal of that
    /// name that no process holds is replaced.
    ///
    /// `record` is that of the result, without trials.
    ///
    /// # Errors
    /// If the file cannot be created, or another process holds the journal of that name.
    pub fn create(
        dir: &Path,
        name: &str,
        head: &JournalHead,
        record: Option<&Record>,
    ) -> Result<Self, JournalError> {
        make_directory(dir).map_err(failed("make the directory of", dir))?;
        let path = dir.join(format!("{name}.{EXTENSION}"));
        let draft = path.with_extension(DRAFT_EXTENSION);
        let mut journal = Self::on(open_draft(&draft)?, draft.clone());
        if let Err(error) = journal.take_place(&path, head, record) {
            // Ours: the lock is still held.
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        sync_directory(dir).map_err(failed("sync the directory of", dir))?;
        Ok(journal)
    }

    /// Continues the journal `NAME.journal` in `dir`: returns it with its content, or `None` if there is none.
    /// A torn or damaged end is cut off.
    ///
    /// # Errors
    /// If another process holds it, or it cannot be read or has no intact first line.
    pub fn resume(dir: &Path, name: &str) -> Result<Option<(Self, Content)>, JournalError> {
        let path = dir.join(format!("{name}.{EXTENSION}"));
        let opened = patiently(|| {
            let file = OpenOptions::new().read(true).append(true).open(&path);
            LockedFile::new(file.map_err(failed("open", &path))?, &path)
        });
        let file = match opened {
            Err(error) if error.is_missing() => return Ok(None),
            file => file?,
        };
        let content = read(&path)?;
        let mut journal = Self::on(file, path);
        journal.whole_bytes = content.whole_bytes;
        journal.state_bytes = content.state.as_ref().map_or(0, |state| state.len() as u64);
        journal.lines.clone_from(&content.lines);
        let cut = journal.file.set_len(journal.whole_bytes);
        cut.map_err(failed("write", &journal.path))?;
        if content.lacks_line_feed {
            journal.write(b"\n")?;
        }
        Ok(Some((journal, content)))
    }

    fn on(file: LockedFile, path: PathBuf) -> Self {
        Self {
            file,
            path,
            lines: Vec::new(),
            whole_bytes: 0,
            state_bytes: 0,
            torn: false,
        }
    }

    /// Writes the first lines and gives the draft its name.
    fn take_place(
        &mut self,
        path: &Path,
        head: &JournalHead,
        record: Option<&Record>,
    ) -> Result<(), JournalError> {
        patiently(|| refuse_live(path))?;
        self.line(LineKind::Head, head)?;
        if let Some(record) = record {
            self.line(LineKind::Record, record)?;
        }
        fs::rename(&self.path, path).map_err(failed("make", path))?;
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Stores a state in place of the previous one and waits until it is durable. After a loss of power one of
    /// the two is present, intact.
    ///
    /// # Errors
    /// If it cannot be written; the earlier content stays intact.
    pub fn state(&mut self, state: &impl Serialize) -> Result<(), JournalError> {
        let before = self.whole_bytes;
        self.line(LineKind::State, state)?;
        self.state_bytes = self.whole_bytes - before;
        let live_bytes = self.lines.len() as u64 + self.state_bytes;
        let dead_bytes = self.whole_bytes.saturating_sub(live_bytes);
        if dead_bytes > FREE_DEAD_BYTES.max(MOST_DEAD_SHARE * live_bytes) {
            return self.rewrite(state);
        }
        Ok(())
    }

    /// Replaces the file by one without superseded states.
    fn rewrite(&mut self, state: &impl Serialize) -> Result<(), JournalError> {
        let draft = self.path.with_extension(DRAFT_EXTENSION);
        let mut new = Self::on(open_draft(&draft)?, draft.clone());
        let written = new
            .write(&self.lines)
            .and_then(|()| new.line(LineKind::State, state))
            .and_then(|()| fs::rename(&draft, &self.path).map_err(failed("make", &self.path)));
        if let Err(error) = written {
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        new.lines = std::mem::take(&mut self.lines);
        new.state_bytes = new.whole_bytes - new.lines.len() as u64;
        self.path.clone_into(&mut new.path);
        // Dropped with its lock, under its new name already locked by `new`.
        *self = new;
        match self.path.parent() {
            Some(dir) => sync_directory(dir).map_err(failed("sync the directory of", dir)),
            None => Ok(()),
        }
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
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn line(&mut self, kind: LineKind, content: &impl Serialize) -> Result<(), JournalError> {
        let line = encode(kind, content).map_err(|source| JournalError::Encode {
            path: self.path.clone(),
            source,
        })?;
        self.write(&line)?;
        if kind != LineKind::State {
            self.lines.extend(line);
        }
        Ok(())
    }

    /// Adds whole lines durably, or nothing.
    fn write(&mut self, lines: &[u8]) -> Result<(), JournalError> {
        if self.torn {
            return Err(JournalError::Torn {
                path: self.path.clone(),
            });
        }
        if let Err(error) = self.write_durably(lines) {
            self.torn = self.file.set_len(self.whole_bytes).is_err();
            return Err(failed("write", &self.path)(error));
        }
        self.whole_bytes += lines.len() as u64;
        Ok(())
    }

    fn write_durably(&self, line: &[u8]) -> io::Result<()> {
        (&*self.file).write_all(line)?;
        Ok(fdatasync(&*self.file)?)
    }
}
