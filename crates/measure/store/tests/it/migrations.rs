//! Stores of earlier versions are converted once, or stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::{Finding, FindingKind, Severity, parse_record};
use cardmark_store::{HOST_LABEL, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::builder::{record, trial};

const CARD: &[u8] = b"card";

/// Steps from version 1 to 4 as sqlx ran them.
const STEPS: [&str; 3] = [
    include_str!("../fixtures/version-2.sql"),
    include_str!("../fixtures/version-3.sql"),
    include_str!("../fixtures/version-4.sql"),
];

/// A store of an old version. The program itself made `version-1.sqlite`.
pub(crate) fn old_store(version: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.sqlite");
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1.sqlite");
    fs::copy(made, &path).unwrap();
    for (number, step) in (2..=version).zip(STEPS) {
        let sql = format!(
            "{step}; INSERT INTO _sqlx_migrations \
             (version, description, success, checksum, execution_time) \
             VALUES ({number}, '', 1, x'00', 0);"
        );
        change(&path, &sql);
    }
    (folder, path)
}

pub(crate) fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn documents(path: &Path) -> Vec<(String, Vec<u8>, i64)> {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT id, CAST(document AS BLOB), stored_at FROM records ORDER BY sequence";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// All tables and indexes of a database.
fn schema(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT name || coalesce(sql, '') FROM sqlite_schema ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_store_of_every_version_keeps_documents_byte_for_byte_and_labels() {
    for version in 1..=4 {
        let (_folder, path) = old_store(version);
        // White space and a second record show whether documents are rewritten.
        change(
            &path,
            "UPDATE records SET document = document || char(10);
             INSERT INTO records (id, stored_at, origin_kind, document)
                 VALUES ('00000000-0000-0000-0000-000000000000', 7, 'measured', '{\"format\":99}');
             INSERT INTO labels SELECT id, 'box', 'später', 8 FROM records;
             DELETE FROM labels WHERE key = 'reader'",
        );
        let before = documents(&path);
        assert_eq!(before.len(), 2);
        let mut store = Store::open(&path).unwrap();
        let found = store.find("64f0a140").unwrap();
        let expected = parse_record(str::from_utf8(&before[0].1).unwrap()).unwrap();
        assert_eq!(found.record, expected);
        assert_eq!(found.labels["box"], "später");
        assert!(!found.labels.contains_key("reader"));
        assert_eq!(store.figures("rand_read_4k").unwrap().len(), 1);
        assert_eq!(store.list(9).unwrap().len(), 2);
        // The second document was never readable.
        let unreadable = store.subjects();
        assert!(
            matches!(unreadable, Err(StoreError::Damaged { .. })),
            "{unreadable:?}"
        );
        store.insert(&record("aaaa")).unwrap();
        assert_eq!(store.list(1).unwrap()[0].id[..4], *"aaaa");
        drop(store);
        assert_eq!(documents(&path)[..2], before);
        let new = path.with_file_name("new.sqlite");
        drop(Store::open(&new).unwrap());
        assert_eq!(schema(&path), schema(&new), "version {version}");
        // Opened again, nothing is left to do.
        let bytes = fs::read(&path).unwrap();
        drop(Store::open(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_converted_run_is_compared_as_one_stored_now() {
    let (_folder, path) = old_store(4);
    let mut store = Store::open(&path).unwrap();
    let converted = (store.subjects().unwrap(), store.select(&[]).unwrap());
    let digests = store.digests().unwrap();
    assert_eq!(digests.len(), 1);
    let record = store.find("last").unwrap().record;
    let new = path.with_file_name("new.sqlite");
    let mut store = Store::open(&new).unwrap();
    store.insert(&record).unwrap();
    let label = [("reader", Some("native"))];
    store.label(record.id, label).unwrap();
    assert_eq!(
        (store.subjects().unwrap(), store.select(&[]).unwrap()),
        converted
    );
    assert_eq!(store.digests().unwrap(), digests);
}

/// Turns the tables of the current version into those of version 6.
const BACK_TO_6: &str = "DROP TABLE submissions;
    ALTER TABLE records DROP COLUMN is_imported;
    ALTER TABLE statements DROP COLUMN document;
    DROP INDEX heads_of_evidence;
    ALTER TABLE heads DROP COLUMN evidence;
    PRAGMA user_version = 6";

#[test]
fn digests_and_statements_of_version_6_are_those_of_a_store_made_now() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    let runs = ["aaaa", "bbbb", "cccc"].map(record);
    let [one, unlabelled, untried] = &runs;
    for (run, is_tried) in [(one, true), (unlabelled, true), (untried, false)] {
        let mut run = run.clone();
        if is_tried {
            run.trials = vec![trial(0)];
        }
        if run.id == unlabelled.id {
            run.labels.clear();
        }
        store.insert(&run).unwrap();
    }
    let labels = [("claims", Some("A1 64GB")), (HOST_LABEL, Some("pi"))];
    store.label(one.id, labels).unwrap();
    let state = |store: &mut Store| {
        let statements = runs.each_ref().map(|run| store.statement(run.id).unwrap());
        (statements, store.digests().unwrap(), schema(&path))
    };
    let made = state(&mut store);
    assert_eq!(made.1.len(), 2);
    assert_eq!(made.0.iter().flatten().count(), 2);
    drop(store);
    change(&path, BACK_TO_6);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(state(&mut store), made);
}

/// Turns the tables of the current version into those of version 7.
const BACK_TO_7: &str = "DROP TABLE submissions;
    ALTER TABLE records DROP COLUMN is_imported;
    PRAGMA user_version = 7";

#[test]
fn a_store_of_version_7_has_sent_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    let [own, foreign] = ["aaaa", "bbbb"].map(record);
    for run in [&own, &foreign] {
        store.insert(run).unwrap();
    }
    store.label(foreign.id, [(HOST_LABEL, Some("pi"))]).unwrap();
    let (secret, tables) = (store.secret().unwrap(), schema(&path));
    drop(store);
    change(&path, BACK_TO_7);
    let before = documents(&path);
    let mut store = Store::open(&path).unwrap();
    assert_eq!((documents(&path), schema(&path)), (before, tables));
    assert_eq!(store.secret().unwrap(), secret);
    assert_eq!(store.submissions("https://cards.example").unwrap(), []);
    assert_eq!(store.unsent("https://cards.example").unwrap(), [own.id]);
}

/// Version 8 stored figures of a device that is not known as those of a device.
#[test]
fn figures_of_unknown_devices_in_a_store_of_version_8_are_not_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.sqlite");
    let mut store = Store::open(&path).unwrap();
    let [mut known, mut unknown] = ["aaaa", "bbbb"].map(record);
    for run in [&mut known, &mut unknown] {
        run.metrics[0].warnings.clear();
    }
    let kind = FindingKind::UnknownDevice;
    unknown.findings = vec![Finding::new(kind, Severity::Warning, "hidden")];
    store.insert(&known).unwrap();
    store.insert(&unknown).unwrap();
    let metric = known.metrics[0].id.clone();
    drop(store);
    change(
        &path,
        "UPDATE metrics SET is_voided = 0; PRAGMA user_version = 8",
    );
    let figures = Store::open(&path).unwrap().figures(&metric).unwrap();
    let runs: Vec<_> = figures.iter().map(|figure| figure.run.clone()).collect();
    assert_eq!(runs, [known.id.to_string()]);
}

#[test]
fn a_damaged_extract_is_rebuilt() {
    let (_folder, path) = old_store(4);
    change(
        &path,
        "UPDATE metrics SET value = 'x'; DELETE FROM heads; UPDATE records SET suite = x'00'",
    );
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.list(9).unwrap().len(), 1);
    assert_eq!(store.figures("rand_read_4k").unwrap().len(), 1);
    assert_eq!(store.subjects().unwrap().len(), 1);
}

#[test]
fn secret_and_preparations_are_kept() {
    for version in 2..=4 {
        let (_folder, path) = old_store(version);
        change(
            &path,
            "UPDATE secret SET bytes = zeroblob(32);
             INSERT INTO preparations (card_key, fill, started_at, size_bytes, done_bytes)
                 VALUES (zeroblob(32), 'ff', '2026-11-21T10:00:00Z', 9, 4)",
        );
        drop(Store::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        let read = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
        assert_eq!(read("SELECT bytes = zeroblob(32) FROM secret"), 1);
        assert_eq!(read("SELECT done_bytes FROM preparations"), 4);
    }
    let (_folder, path) = old_store(1);
    let key = |path: &Path| Store::open(path).unwrap().card_key(CARD).unwrap();
    assert_eq!(key(&path), key(&path));
}

#[test]
fn a_store_that_cannot_be_converted_stays() {
    let (_folder, path) = old_store(4);
    change(
        &path,
        "INSERT INTO labels SELECT id, 'box', x'00', 8 FROM records",
    );
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotMigrated { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_store_of_the_old_kind_is_refused() {
    let (_folder, path) = old_store(4);
    change(
        &path,
        "UPDATE _sqlx_migrations SET version = 99 WHERE version = 4",
    );
    let error = Store::open(&path).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error:?}"
    );
}

#[test]
fn several_that_open_an_old_store_at_once_take_turns() {
    let (_folder, path) = old_store(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(Store::open(&path).unwrap().list(9).unwrap().len(), 1));
        }
    });
}
