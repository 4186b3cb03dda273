//! The project's own checks.
//!
//! Each check returns the problems it found; any problem ends with exit code 1.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "prints figures and problems"
)]

mod code;
mod dist;
mod documents;
mod edges;
mod facts;
mod floors;
mod generate;
mod modules;
mod project;
mod proofs;
mod quantities;
mod size;
mod sources;
mod wording;
mod words;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND
  dist [--target x86_64|aarch64|arm|riscv64]… [--out FOLDER]
                    build, check and pack the release files (all targets, into target/dist)
  sign KEYFILE [--out FOLDER]
                    check the files of the last build in the folder, and sign their SHA256SUMS with minisign
  edges             which crate or folder may use which, which crates stay pure, and tests that would not run
  size              lines of code, third-party packages, modules that depend on each other in a circle
  wording [--list]  habits of wording per 1,000 lines of prose
  facts             rows of the catalogue whose source was read over a year ago (not part of the checks)
  words             spelling of units and names, length of documents
  gen [--check]     write generated files, or list those that are out of date";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = project::root();
    let checked = match arguments[..] {
        ["dist", ref rest @ ..] => dist::make(&root, rest),
        ["sign", key, ref rest @ ..] => dist::sign(&root, key, rest),
        ["edges"] => edges::check(&root).and_then(|mut problems| {
            problems.extend(proofs::check(&root)?);
            Ok(problems)
        }),
        ["size"] => size::check(&root),
        ["facts"] => facts::check(&root),
        ["wording"] => wording::check(&root, false),
        ["wording", "--list"] => wording::check(&root, true),
        ["words"] => words::check(&root).and_then(|mut problems| {
            problems.extend(documents::check(&root)?);
            Ok(problems)
        }),
        ["gen"] => generate::write(&root),
        ["gen", "--check"] => generate::check(&root),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match checked {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            eprintln!(
                "xtask {}: problems: {}",
                arguments.join(" "),
                problems.len()
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("xtask {}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::USAGE;

    #[test]
    fn commands_in_documents_are_in_the_usage() {
        for command in cardmark_documents::commands_of("xtask") {
            let name = &command.words[1];
            let begin = format!("\n  {name} ");
            let (_, usage) = USAGE
                .split_once(&begin)
                .unwrap_or_else(|| panic!("{command}"));
            let usage = usage.lines().next().unwrap_or_default();
            for option in command.words[2..]
                .iter()
                .filter(|word| word.starts_with('-'))
            {
                let mut words =
                    usage.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
                assert!(words.any(|word| word == option), "{command}: {usage}");
            }
        }
    }
}
