//! Stores that cannot be used are named, and never changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use cardmark_store::{Store, StoreError};
use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::builder::record;

/// Changes a database as another program would.
pub(crate) fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn files_that_are_no_database_are_refused_and_stay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let long = "no database ".repeat(1000);
    let damaged = format!("SQLite format 3\0{}", "\u{7f}".repeat(8000));
    for content in ["x", "SQLite format 3\0", &long, &damaged] {
        fs::write(&path, content).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert!(error.to_string().contains("records.sqlite"));
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

/// SQLite reads the length of a device as 0, and would make an empty database of it; a FIFO would be waited for.
#[test]
fn a_store_is_a_regular_file() {
    let dir = tempfile::tempdir().unwrap();
    let (fifo, link) = (dir.path().join("fifo"), dir.path().join("link"));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    std::os::unix::fs::symlink(&fifo, &link).unwrap();
    for path in [Path::new("/dev/zero"), &fifo, &link, dir.path()] {
        let written = Store::open(path).unwrap_err();
        assert!(
            matches!(written, StoreError::NotAFile { .. }),
            "{written:?}"
        );
        let read = Store::open_to_read(path, dir.path()).unwrap_err();
        assert!(matches!(read, StoreError::NotAFile { .. }), "{read:?}");
    }
}

#[test]
fn a_truncated_database_is_called_damaged_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    for number in 0x1000..0x1100 {
        store.insert(&record(&format!("{number:x}"))).unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = Store::open(&path)
        .and_then(|mut store| store.export(|_, _, _| Ok::<(), StoreError>(())))
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert_eq!(fs::metadata(&path).unwrap().len(), whole.len() as u64 / 2);
}

#[test]
fn a_store_that_another_process_holds_is_called_locked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let busy_timeout = Duration::from_millis(20);
    let mut store = Store::open_with(&path, busy_timeout).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = store.insert(&record("67e5")).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    let error = store.list(1).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    let error = Store::open_with(&path, busy_timeout).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    other.execute_batch("ROLLBACK").unwrap();
    store.insert(&record("67e5")).unwrap();
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    drop(Store::open(&path).unwrap());
    change(&path, "PRAGMA user_version = 99");
    let error = Store::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 99,
                known: 11,
                ..
            }
        ),
        "{error:?}"
    );
}

/// Stores of development versions kept their version here, or in a table of their own (0).
#[test]
fn a_store_of_a_development_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    store.insert(&record("67e5")).unwrap();
    drop(store);
    for version in [0, 9] {
        change(&path, &format!("PRAGMA user_version = {version}"));
        let before = fs::read(&path).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        for error in [
            Store::open(&path).unwrap_err(),
            Store::open_to_read(&path, scratch.path()).unwrap_err(),
        ] {
            assert!(
                matches!(error, StoreError::Outdated { found, first: 11, .. } if found == version),
                "{error:?}"
            );
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.sqlite");
    change(
        &path,
        "PRAGMA journal_mode = WAL; CREATE TABLE mails (subject TEXT)",
    );
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_unreadable_document_does_not_hide_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    store.insert(&record("aaaa")).unwrap();
    store.insert(&record("bbbb")).unwrap();
    change(
        &path,
        "UPDATE records SET document = CAST('{\"format\":99}' AS BLOB) WHERE id LIKE 'aaaa%'",
    );
    let mut count = 0;
    let error = store.export(|_, _, _| {
        count += 1;
        Ok::<(), StoreError>(())
    });
    assert!(
        matches!(error, Err(StoreError::Document { .. })),
        "{error:?}"
    );
    assert_eq!(count, 1);
    let mut count = 0;
    let error = store.documents(|_, _| {
        count += 1;
        Ok::<(), StoreError>(())
    });
    assert!(
        matches!(error, Err(StoreError::Document { .. })),
        "{error:?}"
    );
    assert_eq!(count, 1);
    assert_eq!(store.list(10).unwrap().len(), 2);
    assert!(matches!(
        store.find("aaaa"),
        Err(StoreError::Document { .. })
    ));
}

#[test]
fn places_where_no_file_can_be_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Store::open(&file.join("records.sqlite")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::NotAFile { .. }), "{error:?}");
}

#[test]
fn a_store_that_cannot_be_written_can_still_be_read() {
    if rustix::process::geteuid().is_root() {
        // Root writes to read-only files, so that another user has to try.
        return cardmark_testkit::run_as_nobody("a_store_that_cannot_be_written_can_still_be_read");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    Store::open(&path).unwrap().insert(&record("aaaa")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.list(1).unwrap().len(), 1);
    assert!(matches!(
        store.insert(&record("bbbb")),
        Err(StoreError::ReadOnly { .. })
    ));
}
