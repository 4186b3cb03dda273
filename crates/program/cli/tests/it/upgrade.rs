//! Stores of every version, opened by this program: no document changes, and every command answers.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use cardmark_core::{FORMAT, METHOD, Metric, STATEMENT, is_statement, parse_record};
use cardmark_sim::SIMULATION_REVISION;
use cardmark_testkit::{Program, stored_documents};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::common::{program, scratch};

/// Commands that read runs.
const READ: [&[&str]; 10] = [
    &["list"],
    &["show", "last"],
    &["rank", "--metric", "rand_read_4k"],
    &["recommend", "--use", "boot"],
    &["history"],
    &["report", "origin=simulated"],
    &["export"],
    &["export", "--public"],
    &["export", "--format", "csv"],
    &["recover"],
];
/// Offset of `PRAGMA user_version` in the header of a database (SQLite's file format, 1.3).
const USER_VERSION: usize = 60;
/// Version of the first tables.
const FIRST: u32 = 9;

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

/// A program whose store is that of a version.
fn with_store(version: u32) -> (TempDir, Program) {
    let scratch = scratch();
    let program = program(&scratch);
    let file = fs::File::open(packed(version)).unwrap();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).unwrap();
    let mut bytes = Vec::new();
    decoder.read_to_end(&mut bytes).unwrap();
    fs::create_dir_all(program.data()).unwrap();
    fs::write(program.database(), bytes).unwrap();
    (scratch, program)
}

/// Version of the stores that this program makes.
fn current_version() -> u32 {
    let scratch = scratch();
    let program = program(&scratch);
    assert_eq!(program.run(&["list"]).code, 0);
    user_version(&program.database())
}

/// Versions with a store: all earlier ones, and the current one as soon as a release made it.
fn versions() -> Vec<u32> {
    let current = current_version();
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
        let (_scratch, program) = with_store(version);
        assert_eq!(user_version(&program.database()), version);
    }
    assert_eq!(list, expected, "a store of a version never changes");
}

#[test]
fn every_command_reads_a_store_of_every_version_and_no_document_changes() {
    let current = current_version();
    for version in versions() {
        for command in READ {
            // Each command is the first to open it.
            let (_scratch, program) = with_store(version);
            let before = stored_documents(&program.database());
            assert!(!before.is_empty());
            let output = program.run(command);
            assert_eq!(output.code, 0, "version {version}, {command:?}: {output}");
            assert_eq!(stored_documents(&program.database()), before);
            assert_eq!(user_version(&program.database()), current);
        }
    }
}

#[test]
fn an_export_returns_the_bytes_that_an_old_program_stored() {
    for version in versions() {
        let (_scratch, program) = with_store(version);
        let before = stored_documents(&program.database());
        let export = program.run(&["export"]);
        let documents = export.stdout.lines().filter(|line| !is_statement(line));
        let documents: Vec<&[u8]> = documents.map(str::as_bytes).collect();
        let expected: Vec<&[u8]> = before.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        assert_eq!(documents, expected, "version {version}");
        // Into an empty store and out of it again.
        let file = program.file("runs.jsonl");
        fs::write(&file, &export.stdout).unwrap();
        let other_scratch = scratch();
        let other = crate::common::program(&other_scratch);
        let imported = other.run(&["import", file.to_str().unwrap()]);
        assert_eq!(imported.code, 0, "version {version}: {imported}");
        assert_eq!(other.run(&["export"]).stdout, export.stdout);
    }
}

#[test]
fn figures_of_an_old_store_are_those_of_its_documents_and_can_be_compared() {
    for version in versions() {
        let (_scratch, program) = with_store(version);
        let (id, document) = stored_documents(&program.database()).remove(0);
        let stored = parse_record(str::from_utf8(&document).unwrap()).unwrap();
        let metric = stored.metric("rand_read_4k").unwrap();
        let shown = program.run(&["show", &id, "--json"]).record();
        let shown = shown.metric("rand_read_4k").unwrap();
        let figures = |metric: &Metric| (metric.value, metric.low, metric.high);
        assert_eq!(figures(shown), figures(metric));
        let new = program.run(&["run", "sim:a1-32gb", "--only=rand_read_4k", "--seed=77"]);
        assert_eq!(new.code, 0, "{new}");
        let compared = program.run(&[
            "compare",
            &id,
            "last",
            "--across=method,suite",
            "--metric=rand_read_4k",
            "--json",
        ]);
        assert_eq!(compared.code, 0, "version {version}: {compared}");
        let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
        assert!(compared.to_string().contains("rand_read_4k"), "{compared}");
    }
}

/// What the user stated survives, too.
#[test]
fn labels_of_an_old_store_are_shown() {
    for version in versions() {
        let (_scratch, program) = with_store(version);
        let shown = program.run(&["show", "last"]);
        assert!(
            shown.stdout.contains("note=after the move"),
            "version {version}: {shown}"
        );
    }
}

/// The page on releases lists the versions that this program has.
#[test]
fn the_page_on_releases_has_the_current_versions() {
    let page = include_str!("../../../../../docs/RELEASING.md");
    let rows = [
        ("Program", env!("CARGO_PKG_VERSION").to_owned()),
        ("Record format", FORMAT.to_string()),
        ("Statement", STATEMENT.to_string()),
        ("Method", METHOD.to_string()),
        ("Store", current_version().to_string()),
        ("Simulation", SIMULATION_REVISION.to_string()),
    ];
    for (name, version) in rows {
        let mut lines = page.lines();
        let row = lines.find(|line| line.starts_with(&format!("| {name} |")));
        let cells: Vec<&str> = row.unwrap().split('|').map(str::trim).collect();
        assert_eq!(cells[3], version, "{name}");
    }
}
