//! Commands in blocks and in the text of documents.

use std::fmt;

use crate::shell::split;
use crate::{Document, documents};

const FENCE: &str = "```";
const PROMPT: &str = "$ ";
/// Programs of the project.
const PROGRAMS: [&str; 4] = [
    "cardmark",
    "cardmark-site",
    "cardmark-simfs",
    "cardmark-crosscheck",
];
/// Beginnings of paths of programs.
const FOLDERS: [&str; 6] = [
    "scripts/",
    "./scripts/",
    "benchmarks/",
    "./field-kit",
    "./install.sh",
    ".ci/",
];
/// Languages of blocks without commands.
const OTHER_LANGUAGES: [&str; 5] = ["jq", "sources.list", "text", "toml", "yaml"];
/// Programs that start another one, whose words come last.
const STARTERS: [&str; 2] = ["podman", "podman-compose"];
/// Options of cargo with a value.
const VALUED: [&str; 8] = [
    "-p",
    "--package",
    "--test",
    "--bin",
    "--example",
    "--profile",
    "--path",
    "--manifest-path",
];

/// Place of a command in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A block of shell commands.
    Shell,
    /// A block with a prompt before each command, and its output.
    Console,
    /// In backquotes, within a sentence or a table.
    Text,
}

/// A command in a document.
#[derive(Clone, Debug)]
pub struct Command {
    /// Path of the document.
    pub document: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// Place within the document.
    pub place: Place,
    /// Whether it runs as root, by `sudo`.
    pub is_root: bool,
    /// Words, the program first, without `sudo`.
    pub words: Vec<String>,
}

impl Command {
    /// Returns the words, joined by spaces.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: `{}`", self.document, self.line, self.text())
    }
}

/// Returns the commands of all documents. One that `cargo run` or `cargo xtask` starts follows as a command of its own,
/// with the name of its program.
pub fn commands() -> Vec<Command> {
    documents().iter().flat_map(of_document).collect()
}

/// Returns the commands of a program in all documents.
///
/// # Panics
///
/// If there is none: then a test of them would test nothing.
pub fn commands_of(program: &str) -> Vec<Command> {
    let mut commands = commands();
    commands.retain(|it| it.words[0] == program);
    assert!(
        !commands.is_empty(),
        "no document has a command of {program}"
    );
    commands
}

/// Returns the options that stand in the text of documents without their command, each with its document and line.
pub fn options_alone() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for document in documents() {
        let mut is_block = false;
        for (line, text) in (1..).zip(document.text.lines()) {
            is_block ^= text.trim_start().starts_with(FENCE);
            let spans = text.split('`').skip(1).step_by(2);
            let spans = spans.filter(|span| !is_block && span.starts_with("--"));
            let words = spans.flat_map(str::split_whitespace);
            let options = words.filter(|word| word.len() > 2 && word.starts_with("--"));
            let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
            let place = format!("{}:{line}", document.path);
            found.extend(options.map(|word| (name(word), place.clone())));
        }
    }
    found
}

/// Returns the commands of a document.
///
/// # Panics
///
/// If a block has a language that is neither of commands nor known to have none, or a line an odd number of backquotes: what stands
/// there would not be looked at.
fn of_document(document: &Document) -> Vec<Command> {
    let mut found = Vec::new();
    let mut language: Option<&str> = None;
    let mut continued = String::new();
    for (line, text) in (1..).zip(document.text.lines()) {
        let text = text.trim_start();
        if let Some(fence) = text.strip_prefix(FENCE) {
            language = if language.is_some() {
                None
            } else {
                let is_known =
                    ["sh", "console"].contains(&fence) || OTHER_LANGUAGES.contains(&fence);
                assert!(is_known, "{}:{line}: a block of '{fence}'", document.path);
                Some(fence)
            };
            continue;
        }
        let mut add = |place, text: &str| {
            found.extend(
                split(text)
                    .into_iter()
                    .filter_map(|words| command(document, line, place, words)),
            );
        };
        match language {
            Some("sh") => {
                if let Some(part) = text.strip_suffix('\\') {
                    continued += part;
                } else {
                    add(Place::Shell, &(std::mem::take(&mut continued) + text));
                }
            }
            Some("console") => {
                let is_first = text.strip_prefix(PROMPT);
                let typed = is_first.or((!continued.is_empty()).then_some(text));
                match typed.map(|typed| (typed, typed.strip_suffix('\\'))) {
                    Some((_, Some(part))) => continued += part,
                    Some((typed, None)) => {
                        add(Place::Console, &(std::mem::take(&mut continued) + typed));
                    }
                    None => {}
                }
            }
            Some(_) => {}
            None => {
                let is_even = text.matches('`').count().is_multiple_of(2);
                assert!(is_even, "{}:{line}: an odd backquote", document.path);
                let spans = text.split('`').skip(1).step_by(2);
                // A table has `\|` for `|`.
                spans.for_each(|span| add(Place::Text, &span.replace("\\|", "|")));
            }
        }
    }
    found.into_iter().flat_map(with_started).collect()
}

/// The command of these words; `None` for words in text that are no command.
fn command(
    document: &Document,
    line: usize,
    place: Place,
    mut words: Vec<String>,
) -> Option<Command> {
    let is_root = words.first().is_some_and(|word| word == "sudo");
    if is_root {
        words.remove(0);
    }
    // `RUN…` stands for one or more, `[TARGET]` for none or one.
    for word in &mut words {
        let plain = word.trim_start_matches('[').trim_end_matches(['…', ']']);
        *word = plain.to_owned();
    }
    words.retain(|word| !word.is_empty());
    if words
        .first()
        .is_some_and(|word| STARTERS.contains(&&**word))
    {
        let started = words.iter().rposition(|word| PROGRAMS.contains(&&**word));
        words.drain(..started.unwrap_or(0));
    }
    let program = words.first()?;
    // A name alone is no command.
    let is_of_project = words.len() > 1
        && (PROGRAMS.contains(&program.as_str()) || program == "cargo")
        || FOLDERS.iter().any(|folder| program.starts_with(folder));
    (place != Place::Text || is_of_project).then(|| Command {
        document: document.path.clone(),
        line,
        place,
        is_root,
        words,
    })
}

/// A command, and the one that it starts by way of cargo.
fn with_started(command: Command) -> Vec<Command> {
    let started = started(&command.words).map(|words| Command {
        words,
        ..command.clone()
    });
    std::iter::once(command).chain(started).collect()
}

/// Words of the program that `cargo run` or `cargo xtask` starts; `None` of other commands.
fn started(words: &[String]) -> Option<Vec<String>> {
    let mut words = words.iter();
    if words.next()? != "cargo" {
        return None;
    }
    let mut program = "cardmark";
    match words.next()?.as_str() {
        "xtask" => program = "xtask",
        "run" => {
            let mut rest = words.clone();
            while let Some(word) = rest.next().filter(|word| word.starts_with('-')) {
                let value = VALUED
                    .contains(&word.as_str())
                    .then(|| rest.next())
                    .flatten();
                match word.as_str() {
                    "-p" | "--package" => program = value?,
                    // Another program of the package.
                    "--bin" | "--example" => return None,
                    "--" => {
                        words = rest;
                        return Some(joined(program, words));
                    }
                    _ => {}
                }
                words = rest.clone();
            }
        }
        _ => return None,
    }
    Some(joined(program, words))
}

fn joined<'a>(program: &str, words: impl Iterator<Item = &'a String>) -> Vec<String> {
    std::iter::once(program.to_owned())
        .chain(words.cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, Place, String)> {
        let document = Document {
            path: "a.md".to_owned(),
            text: text.to_owned(),
        };
        let commands = of_document(&document);
        commands
            .iter()
            .map(|it| (it.line, it.place, it.text()))
            .collect()
    }

    #[test]
    fn commands_are_found_in_blocks_and_in_text() {
        let text = "`sudo cardmark run X` and `cardmark-cli`, `cargo`, `A=1 scripts/full a…`\n```console\n$ a b\nc\n```\n\
            ```sh\na \\\n  b  # c\n```\n```toml\nd = 1\n```\n| `cardmark a \\| b` |\n";
        let expected = [
            (1, Place::Text, "cardmark run X"),
            (1, Place::Text, "scripts/full a"),
            (3, Place::Console, "a b"),
            (8, Place::Shell, "a b"),
            (13, Place::Text, "cardmark a"),
        ];
        let found = found(text);
        let found: Vec<_> = found
            .iter()
            .map(|(line, place, text)| (*line, *place, text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cargo_starts_is_a_command_too() {
        let started = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            started(&words).map(|words| words.join(" "))
        };
        assert_eq!(
            started("cargo run --release -- run x").as_deref(),
            Some("cardmark run x")
        );
        assert_eq!(
            started("cargo run -q -p xtask -- edges").as_deref(),
            Some("xtask edges")
        );
        assert_eq!(
            started("cargo run -p cardmark-site").as_deref(),
            Some("cardmark-site")
        );
        assert_eq!(
            started("cargo run -p cardmark-crosscheck DIR").as_deref(),
            Some("cardmark-crosscheck DIR")
        );
        assert_eq!(
            started("cargo xtask dist --target arm").as_deref(),
            Some("xtask dist --target arm")
        );
        assert_eq!(started("cargo run -p cardmark-judge --example x"), None);
        assert_eq!(started("cargo test -p cardmark-sim"), None);
    }
}
