//! Several processes with one store.

use std::env;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use cardmark_store::Store;

use crate::builder::record;

const PATH_VARIABLE: &str = "CARDMARK_STORE_TEST_PATH";
const PREFIX_VARIABLE: &str = "CARDMARK_STORE_TEST_PREFIX";
const RECORDS_EACH: usize = 5;
/// More than all commits together take where syncing is slow: SQLite's waiting is not fair.
const BUSY_TIMEOUT: Duration = Duration::from_secs(120);

/// Work of a child process; nothing in an ordinary test run.
#[test]
fn child_inserts_its_records() {
    let (Some(path), Ok(prefix)) = (env::var_os(PATH_VARIABLE), env::var(PREFIX_VARIABLE)) else {
        return;
    };
    let mut store = Store::open_with(Path::new(&path), BUSY_TIMEOUT).unwrap();
    for number in 0..RECORDS_EACH {
        store
            .insert(&record(&format!("{prefix}{number:04}")))
            .unwrap();
    }
}

fn child(path: &Path, prefix: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child_inserts_its_records", "--quiet"])
        .env(PATH_VARIABLE, path)
        .env(PREFIX_VARIABLE, prefix)
        .spawn()
        .unwrap()
}

#[test]
fn processes_that_make_and_fill_one_store_at_once_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.sqlite");
    let prefixes = ["aaaa", "bbbb", "cccc"];
    let children = prefixes.map(|prefix| child(&path, prefix));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let listed = Store::open(&path).unwrap().list(1000).unwrap();
    assert_eq!(listed.len(), prefixes.len() * RECORDS_EACH);
}
