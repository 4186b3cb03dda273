//! The project's own checks. `cargo run -q -p xtask -- edges|sizes|words|gen [--check]`
//!
//! Each check returns the problems it found; any problem ends with exit code 1.

mod edges;
mod files;
mod generate;
mod quantities;
mod sizes;
mod source;
mod words;

use std::process::ExitCode;

/// What a check hands back: problems, or why it could not look.
type Checked = Result<Vec<String>, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: cargo run -q -p xtask -- COMMAND
  edges          which crate may use which, and which crates stay pure
  sizes          lines of a file and of a function
  words          one word per thing; nothing tied to one machine
  gen [--check]  write generated files, or say which are out of date";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = files::root();
    let checked = match arguments[..] {
        ["edges"] => edges::check(&root),
        ["sizes"] => sizes::check(&root),
        ["words"] => words::check(&root),
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
            let noun = if problems.len() == 1 {
                "problem"
            } else {
                "problems"
            };
            eprintln!("xtask {}: {} {noun}", arguments.join(" "), problems.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("xtask {}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}
