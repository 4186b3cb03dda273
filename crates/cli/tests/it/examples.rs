//! `docs/EXAMPLES.md` is what its commands print.

use std::fmt::Write;
use std::path::Path;

use cardmark_testkit::Program;

use crate::common::{program, scratch};

const FENCE: &str = "```";
const BEGIN: &str = "```console";
const PROMPT: &str = "$ cardmark ";

/// The file with the output of each of its commands put in anew.
fn run_again(text: &str, program: &Program) -> String {
    let mut made = String::new();
    let mut is_in_block = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix(PROMPT).filter(|_| is_in_block) {
            let output = program.run(&words(command));
            assert_eq!(output.code, 0, "{command}: {output}");
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

#[test]
fn the_examples_are_what_the_program_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/EXAMPLES.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let scratch = scratch();
    let expected = run_again(&text, &program(&scratch));
    if std::env::var_os("CARDMARK_WRITE").is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(text.contains(PROMPT));
    assert!(
        text == expected,
        "docs/EXAMPLES.md is not what its commands print; to rewrite it: \
         CARDMARK_WRITE=1 cargo test -p cardmark-cli --test it examples"
    );
}

#[test]
fn commands_are_split_as_a_shell_does() {
    assert_eq!(
        words("compare \"product=A B\" x --json"),
        ["compare", "product=A B", "x", "--json"]
    );
    assert_eq!(words("rank --board \"Pi 2\""), ["rank", "--board", "Pi 2"]);
}
