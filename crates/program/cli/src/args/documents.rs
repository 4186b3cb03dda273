//! Commands of the program in the documents are accepted.

use std::collections::BTreeSet;

use cardmark_documents::{Place, commands_of, options_alone};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::Arguments;

/// Texts that begin with the name of the program and are no commands, which separate the digests of the site; and commands that are
/// shown because the program refuses them.
const NO_COMMANDS: [&str; 6] = [
    "cardmark edit token 1",
    "cardmark phrase 1",
    "cardmark phrase token 1",
    "cardmark submitter 1",
    "cardmark submitter tag 1",
    "cardmark submit last --server http://cards.example",
];

/// Stands for any options.
const ANY_OPTIONS: &str = "OPTIONS";

/// What is wrong with a command.
fn problem(place: Place, words: &[String]) -> Option<String> {
    let words: Vec<&String> = words.iter().filter(|word| *word != ANY_OPTIONS).collect();
    let models = words.iter().filter_map(|word| word.strip_prefix("sim:"));
    for model in models {
        if let Err(error) = cardmark_sim::Model::named(model) {
            return Some(error.to_string());
        }
    }
    // A variable of the shell.
    let value = |word: &&String| {
        if word.starts_with('$') {
            "1".to_owned()
        } else {
            (*word).clone()
        }
    };
    let error = Arguments::try_parse_from(words.iter().map(value)).err()?;
    let is_right = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        // The name of a command.
        ErrorKind::MissingRequiredArgument => place == Place::Text && words.len() == 2,
        _ => false,
    };
    (!is_right).then(|| error.to_string())
}

#[test]
fn commands_in_documents_are_accepted() {
    let commands = commands_of("cardmark");
    let is_command = |text: &str| !NO_COMMANDS.contains(&text);
    let problems = commands
        .iter()
        .filter(|it| is_command(&it.text()))
        .filter_map(|command| {
            let problem = problem(command.place, &command.words)?;
            Some(format!("{command}: {problem}"))
        });
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for text in NO_COMMANDS {
        assert!(
            commands.iter().any(|it| it.text() == text),
            "`{text}` is in no document"
        );
    }
}

/// Options of other programs that stand in documents without their command.
const OF_OTHERS: [(&str, &str); 7] = [
    ("--allow-older", "install.sh"),
    ("--as-in", "cardmark-site"),
    ("--cap-add", "podman"),
    ("--deb", "scripts/qemu-sd"),
    ("--pairs", "cardmark-crosscheck"),
    ("--pid", "podman"),
    ("--sooner", "scripts/test-quick-start"),
];

/// All options of a command and of those below it.
fn options(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(clap::Arg::get_long);
    let own = own.map(|name| format!("--{name}"));
    own.chain(command.get_subcommands().flat_map(options))
        .collect()
}

#[test]
fn options_that_stand_alone_exist() {
    let mut program = Arguments::command();
    program.build();
    let own = options(&program);
    let of_others: BTreeSet<&str> = OF_OTHERS.iter().map(|(name, _)| *name).collect();
    let alone = options_alone();
    let is_known = |name: &str| own.contains(name) || of_others.contains(name);
    let unknown: Vec<String> = alone
        .iter()
        .filter(|(name, _)| !is_known(name))
        .map(|(name, place)| format!("{place}: `{name}`"))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    for name in of_others {
        let is_needed = !own.contains(name) && alone.iter().any(|(alone, _)| alone == name);
        assert!(is_needed, "`{name}` need not be listed");
    }
}

#[test]
fn wrong_commands_are_found() {
    let is_wrong = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        problem(Place::Shell, &words).is_some()
    };
    assert!(!is_wrong("cardmark run sim:a1-32gb --suite dramble"));
    assert!(!is_wrong("cardmark verify DEVICE OPTIONS"));
    for line in [
        "cardmark test",
        "cardmark run --fast",
        "cardmark run sim:a1-33gb",
        "cardmark verify",
    ] {
        assert!(is_wrong(line), "{line}");
    }
}
