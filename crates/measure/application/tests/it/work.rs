//! Operations and their effects on the filesystem.

use cardmark_core::Errno;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use cardmark_engine::{Backend, Pulse};
use rusqlite::Connection;

use crate::support::{SEED, applications, op, scratch, suite, work, workload};

fn ask<T: rusqlite::types::FromSql>(path: &Path, query: &str) -> T {
    let connection = Connection::open(path).unwrap();
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn rows_are_really_in_the_database() {
    for id in ["sqlite_tps", "sqlite_wal_tps"] {
        let (scratch, pulse) = (scratch(), Arc::default());
        let workload = workload(id);
        let mut applications = applications(scratch.path(), SEED, &pulse);
        // The values of all rows.
        assert_eq!(applications.prepare(&workload), Ok(2_560_000));
        assert_eq!(applications.prepare(&workload), Ok(0), "made once");
        work(&mut applications, &workload, 300);
        assert_eq!(applications.damages(), []);

        let path = scratch.path().join(id).with_extension("db");
        let journal: String = ask(&path, "PRAGMA journal_mode");
        assert_eq!(journal, if id == "sqlite_tps" { "delete" } else { "wal" });
        assert_eq!(ask::<i64>(&path, "PRAGMA page_size"), 4096);
        assert_eq!(ask::<String>(&path, "PRAGMA integrity_check"), "ok");
        assert_eq!(ask::<i64>(&path, "SELECT count(*) FROM entry"), 10_000);
        assert_eq!(ask::<i64>(&path, "SELECT min(id) FROM entry"), 300);
        assert_eq!(ask::<i64>(&path, "SELECT max(id) FROM entry"), 10_299);
        let distinct = "SELECT count(DISTINCT value) FROM entry WHERE length(value) = 256";
        assert_eq!(ask::<i64>(&path, distinct), 10_000);
        // Of 300 random rows, few are drawn twice, or deleted soon after.
        let updated = updated_count(&path);
        assert!((280..=300).contains(&updated), "{updated}");
    }
}

/// Returns the number of rows whose key does not match their value any more.
fn updated_count(path: &Path) -> usize {
    let connection = Connection::open(path).unwrap();
    let mut query = connection.prepare("SELECT key, value FROM entry").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let is_updated = |(key, value): &(i64, Vec<u8>)| key.to_le_bytes() != value[..8];
    rows.unwrap().map(Result::unwrap).filter(is_updated).count()
}

#[test]
fn a_database_that_lost_rows_or_bits_is_told() {
    let (scratch, pulse) = (scratch(), Arc::default());
    let workload = workload("sqlite_tps");
    let mut applications = applications(scratch.path(), SEED, &pulse);
    applications.prepare(&workload).unwrap();
    work(&mut applications, &workload, 3);
    let path = scratch.path().join("sqlite_tps.db");
    let other = Connection::open(&path).unwrap();
    other
        .execute("DELETE FROM entry WHERE id = 77", [])
        .unwrap();
    let damages = applications.damages();
    assert_eq!(damages.len(), 1);
    assert_eq!(damages[0].workload, "sqlite_tps");
    assert_eq!(
        damages[0].detail,
        "`SELECT count(*) FROM entry` returned 9999 instead of 10000"
    );
    other.execute("DROP TABLE entry", []).unwrap();
    applications.submit(op(&workload, 0));
    assert!(applications.reap().outcome.is_err(), "the table is gone");
}

#[test]
fn a_seed_decides_what_is_written() {
    let sum = |seed: u64| {
        let (scratch, pulse) = (scratch(), Arc::default());
        let mut applications = applications(scratch.path(), seed, &pulse);
        let (sqlite, install) = (workload("sqlite_tps"), workload("files_per_s"));
        for one in [&sqlite, &install] {
            applications.prepare(one).unwrap();
            work(&mut applications, one, 20);
        }
        let package = scratch.path().join("files_per_s/package-03");
        let file = std::fs::read(package.join("file-31")).unwrap();
        let database = scratch.path().join("sqlite_tps.db");
        let query = "SELECT group_concat(id || hex(value)) FROM entry";
        (ask::<String>(&database, query), file)
    };
    let first = sum(1);
    assert!(first == sum(1), "the same seed");
    assert!(first.0 != sum(2).0 && first.1 != sum(2).1, "another seed");
}

#[test]
fn packages_replace_their_former_versions_and_leave_nothing_else() {
    let (scratch, pulse) = (scratch(), Arc::new(Pulse::new()));
    let workload = workload("files_per_s");
    let mut applications = applications(scratch.path(), SEED, &pulse);
    assert_eq!(applications.prepare(&workload), Ok(8 * 452_024));
    let folder = scratch.path().join("files_per_s");
    let file = |package: &str| std::fs::read(folder.join(package).join("file-31")).unwrap();
    let (first, second) = (file("package-00"), file("package-01"));
    let before = pulse.reading().0;
    work(&mut applications, &workload, 1);
    // The watch sees each file.
    assert_eq!(pulse.reading().0 - before, 32);
    assert_ne!(file("package-00"), first, "the former version");
    assert_eq!(file("package-01"), second, "not its turn");
    work(&mut applications, &workload, 9);
    assert_eq!(applications.damages(), []);
    let mut contents = BTreeSet::new();
    let mut bytes = 0;
    for package in std::fs::read_dir(&folder).unwrap() {
        for entry in std::fs::read_dir(package.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(path.extension(), None, "{}", path.display());
            let content = std::fs::read(path).unwrap();
            bytes += content.len();
            assert!(contents.insert(content), "two files are alike");
        }
    }
    assert_eq!((contents.len(), bytes), (8 * 32, 8 * 452_024));

    std::fs::write(folder.join("package-05/file-07"), "short").unwrap();
    let damages = applications.damages();
    assert_eq!(damages.len(), 1);
    assert!(damages[0].detail.contains("package-05"), "{damages:?}");
}

#[test]
fn a_log_grows_by_lines_and_begins_anew() {
    let (scratch, pulse) = (scratch(), Arc::default());
    let mut workload = workload("append_sync_per_s");
    workload.span_bytes = 10 * workload.block_bytes;
    let mut applications = applications(scratch.path(), SEED, &pulse);
    applications.prepare(&workload).unwrap();
    let path = scratch.path().join("append_sync_per_s.log");
    let held = || std::fs::read(&path).unwrap();
    work(&mut applications, &workload, 10);
    let first = held();
    assert_eq!(first.len(), 1280);
    work(&mut applications, &workload, 3);
    assert_eq!(held().len(), 3 * 128, "started again");
    assert_ne!(held(), first[..3 * 128]);
    assert_eq!(applications.damages(), []);
    std::fs::write(&path, "").unwrap();
    assert_eq!(
        applications.damages()[0].detail,
        "the log has 0 bytes instead of 384"
    );
}

#[test]
fn all_files_stay_within_the_room_that_is_asked_for() {
    let (scratch, pulse) = (scratch(), Arc::default());
    let suite = suite();
    let mut applications = applications(scratch.path(), SEED, &pulse);
    for workload in &suite.workloads {
        applications.prepare(workload).unwrap();
        // Several rounds through the write-ahead log.
        let count = if workload.id == "files_per_s" {
            20
        } else {
            1500
        };
        work(&mut applications, workload, count);
    }
    let held = room(scratch.path());
    assert!(held > 6 << 20 && held < suite.file_bytes, "{held}");
}

/// Returns the total size of all files below a folder.
fn room(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of = |path: std::path::PathBuf| {
        let below = if path.is_dir() { room(&path) } else { 0 };
        path.metadata().unwrap().blocks() * 512 + below
    };
    entries.map(of).sum()
}

#[test]
fn what_no_procedure_is_cannot_be_run() {
    let (scratch, pulse) = (scratch(), Arc::default());
    let mut applications = applications(scratch.path(), SEED, &pulse);
    let mut plain = workload("append_sync_per_s");
    plain.procedure = None;
    assert_eq!(applications.prepare(&plain), Err(Errno::INVAL));
    applications.submit(op(&plain, 0));
    assert_eq!(applications.reap().outcome, Err(Errno::INVAL));
    // A path in which nothing can be created.
    std::fs::remove_dir_all(scratch.path()).unwrap();
    for workload in &suite().workloads {
        assert!(applications.prepare(workload).is_err(), "{}", workload.id);
    }
}

#[test]
fn the_methodology_names_the_library() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/METHODOLOGY.md");
    let told = std::fs::read_to_string(path).unwrap();
    let version = format!("SQLite {};", rusqlite::version());
    assert!(told.contains(&version), "{version}");
}
