//! Recovery of interrupted work.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_record};

use crate::JournalError;
use crate::journal::{
    DRAFT_EXTENSION, EXTENSION, JournalHead, LineKind, decode, failed, refuse_live,
};
use crate::journal::{is_named, try_lock};
use serde::de::DeserializeOwned;

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

/// Content of one journal.
#[derive(Debug)]
pub struct Content {
    /// Command and target.
    pub head: JournalHead,
    /// The record with all whole trials and findings and the bytes these trials wrote, if the work results in
    /// one. Metrics are not derived and the finding that the work was interrupted is not added.
    pub record: Option<Record>,
    /// Last intact state, JSON.
    pub state: Option<String>,
    /// The journal; to be given to [`discard`] once the result is stored.
    pub path: PathBuf,
    /// Dropped content, if it was more than a torn last line.
    pub note: Option<String>,
    /// Length of the intact lines, bytes.
    pub(crate) whole_bytes: u64,
    /// Intact lines without states, each with its line feed.
    pub(crate) lines: Vec<u8>,
    /// True if the last intact line ends without its line feed.
    pub(crate) lacks_line_feed: bool,
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
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        content => content.map(Some),
    }
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
    if try_lock(&file).is_ok() && is_named(&file, path) {
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

/// Reads the intact lines of a journal.
pub(crate) fn read(path: &Path) -> Result<Content, JournalError> {
    let bytes = fs::read(path).map_err(failed("read", path))?;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let mut content = Content {
        head: head(first, path)?,
        record: None,
        state: None,
        path: path.to_owned(),
        note: None,
        whole_bytes: 0,
        lines: Vec::new(),
        lacks_line_feed: false,
    };
    content.count(LineKind::Head, first);
    let mut number = 1;
    for line in &mut lines {
        number += 1;
        if !content.add(line, path)? {
            break;
        }
    }
    let behind = lines.count();
    if behind > 0 {
        content.note = Some(format!(
            "line {number} of the journal is damaged; it and {behind} behind it were dropped"
        ));
    }
    if let Some(record) = &mut content.record {
        let written = record.trials.iter().map(|trial| trial.bytes_written);
        let written = written.fold(0, u64::saturating_add);
        record.bytes_written = record.bytes_written.max(written);
    }
    Ok(content)
}

fn head(line: &[u8], path: &Path) -> Result<JournalHead, JournalError> {
    let head = match decode(line.strip_suffix(b"\n").unwrap_or(line)) {
        Some((LineKind::Head, json)) => serde_json::from_str(json).ok(),
        _ => None,
    };
    head.ok_or_else(|| JournalError::Unusable {
        path: path.to_owned(),
        source: None,
    })
}

impl Content {
    /// Adds the content of a line; returns whether the line is intact.
    fn add(&mut self, line: &[u8], path: &Path) -> Result<bool, JournalError> {
        let Some((kind, json)) = decode(line.strip_suffix(b"\n").unwrap_or(line)) else {
            return Ok(false);
        };
        let is_intact = match (kind, &mut self.record) {
            (LineKind::Record, none @ None) => {
                let record = parse_record(json).map_err(|error| JournalError::Unusable {
                    path: path.to_owned(),
                    source: Some(error),
                })?;
                *none = Some(record);
                true
            }
            (LineKind::Trial, Some(record)) => push(&mut record.trials, json),
            (LineKind::Finding, Some(record)) => push(&mut record.findings, json),
            (LineKind::State, _) => {
                self.state = Some(json.to_owned());
                true
            }
            _ => false,
        };
        if is_intact {
            self.count(kind, line);
        }
        Ok(is_intact)
    }

    /// Counts an intact line.
    fn count(&mut self, kind: LineKind, line: &[u8]) {
        self.whole_bytes += line.len() as u64;
        self.lacks_line_feed = !line.ends_with(b"\n");
        if kind != LineKind::State {
            self.lines.extend(line.strip_suffix(b"\n").unwrap_or(line));
            self.lines.push(b'\n');
        }
    }
}

/// Adds a parsed element; returns whether the text could be parsed.
fn push<T: DeserializeOwned>(list: &mut Vec<T>, json: &str) -> bool {
    serde_json::from_str(json).is_ok_and(|element| {
        list.push(element);
        true
    })
}
