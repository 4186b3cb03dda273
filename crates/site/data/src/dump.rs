//! Writing a dump.
//!
//! A record is in it if it arrived before the dump was begun, and was not withdrawn before it got its name. Memory: 16 packed documents,
//! one unpacked, and a group of rows of each table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_site_store::{Cursor, SiteStore};
use jiff::Timestamp;
use serde_json::json;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::error::{DataError, at};
use crate::files::{Hashed, sync_folder, write_text};
use crate::kept::day_of;
use crate::line::ActLine;
use crate::manifest::{ACTS, FileEntry, MANIFEST, Manifest, README, SAMPLE, TOMBSTONES};
use crate::month::{self, Month, MonthFiles, Written};
use crate::new_folder::NewFolder;

/// Records whose bytes are in memory at once.
const TOGETHER: u32 = 16;
/// Tombstones that are read at a time.
const TOMBSTONES_TOGETHER: u32 = 1_000;
/// Acts that are read at a time.
const ACTS_TOGETHER: u32 = 1_000;
/// Times that months are written again because runs were withdrawn meanwhile.
const MOST_ROUNDS: u32 = 5;
/// Largest sample, bytes.
const MOST_SAMPLE: usize = 1_000_000;
/// Largest part of the documents, bytes: a partition of Spark, and what a copy transfers again after a broken download.
const MOST_PART_BYTES: u64 = 256_000_000;

/// Facts about a dump that its manifest names.
#[derive(Clone, Debug)]
pub struct DumpAbout {
    /// Origin of the site, such as `https://cards.example`.
    pub site: String,
    /// Time of its beginning, milliseconds since 1970.
    pub now_ms: i64,
}

/// A dump that was written.
#[derive(Clone, Debug)]
pub struct Dumped {
    /// Its list of files.
    pub manifest: Manifest,
    /// Size of all files, bytes.
    pub bytes: u64,
}

/// Writes a dump as a new folder. It is written beside it, made durable, and then renamed; after a failure nothing is left.
///
/// # Errors
/// If the folder is there already, a file cannot be written, or the database fails.
pub async fn write_dump(
    store: &SiteStore,
    folder: &Path,
    about: DumpAbout,
) -> Result<Dumped, DataError> {
    let new = NewFolder::begin(folder)?;
    let dumped = Dump::new(store, new.path()).write(about).await?;
    new.finish()?;
    Ok(dumped)
}

struct Dump<'s> {
    store: &'s SiteStore,
    folder: PathBuf,
    most_part_bytes: u64,
    /// Later arrivals are left to the next dump.
    until_ms: i64,
    months: BTreeMap<Month, Written>,
    damaged: BTreeMap<Month, Vec<Uuid>>,
}

impl<'s> Dump<'s> {
    fn new(store: &'s SiteStore, folder: &Path) -> Self {
        Self {
            store,
            folder: folder.to_owned(),
            most_part_bytes: MOST_PART_BYTES,
            until_ms: 0,
            months: BTreeMap::new(),
            damaged: BTreeMap::new(),
        }
    }

    async fn write(mut self, about: DumpAbout) -> Result<Dumped, DataError> {
        let last = self.store.last_change().await?;
        let through = last.map_or(0, |change| change.sequence);
        // The clock of another instance may be ahead.
        let last_ms = self.store.last_arrival_ms().await?;
        self.until_ms = about.now_ms.max(last_ms.unwrap_or(about.now_ms));
        let made_at = Timestamp::from_millisecond(about.now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut manifest = Manifest::new(about.site, format!("{made_at:.0}"), through);
        self.write_months().await?;
        let tombstones = self.leave_out_withdrawn(through).await?;
        let acts = self.write_acts().await?;
        (manifest.tombstones, manifest.acts) = (tombstones.rows, acts.rows);
        for written in self.months.values() {
            manifest.records += written.records;
            manifest.quarantined += written.quarantined;
            manifest.files.extend(written.files.iter().cloned());
        }
        manifest.damaged = self.damaged.values().flatten().copied().collect();
        manifest.files.extend([tombstones, acts]);
        manifest.files.push(self.write_sample()?);
        manifest.files.push(write_text(&self.folder, README, TEXT)?);
        manifest
            .files
            .sort_by(|one, other| one.path.cmp(&other.path));
        let text = serde_json::to_string_pretty(&manifest)
            .map_err(|error| at(&self.folder.join(MANIFEST))(error.into()))?;
        let own = write_text(&self.folder, MANIFEST, &(text + "\n"))?;
        for name in ["documents", "records", "figures"] {
            let folder = self.folder.join(name);
            if folder.exists() {
                sync_folder(&folder)?;
            }
        }
        sync_folder(&self.folder)?;
        let bytes = manifest.files.iter().map(|file| file.bytes).sum::<u64>() + own.bytes;
        Ok(Dumped { manifest, bytes })
    }

    async fn write_months(&mut self) -> Result<(), DataError> {
        let mut after = Cursor::before(i64::MIN);
        while let Some(next) = self.store.next_arrival(after, self.until_ms).await? {
            let month = Month::of(next.received_ms);
            after = Cursor::before(month.end_ms.saturating_add(1));
            self.write_month(month).await?;
        }
        Ok(())
    }

    /// Writes the files of a month, in place of those that are there.
    async fn write_month(&mut self, month: Month) -> Result<(), DataError> {
        if let Some(before) = self.months.remove(&month) {
            // It may have had more parts.
            month::remove(&self.folder, &before)?;
        }
        let mut files = MonthFiles::create(&self.folder, &month, self.most_part_bytes)?;
        let (mut after, mut damaged) = (Cursor::before(month.begin_ms), Vec::new());
        let until_ms = self.until_ms.min(month.end_ms);
        loop {
            let page = self.store.arrivals(after, until_ms, TOGETHER).await?;
            let Some(last) = page.last else {
                break;
            };
            after = last;
            let add = spawn_blocking(move || {
                for arrival in &page.arrivals {
                    if !files.add(arrival)? {
                        damaged.push(arrival.head.id);
                    }
                }
                Ok::<_, DataError>((files, damaged))
            });
            (files, damaged) = add.await??;
        }
        self.damaged.insert(month.clone(), damaged);
        let written = spawn_blocking(|| files.finish()).await??;
        match written.records {
            0 => month::remove(&self.folder, &written),
            _ => {
                self.months.insert(month, written);
                Ok(())
            }
        }
    }

    /// Writes the tombstones. If a record was withdrawn meanwhile, writes its month again; repeats both until none was, at most
    /// [`MOST_ROUNDS`] times: there may always be another one. Those of the last round have no tombstone yet.
    async fn leave_out_withdrawn(&mut self, through: i64) -> Result<FileEntry, DataError> {
        let (mut checked, mut round) = (through, 0);
        loop {
            let tombstones = self.write_tombstones().await?;
            round += 1;
            let withdrawn = self.store.withdrawn_after(checked).await?;
            let Some((last, _)) = withdrawn.last() else {
                return Ok(tombstones);
            };
            checked = *last;
            let ids: BTreeSet<Uuid> = withdrawn.into_iter().map(|(_, id)| id).collect();
            let ids = Arc::new(ids);
            for (month, written) in self.months.clone() {
                let (folder, ids) = (self.folder.clone(), Arc::clone(&ids));
                if spawn_blocking(move || month::has_any(&folder, &written, &ids)).await?? {
                    self.write_month(month).await?;
                }
            }
            if round >= MOST_ROUNDS {
                return Ok(tombstones);
            }
        }
    }

    async fn write_tombstones(&self) -> Result<FileEntry, DataError> {
        let mut file = Hashed::create(&self.folder, TOMBSTONES)?;
        let path = file.path().to_owned();
        let (mut after, mut count) = (Uuid::nil(), 0);
        loop {
            let page = self.store.tombstones(after, TOMBSTONES_TOGETHER).await?;
            let Some((last, _)) = page.last() else {
                return file.finish(count);
            };
            after = *last;
            count += page.len() as u64;
            for (id, at_ms) in page {
                let line = json!({"id": id, "day": day_of(at_ms)});
                writeln!(file, "{line}").map_err(at(&path))?;
            }
        }
    }

    /// Writes all acts of moderators, the first one first. A process that decides on records has them all in memory too.
    async fn write_acts(&self) -> Result<FileEntry, DataError> {
        let (mut acts, mut before) = (Vec::new(), None);
        loop {
            let page = self.store.acts(before, ACTS_TOGETHER).await?;
            let Some(last) = page.last() else {
                break;
            };
            before = Some(last.number);
            acts.extend(page);
        }
        let mut file = Hashed::create(&self.folder, ACTS)?;
        let (path, count) = (file.path().to_owned(), acts.len() as u64);
        for act in acts.into_iter().rev() {
            let line = serde_json::to_string(&ActLine::from(act));
            let written = line.map_err(std::io::Error::from);
            written
                .and_then(|line| writeln!(file, "{line}"))
                .map_err(at(&path))?;
        }
        file.finish(count)
    }

    /// The newest month has the newest form of records.
    fn write_sample(&self) -> Result<FileEntry, DataError> {
        let lines = match self.months.last_key_value() {
            Some((_, written)) => month::sample(&self.folder, written, MOST_SAMPLE)?,
            None => Vec::new(),
        };
        let mut file = Hashed::create(&self.folder, SAMPLE)?;
        let path = file.path().to_owned();
        file.write_all(&lines).map_err(at(&path))?;
        file.finish(lines.iter().filter(|byte| **byte == b'\n').count() as u64)
    }
}

const TEXT: &str = "\
Measurements of memory cards, as their owners shared them with a results site of cardmark.

Licence: CC0 1.0 (public domain). No serial number is among the data.

manifest.json                     the site, the time, and size, SHA-256 and number of rows of each file
documents/YYYY-MM.0001.jsonl.zst  runs that arrived in this month, one a line, in the order of arrival; after 256 MB the next part
records/YYYY-MM.parquet           the same runs as a table: product, board, suite, state, level, circumstances
figures/YYYY-MM.parquet           their figures: id of the run, metric, value, unit
tombstones.jsonl                  runs that their owners withdrew: id and day
acts.jsonl                        what moderators decided, with the reason; `state` and `product` follow from it
sample.jsonl                      the first runs of the last month, at most 1 MB, not packed

Runs with the state `quarantined` contradict themselves or their card, or a moderator decided so; the site counts them nowhere. `checks` and
acts.jsonl have the reasons. A site cannot know that a figure is honest.

Delete what tombstones.jsonl names from your copy. /api/v1/changes?cursor=N on the site, with N from `changes_through` in manifest.json,
lists everything that came and went since then.

A line of documents has the run in `record`, and in `statement` what its owner states of it, such as the product. Both with a line
feed behind each are the bytes that `digest` is the SHA-256 of; where these bytes are others, they are in `document`. `submitter` is a
pseudonym: runs of one store on one site have the same. Times are UTC, milliseconds since 1970.

With DuckDB:
  select product, metric, unit, median(value) from 'figures/*.parquet' join 'records/*.parquet' using (id)
  where state = 'shared' group by all order by all;

`cardmark-site import FOLDER` makes the same site from this folder. Format: docs/SITE.md, \"Open data\", in the sources of cardmark.
";

#[cfg(test)]
#[path = "../tests/it/samples.rs"]
#[expect(dead_code, reason = "samples of the other tests")]
mod samples;

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_site_store::Withdrawn;

    const NOW_MS: i64 = samples::LATE_MS + 86_400_000;

    async fn filled(folder: &Path) -> SiteStore {
        let address = format!("sqlite:{}", folder.join("site.sqlite").display());
        let store = SiteStore::open(&address).await.unwrap();
        for number in 0..4 {
            let text = samples::text_of(&samples::small(number));
            // Two in November, two in December.
            let at_ms = samples::LATE_MS + i64::try_from(number).unwrap() * 40_000;
            samples::put(&store, samples::incoming(&text, None, at_ms)).await;
        }
        store
    }

    #[tokio::test]
    async fn a_run_that_is_withdrawn_while_the_dump_is_written_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path()).await;
        let through = store.last_change().await.unwrap().unwrap().sequence;
        let mut dump = Dump {
            until_ms: NOW_MS,
            ..Dump::new(&store, &folder.path().join("dump"))
        };
        dump.write_months().await.unwrap();
        let counts = |dump: &Dump<'_>| -> Vec<u64> {
            dump.months
                .values()
                .map(|written| written.records)
                .collect()
        };
        assert_eq!(counts(&dump), [2, 2]);
        for number in [1, 2, 3] {
            let id = samples::small(number).id;
            let withdrawn = store.withdraw(id, samples::TOKEN).await.unwrap();
            assert_eq!(withdrawn, Withdrawn::Now);
        }
        let tombstones = dump.leave_out_withdrawn(through).await.unwrap();
        assert_eq!(tombstones.rows, 3);
        assert_eq!(counts(&dump), [1], "December has no run any more");
        let (_, written) = dump.months.first_key_value().unwrap();
        let left = month::sample(&dump.folder, written, MOST_SAMPLE).unwrap();
        let left = String::from_utf8(left).unwrap();
        assert!(left.contains(&samples::small(0).id.to_string()), "{left}");
        assert!(!left.contains(&samples::small(1).id.to_string()), "{left}");
        let documents = std::fs::read_dir(dump.folder.join("documents")).unwrap();
        assert_eq!(documents.count(), 1);
        let digest = crate::files::digest_of(&dump.folder.join(&written.files[0].path));
        assert_eq!(digest.unwrap().1, written.files[0].sha256);
        store.close().await;
    }

    /// Paths of the files in `documents`, in their order.
    fn parts_in(folder: &Path) -> Vec<String> {
        let found = std::fs::read_dir(folder.join("documents")).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            format!("documents/{}", entry.unwrap().file_name().display())
        };
        let mut found: Vec<String> = found.map(name).collect();
        found.sort();
        found
    }

    #[tokio::test]
    async fn a_month_in_parts_is_the_same_and_has_fewer_after_withdrawals() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path()).await;
        let whole = folder.path().join("whole");
        let about = || DumpAbout {
            site: String::new(),
            now_ms: NOW_MS,
        };
        write_dump(&store, &whole, about()).await.unwrap();
        let in_parts = folder.path().join("parts");
        let with_parts = || Dump {
            most_part_bytes: 1,
            until_ms: NOW_MS,
            ..Dump::new(&store, &in_parts)
        };
        let dumped = with_parts().write(about()).await.unwrap();
        let expected = ["11.0001", "11.0002", "12.0001", "12.0002"]
            .map(|part| format!("documents/2026-{part}.jsonl.zst"));
        assert_eq!(parts_in(&in_parts), expected);
        assert_eq!(crate::verify(&in_parts).unwrap(), dumped.manifest);
        let lines_in = |folder: &Path| {
            let decoded = |path: &String| {
                let packed = std::fs::read(folder.join(path)).unwrap();
                zstd::decode_all(packed.as_slice()).unwrap()
            };
            parts_in(folder)
                .iter()
                .flat_map(decoded)
                .collect::<Vec<u8>>()
        };
        assert!(lines_in(&in_parts) == lines_in(&whole), "lines differ");
        let sample = std::fs::read(in_parts.join(SAMPLE)).unwrap();
        assert_eq!(sample, std::fs::read(whole.join(SAMPLE)).unwrap());

        let through = store.last_change().await.unwrap().unwrap().sequence;
        let mut dump = with_parts();
        dump.write_months().await.unwrap();
        // In the second part of its month.
        store
            .withdraw(samples::small(3).id, samples::TOKEN)
            .await
            .unwrap();
        dump.leave_out_withdrawn(through).await.unwrap();
        assert_eq!(parts_in(&in_parts), expected[..3]);
        store.close().await;
    }

    #[tokio::test]
    async fn later_arrivals_are_left_to_the_next_dump_and_a_failure_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path()).await;
        let mut dump = Dump {
            until_ms: samples::LATE_MS + 40_000,
            ..Dump::new(&store, &folder.path().join("dump"))
        };
        dump.write_months().await.unwrap();
        assert_eq!(dump.months.len(), 1);

        let place = folder.path().join("another");
        store.close().await;
        let about = DumpAbout {
            site: String::new(),
            now_ms: NOW_MS,
        };
        write_dump(&store, &place, about).await.unwrap_err();
        let names = std::fs::read_dir(folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.filter(|name| name.contains("another")).collect();
        assert_eq!(names, Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_clock_ahead_leaves_no_run_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path()).await;
        // Another instance stored a run first whose time is later.
        for (number, at_ms) in [(8, NOW_MS + 2_000), (9, NOW_MS - 1)] {
            let text = samples::text_of(&samples::small(number));
            samples::put(&store, samples::incoming(&text, None, at_ms)).await;
        }
        let about = DumpAbout {
            site: String::new(),
            now_ms: NOW_MS,
        };
        let dumped = write_dump(&store, &folder.path().join("dump"), about).await;
        let manifest = dumped.unwrap().manifest;
        assert_eq!((manifest.changes_through, manifest.records), (6, 6));
        store.close().await;
    }

    #[tokio::test]
    async fn a_damaged_document_is_named_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path()).await;
        let record = samples::small(9);
        let mut damaged = samples::incoming(&samples::text_of(&record), None, NOW_MS - 1);
        damaged.packed.truncate(20);
        samples::put(&store, damaged).await;
        let about = || DumpAbout {
            site: String::new(),
            now_ms: NOW_MS,
        };
        let place = folder.path().join("with");
        let dumped = write_dump(&store, &place, about()).await.unwrap();
        assert_eq!(dumped.manifest.damaged, [record.id]);
        assert_eq!(crate::verify(&place).unwrap().records, 4);
        store.close().await;
    }
}
