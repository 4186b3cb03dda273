//! Tests that root cannot make, because root may do everything.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::install;

/// Runs one test of this binary as user 65534, from a copy that this user may read.
///
/// # Panics
/// When the test fails, or does not run.
pub fn run_as_nobody(test: &str) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
    let copy = directory.path().join("tests");
    install(&std::env::current_exe().unwrap(), &copy);
    let output = Command::new(&copy)
        .arg(test)
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
