//! Deriving the documents of a pack again, into tables of the same columns as those of a dump.

use std::path::Path;

use cardmark_share::{PackEntry, from_hexadecimal, read_pack, to_hexadecimal};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{DataError, at};
use crate::files::{Hashed, sync_folder};
use crate::kept::{rederived, unpacked};
use crate::manifest::TABLE;
use crate::rows::{FigureRow, RecordRow, of_derived};
use crate::table::{Row, Table};

/// Result for a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DerivedPack {
    /// Name of the pack, and of its two tables.
    pub pack: String,
    /// Number of documents.
    pub records: u64,
    /// Documents that are damaged or cannot be read, which have no row.
    pub unreadable: u64,
}

/// Derives each document of a pack again, and writes `records/PACK.parquet` and `figures/PACK.parquet` into a folder, in place of
/// files of these names. State and level follow from the checks of each document by itself. Memory: the pack, one document, and a
/// group of rows of each table.
///
/// # Errors
/// If the pack cannot be read, or a table cannot be written.
pub fn derive_pack(pack: &Path, to: &Path) -> Result<DerivedPack, DataError> {
    let not_one = |why: String| DataError::Pack {
        path: pack.to_owned(),
        why,
    };
    let stem = pack.file_stem().and_then(|stem| stem.to_str());
    let name = stem.ok_or_else(|| not_one("its name is no text".to_owned()))?;
    let bytes = std::fs::read(pack).map_err(at(pack))?;
    let entries = read_pack(&bytes).map_err(|error| not_one(error.to_string()))?;
    let mut records = Part::<RecordRow>::begin(to, "records", name)?;
    let mut figures = Part::<FigureRow>::begin(to, "figures", name)?;
    let mut unreadable = 0;
    for entry in &entries {
        let Some((record, its_figures)) = rows_of(entry, &bytes) else {
            unreadable += 1;
            continue;
        };
        records.table.add(record)?;
        for figure in its_figures {
            figures.table.add(figure)?;
        }
    }
    figures.finish(to)?;
    records.finish(to)?;
    Ok(DerivedPack {
        pack: name.to_owned(),
        records: entries.len() as u64,
        unreadable,
    })
}

/// `None` if the document is damaged, or is not what the entry says of it.
fn rows_of(entry: &PackEntry, pack: &[u8]) -> Option<(RecordRow, Vec<FigureRow>)> {
    let begin = usize::try_from(entry.offset).ok()?;
    let end = begin.checked_add(usize::try_from(entry.length).ok()?)?;
    let text = unpacked(pack.get(begin..end)?)?;
    if to_hexadecimal(&Sha256::digest(text.as_bytes())) != entry.digest {
        return None;
    }
    let submitter = match &entry.submitter {
        Some(text) => Some(from_hexadecimal(text)?),
        None => None,
    };
    let derived = rederived(&text, submitter, entry.received_ms)?;
    (derived.extract.id == entry.id).then(|| of_derived(derived, submitter, entry.received_ms))
}

/// A table under another name until it is complete: a partition that is tried again replaces it as a whole.
struct Part<R: Row> {
    table: Table<R>,
    unfinished: String,
    name: String,
}

impl<R: Row> Part<R> {
    fn begin(to: &Path, kind: &str, pack: &str) -> Result<Self, DataError> {
        let unfinished = format!("{kind}/.{pack}.{}.unfinished", std::process::id());
        Ok(Self {
            table: Table::begin(Hashed::create(to, &unfinished)?)?,
            unfinished,
            name: format!("{kind}/{pack}{TABLE}"),
        })
    }

    fn finish(self, to: &Path) -> Result<(), DataError> {
        self.table.finish()?;
        let path = to.join(&self.name);
        std::fs::rename(to.join(self.unfinished), &path).map_err(at(&path))?;
        sync_folder(path.parent().unwrap_or(to))
    }
}
