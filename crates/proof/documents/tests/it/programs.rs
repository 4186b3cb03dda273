//! Programs of commands in documents: ours, scripts, and those of the system.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use cardmark_documents::{Command, Place, commands, root};

/// Programs whose tests parse their commands with their own arguments, and what runs these commands.
const OURS: [(&str, &str); 4] = [
    (
        "cardmark",
        "crates/program/cli: unit test `args::documents`, and `tests/it/documents.rs` runs them",
    ),
    (
        "cardmark-site",
        "crates/site/server/src/main.rs; `scripts/site-visit` runs the program",
    ),
    (
        "cardmark-crosscheck",
        "crates/proof/crosscheck/src/main.rs; its tests run the program",
    ),
    ("xtask", "xtask/src/main.rs; steps of `scripts/test` run it"),
];

/// Other programs, and the reason why nothing here runs them.
const OF_THE_SYSTEM: [(&str, &str); 17] = [
    ("ansible-galaxy", "changes the desk"),
    (
        "ansible-playbook",
        "needs boards; `fleet/ansible/test` runs the playbooks",
    ),
    ("apt-get", "installs packages"),
    ("chmod", "writes to /etc"),
    ("curl", "asks the service that the lines before it start"),
    ("echo", "writes to /etc"),
    ("install", "writes to /usr, /etc"),
    ("journalctl", "needs systemd"),
    ("jq", "reads a command that is run"),
    ("printf", "writes to /etc"),
    ("pyftsubset", "needs fonttools and the original font"),
    ("runuser", "needs the user of an installed site"),
    ("scp", "needs a board"),
    ("systemctl", "needs systemd"),
    ("tee", "writes to /etc"),
    ("useradd", "changes the users of the computer"),
    ("zstd", "packs a store of a release"),
];

/// Beginnings of paths of scripts.
const SCRIPTS: [&str; 5] = ["scripts/", "benchmarks/", ".ci/", "field-kit", "install.sh"];

fn script(command: &Command) -> Option<&str> {
    let program = command.words[0].trim_start_matches("./");
    let is_script = SCRIPTS.iter().any(|start| program.starts_with(start));
    is_script.then_some(program)
}

/// A pattern for several files, such as `benchmarks/*/run`.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '<']) || path.contains("NAME")
}

/// Text of a script, or an error if it does not exist or cannot be started.
fn text_of(command: &Command, path: &str) -> Result<String, String> {
    let beside = PathBuf::from(&command.document)
        .parent()
        .unwrap()
        .join(path);
    let places = [root().join(path), root().join(beside)];
    let Some(place) = places.iter().find(|it| it.exists()) else {
        return Err(format!("{command}: there is no {path}"));
    };
    // A folder or a file that is only named.
    if place.is_dir() || command.place == Place::Text && command.words.len() == 1 {
        return Ok(String::new());
    }
    let mode = place.metadata().unwrap().permissions().mode();
    if mode & 0o111 == 0 {
        return Err(format!("{command}: {path} is not executable"));
    }
    Ok(std::fs::read_to_string(place).unwrap())
}

#[test]
fn scripts_and_their_options_exist() {
    let mut problems = Vec::new();
    for command in commands() {
        let Some(path) = script(&command).filter(|path| !is_pattern(path)) else {
            continue;
        };
        let text = match text_of(&command, path) {
            Ok(text) => text,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        for word in &command.words[1..] {
            let is_step = matches!(path, "scripts/test" | "scripts/full")
                && !word.starts_with(char::is_uppercase);
            let has_word = || {
                text.split(|it: char| !it.is_alphanumeric() && it != '-')
                    .any(|it| it == word)
            };
            let step = format!("step_{word}()");
            let is_known = if word.starts_with("--") || path == "scripts/full" {
                has_word()
            } else {
                text.contains(&step)
            };
            if (is_step || word.starts_with("--")) && !is_known {
                problems.push(format!("{command}: {path} does not know `{word}`"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_program_is_known_and_every_reason_is_needed() {
    let commands = commands();
    let known: Vec<&str> = OURS
        .iter()
        .chain(&OF_THE_SYSTEM)
        .map(|(name, _)| *name)
        .collect();
    let is_known = |command: &&Command| {
        let program = command.words[0].as_str();
        known.contains(&program) || program == "cargo" || script(command).is_some()
    };
    let unknown: Vec<String> = commands
        .iter()
        .filter(|it| !is_known(it))
        .map(Command::to_string)
        .collect();
    assert!(
        unknown.is_empty(),
        "nothing checks these commands: {unknown:#?}"
    );
    let needless: Vec<&&str> = known
        .iter()
        .filter(|name| !commands.iter().any(|it| it.words[0] == **name))
        .collect();
    assert!(
        needless.is_empty(),
        "no document has a command of {needless:?}"
    );
}
