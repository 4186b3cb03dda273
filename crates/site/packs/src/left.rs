//! Files that killed processes left in a folder of packs.
//!
//! A pack is first written as `NAME.pack#1` (or `#2`, …) beside its place, by `object_store`, which shows such files in no list.

use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::name::name_of;

/// Deletes unfinished packs in the folder of packs that were last written at least this long ago; returns their number.
pub(crate) fn delete(packs: &Path, age: Duration) -> io::Result<u64> {
    let mut count = 0;
    for folder in entries(packs)? {
        if !folder.file_type()?.is_dir() {
            continue;
        }
        for file in entries(&folder.path())? {
            if is_unfinished(&folder, &file) && is_older(&file, age) {
                match std::fs::remove_file(file.path()) {
                    Ok(()) => count += 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(count)
}

/// The files of a folder; none if it is not there.
fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns whether a file has the name of a pack of its folder, `#` and digits.
fn is_unfinished(folder: &DirEntry, file: &DirEntry) -> bool {
    let (folder, file) = (folder.file_name(), file.file_name());
    let (Some(folder), Some(file)) = (folder.to_str(), file.to_str()) else {
        return false;
    };
    let Some((name, number)) = file.split_once('#') else {
        return false;
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && name_of(name).is_some() && name.get(..4) == Some(folder)
}

/// Returns whether a file was last written at least this long ago; false if that is in the future, or unknown.
fn is_older(file: &DirEntry, age: Duration) -> bool {
    let written = file.metadata().and_then(|found| found.modified());
    let passed = written
        .ok()
        .and_then(|at| SystemTime::now().duration_since(at).ok());
    passed.is_some_and(|passed| passed >= age)
}
