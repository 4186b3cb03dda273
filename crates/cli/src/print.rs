//! The only place that prints: results on stdout, everything else on stderr.

use std::io::{IsTerminal, Write};

use cardmark_report::Style;

use crate::error::{CommandError, Exit};

/// Writes a result to stdout. A reader that went away is no error.
pub(crate) fn result(text: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CommandError::new(
            Exit::Trouble,
            "cannot write to standard output",
        )
        .because(error.to_string())),
        _ => Ok(()),
    }
}

/// Writes a line for the person to stderr.
pub(crate) fn notice(text: &str) {
    let mut out = anstream::stderr().lock();
    // Nobody is left to be told when stderr is gone.
    let _ = writeln!(out, "{text}");
}

/// Writes an error: what, cause, hint.
pub(crate) fn error(error: &CommandError) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default();
    notice(&format!("{red}error:{red:#} {}", error.what));
    for cause in &error.causes {
        notice(&format!("cause: {cause}"));
    }
    for hint in &error.hints {
        notice(&format!("{cyan}hint:{cyan:#} {hint}"));
    }
}

/// Columns of the terminal; 80 where there is none.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let asked = || rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let known = columns.or_else(|| asked().map(|size| usize::from(size.ws_col)));
    known
        .filter(|&columns| columns > 0)
        .unwrap_or(80)
        .clamp(30, 200)
}

/// Whether results may be coloured: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stdout().is_terminal() && !refused {
        Style::Color
    } else {
        Style::Plain
    }
}
