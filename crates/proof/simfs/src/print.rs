//! The only place that prints.

use std::io::Write;

/// Writes a line for the person to stderr.
pub(crate) fn notice(text: &str) {
    // If stderr is closed, the text has no reader.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes a line for the script that waits to stdout.
pub(crate) fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
