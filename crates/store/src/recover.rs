//! Recovery of interrupted runs.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_record};

use crate::JournalError;
use crate::journal::{DRAFT_EXTENSION, EXTENSION, LineKind, decode, failed, refuse_live};
use crate::journal::{is_named, try_lock};

/// Content of the directory of journals.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Runs whose whole trials were restored, by file name.
    pub recovered: Vec<Recovered>,
    /// Journals that cannot be used, and why; they are kept.
    pub unusable: Vec<JournalError>,
    /// Number of journals left alone because their run is under way.
    pub live_count: usize,
}

/// Content of one journal.
#[derive(Debug)]
pub struct Recovered {
    /// The header with all whole trials and findings and the bytes these trials wrote. Metrics are
    /// not derived and the finding that the run was interrupted is not added.
    pub record: Record,
    /// The journal; to be given to [`discard`] once the record is stored.
    pub path: PathBuf,
    /// Dropped content, if it was more than a torn last line.
    pub note: Option<String>,
}

/// Reads the journals in `dir` that are not locked by a run. They stay unchanged; unlocked drafts of journals
/// are removed, because the run that began them ended before its first trial.
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
            Ok(recovered) => recovery.recovered.push(recovered),
            Err(JournalError::Live { .. }) => recovery.live_count += 1,
            Err(error) => recovery.unusable.push(error),
        }
    }
    Ok(recovery)
}

/// Removes a journal whose record is stored.
///
/// # Errors
/// If a run has resumed the journal, or it cannot be removed. A missing journal is no error.
pub fn discard(path: &Path) -> Result<(), JournalError> {
    refuse_live(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes an unlocked draft. A failure does no harm: the draft contains no trial.
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

fn read(path: &Path) -> Result<Recovered, JournalError> {
    let file = File::open(path).map_err(failed("open", path))?;
    let mut lines = BufReader::new(file).split(b'\n');
    let first = lines.next().transpose().map_err(failed("read", path))?;
    let record = header(&first.unwrap_or_default(), path)?;
    let mut recovered = Recovered {
        record,
        path: path.to_owned(),
        note: None,
    };
    let mut number = 1;
    for line in &mut lines {
        number += 1;
        let line = line.map_err(failed("read", path))?;
        if add(&mut recovered.record, &line).is_none() {
            break;
        }
    }
    let behind = lines.count();
    if behind > 0 {
        recovered.note = Some(format!(
            "line {number} of the journal is damaged; it and {behind} behind it were dropped"
        ));
    }
    let written: u64 = recovered
        .record
        .trials
        .iter()
        .map(|trial| trial.bytes_written)
        .fold(0, u64::saturating_add);
    recovered.record.bytes_written = recovered.record.bytes_written.max(written);
    Ok(recovered)
}

fn header(line: &[u8], path: &Path) -> Result<Record, JournalError> {
    let unusable = |source| JournalError::Unusable {
        path: path.to_owned(),
        source,
    };
    match decode(line) {
        Some((LineKind::Record, json)) => parse_record(json).map_err(|error| unusable(Some(error))),
        _ => Err(unusable(None)),
    }
}

/// Adds the content of a line; returns `None` if the line is not intact.
fn add(record: &mut Record, line: &[u8]) -> Option<()> {
    let (kind, json) = decode(line)?;
    match kind {
        LineKind::Record => return None,
        LineKind::Trial => record.trials.push(serde_json::from_str(json).ok()?),
        LineKind::Finding => record.findings.push(serde_json::from_str(json).ok()?),
    }
    Some(())
}
