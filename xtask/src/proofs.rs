//! Tests that would not run, or that are named and do not exist.

use std::collections::BTreeMap;
use std::path::Path;

use crate::project::{self, Checked};

/// Page whose table "Defences" names a test for each of them.
const PAGE: &str = "SECURITY.md";

pub(crate) fn check(root: &Path) -> Checked {
    let mut files = BTreeMap::new();
    for path in project::project_files(root)? {
        if let Some(text) = project::text(root, &path)? {
            files.insert(path, text);
        }
    }
    let mut problems = undeclared(&files);
    let page = files.get(PAGE).map_or("", String::as_str);
    problems.extend(missing(page, &files));
    Ok(problems)
}

/// Rust files that no module declares: nothing compiles them.
fn undeclared(files: &BTreeMap<String, String>) -> Vec<String> {
    let is_declared = |path: &&String| {
        let Some((mut folder, file)) = path.rsplit_once('/') else {
            return true;
        };
        let mut module = file.strip_suffix(".rs").unwrap_or(file);
        let is_program = folder.ends_with("/tests") || folder.ends_with("/bin");
        if is_program || ["main", "lib"].contains(&module) {
            return true;
        }
        if module == "mod"
            && let Some((parent, name)) = folder.rsplit_once('/')
        {
            (folder, module) = (parent, name);
        }
        let parents = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/main.rs"),
            format!("{folder}/lib.rs"),
        ];
        let declaration = format!("mod {module};");
        let declares = |text: &String| {
            let mut lines = text.lines().map(str::trim);
            lines.any(|line| line.starts_with(['m', 'p']) && line.ends_with(&declaration))
        };
        let mut texts = parents.iter().filter_map(|parent| files.get(parent));
        texts.any(declares)
    };
    let is_module = |path: &&String| {
        let is_in = |folder| path.contains(folder);
        path.ends_with(".rs") && (is_in("/src/") || is_in("/tests/"))
    };
    let modules = files.keys().filter(is_module);
    let lost = modules.filter(|path| !is_declared(path));
    lost.map(|path| format!("{path}: no module declares it"))
        .collect()
}

/// Texts in backquotes in the last column of "Defences" that name no test, file or script.
fn missing(page: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let after = page.split_once("\n## Defences\n").map_or("", |both| both.1);
    let section = after.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.skip(1).filter_map(|row| row.split('|').nth(3));
    let named: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let sources = || files.iter().filter(|(path, _)| path.ends_with(".rs"));
    let exists = |name: &str| {
        let path = name.split(' ').next().unwrap_or(name);
        let is_file = |end: &str| files.keys().any(|file| file == path || file.ends_with(end));
        if path.contains('/') || path.ends_with(".rs") {
            return is_file(&format!("/{path}")) || files.keys().any(|file| file.starts_with(path));
        }
        let [function, case] = [format!("fn {name}("), format!("    {name}: ")];
        let is_in = |text: &String| text.contains(&function) || text.contains(&case);
        is_file(&format!("/{name}.rs")) || sources().any(|(_, text)| is_in(text))
    };
    let mut problems: Vec<String> = named
        .iter()
        .filter(|name| !exists(name))
        .map(|name| format!("{PAGE} names `{name}`, which does not exist"))
        .collect();
    if named.len() < 20 {
        problems.push(format!(
            "{PAGE}: tests named behind defences: {}",
            named.len()
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        all.iter().map(owned).collect()
    }

    #[test]
    fn a_file_that_no_module_declares_is_named() {
        let all = files(&[
            ("a/src/lib.rs", "mod b;\npub(crate) mod c;\n// mod lost;\n"),
            ("a/src/b.rs", "    mod d;\n"),
            ("a/src/b/d.rs", ""),
            ("a/src/c/mod.rs", "mod e;"),
            ("a/src/c/e.rs", ""),
            ("a/src/lost.rs", ""),
            ("a/tests/it/main.rs", "mod f;"),
            ("a/tests/it/f.rs", ""),
            ("a/tests/it/gone.rs", ""),
            ("a/tests/alone.rs", ""),
        ]);
        let expected = ["a/src/lost.rs", "a/tests/it/gone.rs"];
        let expected = expected.map(|path| format!("{path}: no module declares it"));
        assert_eq!(undeclared(&all), expected);
    }

    #[test]
    fn a_named_test_that_does_not_exist_is_a_problem() {
        let all = files(&[
            ("a/tests/it/f.rs", "fn one() {}\n    two: 1"),
            ("scripts/x", ""),
        ]);
        let rows = "| A | b | `one`, `two`, `f.rs`, `it/f.rs`, `scripts/x y`, `three`, `g.rs` |\n";
        let page = format!("\n## Defences\n| | | |\n{}\n## Not\n", rows.repeat(3));
        let named = ["three", "g.rs"].repeat(3);
        let expected = named
            .iter()
            .map(|name| format!("SECURITY.md names `{name}`, which does not exist"));
        assert_eq!(missing(&page, &all), expected.collect::<Vec<_>>());
    }
}
