//! Files of one month of arrival.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use cardmark_share::to_hexadecimal;
use cardmark_site_store::{Arrival, State, StoredDocument};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uuid::Uuid;

use crate::error::{DataError, at};
use crate::files::Hashed;
use crate::kept::unpacked;
use crate::line::DocumentLine;
use crate::manifest::{DOCUMENTS, FileEntry, TABLE};
use crate::rows::{FigureRow, RecordRow, of_arrival, state_name};
use crate::table::Table;
use crate::verify::reader;

/// Level of packing of documents.
const PACKING: i32 = 3;

/// A month of arrival, in UTC.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Month {
    /// Such as `2026-11`.
    name: String,
    /// First millisecond.
    pub(crate) begin_ms: i64,
    /// Last millisecond.
    pub(crate) end_ms: i64,
}

impl Month {
    pub(crate) fn of(ms: i64) -> Self {
        let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let date = at.to_zoned(TimeZone::UTC).date();
        let begin_of = |date: jiff::civil::Date| {
            let begin = date.to_zoned(TimeZone::UTC);
            begin.map_or(i64::MAX, |begin| begin.timestamp().as_millisecond())
        };
        let next = date.last_of_month().tomorrow().map_or(i64::MAX, begin_of);
        Self {
            name: date.strftime("%Y-%m").to_string(),
            begin_ms: begin_of(date.first_of_month()),
            end_ms: next.saturating_sub(1),
        }
    }

    fn documents(&self) -> String {
        format!("documents/{}{DOCUMENTS}", self.name)
    }
}

/// Files of a month, complete.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) records: u64,
    pub(crate) quarantined: u64,
    pub(crate) files: [FileEntry; 3],
}

/// Files of a month that are written.
pub(crate) struct MonthFiles {
    documents: zstd::Encoder<'static, Hashed>,
    path: PathBuf,
    records: Table<RecordRow>,
    figures: Table<FigureRow>,
    count: u64,
    quarantined: u64,
}

impl MonthFiles {
    /// Creates the files, in place of those that are there.
    pub(crate) fn create(folder: &Path, month: &Month) -> Result<Self, DataError> {
        let documents = Hashed::create(folder, &month.documents())?;
        let path = documents.path().to_owned();
        let mut encoder = zstd::Encoder::new(documents, PACKING).map_err(at(&path))?;
        encoder.include_checksum(true).map_err(at(&path))?;
        let table = |kind: &str| Hashed::create(folder, &format!("{kind}/{}{TABLE}", month.name));
        Ok(Self {
            documents: encoder,
            path,
            records: Table::begin(table("records")?)?,
            figures: Table::begin(table("figures")?)?,
            count: 0,
            quarantined: 0,
        })
    }

    /// Adds a record; returns false if its document is damaged.
    pub(crate) fn add(
        &mut self,
        arrival: &Arrival,
        document: &StoredDocument,
    ) -> Result<bool, DataError> {
        let Some(line) = line_of(arrival, document) else {
            return Ok(false);
        };
        self.documents.write_all(&line).map_err(at(&self.path))?;
        let (record, figures) = of_arrival(arrival);
        self.records.add(record)?;
        for figure in figures {
            self.figures.add(figure)?;
        }
        self.count += 1;
        self.quarantined += u64::from(arrival.head.state == State::Quarantined);
        Ok(true)
    }

    /// Makes the files durable.
    pub(crate) fn finish(self) -> Result<Written, DataError> {
        let documents = self.documents.finish().map_err(at(&self.path))?;
        Ok(Written {
            records: self.count,
            quarantined: self.quarantined,
            files: [
                documents.finish(self.count)?,
                self.figures.finish()?,
                self.records.finish()?,
            ],
        })
    }
}

fn line_of(arrival: &Arrival, document: &StoredDocument) -> Option<Vec<u8>> {
    let head = &arrival.head;
    let text = unpacked(&document.packed)?;
    let line = DocumentLine {
        id: head.id,
        received_ms: head.received_ms,
        state: state_name(head.state).to_owned(),
        level: head.level,
        submitter: head.tag.map(|tag| to_hexadecimal(&tag)),
        quarantined_by: arrival.quarantined_by,
        checks: head.checks.clone(),
        digest: to_hexadecimal(&document.digest),
        record: None,
        statement: None,
        document: None,
    };
    let line = line.with(&text);
    line.text()?;
    let mut bytes = serde_json::to_vec(&line).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

/// Returns whether a written month has one of these records.
pub(crate) fn has_any(
    folder: &Path,
    month: &Month,
    ids: &BTreeSet<Uuid>,
) -> Result<bool, DataError> {
    let path = folder.join(month.documents());
    let mut documents = reader(&path)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if documents.read_until(b'\n', &mut line).map_err(at(&path))? == 0 {
            return Ok(false);
        }
        // `{"id":"67e55044-…"`, as `line_of` writes it.
        let id = line
            .get(7..43)
            .and_then(|id| Uuid::try_parse_ascii(id).ok());
        if id.is_some_and(|id| ids.contains(&id)) {
            return Ok(true);
        }
    }
}

/// The first lines of a written month, as far as they fit into this many bytes.
pub(crate) fn sample(folder: &Path, month: &Month, most: usize) -> Result<Vec<u8>, DataError> {
    let path = folder.join(month.documents());
    let mut documents = reader(&path)?;
    let (mut sample, mut line) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let count = documents.read_until(b'\n', &mut line).map_err(at(&path))?;
        if count == 0 || sample.len() + count > most {
            return Ok(sample);
        }
        sample.extend_from_slice(&line);
    }
}

/// Removes the files of a month without any record left.
pub(crate) fn remove(folder: &Path, written: &Written) -> Result<(), DataError> {
    for file in &written.files {
        let path = folder.join(&file.path);
        std::fs::remove_file(&path).map_err(at(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_no_gap() {
        let november = Month::of(1_795_564_800_000);
        assert_eq!(november.name, "2026-11");
        assert_eq!(Month::of(november.begin_ms), november);
        assert_eq!(Month::of(november.end_ms), november);
        let december = Month::of(november.end_ms + 1);
        assert_eq!(december.name, "2026-12");
        assert_eq!(december.begin_ms, november.end_ms + 1);
        assert_eq!(Month::of(december.end_ms + 1).name, "2027-01");
    }
}
