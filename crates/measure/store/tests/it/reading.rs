//! Stores that are opened for reading: nothing of them changes.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use cardmark_core::record_id;
use cardmark_store::{Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::builder::record;
use crate::refusals::change;

const PATH_VARIABLE: &str = "CARDMARK_STORE_TEST_READ";

/// First digits of the ids of all records, read without a change.
fn ids(path: &Path) -> Result<Vec<String>, StoreError> {
    let scratch = TempDir::new().unwrap();
    let mut store = Store::open_to_read(path, scratch.path())?;
    let mut ids = Vec::new();
    store.documents(|document, _| {
        let id = record_id(document).unwrap().to_string();
        ids.push(id[..4].to_owned());
        Ok::<_, StoreError>(())
    })?;
    Ok(ids)
}

/// Work of a child process; nothing in an ordinary test run.
#[test]
fn child_reads() {
    if let Some(path) = env::var_os(PATH_VARIABLE) {
        let path = Path::new(&path);
        fs::write(path.with_extension("ids"), ids(path).unwrap().join(" ")).unwrap();
    }
}

/// [`ids`] of another process, whose connections share nothing with those of this one.
fn ids_elsewhere(path: &Path) -> Vec<String> {
    let linked = TempDir::new().unwrap();
    let file = linked.path().join("store");
    std::os::unix::fs::symlink(path, &file).unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "reading::child_reads", "--quiet"])
        .env(PATH_VARIABLE, &file)
        .status();
    assert!(status.unwrap().success());
    let text = fs::read_to_string(file.with_extension("ids")).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Everything that could change: bytes, modes and times of the files of a folder, and mode and time of the folder. A file that was made
/// and deleted again changes the last.
#[derive(Debug, PartialEq)]
struct State {
    files: BTreeMap<PathBuf, (Vec<u8>, u32, SystemTime)>,
    folder: (u32, SystemTime),
}

fn state(folder: &Path) -> State {
    let of = |path: &Path| {
        let found = path.metadata().unwrap();
        (found.permissions().mode(), found.modified().unwrap())
    };
    let paths = fs::read_dir(folder).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    let file = |path: PathBuf| {
        let (mode, time) = of(&path);
        let bytes = fs::read(&path).unwrap();
        (path, (bytes, mode, time))
    };
    State {
        files: paths.map(file).collect(),
        folder: of(folder),
    }
}

/// A store with runs.
fn store(digits: &[&str]) -> (TempDir, PathBuf, Store) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("100 % of them?#.sqlite");
    let mut store = Store::open(&path).unwrap();
    for digits in digits {
        store.insert(&record(digits)).unwrap();
    }
    (folder, path, store)
}

#[test]
fn a_store_that_is_read_stays_as_it_is() {
    let (folder, path, _) = store(&["aaaa", "bbbb"]);
    for mode in [0o700, 0o500] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let before = state(folder.path());
        assert_eq!(ids(&path).unwrap(), ["aaaa", "bbbb"]);
        assert_eq!(state(folder.path()), before);
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn what_is_read_can_not_be_written() {
    let (folder, path, _) = store(&["aaaa"]);
    let scratch = TempDir::new().unwrap();
    let mut reading = Store::open_to_read(&path, scratch.path()).unwrap();
    let before = state(folder.path());
    let error = reading.insert(&record("bbbb")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert_eq!(state(folder.path()), before);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "no copy");
}

#[test]
fn stores_of_others_and_newer_ones_are_errors() {
    let (_folder, path, open) = store(&["aaaa"]);
    drop(open);
    change(&path, "PRAGMA user_version = 99");
    let error = ids(&path).unwrap_err();
    assert!(
        matches!(&error, StoreError::Newer { path: named, found: 99, .. } if *named == path),
        "{error:?}"
    );
    change(&path, "PRAGMA application_id = 5");
    let error = ids(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    fs::write(&path, "no database").unwrap();
    let error = ids(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    let error = ids(&path.with_extension("none")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    assert!(!path.with_extension("none").exists());
}

#[test]
fn a_write_ahead_log_is_read_while_another_process_writes() {
    let (folder, path, mut store) = store(&["aaaa"]);
    change(&path, "PRAGMA journal_mode = WAL");
    for digits in ["bbbb", "cccc"] {
        store.insert(&record(digits)).unwrap();
        let before = state(folder.path());
        assert!(before.files.len() == 3, "a log and its index");
        let found = ids_elsewhere(&path);
        assert_eq!(found.last().map(String::as_str), Some(digits));
        assert_eq!(state(folder.path()), before);
    }
}

#[test]
fn what_a_killed_process_left_is_read_and_stays() {
    let (folder, path, mut store) = store(&["aaaa"]);
    change(&path, "PRAGMA journal_mode = WAL");
    store.insert(&record("bbbb")).unwrap();
    // It needs more pages than are kept in memory, so that the file changes before the end.
    let rolled_back = "PRAGMA cache_size = 1; BEGIN IMMEDIATE; \
                       UPDATE records SET document = randomblob(length(document)); \
                       CREATE TABLE more (bytes BLOB); \
                       INSERT INTO more VALUES (randomblob(9000000));";
    let (_alone, alone) = copy(&path, &[""]);
    assert_eq!(ids(&alone).unwrap(), ["aaaa"], "the log has the rest");
    let copies = [
        copy(&path, &["", "-wal"]),
        copy(&path, &["", "-wal", "-shm"]),
        {
            drop(store);
            change(&path, "PRAGMA journal_mode = DELETE");
            let writing = Connection::open(&path).unwrap();
            writing.execute_batch(rolled_back).unwrap();
            let (_alone, alone) = copy(&path, &[""]);
            assert!(ids(&alone).is_err(), "the journal has the documents");
            copy(&path, &["", "-journal"])
        },
    ];
    drop(folder);
    for (folder, path) in copies {
        let before = state(folder.path());
        assert_eq!(ids(&path).unwrap(), ["aaaa", "bbbb"], "{before:?}");
        assert_eq!(state(folder.path()), before);
    }
}

/// Copies files whose names begin with that of a store into a folder of their own.
fn copy(path: &Path, ends: &[&str]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    for end in ends {
        let file = format!("{name}{end}");
        fs::copy(path.with_file_name(&file), folder.path().join(file)).unwrap();
    }
    let path = folder.path().join(name);
    (folder, path)
}

/// A copy that is only read like the file itself could not be brought up to date.
#[test]
fn the_copy_of_a_file_without_rights_to_write_can_be_written() {
    let (_folder, path, open) = store(&["aaaa"]);
    drop(open);
    change(&path, "PRAGMA journal_mode = WAL");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let scratch = TempDir::new().unwrap();
    Store::open_to_read(&path, scratch.path()).unwrap();
    let mode = scratch.path().join("copy.sqlite").metadata().unwrap();
    assert_eq!(mode.permissions().mode() & 0o200, 0o200);
}
