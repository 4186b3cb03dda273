//! Upgrades to a made-up next version of the tables.

use std::fs;
use std::path::PathBuf;

use cardmark_core::{Origin, OriginKind, Record};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::{Store, reading};

const WAIT: Duration = Duration::from_secs(60);
const NEXT_VERSION: i64 = newest(STEPS) + 1;
/// A step that changes tables and rows.
const NEXT: [Step; 2] = [
    STEPS[0],
    (
        NEXT_VERSION,
        "ALTER TABLE records ADD COLUMN colour TEXT; UPDATE records SET colour = 'red'",
    ),
];

/// A store of the present version with one labelled run, and its document.
fn store() -> (TempDir, PathBuf, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    let record = Record::new(Uuid::nil(), Origin::of(OriginKind::Measured));
    store.insert(&record).unwrap();
    store.label(record.id, [("box", Some("später"))]).unwrap();
    drop(store);
    let document = document(&Connection::open(&path).unwrap());
    (folder, path, document)
}

fn document(connection: &Connection) -> Vec<u8> {
    let sql = "SELECT document FROM records";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn text(connection: &Connection, sql: &str) -> String {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn an_upgrade_keeps_documents_byte_for_byte_and_labels() {
    let (_folder, path, before) = store();
    let upgraded = open(&path, WAIT, &NEXT).unwrap();
    assert_eq!(document(&upgraded), before);
    assert_eq!(text(&upgraded, "SELECT value FROM labels"), "später");
    assert_eq!(text(&upgraded, "SELECT colour FROM records"), "red");
    drop(upgraded);
    // Opened again, nothing is left to do.
    let bytes = fs::read(&path).unwrap();
    drop(open(&path, WAIT, &NEXT).unwrap());
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // The program of before refuses it.
    let error = Store::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: NEXT_VERSION,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn an_upgraded_store_has_the_tables_of_a_new_one() {
    let (folder, path, _) = store();
    let schema = |path: &Path| {
        let opened = open(path, WAIT, &NEXT).unwrap();
        text(
            &opened,
            "SELECT group_concat(name || coalesce(sql, '') ORDER BY name) FROM sqlite_schema",
        )
    };
    assert_eq!(schema(&path), schema(&folder.path().join("new.sqlite")));
}

#[test]
fn a_store_that_cannot_be_upgraded_stays() {
    let (_folder, path, _) = store();
    let before = fs::read(&path).unwrap();
    let mut failing = NEXT;
    failing[1].1 = "DELETE FROM labels; INSERT INTO nowhere VALUES (1)";
    let error = open(&path, WAIT, &failing).unwrap_err();
    assert!(matches!(error, StoreError::NotMigrated { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn several_that_open_an_old_store_at_once_take_turns() {
    let (_folder, path, _) = store();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let upgraded = open(&path, WAIT, &NEXT).unwrap();
                assert_eq!(text(&upgraded, "SELECT colour FROM records"), "red");
            });
        }
    });
}

#[test]
fn an_old_store_that_is_read_is_upgraded_as_a_copy() {
    let (_folder, path, before) = store();
    let bytes = fs::read(&path).unwrap();
    let scratch = TempDir::new().unwrap();
    let copy = reading::open(&path, scratch.path(), WAIT, &NEXT).unwrap();
    assert_eq!(text(&copy, "SELECT colour FROM records"), "red");
    assert_eq!(document(&copy), before);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
