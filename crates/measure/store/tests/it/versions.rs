//! Stores of every version, opened by this program: no document changes, and everything is read.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::{is_statement, parse_record, parse_statement};
use cardmark_store::{Incoming, Inserted, Store, StoreError};
use cardmark_testkit::stored_documents;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Offset of `PRAGMA user_version` in the header of a database (SQLite's file format, 1.3).
const USER_VERSION: usize = 60;
/// Version of the first tables.
const FIRST: u32 = 11;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stores")
}

fn user_version(path: &Path) -> u32 {
    let bytes = fs::read(path).unwrap();
    let number = &bytes[USER_VERSION..USER_VERSION + 4];
    u32::from_be_bytes(number.try_into().unwrap())
}

fn packed(version: u32) -> PathBuf {
    folder().join(format!("version-{version}.sqlite.zst"))
}

/// A store of a version.
fn store_of(version: u32) -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("records.sqlite");
    let mut packed = fs::File::open(packed(version)).unwrap();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut packed).unwrap();
    std::io::copy(&mut decoder, &mut fs::File::create(&path).unwrap()).unwrap();
    (scratch, path)
}

fn empty() -> (TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("records.sqlite");
    drop(Store::open(&path).unwrap());
    (scratch, path)
}

/// Versions with a store: all earlier ones, and the current one as soon as a release made it.
fn versions() -> Vec<u32> {
    let current = user_version(&empty().1);
    let has_store = |version: &u32| *version < current || packed(*version).exists();
    (FIRST..=current).filter(has_store).collect()
}

#[test]
fn there_is_a_store_of_every_version() {
    let list = fs::read_to_string(folder().join("SHA256SUMS")).unwrap();
    let mut expected = String::new();
    for version in versions() {
        let digest = Sha256::digest(fs::read(packed(version)).unwrap());
        expected += &format!("{digest:x}  version-{version}.sqlite.zst\n");
        assert_eq!(user_version(&store_of(version).1), version);
    }
    assert_eq!(list, expected, "a store of a version never changes");
}

/// What reads runs; returns their number.
type Reading = fn(&mut Store) -> Result<usize, StoreError>;

const READINGS: [(&str, Reading); 8] = [
    ("list", |store| Ok(store.list(u32::MAX)?.len())),
    ("select", |store| Ok(store.select(&[])?.len())),
    ("briefs", |store| Ok(store.briefs()?.len())),
    ("distinct", |store| Ok(store.select_distinct(&[])?.len())),
    ("subjects", |store| Ok(store.subjects()?.len())),
    ("export", |store| {
        let mut count = 0;
        store.export(|_, _, _| {
            count += 1;
            Ok::<(), StoreError>(())
        })?;
        Ok(count)
    }),
    ("documents", |store| {
        let mut count = 0;
        store.documents(|_, _| {
            count += 1;
            Ok::<(), StoreError>(())
        })?;
        Ok(count)
    }),
    ("find", |store| {
        let all = store.list(u32::MAX)?;
        let found = all.iter().map(|one| store.find(&one.id));
        Ok(found.collect::<Result<Vec<_>, _>>()?.len())
    }),
];

#[test]
fn a_store_of_every_version_is_read_whole_and_no_document_changes() {
    let current = user_version(&empty().1);
    for version in versions() {
        for (name, read) in READINGS {
            // Each is the first to open it.
            let (_scratch, path) = store_of(version);
            let before = stored_documents(&path);
            assert!(!before.is_empty());
            let found = read(&mut Store::open(&path).unwrap()).unwrap();
            assert_eq!(found, before.len(), "version {version}, {name}");
            assert_eq!(stored_documents(&path), before);
            assert_eq!(user_version(&path), current);
        }
    }
}

/// Documents and statements, one a line, as an export has them.
fn export(path: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut store = Store::open(path).unwrap();
    let each = store.documents(|document, stated| {
        lines.push(document.to_owned());
        lines.extend(stated.map(str::to_owned));
        Ok::<(), StoreError>(())
    });
    each.unwrap();
    lines
}

fn incoming(line: &str) -> Incoming {
    match is_statement(line) {
        true => Incoming::Statement(Box::new(parse_statement(line).unwrap()), line.to_owned()),
        false => Incoming::Record(Box::new(parse_record(line).unwrap()), line.to_owned()),
    }
}

/// Also into an empty store and out of it again.
#[test]
fn an_export_returns_the_bytes_that_an_old_program_stored() {
    for version in versions() {
        let (_scratch, path) = store_of(version);
        let before = stored_documents(&path);
        let lines = export(&path);
        let documents = lines.iter().filter(|line| !is_statement(line));
        let documents: Vec<&[u8]> = documents.map(String::as_bytes).collect();
        let expected: Vec<&[u8]> = before.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        assert_eq!(documents, expected, "version {version}");
        let (_scratch, other) = empty();
        let all: Vec<Incoming> = lines.iter().map(|line| incoming(line)).collect();
        for taken in Store::open(&other).unwrap().take_in(&all).unwrap() {
            assert_eq!(taken.unwrap(), Inserted::New, "version {version}");
        }
        assert_eq!(export(&other), lines, "version {version}");
    }
}

#[test]
fn figures_and_labels_of_an_old_store_are_those_of_its_documents() {
    for version in versions() {
        let (_scratch, path) = store_of(version);
        let (id, document) = stored_documents(&path).remove(0);
        let stored = parse_record(str::from_utf8(&document).unwrap()).unwrap();
        let metric = stored.metric("rand_read_4k").unwrap();
        let mut store = Store::open(&path).unwrap();
        let figures = store.figures("rand_read_4k").unwrap();
        let found = figures.iter().find(|figure| figure.run == id).unwrap();
        assert_eq!(found.value.to_bits(), metric.value.to_bits());
        assert_eq!(store.head(&id).unwrap().metrics, stored.metrics);
        let last = store.find("last").unwrap();
        assert_eq!(last.labels["note"], "after the move", "version {version}");
    }
}
