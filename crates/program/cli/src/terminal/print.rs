//! The only place that prints: results on stdout, everything else on stderr. Hidden characters, such
//! as escape sequences from a file, are escaped here, whatever the text went through before.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

use cardmark_core::{Record, Statement, record_to_json, visible};
use cardmark_judge::unstated;
use cardmark_report::{Style, wrap};
use clap::error::{ContextKind, ContextValue};
use rustix::fs::FileType;
use serde::Serialize;

use cardmark_session::Data;
use cardmark_session::file::Destination;

use crate::error::{CommandError, Exit};
use crate::terminal::ascii::{ascii, is_utf8};

/// Shows where a result is if the user will not look there: `sudo` stores it in root's home, unless a store of the user is
/// named.
pub(crate) fn owner(data: &Data) {
    let user = std::env::var("SUDO_UID")
        .ok()
        .and_then(|id| id.parse().ok());
    let is_theirs = user.is_some_and(|user| data.is_of(user));
    if std::env::var_os("SUDO_USER").is_some() && !is_theirs {
        notice(&format!(
            "kept in `{}` as root: `sudo cardmark show last` shows it",
            data.database.display()
        ));
    }
}

/// Writes a result for people to stdout, in ASCII where the locale has no UTF-8.
pub(crate) fn result(text: &str) -> Result<(), CommandError> {
    data(&in_locale(text, width()))
}

/// Writes a result for programs or people to stdout.
pub(crate) fn output(is_data: bool, text: &str) -> Result<(), CommandError> {
    if is_data { data(text) } else { result(text) }
}

/// Writes a result for programs, or a document, to stdout. A reader that went away is no error.
pub(crate) fn data(text: &str) -> Result<(), CommandError> {
    let text = own_colours(text, style());
    written(&mut std::io::stdout().lock(), text.as_bytes())
}

/// Writes a document, or bytes, to its destination.
pub(crate) fn to(destination: &Destination, bytes: &[u8]) -> Result<(), CommandError> {
    match (destination, std::str::from_utf8(bytes)) {
        (Destination::File(place), _) => place.write(bytes),
        (Destination::Nothing, _) => Ok(()),
        (Destination::Output, Ok(text)) => data(text),
        (Destination::Output, Err(_)) => written(&mut std::io::stdout().lock(), bytes),
        (Destination::Error, Ok(text)) => {
            written(&mut std::io::stderr().lock(), visible(text).as_bytes())
        }
        (Destination::Error, Err(_)) => written(&mut std::io::stderr().lock(), bytes),
    }
}

/// Writes to an output. A reader that went away is no error.
fn written(out: &mut impl Write, bytes: &[u8]) -> Result<(), CommandError> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CommandError::new(
            Exit::Trouble,
            "cannot write to standard output",
        )
        .because(error.to_string())),
        _ => Ok(()),
    }
}

/// Refuses outputs that are block devices: the shell opened them, and a result would overwrite their beginning.
pub(crate) fn refuse_devices() -> Option<Exit> {
    let is_device = |output: BorrowedFd<'_>| {
        let found = rustix::fs::fstat(output);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice)
    };
    // The reason could not be shown.
    if is_device(rustix::stdio::stderr()) {
        return Some(Exit::Usage);
    }
    if !is_device(rustix::stdio::stdout()) {
        return None;
    }
    let refused = CommandError::new(Exit::Usage, "standard output is a block device")
        .because("its content would be overwritten")
        .hint("to test a device, name it as the target: `cardmark probe DEVICE`");
    error(&refused);
    Some(refused.exit)
}

/// The text as this locale can show it.
fn in_locale(text: &str, width: usize) -> Cow<'_, str> {
    match is_utf8_locale() {
        true => Cow::Borrowed(text),
        false => ascii(text, width),
    }
}

/// Returns whether the locale has UTF-8.
pub(crate) fn is_utf8_locale() -> bool {
    is_utf8(|name| std::env::var(name).ok())
}

/// Returns whether standard error is a terminal that can draw a line again.
pub(crate) fn can_redraw() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// Returns whether the terminal is set as one without escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// A line as this locale can show it.
pub(crate) fn plain(line: &str) -> String {
    in_locale(line, usize::MAX).into_owned()
}

/// Letters of a progress bar: done, the end of it, not done.
pub(crate) fn bar_letters() -> &'static str {
    if is_utf8_locale() { "━╸ " } else { "=> " }
}

/// Shows the help or what is wrong with the arguments; returns the exit status.
pub(crate) fn arguments_error(error: &clap::Error) -> i32 {
    let text = error.render().to_string();
    match (error.use_stderr(), text.strip_prefix(PREFIX)) {
        // Without an output there is no reader.
        (false, _) if is_utf8_locale() => drop(error.print()),
        (false, _) => drop(result(&text)),
        // Arguments are in the text: their hidden characters are escaped.
        (true, Some(text)) => error_line(text.trim_end()),
        (true, None) => notice(text.trim_end()),
    }
    if let Some(file) = file_behind_json(error) {
        hint_line(&format!("`--json={file}` writes the record to that file"));
    }
    error.exit_code()
}

/// The word behind `run … --json` that was not understood: earlier versions took it for a file.
fn file_behind_json(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut given = std::env::args_os().skip(1);
    let is_run = given.next()? == "run";
    given.find(|given| given == "--json")?;
    (is_run && given.next()? == word.as_str()).then(|| word.clone())
}

/// JSON in several lines, for people and programs.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|error| {
            CommandError::new(Exit::Bug, "the result cannot be written").because(error.to_string())
        })
}

/// JSON in one line.
pub(crate) fn one_line(value: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value)
        .map(|text| text + "\n")
        .map_err(|error| {
            CommandError::new(Exit::Bug, "the result cannot be written").because(error.to_string())
        })
}

/// A record as one line of JSON, as it is stored and sent.
pub(crate) fn document(record: &Record) -> Result<String, CommandError> {
    record_to_json(record)
        .map(|text| text + "\n")
        .map_err(|error| {
            CommandError::new(Exit::Bug, "the record cannot be written").because(error.to_string())
        })
}

/// A record, and the statement of its labels if it has any, each as one line of JSON.
pub(crate) fn lines(record: &Record) -> Result<String, CommandError> {
    let mut text = document(&unstated(record))?;
    if !record.labels.is_empty() {
        text += &statement(&Statement::of(record.id, 1, &record.labels))?;
    }
    Ok(text)
}

/// A statement as one line of JSON.
pub(crate) fn statement(statement: &Statement) -> Result<String, CommandError> {
    Ok(visible(&one_line(statement)?).into_owned())
}

/// The lines of a run as JSON for standard output: indented on a terminal.
pub(crate) fn run_file(record: &Record) -> Result<String, CommandError> {
    lines(record)?.lines().map(shown).collect()
}

/// A document for standard output: indented on a terminal, otherwise as it is.
pub(crate) fn shown(document: &str) -> Result<String, CommandError> {
    let document = document.trim_end();
    if !std::io::stdout().is_terminal() {
        return Ok(document.to_owned() + "\n");
    }
    let mut text = Vec::new();
    let mut from = serde_json::Deserializer::from_str(document);
    let indented =
        serde_transcode::transcode(&mut from, &mut serde_json::Serializer::pretty(&mut text));
    indented.map_err(|error| {
        CommandError::new(Exit::Bug, "the record cannot be written").because(error.to_string())
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned() + "\n")
}

/// Writes a text for the person to stderr: on a terminal in lines that end between words.
pub(crate) fn notice(text: &str) {
    headed("", anstyle::Style::new(), text);
}

/// Writes a heading of our own, which may be coloured, and a text to stderr: on a terminal in lines that end between words.
fn headed(heading: &str, style: anstyle::Style, text: &str) {
    let Some(columns) = columns(std::io::stderr()) else {
        return line(&painted(heading, style), text);
    };
    let columns = stated_columns().unwrap_or(columns);
    for (index, text) in in_lines(heading, text, columns).iter().enumerate() {
        match text.strip_prefix(heading).filter(|_| index == 0) {
            Some(rest) => line(&painted(heading, style), rest),
            None => line("", text),
        }
    }
}

fn painted(heading: &str, style: anstyle::Style) -> String {
    let (heading, space) = match heading.strip_suffix(' ') {
        Some(heading) => (heading, " "),
        None => (heading, ""),
    };
    format!("{style}{heading}{style:#}{space}")
}

/// The heading and the text in lines of at most this width. Further lines of the first paragraph begin below the text, if the
/// terminal is wide enough; those of others two columns behind their own beginning.
fn in_lines(heading: &str, text: &str, columns: usize) -> Vec<String> {
    let hanging = match heading.len() {
        0 => FURTHER,
        _ if columns < NARROW => FURTHER,
        length => length,
    };
    let mut lines = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let (text, further) = match index {
            0 => (format!("{heading}{text}"), hanging),
            _ => (text.to_owned(), FURTHER),
        };
        if text.chars().count() <= columns {
            lines.push(text);
            continue;
        }
        let start = text.len() - text.trim_start_matches(' ').len();
        let margin = " ".repeat(start.min(columns / 2));
        let wrapped = wrap(&text, columns - margin.len(), further);
        lines.extend(wrapped.iter().map(|line| format!("{margin}{line}")));
    }
    lines
}

/// Writes a line to stderr: a heading of our own, which may be coloured, and a text.
fn line(heading: &str, text: &str) {
    let mut out = anstream::stderr().lock();
    // Without stderr there is no reader.
    let _ = writeln!(out, "{heading}{}", visible(&in_locale(text, usize::MAX)));
}

/// Width of a terminal; `None` if it is none.
fn columns(out: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The text with hidden characters escaped, except the escape sequences of a style.
fn own_colours(text: &str, style: Style) -> Cow<'_, str> {
    if style == Style::Plain {
        return visible(text);
    }
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, escape) = rest.split_at(at);
        shown += &visible(before);
        let own = style.escape_of(escape);
        shown += own.unwrap_or("\\u001b");
        rest = &escape[own.map_or(1, str::len)..];
    }
    shown += &visible(rest);
    Cow::Owned(shown)
}

/// Columns by which further lines of a paragraph are indented.
const FURTHER: usize = 2;

/// Columns of a terminal that has no room for a hanging indent.
const NARROW: usize = 60;

/// Beginning of an error.
const PREFIX: &str = "error: ";

fn error_line(text: &str) {
    headed(PREFIX, anstyle::AnsiColor::Red.on_default().bold(), text);
}

/// Writes an error: what, cause, hint.
pub(crate) fn error(error: &CommandError) {
    error_line(&error.what);
    for cause in &error.causes {
        headed("cause: ", anstyle::Style::new(), cause);
    }
    for hint in &error.hints {
        hint_line(hint);
    }
}

fn hint_line(text: &str) {
    headed("hint: ", anstyle::AnsiColor::Cyan.on_default(), text);
}

/// Columns of the terminal; 80 where there is none.
pub(crate) fn width() -> usize {
    stated_columns()
        .or_else(|| columns(std::io::stdout()))
        .unwrap_or(80)
        .clamp(30, 200)
}

/// The columns that the environment states.
fn stated_columns() -> Option<usize> {
    let stated: Option<usize> = std::env::var("COLUMNS").ok()?.parse().ok();
    stated.filter(|&columns| columns > 0)
}

/// Returns the style of results: on a terminal, unless it is dumb or `NO_COLOR` is set.
pub(crate) fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stdout().is_terminal() && !refused && !is_dumb() {
        Style::Color
    } else {
        Style::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_of_our_own_reach_a_terminal() {
        let text = "\u{1b}[1mtitle\u{1b}[0m \u{1b}]0;PWNED\u{7}\u{1b}[2J\u{202e}\n";
        assert_eq!(
            own_colours(text, Style::Color),
            "\u{1b}[1mtitle\u{1b}[0m \\u001b]0;PWNED\\u0007\\u001b[2J\\u202e\n"
        );
        assert_eq!(
            own_colours(text, Style::Plain),
            "\\u001b[1mtitle\\u001b[0m \\u001b]0;PWNED\\u0007\\u001b[2J\\u202e\n"
        );
    }

    #[test]
    fn errors_and_hints_end_between_words_below_their_beginning() {
        let hint = "`cardmark label last product=NAME` names the product of the last run";
        assert_eq!(
            in_lines("hint: ", hint, 60),
            [
                "hint: `cardmark label last product=NAME` names the product",
                "      of the last run",
            ]
        );
        assert_eq!(
            in_lines("hint: ", hint, 30),
            [
                "hint: `cardmark label last",
                "  product=NAME` names the",
                "  product of the last run",
            ]
        );
        let usage = "the argument is wrong\n\n  tip: a similar argument exists: '--seed'\n\nUsage: cardmark run";
        assert_eq!(
            in_lines("error: ", usage, 30),
            [
                "error: the argument is wrong",
                "",
                "  tip: a similar argument",
                "    exists: '--seed'",
                "",
                "Usage: cardmark run",
            ]
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_lost() {
        let text = "Cannot open `/dev/disk/by-id/usb-Generic_STORAGE_DEVICE_000000001234-0:0`: permission denied.\n    sudo \
                    cardmark probe /dev/sda\nRun it with `sudo`, or as a member of the group `disk`.";
        let letters = |text: &str| text.replace([' ', '\n'], "");
        for columns in 20..=200 {
            for heading in ["", "error: ", "hint: "] {
                let lines = in_lines(heading, text, columns);
                for line in &lines {
                    assert!(line.chars().count() <= columns, "{columns}: {line}");
                }
                assert_eq!(
                    letters(&lines.concat()),
                    letters(&format!("{heading}{text}"))
                );
            }
        }
    }
}
