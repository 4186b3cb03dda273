//! The list of a dump's files.

use std::path::Path;

use cardmark_core::{FORMAT, STATEMENT};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{DataError, at};

/// Version of the layout of a dump.
pub const DUMP_FORMAT: u32 = 1;
/// Licence of all data.
pub(crate) const LICENCE: &str = "CC0-1.0";
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const TOMBSTONES: &str = "tombstones.jsonl";
pub(crate) const ACTS: &str = "acts.jsonl";
pub(crate) const SAMPLE: &str = "sample.jsonl";
pub(crate) const README: &str = "README.txt";
/// Ends of the names of documents and tables.
pub(crate) const DOCUMENTS: &str = ".jsonl.zst";
pub(crate) const TABLE: &str = ".parquet";

/// The list of a dump's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout ([`DUMP_FORMAT`]).
    pub format: u32,
    /// Origin of the site, such as `https://cards.example`.
    pub site: String,
    /// Time at which it was begun, RFC 3339.
    pub made_at: String,
    /// Licence of all data, an SPDX identifier.
    pub licence: String,
    /// Version of the schema of records, and of that of statements.
    pub record_format: u32,
    /// Version of the schema of statements.
    pub statement_format: u32,
    /// Number of the last change that the dump has for certain: a copy goes on with `/api/v1/changes?cursor=` this number.
    pub changes_through: i64,
    /// Number of records, quarantined ones included.
    pub records: u64,
    /// Number of quarantined records.
    pub quarantined: u64,
    /// Number of withdrawn records.
    pub tombstones: u64,
    /// Number of acts of moderators.
    pub acts: u64,
    /// Records that are in no file, because the site's copy of their document is damaged.
    pub damaged: Vec<Uuid>,
    /// All other files, in the order of their paths.
    pub files: Vec<FileEntry>,
}

/// A file of a dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path in the folder of the dump.
    pub path: String,
    /// Size, bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
    /// Number of rows or lines; 0 for a text.
    pub rows: u64,
}

impl Manifest {
    pub(crate) fn new(site: String, made_at: String, changes_through: i64) -> Self {
        Self {
            format: DUMP_FORMAT,
            site,
            made_at,
            licence: LICENCE.to_owned(),
            record_format: FORMAT,
            statement_format: STATEMENT,
            changes_through,
            records: 0,
            quarantined: 0,
            tombstones: 0,
            acts: 0,
            damaged: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The files whose paths end like this.
    pub(crate) fn ending(&self, end: &str) -> impl Iterator<Item = &FileEntry> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(end))
    }
}

/// Reads the manifest of a dump.
///
/// # Errors
/// If there is none, it cannot be read, it is of another version, or it names a file outside of the dump.
pub fn manifest_of(folder: &Path) -> Result<Manifest, DataError> {
    let path = folder.join(MANIFEST);
    let not_one = |why: String| DataError::NotADump {
        path: path.clone(),
        why,
    };
    let text = std::fs::read(&path).map_err(at(&path))?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|error| not_one(error.to_string()))?;
    if manifest.format != DUMP_FORMAT {
        return Err(not_one(format!(
            "its layout has version {}, and this program reads version {DUMP_FORMAT}",
            manifest.format
        )));
    }
    match manifest.files.iter().find(|file| !is_inside(&file.path)) {
        Some(file) => Err(not_one(format!("it names the file {:?}", file.path))),
        None => Ok(manifest),
    }
}

/// Returns whether a path leads to a file of the dump: letters, digits, `-`, `.` and at most one folder.
fn is_inside(path: &str) -> bool {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        !name.starts_with('.')
            && !name.is_empty()
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    path.split('/').count() <= 2 && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_a_dump() {
        for path in ["documents/2026-11.jsonl.zst", "README.txt"] {
            assert!(is_inside(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../x",
            "a/b/c",
            "a//b",
            "a\\b",
            "a b",
            ".x",
        ] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
