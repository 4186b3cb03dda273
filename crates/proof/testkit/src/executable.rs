//! Programs that tests put somewhere and start.

use std::path::Path;
use std::process::Command;

use crate::starts::spawn;

/// Copies a program, which everybody may start at once. Another process does it: a child of another test of this process, between its
/// beginning and its own program, would hold a copy of ours open for writing, and what is open for writing cannot be started.
///
/// # Panics
/// When it cannot be copied.
pub fn install(from: &Path, to: &Path) {
    let mut command = Command::new("install");
    command.arg("-m755").arg("--").args([from, to]);
    let done = spawn(&mut command).and_then(|mut child| child.wait());
    assert!(
        done.is_ok_and(|status| status.success()),
        "cannot install {}",
        to.display()
    );
}

/// Writes a shell script, which everybody may start at once.
///
/// # Panics
/// When it cannot be written.
pub fn install_script(script: &str, to: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("script");
    std::fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    install(&text, to);
}
