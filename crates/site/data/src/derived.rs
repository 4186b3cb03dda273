//! Deriving the documents of a part of a dump again, into tables of the same columns as those of the dump.

use std::path::Path;

use serde::Serialize;

use crate::error::{DataError, at};
use crate::files::{Hashed, sync_folder};
use crate::kept::rederived;
use crate::line::DocumentLine;
use crate::manifest::{DOCUMENTS, TABLE};
use crate::rows::{FigureRow, RecordRow, of_derived};
use crate::table::{Row, Table};
use crate::verify::Lines;

/// Result for a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DerivedPart {
    /// Name of the part, and of its two tables.
    pub part: String,
    /// Number of documents.
    pub records: u64,
    /// Documents that are damaged or cannot be read, which have no row.
    pub unreadable: u64,
}

/// Derives each document of a part again, and writes `records/PART.parquet` and `figures/PART.parquet` into a folder, in place of
/// files of these names. State and level follow from the checks of each document by itself. Memory: one document, and a group of
/// rows of each table.
///
/// # Errors
/// If the file has not the name of a part or cannot be read, or a table cannot be written.
pub fn derive_part(documents: &Path, to: &Path) -> Result<DerivedPart, DataError> {
    let file_name = documents.file_name().and_then(|name| name.to_str());
    let name = file_name.and_then(|name| name.strip_suffix(DOCUMENTS));
    let name = name.ok_or_else(|| DataError::NotAPart(documents.to_owned()))?;
    let mut lines = Lines::of(documents)?;
    let mut records = Unfinished::<RecordRow>::begin(to, "records", name)?;
    let mut figures = Unfinished::<FigureRow>::begin(to, "figures", name)?;
    let (mut count, mut unreadable) = (0, 0);
    while let Some(line) = lines.next()? {
        count += 1;
        let Some((record, its_figures)) = rows_of(line) else {
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
    Ok(DerivedPart {
        part: name.to_owned(),
        records: count,
        unreadable,
    })
}

/// `None` if the document is damaged, or is not what its line says of it.
fn rows_of(line: &[u8]) -> Option<(RecordRow, Vec<FigureRow>)> {
    let line: DocumentLine = serde_json::from_slice(line).ok()?;
    let submitter = line.submitter()?;
    let derived = rederived(&line.text()?, submitter, line.received_ms)?;
    (derived.extract.id == line.id).then(|| of_derived(derived, submitter, line.received_ms))
}

/// A table under another name until it is complete: a partition that is tried again replaces it as a whole.
struct Unfinished<R: Row> {
    table: Table<R>,
    unfinished: String,
    name: String,
}

impl<R: Row> Unfinished<R> {
    fn begin(to: &Path, kind: &str, part: &str) -> Result<Self, DataError> {
        let unfinished = format!("{kind}/.{part}.{}.unfinished", std::process::id());
        Ok(Self {
            table: Table::begin(Hashed::create(to, &unfinished)?)?,
            unfinished,
            name: format!("{kind}/{part}{TABLE}"),
        })
    }

    fn finish(self, to: &Path) -> Result<(), DataError> {
        self.table.finish()?;
        let path = to.join(&self.name);
        std::fs::rename(to.join(self.unfinished), &path).map_err(at(&path))?;
        sync_folder(path.parent().unwrap_or(to))
    }
}
