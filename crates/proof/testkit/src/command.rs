//! The system's own tools.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};

use crate::starts::spawn;

/// Runs a tool; returns its output, or its error message if it failed.
pub(crate) fn tool<A: AsRef<OsStr>>(name: &str, arguments: &[A]) -> Result<String, String> {
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = spawn(&mut command)
        .and_then(Child::wait_with_output)
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} ended with {}: {said}", output.status))
}

/// Returns whether a tool is in the path.
pub(crate) fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
