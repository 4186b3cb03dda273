//! The page on releases lists the versions that the programs have.

use cardmark_core::{FORMAT, METHOD, STATEMENT};
use cardmark_sim::SIMULATION_REVISION;
use cardmark_store::Store;

/// Offset of `PRAGMA user_version` in the header of a database (SQLite's file format, 1.3).
const USER_VERSION: usize = 60;

fn store_version() -> u32 {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("records.sqlite");
    drop(Store::open(&path).unwrap());
    let bytes = std::fs::read(&path).unwrap();
    u32::from_be_bytes(bytes[USER_VERSION..USER_VERSION + 4].try_into().unwrap())
}

#[test]
fn the_page_on_releases_has_the_current_versions() {
    let page = include_str!("../../../../../docs/RELEASING.md");
    let rows = [
        ("Program", env!("CARGO_PKG_VERSION").to_owned()),
        ("Record format", FORMAT.to_string()),
        ("Statement", STATEMENT.to_string()),
        ("Method", METHOD.to_string()),
        ("Store", store_version().to_string()),
        ("Simulation", SIMULATION_REVISION.to_string()),
    ];
    for (name, version) in rows {
        let mut lines = page.lines();
        let row = lines.find(|line| line.starts_with(&format!("| {name} |")));
        let cells: Vec<&str> = row.unwrap().split('|').map(str::trim).collect();
        assert_eq!(cells[3], version, "{name}");
    }
}
