//! Commands in documents that need neither a card nor another computer run as they are written.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_documents::{Command, Place, commands_of};

use crate::common::{program, scratch};

/// Documents whose commands another test runs.
const RUN_ELSEWHERE: [(&str, &str); 1] = [("docs/COVERAGE.md", "benchmarks/needs/run")];

/// A reason to run a command nowhere, and how to recognize it.
type Reason = (&'static str, fn(&Command) -> bool);

const NOT_RUN: [Reason; 11] = [
    ("asks on a terminal", |it| it.words.len() == 1),
    ("is the name of a command", |it| {
        it.place == Place::Text && it.words.len() == 2
    }),
    ("needs root", |it| it.is_root),
    ("needs a card", |it| {
        has(
            it,
            &[
                "/media/card",
                "/dev/",
                "DIR",
                "DIRECTORY",
                "DEVICE",
                "TARGET",
            ],
        )
    }),
    ("measures the disk of the computer for minutes", |it| {
        it.words[1] == "run" && !is_simulated(it)
    }),
    ("goes on until Ctrl-C", |it| it.words[1] == "open"),
    ("sends to a results site", |it| it.words[1] == "submit"),
    ("needs files of the reader", |it| {
        has(
            it,
            &["FILE", "FOLDER", "cards.toml", "boards.jsonl", "pi-1.jsonl"],
        )
    }),
    ("needs a card of the reader", |it| {
        has(it, &["CARD", "BOARD"])
    }),
    ("needs a variable of the shell", |it| has(it, &["$"])),
    ("is a text that a digest begins with", |it| {
        it.words.len() > 2 && it.words.last().unwrap() == "1"
    }),
];

/// Whether a word begins with one of these texts.
fn has(command: &Command, texts: &[&str]) -> bool {
    let mut words = command.words.iter();
    words.any(|word| texts.iter().any(|text| word.contains(text)))
}

fn is_simulated(command: &Command) -> bool {
    command.words.iter().any(|word| word.starts_with("sim:"))
}

/// Runs of a home whose owner has used the program: what commands with `last`, `product=` and the like ask for.
const RUNS: [&[&str]; 3] = [
    &["run", "sim:a2-64gb", "--label", "product=Blue 64 GB"],
    &["run", "sim:a1-32gb", "--label", "product=Red 32 GB"],
    &[
        "run",
        "sim:a1-32gb",
        "--seed=2",
        "--label",
        "product=Red 32 GB",
    ],
];

#[test]
fn commands_that_need_nothing_run() {
    let commands = commands_of("cardmark");
    let mut reasons: BTreeMap<&str, usize> =
        NOT_RUN.iter().map(|(reason, _)| (*reason, 0)).collect();
    let mut to_run: BTreeSet<Vec<String>> = BTreeSet::new();
    for command in &commands {
        let is_elsewhere = RUN_ELSEWHERE
            .iter()
            .any(|(path, _)| command.document == *path);
        // `examples` and `visits` compare the output of those with a prompt.
        if is_elsewhere || command.place == Place::Console {
            continue;
        }
        match NOT_RUN.iter().find(|(_, applies)| applies(command)) {
            Some((reason, _)) => *reasons.get_mut(reason).unwrap() += 1,
            None => drop(to_run.insert(command.words.clone())),
        }
    }
    let needless: Vec<_> = reasons.iter().filter(|(_, count)| **count == 0).collect();
    assert!(
        needless.is_empty(),
        "no command needs these reasons: {needless:?}"
    );

    let scratch = scratch();
    let program = program(&scratch);
    for words in RUNS {
        let output = program.run(words);
        assert_eq!(output.code, 0, "{words:?}: {output}");
    }
    assert!(to_run.len() > 5, "{to_run:?}");
    let mut failed = Vec::new();
    for words in &to_run {
        // Placeholders of words and runs.
        let value = |word: &String| match word.as_str() {
            "WORD" => "A2".to_owned(),
            "RUN" => "last".to_owned(),
            other => other.to_owned(),
        };
        let words: Vec<String> = words[1..].iter().map(value).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // Files are written beside each other.
        let mut command = program.command(&words);
        let output = command.current_dir(scratch.path()).output().unwrap();
        // A bad verdict ends with 1.
        if output.status.code().is_none_or(|code| code > 1) {
            failed.push(format!("cardmark {}: {output:?}", words.join(" ")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
