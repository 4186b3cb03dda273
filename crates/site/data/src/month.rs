//! Files of one month of arrival.

use std::collections::BTreeSet;
use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};

use cardmark_share::to_hexadecimal;
use cardmark_site_store::{Arrival, State};
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
use crate::verify::Lines;

/// Level of packing of documents.
const PACKING: i32 = 3;
/// Bytes that an encoder can hold back, and by which a line that does not shrink can grow: several blocks of 128 KiB.
const MOST_BUFFERED: u64 = 1_000_000;

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

    /// Path of a part, from 1.
    fn part(&self, number: usize) -> String {
        format!("documents/{}.{number:04}{DOCUMENTS}", self.name)
    }
}

/// Files of a month, complete.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) records: u64,
    pub(crate) quarantined: u64,
    /// Parts of the documents in their order, then the tables.
    pub(crate) files: Vec<FileEntry>,
}

impl Written {
    fn parts(&self) -> impl Iterator<Item = &FileEntry> {
        let is_part = |file: &&FileEntry| file.path.ends_with(DOCUMENTS);
        self.files.iter().filter(is_part)
    }
}

/// A part of the documents that is written.
struct Part {
    encoder: zstd::Encoder<'static, Hashed>,
    path: PathBuf,
    rows: u64,
}

impl Part {
    fn create(folder: &Path, name: &str) -> Result<Self, DataError> {
        let file = Hashed::create(folder, name)?;
        let path = file.path().to_owned();
        let mut encoder = zstd::Encoder::new(file, PACKING).map_err(at(&path))?;
        encoder.include_checksum(true).map_err(at(&path))?;
        Ok(Self {
            encoder,
            path,
            rows: 0,
        })
    }

    /// Returns whether the part is certainly not larger than `most_bytes` with another line, however badly this packs.
    fn has_room(&self, line: &[u8], most_bytes: u64) -> bool {
        self.encoder.get_ref().bytes() + line.len() as u64 + MOST_BUFFERED <= most_bytes
    }

    fn add(&mut self, line: &[u8]) -> Result<(), DataError> {
        self.rows += 1;
        self.encoder.write_all(line).map_err(at(&self.path))
    }

    fn finish(self) -> Result<FileEntry, DataError> {
        let file = self.encoder.finish().map_err(at(&self.path))?;
        file.finish(self.rows)
    }
}

/// Documents of a month that are written.
struct Parts {
    folder: PathBuf,
    month: Month,
    most_bytes: u64,
    last: Part,
    earlier: Vec<FileEntry>,
}

impl Parts {
    fn create(folder: &Path, month: &Month, most_bytes: u64) -> Result<Self, DataError> {
        Ok(Self {
            folder: folder.to_owned(),
            month: month.clone(),
            most_bytes,
            last: Part::create(folder, &month.part(1))?,
            earlier: Vec::new(),
        })
    }

    fn add(&mut self, line: &[u8]) -> Result<(), DataError> {
        if self.last.rows > 0 && !self.last.has_room(line, self.most_bytes) {
            let next = self.month.part(self.earlier.len() + 2);
            let next = Part::create(&self.folder, &next)?;
            self.earlier
                .push(mem::replace(&mut self.last, next).finish()?);
        }
        self.last.add(line)
    }

    fn finish(mut self) -> Result<Vec<FileEntry>, DataError> {
        self.earlier.push(self.last.finish()?);
        Ok(self.earlier)
    }
}

/// Files of a month that are written.
pub(crate) struct MonthFiles {
    documents: Parts,
    records: Table<RecordRow>,
    figures: Table<FigureRow>,
    count: u64,
    quarantined: u64,
}

impl MonthFiles {
    /// Creates the files, in place of those that are there.
    pub(crate) fn create(
        folder: &Path,
        month: &Month,
        most_part_bytes: u64,
    ) -> Result<Self, DataError> {
        let table = |kind: &str| Hashed::create(folder, &format!("{kind}/{}{TABLE}", month.name));
        Ok(Self {
            documents: Parts::create(folder, month, most_part_bytes)?,
            records: Table::begin(table("records")?)?,
            figures: Table::begin(table("figures")?)?,
            count: 0,
            quarantined: 0,
        })
    }

    /// Adds a record; returns false if its document is damaged.
    pub(crate) fn add(&mut self, arrival: &Arrival) -> Result<bool, DataError> {
        let Some(line) = line_of(arrival) else {
            return Ok(false);
        };
        self.documents.add(&line)?;
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
        let mut files = self.documents.finish()?;
        files.push(self.figures.finish()?);
        files.push(self.records.finish()?);
        Ok(Written {
            records: self.count,
            quarantined: self.quarantined,
            files,
        })
    }
}

fn line_of(arrival: &Arrival) -> Option<Vec<u8>> {
    let (head, document) = (&arrival.head, &arrival.document);
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
    written: &Written,
    ids: &BTreeSet<Uuid>,
) -> Result<bool, DataError> {
    for part in written.parts() {
        let path = folder.join(&part.path);
        let mut lines = Lines::of(&path)?;
        while let Some(line) = lines.next()? {
            // `{"id":"67e55044-…"`, as `line_of` writes it.
            let id = line
                .get(7..43)
                .and_then(|id| Uuid::try_parse_ascii(id).ok());
            if id.is_some_and(|id| ids.contains(&id)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The first lines of a written month, as far as they fit into this many bytes.
pub(crate) fn sample(folder: &Path, written: &Written, most: usize) -> Result<Vec<u8>, DataError> {
    let mut sample = Vec::new();
    for part in written.parts() {
        let path = folder.join(&part.path);
        let mut lines = Lines::of(&path)?;
        while let Some(line) = lines.next()? {
            if sample.len() + line.len() > most {
                return Ok(sample);
            }
            sample.extend_from_slice(line);
        }
    }
    Ok(sample)
}

/// Removes the files of a month.
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
    use cardmark_core::Rng;

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
    #[test]
    fn parts_are_as_large_as_they_may_be_and_hold_every_line_in_order() {
        const MOST_BYTES: u64 = 4_000_000;
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng::new(1);
        let mut parts = Parts::create(folder.path(), &Month::of(0), MOST_BYTES).unwrap();
        let mut written = Vec::new();
        for _ in 0..60 {
            // Bytes that do not shrink.
            let words = (0..25_000).flat_map(|_| rng.next_u64().to_le_bytes());
            let mut line: Vec<u8> = words.filter(|byte| *byte != b'\n').collect();
            line.push(b'\n');
            parts.add(&line).unwrap();
            written.extend(line);
        }
        let parts = parts.finish().unwrap();
        let paths: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        let expected = [1, 2, 3, 4].map(|part| format!("documents/1970-01.000{part}.jsonl.zst"));
        assert_eq!(paths, expected);
        assert_eq!(parts.iter().map(|part| part.rows).sum::<u64>(), 60);
        let sizes: Vec<u64> = parts.iter().map(|part| part.bytes).collect();
        assert!(sizes.iter().all(|bytes| *bytes <= MOST_BYTES), "{sizes:?}");
        let is_full = |bytes: &u64| *bytes > MOST_BYTES - MOST_BUFFERED - 300_000;
        assert!(sizes[..3].iter().all(is_full), "{sizes:?}");
        let mut read = Vec::new();
        for part in &parts {
            let path = folder.path().join(&part.path);
            let mut lines = Lines::of(&path).unwrap();
            while let Some(line) = lines.next().unwrap() {
                read.extend_from_slice(line);
            }
        }
        assert!(read == written, "lines differ");
    }
}
