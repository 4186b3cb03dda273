//! The output in `README.md` and `docs/*.md` is what the commands print.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cardmark_testkit::Program;

use crate::common::{program, scratch};

const FENCE: &str = "```";
const BEGIN: &str = "```console";
/// A block that nothing checks.
const UNCHECKED: &str = "```text";
const PROMPT: &str = "$ cardmark ";

/// The file with the current output of each of its commands.
fn run_again(text: &str, program: &Program) -> String {
    let mut made = String::new();
    let mut is_in_block = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix(PROMPT).filter(|_| is_in_block) {
            let output = program.run(&words(command));
            // A verdict that is bad ends with 1.
            assert!(output.code <= 1, "{command}: {output}");
            writeln!(made, "{line}\n{}", output.stdout.trim_end()).unwrap();
        } else if !is_in_block || line == FENCE {
            writeln!(made, "{line}").unwrap();
        }
        is_in_block = (is_in_block && line != FENCE) || line == BEGIN;
    }
    made
}

/// Words as a shell takes them, with double quotes around those that have spaces.
fn words(command: &str) -> Vec<&str> {
    let pieces = command.split('"').enumerate();
    let words = pieces.flat_map(|(index, piece)| match index % 2 {
        0 => piece.split_whitespace().collect(),
        _ => vec![piece],
    });
    words.collect()
}

/// Documents with output of the program. Each has a store of its own.
fn documents() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let docs = std::fs::read_dir(top.join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "md"));
    paths.push(top.join("README.md"));
    paths.sort();
    paths
}

#[test]
fn the_examples_are_what_the_program_prints() {
    let mut with_output = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(
            !text.contains(UNCHECKED),
            "{name}: output belongs into a block that begins with {BEGIN} and a command"
        );
        if !text.contains(PROMPT) {
            continue;
        }
        let scratch = scratch();
        let expected = run_again(&text, &program(&scratch));
        if std::env::var_os("CARDMARK_WRITE").is_some() {
            std::fs::write(&path, &expected).unwrap();
        } else {
            assert!(
                text == expected,
                "{name} is not what its commands print; to rewrite it: \
                 CARDMARK_WRITE=1 cargo test -p cardmark-cli --test it examples"
            );
        }
        with_output.push(name);
    }
    assert_eq!(with_output, ["EXAMPLES.md"]);
}

#[test]
fn commands_are_split_as_a_shell_does() {
    assert_eq!(
        words("compare \"product=A B\" x --json"),
        ["compare", "product=A B", "x", "--json"]
    );
    assert_eq!(words("rank --board \"Pi 2\""), ["rank", "--board", "Pi 2"]);
}
