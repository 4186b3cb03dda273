//! Checking a dump before anything is imported from it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use cardmark_share::read_submission;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::{DataError, at};
use crate::files::digest_of;
use cardmark_site_store::{Deed, NewAct};

use crate::line::{ActLine, DocumentLine};
use crate::manifest::{ACTS, DOCUMENTS, FileEntry, Manifest, TOMBSTONES, manifest_of};

/// Longest line, bytes: a document as a text, each character escaped.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// Lines of packed documents.
pub(crate) struct Lines<'p> {
    path: &'p Path,
    reader: BufReader<zstd::Decoder<'static, BufReader<File>>>,
    line: Vec<u8>,
}

impl<'p> Lines<'p> {
    pub(crate) fn of(path: &'p Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(at(path))?;
        let decoder = zstd::Decoder::new(file).map_err(at(path))?;
        Ok(Self {
            path,
            reader: BufReader::with_capacity(64 << 10, decoder),
            line: Vec::new(),
        })
    }

    /// The next line with its line feed; `None` at the end. One that is too long comes in parts.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        self.line.clear();
        let mut limited = self.reader.by_ref().take(MOST_LINE_BYTES);
        let count = limited.read_until(b'\n', &mut self.line);
        let count = count.map_err(at(self.path))?;
        Ok((count > 0).then_some(&self.line))
    }
}

/// Reads a dump from its beginning to its end, and compares it with its manifest: sizes, digests and numbers of rows of all files, the
/// digest and the id of each document, their order, and that no withdrawn record is among them.
///
/// # Errors
/// With the file and line that is not as it has to be.
pub fn verify(folder: &Path) -> Result<Manifest, DataError> {
    let manifest = manifest_of(folder)?;
    for file in &manifest.files {
        compare(folder, file)?;
    }
    let tombstones = tombstones(folder, &manifest)?;
    let mut withdrawn: Vec<Uuid> = tombstones.iter().map(|(id, _)| *id).collect();
    withdrawn.sort_unstable();
    let (mut before, mut count) = (None, 0);
    for_each(folder, &manifest, |place, line| {
        check(&line).map_err(|why| damaged(place, why))?;
        let next = Some((line.received_ms, line.id));
        if next <= before {
            return Err(damaged(
                place,
                "it is not in the order of arrival".to_owned(),
            ));
        }
        if withdrawn.binary_search(&line.id).is_ok() {
            return Err(damaged(place, format!("{} was withdrawn", line.id)));
        }
        before = next;
        count += 1;
        Ok(())
    })?;
    let acts = acts(folder, &manifest)?.len() as u64;
    let found = (count, tombstones.len() as u64, acts);
    match found == (manifest.records, manifest.tombstones, manifest.acts) {
        true => Ok(manifest),
        false => {
            let why = format!("it counts other records, withdrawals or acts than {found:?}");
            Err(damaged("manifest.json", why))
        }
    }
}

/// Returns the withdrawn records of a dump in the order of the days, after comparing their list with the manifest; the rest of the dump
/// is not read.
///
/// # Errors
/// If the folder is no dump, or the list is not as it has to be.
pub fn withdrawn_in(folder: &Path) -> Result<Vec<Uuid>, DataError> {
    let manifest = manifest_of(folder)?;
    for file in manifest.ending(TOMBSTONES) {
        compare(folder, file)?;
    }
    let tombstones = tombstones(folder, &manifest)?;
    match tombstones.len() as u64 == manifest.tombstones {
        true => Ok(tombstones.into_iter().map(|(id, _)| id).collect()),
        false => {
            let why = format!("it counts other withdrawals than {}", tombstones.len());
            Err(damaged("manifest.json", why))
        }
    }
}

/// Compares a file with its entry.
fn compare(folder: &Path, file: &FileEntry) -> Result<(), DataError> {
    let (bytes, sha256) = digest_of(&folder.join(&file.path))?;
    match (bytes, &sha256) == (file.bytes, &file.sha256) {
        true => Ok(()),
        false => {
            let why = "its size or SHA-256 is not that of the manifest".to_owned();
            Err(damaged(&file.path, why))
        }
    }
}

fn check(line: &DocumentLine) -> Result<(), String> {
    let text = line.text().ok_or("the document does not have its digest")?;
    let submission = read_submission(&text).map_err(|error| error.to_string())?;
    if submission.record.id != line.id {
        return Err("the record has another id than the line".to_owned());
    }
    line.submitter()
        .map(|_| ())
        .ok_or_else(|| "the submitter cannot be read".to_owned())
}

pub(crate) fn damaged(path: &str, why: String) -> DataError {
    DataError::Damaged {
        path: path.to_owned(),
        why,
    }
}

/// Calls a function for each document of a dump, with the name of its place, in the order of arrival.
pub(crate) fn for_each(
    folder: &Path,
    manifest: &Manifest,
    mut each: impl FnMut(&str, DocumentLine) -> Result<(), DataError>,
) -> Result<(), DataError> {
    // Paths of parts sort by time.
    for file in manifest.ending(DOCUMENTS) {
        let path = folder.join(&file.path);
        let (mut lines, mut number) = (Lines::of(&path)?, 0);
        while let Some(line) = lines.next()? {
            number += 1;
            let place = format!("{}, line {number}", file.path);
            let line =
                serde_json::from_slice(line).map_err(|error| damaged(&place, error.to_string()))?;
            each(&place, line)?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Tombstone {
    id: Uuid,
    day: jiff::civil::Date,
}

/// Withdrawn records with the beginning of the day of their withdrawal, milliseconds since 1970, in the order of the days.
pub(crate) fn tombstones(
    folder: &Path,
    manifest: &Manifest,
) -> Result<Vec<(Uuid, i64)>, DataError> {
    let begin = |read: Tombstone| {
        let begin = read.day.to_zoned(jiff::tz::TimeZone::UTC);
        let begin = begin.map_err(|error| error.to_string())?;
        Ok((read.id, begin.timestamp().as_millisecond()))
    };
    let mut tombstones = lines_of(folder, manifest, TOMBSTONES, begin)?;
    tombstones.sort_unstable_by_key(|(id, at_ms)| (*at_ms, *id));
    Ok(tombstones)
}

/// Acts of moderators, with numbers from 1. Each undoes an earlier one, at most one undoes the same.
pub(crate) fn acts(folder: &Path, manifest: &Manifest) -> Result<Vec<NewAct>, DataError> {
    let lines = lines_of(folder, manifest, ACTS, |line: ActLine| Ok(line))?;
    let mut undone = BTreeSet::new();
    for (line, number) in lines.iter().zip(1..) {
        let is_possible = match line.deed {
            Deed::Undo { act } => (1..number).contains(&act) && undone.insert(act),
            _ => true,
        };
        if line.number != number || !is_possible {
            let why = format!("act {} is not in its place", line.number);
            return Err(damaged(ACTS, why));
        }
    }
    Ok(lines.into_iter().map(NewAct::from).collect())
}

/// Lines of a file of JSON lines.
fn lines_of<L: DeserializeOwned, T>(
    folder: &Path,
    manifest: &Manifest,
    name: &str,
    read: impl Fn(L) -> Result<T, String>,
) -> Result<Vec<T>, DataError> {
    let mut found = Vec::new();
    for file in manifest.ending(name) {
        let path = folder.join(&file.path);
        let lines = BufReader::new(File::open(&path).map_err(at(&path))?).lines();
        for (number, line) in lines.enumerate() {
            let place = format!("{}, line {}", file.path, number + 1);
            let line = serde_json::from_str(&line.map_err(at(&path))?);
            let line = line.map_err(|error| damaged(&place, error.to_string()))?;
            found.push(read(line).map_err(|why| damaged(&place, why))?);
        }
    }
    Ok(found)
}
