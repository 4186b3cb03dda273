//! Lines of a file and of a function.

use std::path::Path;

use crate::{Checked, files, source};

/// A file of more lines is an error.
const MOST_FILE_LINES: usize = 800;
/// A file of more lines is remarked upon.
const LONG_FILE_LINES: usize = 400;
/// A function of more lines is an error.
const MOST_FUNCTION_LINES: usize = 100;

pub fn check(root: &Path) -> Checked {
    let mut problems = Vec::new();
    for path in files::project_files(root)? {
        let is_source = path.ends_with(".rs") && path.split('/').any(|part| part == "src");
        if !is_source {
            continue;
        }
        let Some(text) = files::text(root, &path)? else {
            continue;
        };
        let lines = text.lines().count();
        if lines > LONG_FILE_LINES && lines <= MOST_FILE_LINES {
            eprintln!("warning: {path}: {lines} lines (more than {LONG_FILE_LINES})");
        }
        problems.extend(look_at(&path, &text));
    }
    Ok(problems)
}

fn look_at(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_FILE_LINES {
        problems.push(format!(
            "{path}: {lines} lines; at most {MOST_FILE_LINES}: split it"
        ));
    }
    let code = source::shipped_only(&source::code_only(text));
    for at in source::find_words(&code, "fn") {
        let name = code[at + 2..].trim_start();
        let length = name
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(name.len());
        if length == 0 {
            continue; // the type of a function, not a function
        }
        let first = source::line_of(&code, at);
        let last = source::line_of(&code, source::item_end(&code, at) - 1);
        let lines = last - first + 1;
        if lines > MOST_FUNCTION_LINES {
            let name = &name[..length];
            problems.push(format!(
                "{path}:{first}: `{name}` has {lines} lines; at most {MOST_FUNCTION_LINES}"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_caught() {
        assert_eq!(look_at("a.rs", &"\n".repeat(800)), [""; 0]);
        assert_eq!(look_at("a.rs", &"\n".repeat(801)).len(), 1);
    }

    #[test]
    fn a_long_function_is_caught_and_named() {
        let function = |lines: usize| {
            let body = "    let x = '}';\n".repeat(lines - 2);
            format!("fn ok() {{}}\nfn long(a: [u8; 4]) -> u8 {{\n{body}}}\n")
        };
        assert_eq!(look_at("a.rs", &function(100)), [""; 0]);
        let problems = look_at("a.rs", &function(101));
        assert_eq!(problems, ["a.rs:2: `long` has 101 lines; at most 100"]);
    }

    #[test]
    fn tests_and_types_of_functions_are_left_alone() {
        let body = "let f: fn(u8) -> u8 = g;\n".repeat(150);
        let text = format!("#[cfg(test)]\nmod tests {{\nfn long() {{\n{body}}}\n}}\n");
        assert_eq!(look_at("a.rs", &text), [""; 0]);
        assert_eq!(look_at("a.rs", &body), [""; 0]);
    }
}
