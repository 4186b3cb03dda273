//! Recovery of interrupted work.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::JournalError;
use crate::content::{Content, read};
use crate::files::{DRAFT_EXTENSION, EXTENSION, LockedFile, failed, refuse_live};

/// Content of the directory of journals.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Unfinished work, by file name.
    pub unfinished: Vec<Content>,
    /// Journals that cannot be used, and why; they are kept.
    pub unusable: Vec<JournalError>,
    /// Number of journals left alone because their work is under way.
    pub live_count: usize,
}

/// Reads the journals in `dir` that are not locked by a process. They stay unchanged; unlocked drafts of journals
/// are removed, because the work that began them ended before its first step.
///
/// # Errors
/// If the directory cannot be read; a missing one holds no journals.
pub fn recover(dir: &Path) -> Result<Recovery, JournalError> {
    let mut recovery = Recovery::default();
    for path in files(dir).map_err(failed("list the directory of", dir))? {
        if has_extension(&path, DRAFT_EXTENSION) {
            remove_draft(&path);
            continue;
        }
        match refuse_live(&path).and_then(|()| read(&path)) {
            Ok(content) => recovery.unfinished.push(content),
            Err(JournalError::Live { .. }) => recovery.live_count += 1,
            Err(error) => recovery.unusable.push(error),
        }
    }
    Ok(recovery)
}

/// Reads the journal of that name, whether or not a process works on it; `None` if there is none.
///
/// # Errors
/// If it cannot be read.
pub fn peek(dir: &Path, name: &str) -> Result<Option<Content>, JournalError> {
    let path = dir.join(format!("{name}.{EXTENSION}"));
    match read(&path) {
        Err(error) if error.is_missing() => Ok(None),
        content => content.map(Some),
    }
}

/// Reads all journals in `dir`, whether or not a process works on them, the newest work last. Those that cannot be read are left out.
///
/// # Errors
/// If the directory cannot be read; a missing one holds no journals.
pub fn unfinished(dir: &Path) -> Result<Vec<Content>, JournalError> {
    let paths = files(dir).map_err(failed("list the directory of", dir))?;
    let journals = paths.iter().filter(|path| has_extension(path, EXTENSION));
    Ok(journals.filter_map(|path| read(path).ok()).collect())
}

/// Removes a journal whose record is stored.
///
/// # Errors
/// If a process holds the journal, or it cannot be removed. A missing journal is no error.
pub fn discard(path: &Path) -> Result<(), JournalError> {
    refuse_live(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes an unlocked draft. A failure does no harm: the draft contains no step.
fn remove_draft(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    // Only the holder of the lock renames a draft, so that the name refers to this file until the end.
    let Ok(file) = LockedFile::new(file, path) else {
        return;
    };
    if file.is_named(path) {
        let _ = fs::remove_file(path);
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Journals and drafts, sorted.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if has_extension(&path, EXTENSION) || has_extension(&path, DRAFT_EXTENSION) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
